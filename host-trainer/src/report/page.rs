//! A page of Markdown with its figures, held in memory until all of it is known.
use std::{
    fmt::{self, Write as _},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::files::{atomic_write, require_folder};

/// The page's file in its folder.
const PAGE: &str = "report.md";
/// The folder of its figures, beside it.
const FIGURES: &str = "figures";

/// A page under construction.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    /// Names (without `.svg`) and contents.
    figures: Vec<(&'static str, String)>,
}

impl Page {
    /// A page with a title.
    pub fn new(title: &str) -> Page {
        Page { text: format!("# {title}\n"), figures: Vec::new() }
    }

    /// Starts a section.
    pub fn section(&mut self, title: &str) {
        self.text += &format!("\n## {title}\n");
    }

    /// Starts a part of a section.
    pub fn part(&mut self, title: &str) {
        self.text += &format!("\n### {title}\n");
    }

    /// Adds a paragraph, or whatever Markdown a table or another part writes.
    pub fn add(&mut self, markdown: impl fmt::Display) {
        self.text += &format!("\n{markdown}\n");
    }

    /// Adds a figure, an SVG, under a name that no other figure of the page has.
    pub fn figure(&mut self, name: &'static str, caption: &str, svg: String) {
        self.add(format_args!("![{caption}]({FIGURES}/{name}.svg)"));
        self.add(format_args!("*Figure {}: {caption}.*", self.figures.len() + 1));
        self.figures.push((name, svg));
    }

    /// The page's Markdown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Writes the page and its figures into `folder`, which is made if it is missing; the page
    /// comes last, when all that it shows is there. Files of the same names are replaced. Returns
    /// the page's path.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf> {
        let figures = folder.join(FIGURES);
        require_folder(&figures)?;
        for (name, svg) in &self.figures {
            let path = figures.join(name).with_extension("svg");
            atomic_write(&path, |file| Ok(file.write_all(svg.as_bytes())?))?;
        }
        let path = folder.join(PAGE);
        atomic_write(&path, |file| Ok(file.write_all(self.text.as_bytes())?))?;
        Ok(path)
    }
}

/// A table; as `Display` its Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Table {
        Table { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row of as many cells as there are columns.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.head.len(), "a cell for each column: {cells:?}");
        self.rows.push(cells);
    }

    /// Whether all cells of a column are numbers, which stand better on the right.
    fn is_numeric(&self, column: usize) -> bool {
        let number = |cell: &str| {
            let digits = cell.trim_start_matches(['+', '−', '±', ' ']);
            cell == NOTHING || digits.starts_with(|c: char| c.is_ascii_digit())
        };
        self.rows.iter().all(|row| number(&row[column]))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |", cells.join(" | "))
        };
        let rule = |column| if self.is_numeric(column) { "---:" } else { "---" }.to_string();
        let rules: Vec<String> = (0..self.head.len()).map(rule).collect();
        write!(f, "{}\n{}", line(&self.head), line(&rules))?;
        self.rows.iter().try_for_each(|row| write!(f, "\n{}", line(row)))
    }
}

/// What stands where there is nothing to tell.
pub const NOTHING: &str = "–";

/// A number with `digits` decimals and a true minus; −0 is 0.
pub fn number(x: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", x.abs());
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if x < 0.0 && !zero { format!("−{text}") } else { text }
}

/// [`number`] with its sign, for what is a difference.
pub fn signed(x: f64, digits: usize) -> String {
    let text = number(x, digits);
    if x > 0.0 && text.contains(|c: char| ('1'..='9').contains(&c)) {
        format!("+{text}")
    } else {
        text
    }
}

/// A share, in percent with one decimal.
pub fn percent(share: f64) -> String {
    format!("{} %", number(100.0 * share, 1))
}

/// Items in a row, as in "a, b, c".
pub fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>, separator: &str) -> String {
    let mut text = String::new();
    for (i, item) in items.into_iter().enumerate() {
        let separator = if i == 0 { "" } else { separator };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{item}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_on_the_right() {
        let mut table = Table::new(["name", "loss", "se"]);
        table.row(["a|b", "−1.5", NOTHING]);
        table.row(["c", "+20", "3"]);
        let lines = "| name | loss | se |\n| --- | ---: | ---: |\n| a\\|b | −1.5 | – |\n\
                     | c | +20 | 3 |";
        assert_eq!(table.to_string(), lines);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(-1.25, 1), "−1.2");
        assert_eq!(number(-0.04, 1), "0.0");
        assert_eq!(signed(2.0, 1), "+2.0");
        assert_eq!(signed(0.01, 1), "0.0");
        assert_eq!(percent(0.125), "12.5 %");
    }

    #[test]
    fn a_page_is_written_with_its_figures() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("out");
        let mut page = Page::new("Title");
        page.section("One");
        page.figure("lines", "what it shows", "<svg/>".into());
        page.write(&folder).unwrap();
        let text = std::fs::read_to_string(folder.join("report.md")).unwrap();
        assert_eq!(text, page.text());
        assert!(text.contains("![what it shows](figures/lines.svg)"), "{text}");
        assert_eq!(std::fs::read(folder.join("figures/lines.svg")).unwrap(), b"<svg/>");
    }
}
