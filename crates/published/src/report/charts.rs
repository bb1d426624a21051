//! Marks of charts, as SVG. Words and numbers stand around them, so that they can be read at any width.

use std::fmt::{self, Write as _};

use super::axis::BINS;
use super::lanes::{Lane, Lost};
use super::tally::Ranked;

/// Width of a part of the time, in units of the drawing.
pub(super) const STEP: i32 = 8;
/// Height of a chart of several series.
const TALL: i32 = 400;
/// Height of a chart that is one row of many.
const LOW: i32 = 48;
/// Thousandths that are all of it.
const FULL: u64 = 1000;

/// Colours of series; the last one is that of all others. The style sheet has others for the dark.
pub(super) const PALETTE: [Color; 13] = [
    Color(0x2F, 0x6D, 0xB5),
    Color(0xC8, 0x54, 0x1A),
    Color(0x2E, 0x85, 0x40),
    Color(0x6F, 0x4F, 0xB3),
    Color(0xB8, 0x8A, 0x00),
    Color(0xC0, 0x40, 0x8A),
    Color(0x0F, 0x8A, 0x94),
    Color(0x8A, 0x5A, 0x3C),
    Color(0x5C, 0x7A, 0x1F),
    Color(0x3F, 0x51, 0xB5),
    Color(0xB3, 0x26, 0x1E),
    Color(0x4F, 0x6D, 0x7A),
    Color(0x85, 0x8A, 0x93),
];
/// What was lost for certain.
const CERTAIN: Color = Color(0xD0, 0x1F, 0x1F);
/// What may have been lost.
const POSSIBLE: Color = Color(0xE0, 0x8A, 0x00);

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color(u8, u8, u8);

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Color(red, green, blue) = self;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}

/// The marks of a chart of this height, as elements of SVG.
struct Marks {
    height: i32,
    svg: String,
}

/// What a chart is called, for those who hear it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    /// Its name among those of the page: letters, digits and hyphens.
    pub id: &'a str,
    /// What it is; HTML.
    pub title: &'a str,
    /// What it shows; HTML.
    pub description: &'a str,
    /// Its values, for those who point at it; elements of SVG.
    pub hover: &'a str,
}

/// A chart of amounts on top of one another, each in its colour, `top` being the full height.
pub(super) fn stacked(words: Words<'_>, ranked: &Ranked, colors: &[usize], top: u64) -> String {
    let mut below = vec![0_u64; BINS];
    drawn(words, "tall", TALL, |marks| {
        let shown = ranked.shown.iter().map(|(_, amounts)| amounts).zip(colors.iter().copied());
        let rest = ranked.rest.iter().map(|rest| (&rest.amounts, PALETTE.len() - 1));
        for (amounts, color) in shown.chain(rest) {
            let above: Vec<u64> =
                below.iter().zip(&amounts.bins).map(|(below, amount)| below.saturating_add(*amount)).collect();
            let level = |amounts: &[u64]| amounts.iter().map(|amount| level(*amount, top, TALL)).collect::<Vec<i32>>();
            marks.area(&level(&above), &level(&below), color_of(color));
            below = above;
        }
    })
}

/// A chart of one series, as a row of many; none where there is nothing to draw.
pub(super) fn row(words: Words<'_>, bins: &[u64], color: usize) -> String {
    let top = bins.iter().copied().max().unwrap_or(0);
    if top == 0 {
        return String::new();
    }
    drawn(words, "low", LOW, |marks| {
        // What is there is seen, however little it is.
        let level = |amount: &u64| level(*amount, top, LOW).max(if *amount > 0 { 2 } else { 0 });
        marks.area(&bins.iter().map(level).collect::<Vec<i32>>(), &[0; BINS], color_of(color));
    })
}

/// A chart of the buffers of a processor: how full they are, and losses above them; none where there is nothing to draw.
pub(super) fn lane(words: Words<'_>, lane: &Lane) -> String {
    if lane.bins.iter().all(|fill| *fill == 0) && lane.lost.iter().all(|lost| *lost == Lost::Nothing) {
        return String::new();
    }
    drawn(words, "low", LOW, |marks| {
        let levels: Vec<i32> =
            lane.bins.iter().map(|fill| level(*fill, FULL, LOW).max(if *fill > 0 { 2 } else { 0 })).collect();
        marks.area(&levels, &[0; BINS], color_of(0));
        for (what, color) in [(Lost::Possible, POSSIBLE), (Lost::Certain, CERTAIN)] {
            for (begin, end) in runs(&lane.lost, what) {
                marks.bar(begin * STEP, end * STEP, color);
            }
        }
    })
}

/// The colour of a series; those beyond the palette begin anew.
pub(super) fn color_of(series: usize) -> Color {
    let number = if series < PALETTE.len() { series } else { series % (PALETTE.len() - 1) };
    PALETTE.get(number).copied().unwrap_or(CERTAIN)
}

/// Begins and ends, behind the last one, of parts that are all alike.
fn runs(parts: &[Lost], what: Lost) -> Vec<(i32, i32)> {
    let mut runs: Vec<(i32, i32)> = Vec::new();
    for (part, place) in parts.iter().zip(0_i32..) {
        match runs.last_mut() {
            _ if *part != what => {}
            Some((_, end)) if *end == place => *end = place + 1,
            _ => runs.push((place, place + 1)),
        }
    }
    runs
}

/// How high an amount is drawn.
fn level(amount: u64, top: u64, height: i32) -> i32 {
    let level = u128::from(amount) * u128::from(height.unsigned_abs()) / u128::from(top.max(1));
    i32::try_from(level).unwrap_or(height).min(height)
}

