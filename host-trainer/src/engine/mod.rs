//! A UCI engine as a child process.
//!
//! | file | holds |
//! | --- | --- |
//! | `info.rs` | what it says while it searches |
//! | `fault.rs` | what it does wrong |
mod fault;
mod info;

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
pub use fault::Fault;
pub use info::Found;
use info::{Info, Iterations};
use kibitzer_core::shakmaty::{Chess, EnPassantMode, Move, fen::Fen, uci::UciMove};

use crate::{error::UserError, library::LabelledPosition, network::uci};

/// An engine that says nothing for this long is taken for dead. Engines in WASM take some
/// seconds to start; a search at a judge's depth is over in less.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// So many times its patience a search may last in all, whatever the engine says meanwhile.
const SEARCHES: u32 = 60;
/// How often a wait looks whether the work is to stop.
const GLANCE: Duration = Duration::from_millis(100);

/// A UCI option and its value, as `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UciOption {
    /// Its name, which may hold spaces.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl FromStr for UciOption {
    type Err = String;

    fn from_str(text: &str) -> Result<UciOption, String> {
        let (name, value) = text.split_once('=').ok_or("give NAME=VALUE, as in Hash=64")?;
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        if name.is_empty() || name.eq_ignore_ascii_case("MultiPV") {
            return Err("give the name of an option; MultiPV is set as it is needed".into());
        }
        Ok(UciOption { name, value })
    }
}

/// How an engine is run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// A program and its arguments, separated by spaces.
    pub command: String,
    /// Options that it is given.
    pub options: Vec<UciOption>,
    /// How long it may say nothing.
    pub patience: Duration,
    /// Set from outside to stop waiting.
    pub stop: Arc<AtomicBool>,
}

impl Setup {
    /// An engine as it comes.
    pub fn new(command: &str) -> Setup {
        let stop = Arc::default();
        Setup { command: command.into(), options: vec![], patience: PATIENCE, stop }
    }
}

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Plies.
    pub depth: u32,
    /// How many lines, at least 1 and at most [`Engine::most_lines`].
    pub lines: usize,
    /// Only these moves; all if there are none.
    pub only: &'a [Move],
    /// When it is to end, whatever depth is reached.
    pub until: Option<Instant>,
}

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    setup: Setup,
    /// The name it gave itself.
    pub name: String,
    /// Lines that it can search for at once.
    pub most_lines: usize,
    /// Time that it has searched.
    pub searched: Duration,
    /// Names of its options.
    offers: Vec<String>,
    lines_set: usize,
    process: Child,
    input: ChildStdin,
    /// Its lines, read by a thread of their own so that silence can be noticed.
    lines: Receiver<String>,
}

