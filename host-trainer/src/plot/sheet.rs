//! Charts two a row, as one SVG.
use anyhow::{Context as _, Result};

const COLUMNS: usize = 2;

/// A chart with its size in pixels.
struct Sized<'a> {
    svg: &'a str,
    width: u32,
    height: u32,
}

/// One SVG of the SVGs in `charts`, each at its own size.
///
/// # Errors
/// If a chart has no size, which is a defect.
pub fn of(charts: &[String]) -> Result<String> {
    let charts: Vec<Sized> = charts.iter().map(|svg| sized(svg)).collect::<Result<_>>()?;
    let column = charts.iter().map(|chart| chart.width).max().unwrap_or(0);
    let mut body = String::new();
    let mut top = 0;
    for row in charts.chunks(COLUMNS) {
        for (i, chart) in row.iter().enumerate() {
            let x = i as u32 * column;
            body += &format!("<g transform=\"translate({x} {top})\">\n{}</g>\n", chart.svg);
        }
        top += row.iter().map(|chart| chart.height).max().unwrap_or(0);
    }
    let width = column * charts.len().min(COLUMNS) as u32;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" \
         viewBox=\"0 0 {width} {top}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         {body}</svg>\n"
    ))
}

fn sized(svg: &str) -> Result<Sized<'_>> {
    let attribute = |name: &str| {
        let start = format!("{name}=\"");
        let (_, rest) = svg.split_once(&start)?;
        rest.split_once('"')?.0.parse().ok()
    };
    let (width, height) =
        attribute("<svg width").zip(attribute(" height")).context("a chart without a size")?;
    Ok(Sized { svg, width, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_stand_two_a_row_and_keep_their_sizes() {
        let chart = |height: u32| format!("<svg width=\"50\" height=\"{height}\"></svg>\n");
        let sheet = of(&[chart(20), chart(30), chart(10)]).unwrap();
        assert!(sheet.contains("width=\"100\" height=\"40\""), "{sheet}");
        for place in ["translate(0 0)", "translate(50 0)", "translate(0 30)"] {
            assert!(sheet.contains(place), "{sheet}");
        }
        assert_eq!(sheet.matches("<svg").count(), 4);
        assert!(of(&["<p>".into()]).is_err());
    }
}
