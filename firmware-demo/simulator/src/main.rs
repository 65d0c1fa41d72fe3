//! `kibitzer-simulator`: the board's firmware in QEMU, played in a terminal or from a PGN.
use std::fs::File;
use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, ValueEnum};
use kibitzer_core::legal;
use kibitzer_core::shakmaty::{Square, uci::UciMove};
use kibitzer_simulator::emulated::Emulated;
use kibitzer_simulator::hand::{Order, Style};
use kibitzer_simulator::sitting::Sitting;
use kibitzer_simulator::{draw, games};

/// The order in which the men of a move are touched.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OrderName {
    /// The victim first; the king first
    Victim,
    /// The mover first
    Mover,
    /// Both at once
    AtOnce,
    /// The victim is replaced unseen; the rook first
    Swap,
}

/// A chessboard in the terminal, its firmware in QEMU
#[derive(Debug, Parser)]
#[command(name = "kibitzer-simulator", version)]
struct Options {
    /// The firmware's image
    #[arg(long)]
    image: PathBuf,
    /// QEMU for Arm
    #[arg(long, default_value = "qemu-system-arm")]
    emulator: PathBuf,
    /// Play a game of this file, plain or .zst, instead of reading commands
    #[arg(long)]
    pgn: Option<PathBuf>,
    /// Which game of the file, from 1
    #[arg(long, default_value_t = 1)]
    game: usize,
    /// The order in which men are touched
    #[arg(long, value_enum, default_value_t = OrderName::Victim)]
    order: OrderName,
    /// Slide men over the squares on their way
    #[arg(long)]
    slides: bool,
    /// Milliseconds that a man rests on its way, at most
    #[arg(long, default_value_t = 0)]
    rests: u32,
    /// In how many of a hundred moves a man is adjusted before
    #[arg(long, default_value_t = 0)]
    adjusts: u32,
    /// Contacts that bounce
    #[arg(long)]
    noise: bool,
    /// Milliseconds between two looks at the contacts
    #[arg(long, default_value_t = 10)]
    scan: u32,
    /// The seed of the hand's unsteadiness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every frame of the lamps and every message here
    #[arg(long)]
    transcript: Option<PathBuf>,
    /// The protocol of the line to an app: cpp, pegasus, certabo
    #[arg(long, default_value = "cpp")]
    protocol: String,
    /// The other end of the line to an app, as QEMU names it: pty, unix:PATH,server, null
    #[arg(long, default_value = "null")]
    app: String,
}

impl Options {
    const fn style(&self) -> Style {
        let order = match self.order {
            OrderName::Victim => Order::VictimFirst,
            OrderName::Mover => Order::MoverFirst,
            OrderName::AtOnce => Order::AtOnce,
            OrderName::Swap => Order::Swap,
        };
        Style {
            slides: self.slides,
            rests_ms: self.rests,
            adjusts_percent: self.adjusts,
            ..Style::steady(order)
        }
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let game = match &options.pgn {
        Some(path) => {
            let games = games::read(path)?;
            let place = options.game.checked_sub(1).context("games are numbered from 1")?;
            let count = games.len();
            let game = games.into_iter().nth(place);
            Some(game.with_context(|| format!("{} has {count} games", path.display()))?)
        }
        None => None,
    };
    let emulated = Emulated::start(&options.emulator, &options.image, [&options.app, "null"])?;
    for terminal in &emulated.terminals {
        eprintln!("the app's end of the line is {}", terminal.display());
    }
    let mut sitting = Sitting::new(emulated, options.style(), options.scan, options.seed)?;
    sitting.contacts.bounce = options.noise;
    sitting.speak(&options.protocol)?;
    if let Some(path) = &options.transcript {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        sitting.write_down(Box::new(BufWriter::new(file)));
    }
    match game {
        Some(game) => {
            // Both sides by hand: Black is Viveka's at first, then White, then nobody's.
            sitting.press("side")?;
            sitting.press("side")?;
            for mv in game {
                sitting.make(mv)?;
                show(&sitting);
            }
        }
        None => converse(&mut sitting)?,
    }
    for (part, (most, count)) in &sitting.costs {
        eprintln!("{part}: {count} times, {most} instructions at most");
    }
    eprintln!("stack: {} bytes at most", sitting.end()?);
    Ok(())
}

/// Draws the board and says what it says.
fn show(sitting: &Sitting) {
    let colours = std::io::stdout().is_terminal();
    let Sitting { position, lamps, signal, .. } = sitting;
    let board = draw::board(position, sitting.contacts.occupied(), lamps, *signal, colours);
    println!("{board}{}", sitting.message);
}

/// What can be typed.
const HELP: &str = "e2e4 (e7e8q): make a move; e2: lift or put down; =e2: press a square; follow: do \
     what the lamps ask; fen FEN: a position to set up; \
     picture FILE.svg; hint, back, new, side, level, yes, no: buttons; wait MS; quit";

/// Does what is typed.
fn converse(sitting: &mut Sitting) -> Result<()> {
    println!("{HELP}");
    show(sitting);
    for line in std::io::stdin().lines() {
        let line = line?;
        if line.trim() == "quit" {
            break;
        }
        if let Err(error) = obey(sitting, line.trim()) {
            println!("{error:#}");
        }
        show(sitting);
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn obey(sitting: &mut Sitting, line: &str) -> Result<()> {
    match line {
        "" => sitting.wait(500),
        "follow" => {
            while sitting.follow()? {
                sitting.wait(500)?;
            }
            Ok(())
        }
        "hint" | "back" | "new" | "side" | "level" | "yes" | "no" => sitting.press(line),
        _ => {
            if let Some(ms) = line.strip_prefix("wait ") {
                return sitting.wait(ms.parse()?);
            }
            if let Some(path) = line.strip_prefix("picture ") {
                let Sitting { position, lamps, signal, message, .. } = &*sitting;
                let occupied = sitting.contacts.occupied();
                let svg = draw::picture(position, occupied, lamps, *signal, message);
                return std::fs::write(path, svg).with_context(|| path.to_owned());
            }
            if let Some(fen) = line.strip_prefix("fen ") {
                return sitting.set_up(fen);
            }
            if let Some(square) = line.strip_prefix('=') {
                return sitting.press_square(square.parse()?);
            }
            if let Ok(square) = line.parse::<Square>() {
                sitting.touch(square)?;
                return sitting.wait(500);
            }
            let Ok(uci) = line.parse::<UciMove>() else { bail!("{HELP}") };
            let mv = legal::named(&sitting.position, &uci);
            sitting.make(mv.with_context(|| format!("{line} is no legal move"))?)?;
            sitting.wait(500)
        }
    }
}
