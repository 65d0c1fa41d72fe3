//! A UCI engine as a child process.
use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use anyhow::Result;
use kibitzer_core::shakmaty::{Chess, EnPassantMode, Move, fen::Fen, uci::UciMove};

use crate::{error::UserError, library::LabelledPosition};

/// An engine that says nothing for this long is taken for dead. Engines in WASM take some
/// seconds to start; a search at a judge's depth is over in less.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    command: String,
    /// The name it gave itself.
    pub name: String,
    process: Child,
    input: ChildStdin,
    /// Its lines, read by a thread of their own so that silence can be noticed.
    lines: Receiver<String>,
    patience: Duration,
}

impl Engine {
    /// Starts `command`, a program and its arguments separated by spaces, and waits until it is
    /// ready.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be started or does not speak UCI.
    pub fn start(command: &str) -> Result<Engine> {
        Engine::start_with(command, PATIENCE)
    }

    fn start_with(command: &str, patience: Duration) -> Result<Engine> {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let mut process = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                UserError::new(error, format!("engine {command}"), "give a UCI engine's command")
            })?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(silent(command).into());
        };
        let mut engine = Engine {
            command: command.to_string(),
            name: command.to_string(),
            process,
            input,
            lines: lines_of(output),
            patience,
        };
        engine.send("uci")?;
        loop {
            let line = engine.line()?.ok_or_else(|| silent(command))?;
            if let Some(name) = line.strip_prefix("id name ") {
                engine.name = name.to_string();
            } else if line == "uciok" {
                engine.ready()?;
                return Ok(engine);
            }
        }
    }

    /// The engine's move in `position` at `depth` plies, its memory of other positions cleared.
    ///
    /// # Errors
    /// [`UserError`] if the engine dies or answers with an illegal move.
    pub fn best_move(&mut self, position: &Chess, depth: u32) -> Result<Move> {
        self.send("ucinewgame")?;
        self.ready()?;
        let fen = Fen::from_position(position, EnPassantMode::Legal);
        self.send(&format!("position fen {fen}"))?;
        self.send(&format!("go depth {depth}"))?;
        while let Some(line) = self.line()? {
            if let Some(rest) = line.strip_prefix("bestmove ") {
                let uci = rest.split_whitespace().next().unwrap_or_default();
                let mv: Option<UciMove> = uci.parse().ok();
                return mv.and_then(|m| m.to_move(position).ok()).ok_or_else(|| {
                    let what = format!("illegal move {uci} in {fen}");
                    UserError::new(what, self.place(), "use an engine that knows the rules").into()
                });
            }
        }
        Err(silent(&self.command).into())
    }

    /// Waits until everything sent has been dealt with.
    fn ready(&mut self) -> Result<()> {
        self.send("isready")?;
        while let Some(line) = self.line()? {
            if line == "readyok" {
                return Ok(());
            }
        }
        Err(silent(&self.command).into())
    }

    fn send(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}").map_err(|_| silent(&self.command).into())
    }

    /// The next line, `None` when the engine has closed its output.
    fn line(&mut self) -> Result<Option<String>> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.lines.recv_timeout(self.patience) {
            Ok(line) => Ok(Some(line)),
            Err(Disconnected) => Ok(None),
            Err(Timeout) => Err(silent(&self.command).into()),
        }
    }

    fn place(&self) -> String {
        format!("engine {}", self.command)
    }
}

/// The numbers of the moves that the engine `command` chooses in `positions` at `depth` plies,
/// with a name that says both; `done` is called after each position.
///
/// # Errors
/// As [`Engine::start`] and [`Engine::best_move`].
pub fn choose<'a>(
    command: &str,
    depth: u32,
    positions: impl Iterator<Item = &'a LabelledPosition>,
    done: impl Fn(),
) -> Result<(String, Vec<usize>)> {
    let mut engine = Engine::start(command)?;
    let mut chosen = Vec::new();
    for labelled in positions {
        let mv = engine.best_move(&labelled.position, depth)?;
        // The engine's move is legal, and every legal move has a label.
        chosen.extend(labelled.moves.iter().position(|m| m.mv == mv));
        done();
    }
    Ok((format!("{} at depth {depth}", engine.name), chosen))
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A dead engine needs no farewell; a live one is not left behind.
        let _ = self.send("quit");
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The trimmed lines of `output`, until it ends.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line.trim().to_string()).is_err() {
                break;
            }
        }
    });
    receiver
}

fn silent(command: &str) -> UserError {
    let mend = "give the command of a UCI engine that runs here";
    UserError::new("the engine stopped answering", format!("engine {command}"), mend)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// An engine in sh that answers `go` with `answer`.
    fn fake(folder: &std::path::Path, answer: &str) -> String {
        let path = folder.join("engine");
        let script = format!(
            "while read -r word rest; do case $word in\n\
             uci) echo id name Fake 1; echo uciok;;\nisready) echo readyok;;\n\
             go) {answer};;\nquit) exit;;\nesac; done\n"
        );
        fs::write(&path, script).unwrap();
        // Run by the shell: a script that another test's child still holds open cannot be executed.
        format!("sh {}", path.display())
    }

    fn answer(answer: &str) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let command = fake(folder.path(), answer);
        let patience = Duration::from_millis(500);
        let mut engine = Engine::start_with(&command, patience)?;
        assert_eq!(engine.name, "Fake 1");
        let mv = engine.best_move(&Chess::default(), 1)?;
        Ok(crate::network::uci(mv))
    }

    #[test]
    fn a_good_engine_s_move_is_taken() {
        assert_eq!(answer("echo info depth 1; echo bestmove e2e4 ponder e7e5").unwrap(), "e2e4");
    }

    #[test]
    fn an_engine_that_dies_hangs_or_cheats_is_named() {
        let said = |script: &str| answer(script).unwrap_err().to_string();
        assert!(said("exit").contains("the engine stopped answering"));
        assert!(said("sleep 20").contains("the engine stopped answering"));
        assert!(said("echo bestmove e2e5").contains("illegal move e2e5"));
        let gone = Engine::start("/no/such/engine --flag").unwrap_err().to_string();
        assert!(gone.contains("engine /no/such/engine --flag"), "{gone}");
        let echo = Engine::start_with("cat", Duration::from_millis(300)).unwrap_err().to_string();
        assert!(echo.contains("the engine stopped answering"), "{echo}");
    }
}