impl Engine {
    /// Starts an engine and waits until it is ready.
    ///
    /// # Errors
    /// [`UserError`] if it cannot be started, does not speak UCI, or has no such option.
    pub fn start(setup: &Setup) -> Result<Engine, UserError> {
        let command = &setup.command;
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
            return Err(Fault::Gone.of(command));
        };
        let mut engine = Engine {
            name: command.clone(),
            setup: setup.clone(),
            most_lines: 1,
            searched: Duration::ZERO,
            offers: vec![],
            lines_set: 1,
            process,
            input,
            lines: lines_of(output),
        };
        engine.greet().map_err(|fault| fault.of(command))?;
        for UciOption { name, value } in &setup.options {
            if !engine.offers.iter().any(|offered| offered.eq_ignore_ascii_case(name)) {
                let what = format!("the engine has no option {name}");
                let mend = format!("use one of {}", engine.offers.join(", "));
                return Err(UserError::new(what, format!("engine {command}"), mend));
            }
            let set = format!("setoption name {name} value {value}");
            engine.send(&set).map_err(|fault| fault.of(command))?;
        }
        engine.ready().map_err(|fault| fault.of(command))?;
        Ok(engine)
    }

    /// Hears what the engine is and can.
    fn greet(&mut self) -> Result<(), Fault> {
        self.send("uci")?;
        loop {
            let line = self.line()?;
            if let Some(name) = line.strip_prefix("id name ") {
                self.name = name.to_string();
            } else if let Some(option) = line.strip_prefix("option name ") {
                let (name, rest) = option.split_once(" type ").unwrap_or((option, ""));
                if name.eq_ignore_ascii_case("MultiPV") {
                    let most = rest.split_once("max ").map_or("", |(_, most)| most);
                    let most = most.split_whitespace().next().and_then(|most| most.parse().ok());
                    self.most_lines = most.unwrap_or(1).max(1);
                }
                self.offers.push(name.to_string());
            } else if line == "uciok" {
                return Ok(());
            }
        }
    }

    /// Clears the engine's memory of other positions.
    ///
    /// # Errors
    /// [`Fault`] if it is dead or hangs.
    pub fn forget(&mut self) -> Result<(), Fault> {
        self.send("ucinewgame")?;
        self.ready()
    }

    /// The engine's move in `position` at `depth` plies, its memory of other positions cleared.
    ///
    /// # Errors
    /// [`Fault`] if the engine dies, hangs or answers with an illegal move.
    pub fn best_move(&mut self, position: &Chess, depth: u32) -> Result<Move, Fault> {
        self.forget()?;
        self.set_lines(1)?;
        let fen = fen(position);
        self.send(&format!("position fen {fen}"))?;
        self.send(&format!("go depth {depth}"))?;
        let deadline = Instant::now() + self.setup.patience * SEARCHES;
        loop {
            let line = self.line_until(deadline)?;
            if let Some(rest) = line.strip_prefix("bestmove ") {
                let mv = rest.split_whitespace().next().unwrap_or_default();
                let legal = mv.parse().ok().and_then(|uci: UciMove| uci.to_move(position).ok());
                return legal.ok_or_else(|| Fault::Illegal { mv: mv.to_owned(), fen });
            }
        }
    }

    /// The best lines of `position`, the best first, all at one depth, which is told too: that
    /// asked for, or what was reached in time.
    ///
    /// # Errors
    /// [`Fault`] if the engine dies, hangs or misses a line that there must be.
    pub fn search(
        &mut self,
        position: &Chess,
        search: &Search,
    ) -> Result<(u32, Vec<Found>), Fault> {
        self.set_lines(search.lines)?;
        let fen = fen(position);
        self.send(&format!("position fen {fen}"))?;
        let mut go = format!("go depth {}", search.depth);
        if !search.only.is_empty() {
            let moves = search.only.iter().map(|&mv| uci(mv));
            go += &format!(" searchmoves {}", moves.collect::<Vec<_>>().join(" "));
        }
        let started = Instant::now();
        self.send(&go)?;
        let heard = self.iterations(position, search);
        self.searched += started.elapsed();
        let wanted = search.lines;
        let allowed = |mv: &Move| search.only.is_empty() || search.only.contains(mv);
        match heard?.whole() {
            Some((depth, lines)) if lines.iter().all(|line| allowed(&line.mv)) => {
                // Without a deadline, the depth asked for is the one there must be; a forced
                // mate or a single move may end the search before it.
                Ok((depth, lines))
            }
            _ => Err(Fault::Missing { wanted, fen }),
        }
    }

    /// What the engine says until its search ends.
    fn iterations(&mut self, position: &Chess, search: &Search) -> Result<Iterations, Fault> {
        let mut iterations = Iterations::default();
        let deadline = Instant::now() + self.setup.patience * SEARCHES;
        let mut until = search.until;
        loop {
            match self.line_until(until.unwrap_or(deadline)) {
                Err(Fault::Silent(_)) if until.is_some_and(|until| until <= Instant::now()) => {
                    until = None;
                    self.send("stop")?;
                }
                line => {
                    let line = line?;
                    if line.starts_with("bestmove") {
                        return Ok(iterations);
                    }
                    if let Some(info) = Info::parse(&line, position) {
                        iterations.add(info, search.lines);
                    }
                }
            }
        }
    }

    /// Lines that the engine searches for from now on.
    fn set_lines(&mut self, lines: usize) -> Result<(), Fault> {
        if self.lines_set != lines {
            self.send(&format!("setoption name MultiPV value {lines}"))?;
            self.lines_set = lines;
        }
        Ok(())
    }

    /// Waits until everything sent has been dealt with.
    fn ready(&mut self) -> Result<(), Fault> {
        self.send("isready")?;
        while self.line()? != "readyok" {}
        Ok(())
    }

    fn send(&mut self, line: &str) -> Result<(), Fault> {
        writeln!(self.input, "{line}").map_err(|_| Fault::Gone)
    }

    /// The next line.
    fn line(&mut self) -> Result<String, Fault> {
        self.line_until(Instant::now() + self.setup.patience)
    }

    /// The next line, if it comes before `deadline` and before patience ends.
    fn line_until(&mut self, deadline: Instant) -> Result<String, Fault> {
        let patience = self.setup.patience;
        let deadline = deadline.min(Instant::now() + patience);
        loop {
            if self.setup.stop.load(Ordering::Relaxed) {
                return Err(Fault::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(GLANCE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Fault::Gone),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(Fault::Silent(patience));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
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
    let mut engine = Engine::start(&Setup::new(command))?;
    let mut chosen = Vec::new();
    for labelled in positions {
        let mv = engine.best_move(&labelled.position, depth).map_err(|fault| fault.of(command))?;
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

/// The trimmed lines of `output`, until it ends. What is no text is passed over.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).trim().to_string()).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// An engine in sh that answers `go` with `answer`.
    fn fake(folder: &std::path::Path, answer: &str) -> String {
        let path = folder.join("engine");
        let script = format!(
            "while read -r word rest; do case $word in\n\
             uci) echo id name Fake 1; echo 'option name MultiPV type spin default 1 min 1 max 7';\n\
             echo 'option name Move Overhead type spin'; echo uciok;;\nisready) echo readyok;;\n\
             go) {answer};;\nstop) echo bestmove e2e4;;\nquit) exit;;\nesac; done\n"
        );
        fs::write(&path, script).unwrap();
        // Run by the shell: a script that another test's child still holds open cannot be executed.
        format!("sh {}", path.display())
    }

    fn started(folder: &std::path::Path, script: &str) -> Engine {
        let command = fake(folder, script);
        let setup = Setup { patience: Duration::from_millis(500), ..Setup::new(&command) };
        Engine::start(&setup).unwrap()
    }

    fn answer(answer: &str) -> Result<String, Fault> {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = started(folder.path(), answer);
        assert_eq!((engine.name.as_str(), engine.most_lines), ("Fake 1", 7));
        Ok(uci(engine.best_move(&Chess::default(), 1)?))
    }

    #[test]
    fn a_good_engine_s_move_is_taken() {
        assert_eq!(answer("echo info depth 1; echo bestmove e2e4 ponder e7e5").unwrap(), "e2e4");
    }

    #[test]
    fn an_engine_that_dies_hangs_or_cheats_is_named() {
        let said = |script: &str| answer(script).unwrap_err().of("e").to_string();
        assert!(said("exit").contains("the engine stopped answering"));
        assert!(said("sleep 20").contains("the engine did not answer within 0.5 s"));
        assert!(said("echo bestmove e2e5").contains("illegal move e2e5"));
        let start = |command: &str| {
            let setup = Setup { patience: Duration::from_millis(300), ..Setup::new(command) };
            Engine::start(&setup).unwrap_err().to_string()
        };
        let gone = start("/no/such/engine --flag");
        assert!(gone.contains("engine /no/such/engine --flag"), "{gone}");
        let echo = start("cat");
        assert!(echo.contains("the engine did not answer within 0.3 s"), "{echo}");
    }

    #[test]
    fn options_must_be_those_of_the_engine() {
        let folder = tempfile::tempdir().unwrap();
        let command = fake(folder.path(), "echo bestmove e2e4");
        let start = |option: &str| {
            let options = vec![option.parse().unwrap()];
            Engine::start(&Setup { options, ..Setup::new(&command) })
        };
        assert!(start("move overhead=5").is_ok(), "as UCI says, whatever the case");
        let line = start("Hash=5").unwrap_err().to_string();
        assert!(line.starts_with("the engine has no option Hash, engine sh "), "{line}");
        assert!(line.ends_with(": use one of MultiPV, Move Overhead"), "{line}");
        assert!("MultiPV=3".parse::<UciOption>().is_err() && "Hash".parse::<UciOption>().is_err());
    }

    #[test]
    fn a_search_is_stopped_in_time_and_tells_the_depth_that_it_reached() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "echo info depth 4 multipv 1 score cp 9 pv e2e4 e7e5;\
                     echo info depth 4 multipv 2 score cp 7 pv d2d4;\
                     echo info depth 5 multipv 1 score cp 9 pv e2e4 e7e5";
        let mut engine = started(folder.path(), lines);
        let until = Some(Instant::now() + Duration::from_millis(100));
        let search = Search { depth: 30, lines: 2, only: &[], until };
        let (depth, found) = engine.search(&Chess::default(), &search).unwrap();
        assert_eq!((depth, found.len(), found[0].line.len()), (4, 2, 2));
        let search = Search { lines: 3, until: Some(Instant::now()), ..search };
        let fault = engine.search(&Chess::default(), &search).unwrap_err();
        assert!(matches!(fault, Fault::Missing { wanted: 3, .. }), "{fault}");
    }
}
