//! A UCI engine as a child process.
//!
//! | file | holds |
//! | --- | --- |
//! | `setup.rs` | how it is run |
//! | `info.rs` | what it says while it searches |
//! | `fault.rs` | what it does wrong |
mod fault;
mod info;
mod setup;

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
pub use fault::Fault;
pub use info::Found;
use info::{Info, Iterations};
use kibitzer_core::shakmaty::{Chess, EnPassantMode, Move, Position as _, fen::Fen, uci::UciMove};
pub use setup::{PATIENCE, Setup, UciOption};

use crate::{
    error::UserError,
    library::{LabelledPosition, Score},
    network::uci,
};

/// So many times its patience a search may last in all, whatever the engine says meanwhile.
const SEARCHES: u32 = 60;
/// How often a wait looks whether the work is to stop.
const GLANCE: Duration = Duration::from_millis(100);

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Plies.
    pub depth: u32,
    /// How many lines, at least 1 and at most [`Engine::most_lines`].
    pub lines: usize,
    /// Only these moves; all if there are none.
    pub only: &'a [Move],
    /// When it is to end, whatever depth is reached; its first iteration is waited for.
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
            let line = self.line_within(self.setup.start_patience, None)?;
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
    /// [`Fault`] if the engine dies, hangs, misses a line that there must be, or stops before the
    /// depth for no reason.
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
                if search.until.is_none() && depth < search.depth && !may_stop(position, &lines) {
                    return Err(Fault::Shallow { depth, wanted: search.depth, fen });
                }
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
            // Stopped before its first iteration is whole, an engine has nothing to tell.
            let due = until.filter(|_| iterations.is_any_whole());
            match self.line_until(due.unwrap_or(deadline)) {
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
        self.line_within(self.setup.patience, None)
    }

    /// The next line, if it comes before `deadline` and before patience ends.
    fn line_until(&mut self, deadline: Instant) -> Result<String, Fault> {
        self.line_within(self.setup.patience, Some(deadline))
    }

    fn line_within(
        &mut self,
        patience: Duration,
        deadline: Option<Instant>,
    ) -> Result<String, Fault> {
        let end = Instant::now() + patience;
        let deadline = deadline.map_or(end, |deadline| deadline.min(end));
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

/// Whether there is nothing that more depth could show: a forced mate, no choice, or a dead draw.
fn may_stop(position: &Chess, lines: &[Found]) -> bool {
    lines.iter().any(|line| matches!(line.score, Score::Mate(_)))
        || position.legal_moves().len() == 1
        || position.is_insufficient_material()
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
mod tests;
