//! Charts as SVG. The viewer's own sans-serif font draws the text, so none is needed here.
use anyhow::Result;
use plotters::{
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
};

/// Size of a chart's text, as plotters counts: some 12 pixels.
const TEXT: i32 = 15;
/// Width of a letter of that size, on average, and height of a line, in pixels.
const LETTER: i32 = 7;
const LINE: i32 = 20;
/// Width and height of one chart, in pixels.
const SIZE: (u32, u32) = (760, 340);
/// Colours that the colour-blind can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(110, 110, 110),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A line, or the bars of one colour.
#[derive(Debug, Clone)]
pub struct Series {
    /// What it stands for.
    pub name: String,
    /// x and y of its points, by x.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A series whose x are 0, 1, 2, …
    pub fn of(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Series {
        let points = values.into_iter().enumerate().map(|(i, y)| (i as f64, y)).collect();
        Series { name: name.into(), points }
    }
}

/// A chart with its axes named.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Title; empty for none.
    pub title: String,
    /// The x axis, with its unit.
    pub x: String,
    /// The y axis, with its unit.
    pub y: String,
    /// The lines.
    pub series: Vec<Series>,
}

/// Line charts, two side by side where there are several, all of the same series' names.
///
/// # Errors
/// If drawing fails, which is a defect.
pub fn lines(panels: &[Panel]) -> Result<String> {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(2);
    let series = panels.first().map_or(&[][..], |panel| &panel.series);
    draw((SIZE.0, SIZE.1 * rows as u32), series, |area| {
        let areas = area.split_evenly((rows, columns));
        areas.iter().zip(panels).try_for_each(|(area, panel)| line_chart(area, panel))
    })
}

fn line_chart(area: &Area, panel: &Panel) -> Result<()> {
    let points = || panel.series.iter().flat_map(|s| &s.points);
    let x = span(points().map(|p| p.0));
    let mut chart = axes(area, &panel.title, x, with_room(span(points().map(|p| p.1))))?;
    let mesh = &mut chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).x_desc(&panel.x).y_desc(&panel.y);
    mesh.x_label_formatter(&label).y_label_formatter(&label);
    mesh.label_style(("sans-serif", TEXT)).draw()?;
    for (series, colour) in panel.series.iter().zip(COLOURS.iter().cycle()) {
        let points = || series.points.iter().copied();
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        chart.draw_series(points().map(|at| Circle::new(at, 2, colour.filled())))?;
    }
    Ok(())
}

/// Bars in groups, one of each series in each group.
///
/// # Errors
/// If drawing fails, which is a defect.
pub fn bars(x: &str, y: &str, groups: &[String], series: &[Series]) -> Result<String> {
    draw(SIZE, series, |area| {
        let tops = series.iter().flat_map(|s| s.points.iter().map(|p| p.1));
        let y_span = with_room(span(tops.chain([0.0])));
        let mut chart = axes(area, "", (-0.5, groups.len().max(1) as f64 - 0.5), y_span)?;
        let name_of = |at: &f64| {
            let whole = at.fract() == 0.0 && *at >= 0.0;
            groups.get(*at as usize).filter(|_| whole).cloned().unwrap_or_default()
        };
        let mesh = &mut chart.configure_mesh();
        mesh.disable_x_mesh().light_line_style(TRANSPARENT).x_desc(x).y_desc(y);
        mesh.x_labels(groups.len()).x_label_formatter(&name_of).y_label_formatter(&label);
        mesh.label_style(("sans-serif", TEXT)).draw()?;
        let width = 0.8 / series.len().max(1) as f64;
        for (i, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let bar = |&(group, top): &(f64, f64)| {
                let left = group - 0.4 + i as f64 * width;
                Rectangle::new([(left, 0.0), (left + width, top)], colour.filled())
            };
            chart.draw_series(series.points.iter().map(bar))?;
        }
        Ok(())
    })
}

/// A number at an axis, with as many decimals as it has, three at most.
fn label(x: &f64) -> String {
    // Adding 0 turns −0 into 0.
    ((x * 1000.0).round() / 1000.0 + 0.0).to_string()
}

