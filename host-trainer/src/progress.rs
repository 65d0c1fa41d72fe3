//! What is shown on standard error: log lines and progress bars that do not disturb each other.
use std::{
    borrow::Cow,
    io::{self, Write},
    sync::LazyLock,
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tracing::Level;
use tracing_subscriber::fmt::format::FmtSpan;

/// Every bar hangs here, so that log lines can be written above them.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Starts logging to standard error; `quiet` keeps warnings only and hides the bars.
pub fn start(quiet: bool) {
    if quiet {
        BARS.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    let level = if quiet { Level::WARN } else { Level::INFO };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_span_events(FmtSpan::NONE)
        .with_target(false)
        .without_time()
        .with_writer(|| AboveBars)
        .with_ansi(console_is_terminal())
        .finish();
    // A second start, as tests make it, keeps the first.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn console_is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stderr())
}

/// A bar over `length` units named `unit`, with rate and time left. Hidden where standard error
/// is no terminal.
pub fn bar(length: u64, unit: impl Into<Cow<'static, str>>) -> ProgressBar {
    let template =
        format!("{{wide_bar}} {{pos}}/{{len}} {} {{per_sec}} {{eta}} {{msg}}", unit.into());
    add(ProgressBar::new(length), &template)
}

/// A spinner for work of unknown length.
pub fn spinner(unit: impl Into<Cow<'static, str>>) -> ProgressBar {
    let template = format!("{{spinner}} {{pos}} {} {{per_sec}} {{msg}}", unit.into());
    let spinner = add(ProgressBar::new_spinner(), &template);
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

fn add(bar: ProgressBar, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the templates above are valid");
    BARS.add(bar.with_style(style))
}

/// Standard error, with the bars taken down while a log line is written.
struct AboveBars;

impl Write for AboveBars {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        BARS.suspend(|| io::stderr().write_all(buffer))?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
