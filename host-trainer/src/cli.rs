//! The command line: parsing, dispatch, and how errors leave the program.
use std::{ffi::OsString, io, process::ExitCode};

use clap::{Parser, Subcommand, error::ErrorKind};

use crate::{
    commands,
    error::{self, UserError},
    progress,
};

/// Fits Viveka, trains and quantizes the Kibitzer network, and judges both.
///
/// Data goes to standard output, logs and progress to standard error. A mistake in a file or a
/// flag gives one line and exit status 2.
#[derive(Debug, Parser)]
#[command(name = "kibitzer", version)]
struct Cli {
    /// Show warnings only, and no progress.
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(alias = "analyze")]
    Analyse(commands::analyse::Analyse),
    Device(commands::device::DeviceCommand),
    Eval(commands::eval::Eval),
    Experiment(commands::experiment::Try),
    Fit(commands::fit::Fit),
    Judge(commands::judge::Judge),
    Label(commands::label::Label),
    Pack(commands::pack::Pack),
    Plot(commands::plot::Plot),
    Quantize(commands::quantize::Quantize),
    Report(commands::report::Report),
    Stats(commands::stats::Stats),
    Train(commands::train::Train),
}

impl Command {
    fn run(self) -> anyhow::Result<()> {
        match self {
            Command::Analyse(command) => command.run(),
            Command::Device(command) => command.run(),
            Command::Eval(command) => command.run(),
            Command::Experiment(command) => command.run(),
            Command::Fit(command) => command.run(),
            Command::Judge(command) => command.run(),
            Command::Label(command) => command.run(),
            Command::Pack(command) => command.run(),
            Command::Plot(command) => command.run(),
            Command::Quantize(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Stats(command) => command.run(),
            Command::Train(command) => command.run(),
        }
    }
}

/// Ended by Ctrl-C after everything was saved: exit status 130.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Runs the command line `arguments` (the program's name first).
///
/// Exit status 0: done; 1: a defect or a failing machine; 2: a mistake that the user can mend;
/// 130: ended by Ctrl-C.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(&error),
    };
    progress::start(cli.quiet);
    match cli.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of standard output went away, as in `kibitzer … | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Interrupted>() => ExitCode::from(130),
        Err(error) => {
            let error = error::of_backend(error);
            eprintln!("kibitzer: {error:#}");
            if is_users(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// Whether a [`UserError`] is at the root, whatever context was added above it.
fn is_users(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<UserError>())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Help and version as clap prints them; any other error of clap's in one line.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    match error.kind() {
        DisplayHelp | DisplayVersion => {
            // Nothing is left to do if the terminal is gone.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        DisplayHelpOnMissingArgumentOrSubcommand => {
            eprintln!("kibitzer: no command, the command line: see kibitzer --help");
        }
        _ => {
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            let what = first.trim_start_matches("error: ");
            eprintln!(
                "kibitzer: {}",
                UserError::new(what, "the command line", "see kibitzer --help")
            );
        }
    }
    ExitCode::from(2)
}
