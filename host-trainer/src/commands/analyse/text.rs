//! The analysis of one position as text: the candidates in a table, why the choice, and why not
//! the next best.
use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use kibitzer_core::shakmaty::{Chess, Position as _};

use super::report::{Report, Row, san};
use crate::network::Answer;

/// Terms of fewer points, for or against, are added up.
const SMALL: i64 = 5;
/// Reasons against the runner-up that are told.
const REASONS: usize = 6;
/// Moves of the network that are shown.
const SHOWN: usize = 5;

/// Prints the report of `position`.
///
/// # Errors
/// Those of `out`.
pub fn print(report: &Report, position: &Chess, out: &mut impl Write) -> io::Result<()> {
    match &*report.candidates {
        [] => {
            let end = if position.is_check() { "checkmate" } else { "stalemate" };
            writeln!(out, "no legal move: {end}")?;
        }
        [choice, others @ ..] => {
            writeln!(out, "choice    {} ({})", choice.san, choice.mv)?;
            writeln!(out, "critical  {}", critical(report))?;
            if report.partial {
                writeln!(
                    out,
                    "partial   {} positions looked at, more left out: exchanges and replies may \
                     hold more",
                    report.searched
                )?;
            }
            writeln!(out, "{}", table(&report.candidates))?;
            why(choice, out)?;
            if let Some(runner_up) = others.first() {
                why_not(runner_up, choice, out)?;
            }
        }
    }
    match &report.net {
        Some(net) => network(net, position, out),
        None => Ok(()),
    }
}

/// What the flag means.
fn critical(report: &Report) -> String {
    let meaning = match (report.candidates.len(), report.critical) {
        (1, _) => "no: it is the only legal move",
        (_, true) => "yes: one move stands out, so calculate",
        (_, false) => "no: other moves come into question",
    };
    format!("{meaning} (entropy {:.2} nats)", report.entropy)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["move", "scan", "score", "drop", "total", "the check says"]);
    for row in rows {
        let numbers = [row.scan, row.score].map(|points| points.to_string());
        let [scan, score] = numbers;
        let (drop, total) = (format!("{:.1}", row.drop), row.total.to_string());
        let check = row.check.clone().unwrap_or_default();
        table.add_row([row.san.clone(), scan, score, drop, total, check]);
    }
    for number in 1..=4 {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// One line of a sum.
fn line(points: i64, text: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  {points:+5}  {text}")
}

/// Adds up the points of the choice; the lines sum to its total.
fn why(choice: &Row, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Why {}:", choice.san)?;
    let (mut small, mut count) = (0, 0);
    for (_, points, sentence) in choice.parts() {
        if points.abs() < SMALL {
            small += points;
            count += 1;
        } else {
            line(points, sentence, out)?;
        }
    }
    if count > 0 {
        let noun = if count == 1 { "term" } else { "terms" };
        line(small, &format!("other ({count} small {noun})"), out)?;
    }
    match &choice.check {
        Some(check) => line(choice.penalty(), &format!("but {check}"), out),
        None => Ok(()),
    }
}

/// Adds up the difference of the runner-up's total from the choice's, the reasons against it
/// first.
fn why_not(runner_up: &Row, choice: &Row, out: &mut impl Write) -> io::Result<()> {
    let difference = i64::from(runner_up.total - choice.total);
    match difference {
        0 => writeln!(out, "Why not {}: it has the same total.", runner_up.san)?,
        -1 => writeln!(out, "Why not {}: 1 point less.", runner_up.san)?,
        _ => writeln!(out, "Why not {}: {} points less.", runner_up.san, -difference)?,
    }
    let mut reasons = reasons(runner_up, choice);
    reasons.retain(|reason| reason.0 <= -SMALL);
    reasons.sort_by_key(|reason| reason.0);
    reasons.truncate(REASONS);
    for (points, text) in &reasons {
        line(*points, text, out)?;
    }
    let rest = difference - reasons.iter().map(|reason| reason.0).sum::<i64>();
    if rest == 0 { Ok(()) } else { line(rest, "all else", out) }
}

/// How the runner-up's points differ from the choice's, by term and by the check, with what is
/// said of both.
fn reasons(runner_up: &Row, choice: &Row) -> Vec<(i64, String)> {
    let find = |row: &Row, name: &str| {
        row.parts().find(|part| part.0 == name).map(|(_, points, why)| (points, why.to_owned()))
    };
    let both = runner_up.parts().map(|(name, points, why)| match find(choice, name) {
        Some((theirs, _)) if theirs == points => (0, String::new()),
        Some((theirs, other)) => {
            let text = format!("{} {why}; {} {other}", runner_up.san, choice.san);
            (points - theirs, text)
        }
        None => (points, format!("{} {why}", runner_up.san)),
    });
    let missing = choice.parts().filter(|part| find(runner_up, part.0).is_none());
    let missing = missing.map(|(_, points, why)| (-points, format!("only {} {why}", choice.san)));
    let check = runner_up.check.clone().unwrap_or_default();
    let check = (runner_up.penalty() - choice.penalty(), check);
    both.chain(missing).chain([check]).collect()
}

/// What the network says.
fn network(net: &Answer, position: &Chess, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Network: value {:+.3}", net.value)?;
    for likely in net.moves.iter().take(SHOWN) {
        let (mv, percent) = (san(position, likely.mv), 100.0 * likely.probability);
        writeln!(out, "  {percent:5.1} %  {mv}")?;
    }
    Ok(())
}