/// A chart with its frame and no axes drawn yet.
fn axes<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    x: (f64, f64),
    y: (f64, f64),
) -> Result<Chart<'a, 'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(10).x_label_area_size(42).y_label_area_size(58);
    if !title.is_empty() {
        builder.caption(title, ("sans-serif", TEXT + 2));
    }
    Ok(builder.build_cartesian_2d(x.0..x.1, y.0..y.1)?)
}

/// Paints a chart below the names of its series.
fn draw(
    (width, height): (u32, u32),
    series: &[Series],
    paint: impl FnOnce(&Area) -> Result<()>,
) -> Result<String> {
    let entries = legend(series, width as i32);
    let top = entries.last().map_or(0, |(_, y)| y + LINE);
    let mut svg = String::new();
    {
        let size = (width, height + top as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let (names, chart) = area.split_vertically(top);
        for (((x, y), series), colour) in entries.iter().zip(series).zip(COLOURS.iter().cycle()) {
            let swatch = [(*x, y + 4), (x + 12, y + 14)];
            names.draw(&Rectangle::new(swatch, colour.filled()))?;
            let style = ("sans-serif", TEXT).into_text_style(&names);
            names.draw(&Text::new(series.name.clone(), (x + 18, y + 3), style))?;
        }
        paint(&chart)?;
        area.present()?;
    }
    Ok(svg)
}

/// Where the names of the series stand, in lines of at most `width` pixels; none for one series,
/// which there is nothing to tell from.
fn legend(series: &[Series], width: i32) -> Vec<(i32, i32)> {
    let (mut x, mut y) = (70, 6);
    let mut place = |series: &Series| {
        let length = 40 + LETTER * series.name.chars().count() as i32;
        if x + length > width {
            (x, y) = (70, y + LINE);
        }
        let at = (x, y);
        x += length;
        at
    };
    let named = series.iter().filter(|_| series.len() > 1);
    named.map(&mut place).collect()
}

/// The least and the greatest of `values`, apart from each other.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low < high {
        (low, high)
    } else if low.is_finite() {
        (low - 0.5, low + 0.5)
    } else {
        (0.0, 1.0)
    }
}

/// Room about the values; 0 is shown where it is no farther than they are apart.
fn with_room((low, high): (f64, f64)) -> (f64, f64) {
    let spread = high - low;
    let low = if low > 0.0 && low <= spread { 0.0 } else { low };
    let high = if high < 0.0 && -high <= spread { 0.0 } else { high };
    let room = 0.06 * (high - low);
    (if low == 0.0 { 0.0 } else { low - room }, if high == 0.0 { 0.0 } else { high + room })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_shown_where_it_is_near() {
        assert_eq!(with_room((1.0, 3.0)).0, 0.0);
        assert!(with_room((10.0, 12.0)).0 > 9.0);
        let (low, high) = with_room((-1.0, 2.0));
        assert!(low < -1.0 && high > 2.0);
        assert_eq!(span([].into_iter()), (0.0, 1.0));
        assert_eq!(span([2.0].into_iter()), (1.5, 2.5));
    }

    #[test]
    fn names_that_do_not_fit_go_on_the_next_line() {
        let series = |name: &str| Series::of(name, [1.0]);
        let three = [series("one"), series("a name of some length"), series("three")];
        assert_eq!(legend(&three, 400), [(70, 6), (131, 6), (318, 6)]);
        assert_eq!(legend(&three, 320)[2], (70, 26));
        assert!(legend(&three[..1], 400).is_empty());
    }

    #[test]
    fn charts_show_names_axes_and_as_many_bars_as_there_are() {
        let series = [Series::of("ours", [1.0, 2.0]), Series::of("theirs", [3.0, 0.5])];
        let groups = ["early", "late"].map(String::from);
        let svg = bars("when", "how much", &groups, &series).unwrap();
        for text in ["ours", "theirs", "early", "late", "when", "how much"] {
            assert!(svg.contains(&format!("\n{text}\n")), "{text}: {svg}");
        }
        // Of each colour two bars and the legend's swatch.
        assert_eq!(svg.matches("#0072B2").count(), 3);
        let panel =
            Panel { title: "title".into(), x: "x".into(), y: "y".into(), series: series.to_vec() };
        let svg = lines(&[panel.clone(), panel]).unwrap();
        assert_eq!(svg.matches("<circle").count(), 8);
        assert_eq!(svg.matches("\ntitle\n").count(), 2);
    }
}