impl Marks {
    /// The area between two lines of steps, from the left to the right; `above` and `below` are levels from the bottom.
    fn area(&mut self, above: &[i32], below: &[i32], color: Color) {
        // Apart, so that parts of the time without anything draw nothing.
        let mut begin = 0;
        while begin < above.len() {
            let is_there =
                |place: &usize| above.get(*place).zip(below.get(*place)).is_some_and(|(above, below)| above > below);
            let end = (begin..above.len()).find(|place| !is_there(place)).unwrap_or(above.len());
            if end > begin {
                let mut corners = steps(above, begin, end, self.height);
                corners.extend(steps(below, begin, end, self.height).into_iter().rev());
                self.polygon(&corners, color);
            }
            begin = end.max(begin + 1);
        }
    }

    fn polygon(&mut self, corners: &[(i32, i32)], color: Color) {
        let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(self.svg, "<polygon fill=\"{color}\" points=\"{}\"/>", corners.join(" "));
    }

    /// A bar at the top.
    fn bar(&mut self, from: i32, to: i32, color: Color) {
        let (width, height) = (to - from, self.height / 5);
        let _ =
            writeln!(self.svg, "<rect x=\"{from}\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"{color}\"/>");
    }
}

/// The corners of a line of steps.
fn steps(levels: &[i32], begin: usize, end: usize, height: i32) -> Vec<(i32, i32)> {
    let mut points: Vec<(i32, i32)> = Vec::new();
    for (level, place) in levels.iter().zip(0_i32..).take(end).skip(begin) {
        let y = height - level;
        match points.last_mut() {
            Some(last) if last.1 == y => last.0 = (place + 1) * STEP,
            _ => points.extend([(place * STEP, y), ((place + 1) * STEP, y)]),
        }
    }
    points
}

/// The element of a drawing, stretched to the room that it is given.
fn drawn(words: Words<'_>, class: &str, height: i32, draw: impl FnOnce(&mut Marks)) -> String {
    let width = STEP.unsigned_abs() * u32::try_from(BINS).unwrap_or(0);
    let mut marks = Marks { height, svg: String::new() };
    draw(&mut marks);
    let Words { id, title, description, hover } = words;
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-labelledby=\"t-{id} d-{id}\"><title id=\"t-{id}\">{title}</title><desc id=\"d-{id}\">{description}</desc>\n{}{hover}</svg>\n",
        marks.svg
    )
}

#[cfg(test)]
mod tests {
    use super::super::tally::Tally;
    use super::*;

    const WORDS: Words<'_> = Words { id: "x", title: "T", description: "D", hover: "" };

    #[test]
    fn marks_are_drawn_where_the_amounts_are() {
        let mut bins = [0; BINS];
        (bins[1], bins[2], bins[4]) = (5, 10, 1);
        let svg = row(WORDS, &bins, 0);
        let expected = "<svg class=\"low\" viewBox=\"0 0 1280 48\" preserveAspectRatio=\"none\" role=\"img\" \
            aria-labelledby=\"t-x d-x\"><title id=\"t-x\">T</title><desc id=\"d-x\">D</desc>\n\
            <polygon fill=\"#2F6DB5\" points=\"8,24 16,24 16,0 24,0 24,48 8,48\"/>\n\
            <polygon fill=\"#2F6DB5\" points=\"32,44 40,44 40,48 32,48\"/>\n</svg>\n";
        assert_eq!(svg, expected);
    }

    #[test]
    fn values_lie_above_the_marks() {
        let svg = row(Words { hover: "<rect/>\n", ..WORDS }, &[1; BINS], 0);
        assert!(svg.ends_with("\"/>\n<rect/>\n</svg>\n"), "{svg}");
    }

    #[test]
    fn series_stand_on_one_another() {
        let mut tally = Tally::<String>::default();
        for (name, amount) in [("a", 3), ("b", 1)] {
            tally.of(name).count_one(amount);
            tally.of(name).draw(0, amount);
        }
        let svg = stacked(WORDS, &tally.ranked(2), &[0, 1], 4);
        assert!(svg.contains("<polygon fill=\"#2F6DB5\" points=\"0,100 8,100 8,400 0,400\"/>"), "{svg}");
        assert!(svg.contains("<polygon fill=\"#C8541A\" points=\"0,0 8,0 8,100 0,100\"/>"), "{svg}");
    }

    #[test]
    fn losses_are_marked_in_runs() {
        let parts = [Lost::Certain, Lost::Certain, Lost::Nothing, Lost::Possible, Lost::Certain];
        assert_eq!(runs(&parts, Lost::Certain), [(0, 2), (4, 5)]);
        assert_eq!(runs(&parts, Lost::Possible), [(3, 4)]);
    }

    #[test]
    fn losses_are_bars_at_the_top() {
        let mut marks = Marks { height: LOW, svg: String::new() };
        marks.bar(8, 24, CERTAIN);
        assert_eq!(marks.svg, "<rect x=\"8\" y=\"0\" width=\"16\" height=\"9\" fill=\"#D01F1F\"/>\n");
    }

    #[test]
    fn every_colour_has_another_in_the_dark() {
        let style = include_str!("style.css");
        for (color, number) in PALETTE.into_iter().zip(0..) {
            let rule = format!("[fill=\"{color}\"], .c{number}");
            assert!(style.contains(&rule), "{rule}");
        }
        for color in [CERTAIN, POSSIBLE] {
            assert!(style.contains(&format!("[fill=\"{color}\"]")));
        }
        assert_eq!((color_of(12), color_of(13), color_of(24)), (PALETTE[12], PALETTE[1], PALETTE[0]));
    }
}
