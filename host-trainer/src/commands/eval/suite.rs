//! `kibitzer eval --suite`: moves to find.
use std::{
    fmt,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use kibitzer_core::{
    shakmaty::{Chess, Move},
    viveka::{FITTED, analyse},
};
use serde::Serialize;

use super::Eval;
use crate::{
    engine::{Engine, Fault, Setup},
    error::UserError,
    network::Network,
    progress,
    suite::{Rating, Ratings, Suite},
};

/// The name under which Viveka, with the built-in weights, is a model.
const VIVEKA: &str = "viveka";

/// What is printed.
#[derive(Debug, Serialize)]
struct Output {
    /// Who chose.
    chooser: String,
    #[serde(flatten)]
    all: Row,
    themes: Vec<Row>,
    /// Lines left out.
    skipped: u64,
    /// Why, for the first three.
    reasons: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip_serializing_if = "String::is_empty")]
    theme: String,
    #[serde(flatten)]
    rating: Rating,
    solved_share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

impl Row {
    fn new(theme: &str, rating: Rating) -> Row {
        let (solved_share, score) = (rating.share(), rating.score());
        Row { theme: theme.to_owned(), rating, solved_share, score }
    }
}

impl Eval {
    /// Has the model or the engine choose in every position of the suites.
    pub(super) fn suites(&self, paths: &[PathBuf]) -> Result<()> {
        let suite = Suite::read(paths)?;
        let bar = progress::bar(suite.cases.len() as u64, "positions");
        let (chooser, ratings) = self.rate(&suite, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let themes = if ratings.themes.len() > 1 { ratings.themes } else { [].into() };
        let output = Output {
            chooser,
            all: Row::new("", ratings.all),
            themes: themes.into_iter().map(|(name, rating)| Row::new(&name, rating)).collect(),
            skipped: suite.skipped.lines,
            reasons: suite.skipped.reasons.clone(),
        };
        let mut out = io::stdout().lock();
        if self.json {
            return Ok(writeln!(out, "{}", serde_json::to_string(&output)?)?);
        }
        suite.skipped.report();
        Ok(write!(out, "{output}")?)
    }

    fn rate(&self, suite: &Suite, done: &dyn Fn()) -> Result<(String, Ratings)> {
        if let Some(command) = &self.engine {
            let mut engine = Engine::start(&Setup::new(command))?;
            let of = |fault: Fault| fault.of(command);
            let choose =
                |position: &Chess| Ok(engine.best_move(position, self.depth).map_err(of)?);
            let ratings = Ratings::of(suite, choose, done)?;
            return Ok((format!("{} at depth {}", engine.name, self.depth), ratings));
        }
        // Required where there is no engine.
        let model = self.model.as_deref().unwrap_or(Path::new(VIVEKA));
        if model == Path::new(VIVEKA) && !model.exists() {
            let choose = |position: &Chess| {
                first(analyse(position, None, &FITTED).candidates.first().map(|c| c.mv))
            };
            return Ok((VIVEKA.to_owned(), Ratings::of(suite, choose, done)?));
        }
        let mut network = Network::choose(model, self.choice, self.device, 1)?;
        let choose = |position: &Chess| {
            first(network.answer(position)?.moves.first().map(|likely| likely.mv))
        };
        Ok((model.display().to_string(), Ratings::of(suite, choose, done)?))
    }
}

/// A suite's positions have a legal move, and so a choice.
fn first(choice: Option<Move>) -> Result<Move> {
    Ok(choice.ok_or_else(|| UserError::new("no choice", "--suite", "report this as a defect"))?)
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header(["theme", "positions", "solved", "%", "points", "of", "%"]);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        for Row { theme, rating, solved_share, score } in self.themes.iter().chain([&self.all]) {
            let Rating { positions, solved, points, possible } = rating;
            let theme = if theme.is_empty() { "all" } else { theme };
            let scored = |number: &u64| score.map_or(String::new(), |_| number.to_string());
            table.add_row([
                theme.to_owned(),
                positions.to_string(),
                solved.to_string(),
                percent(*solved_share),
                scored(points),
                scored(possible),
                score.map_or(String::new(), percent),
            ]);
        }
        writeln!(f, "{}\n{}", self.chooser, table.trim_fmt())
    }
}
