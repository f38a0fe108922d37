use super::{Chart, Ink};

/// Which part of a world a picture shows, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The middle of the picture, east, in the world's unit.
    pub x: f64,
    /// The middle of the picture, north, in the world's unit.
    pub z: f64,
    /// The edge of one pixel in the world's unit; above zero.
    pub scale: f64,
}

/// A mark in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// Pixels from the left.
    pub x: u16,
    /// Pixels from the top.
    pub y: u16,
    /// What it means.
    pub ink: Ink,
}

/// A chart as pixels, each one a meaning that a theme gives a colour or a letter.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: u16,
    /// Rows.
    pub height: u16,
    /// What it shows.
    pub view: View,
    /// Its marks, later ones on top.
    pub dots: Vec<Dot>,
    pixels: Vec<Ink>,
}

/// Empty room around what a fitted view shows, as a part of its size.
const MARGIN: f64 = 0.08;

/// The smallest edge of a pixel: a chart has no finer detail than its squares.
const FINEST: f64 = 1.0 / 16.0;

impl View {
    /// The view that shows all squares of a chart with some room around them; without squares all its marks, and
    /// without these the whole world.
    pub fn fit(chart: &Chart, width: u16, height: u16) -> Self {
        let edge = edge(chart);
        let mut reach = Reach::default();
        for square in chart.squares.iter().filter(|square| square.ink > Ink::Unknown) {
            let (x, z) = (f64::from(square.x) * edge, f64::from(square.z) * edge);
            reach.add(x - edge / 2.0, z - edge / 2.0);
            reach.add(x + edge / 2.0, z + edge / 2.0);
        }
        if reach.is_empty() {
            for mark in &chart.marks {
                reach.add(f64::from(mark.x), f64::from(mark.z));
            }
        }
        if reach.is_empty() {
            let half = chart.radius.map_or(edge * 8.0, f64::from);
            reach.add(-half, -half);
            reach.add(half, half);
        }
        let across = |low: f64, high: f64| ((high - low) * (1.0 + 2.0 * MARGIN)).max(edge);
        let (wide, high) = (across(reach.west, reach.east), across(reach.south, reach.north));
        let scale = (wide / f64::from(width.max(1))).max(high / f64::from(height.max(1)));
        Self {
            x: f64::midpoint(reach.west, reach.east),
            z: f64::midpoint(reach.south, reach.north),
            scale: if scale.is_finite() { scale.max(FINEST) } else { 1.0 },
        }
    }

    /// The same middle, with everything 2^`steps` times as large.
    #[must_use]
    pub fn zoomed(self, steps: i32) -> Self {
        let scale = (self.scale / 2f64.powi(steps.clamp(-24, 24))).max(FINEST);
        Self { scale, ..self }
    }

    /// The same size, with the middle moved by so many pixels to the east and the north.
    #[must_use]
    pub fn moved(self, east: f64, north: f64) -> Self {
        Self { x: self.x + east * self.scale, z: self.z + north * self.scale, ..self }
    }

    /// A round length that a scale bar of at most `most` pixels can show: its pixels, and its length in the world's
    /// unit (1, 2 or 5 times a power of ten). None when there is no room for a bar.
    pub fn bar(self, most: u16) -> Option<(u16, f64)> {
        let longest = f64::from(most) * self.scale;
        if most < 2 || !longest.is_finite() || longest <= 0.0 {
            return None;
        }
        let power = 10f64.powf(longest.log10().floor());
        let length = [5.0, 2.0, 1.0].into_iter().map(|step| step * power).find(|length| *length <= longest)?;
        let pixels = pixel((length / self.scale).round(), most)?;
        (pixels >= 1).then_some((pixels, length))
    }
}

impl Picture {
    /// Draws a chart. Where several squares fall on one pixel the strongest meaning wins, so that a single building
    /// is still seen from far away.
    pub fn draw(chart: &Chart, view: View, width: u16, height: u16) -> Self {
        let edge = edge(chart);
        let (west, north) =
            (view.x - view.scale * f64::from(width) / 2.0, view.z + view.scale * f64::from(height) / 2.0);
        let mut picture = Self {
            width,
            height,
            view,
            dots: Vec::new(),
            pixels: vec![Ink::Unknown; usize::from(width) * usize::from(height)],
        };
        if let Some(radius) = chart.radius.map(f64::from) {
            picture.cut_off(west, north, radius);
        }
        for square in &chart.squares {
            let left = ((f64::from(square.x) - 0.5) * edge - west) / view.scale;
            let top = (north - (f64::from(square.z) + 0.5) * edge) / view.scale;
            let size = edge / view.scale;
            picture.fill(span(left, size, width), span(top, size, height), square.ink);
        }
        for mark in &chart.marks {
            let x = pixel(((f64::from(mark.x) - west) / view.scale).floor(), width);
            let y = pixel(((north - f64::from(mark.z)) / view.scale).floor(), height);
            if let (Some(x), Some(y)) = (x, y) {
                picture.dots.push(Dot { x, y, ink: mark.ink });
            }
        }
        picture
    }

    /// What a pixel means; outside the picture it is void.
    pub fn ink(&self, x: u16, y: u16) -> Ink {
        if x >= self.width || y >= self.height {
            return Ink::Void;
        }
        self.pixels.get(usize::from(y) * usize::from(self.width) + usize::from(x)).copied().unwrap_or(Ink::Void)
    }

    fn cut_off(&mut self, west: f64, north: f64, radius: f64) {
        let inside = |at: f64| at.abs() <= radius;
        let rows = self.pixels.chunks_mut(usize::from(self.width.max(1)));
        for (y, row) in (0u16..).zip(rows) {
            let z = north - (f64::from(y) + 0.5) * self.view.scale;
            for (x, pixel) in (0u16..).zip(row) {
                if !inside(z) || !inside(west + (f64::from(x) + 0.5) * self.view.scale) {
                    *pixel = Ink::Void;
                }
            }
        }
    }

    fn fill(&mut self, columns: Option<(u16, u16)>, rows: Option<(u16, u16)>, ink: Ink) {
        let (Some((left, right)), Some((top, bottom))) = (columns, rows) else { return };
        for y in top..=bottom {
            let start = usize::from(y) * usize::from(self.width);
            let row = self.pixels.get_mut(start + usize::from(left)..=start + usize::from(right));
            for pixel in row.into_iter().flatten() {
                *pixel = (*pixel).max(ink);
            }
        }
    }
}

#[derive(Default)]
struct Reach {
    any: bool,
    west: f64,
    east: f64,
    south: f64,
    north: f64,
}

impl Reach {
    fn is_empty(&self) -> bool {
        !self.any
    }

    fn add(&mut self, x: f64, z: f64) {
        if !x.is_finite() || !z.is_finite() {
            return;
        }
        if !self.any {
            *self = Self { any: true, west: x, east: x, south: z, north: z };
        }
        self.west = self.west.min(x);
        self.east = self.east.max(x);
        self.south = self.south.min(z);
        self.north = self.north.max(z);
    }
}

/// The edge of a square, or 1 where a chart gives none that can be.
fn edge(chart: &Chart) -> f64 {
    let edge = f64::from(chart.edge);
    if edge.is_finite() && edge > 0.0 { edge } else { 1.0 }
}

/// The pixels that a stretch covers, cut to the picture; at least one when it begins inside.
fn span(start: f64, size: f64, limit: u16) -> Option<(u16, u16)> {
    let end = start + size;
    if !start.is_finite() || !end.is_finite() || end <= 0.0 || start >= f64::from(limit) {
        return None;
    }
    let first = pixel(start.floor().max(0.0), limit)?;
    let last = pixel((end.ceil() - 1.0).clamp(f64::from(first), f64::from(limit) - 1.0), limit)?;
    Some((first, last))
}

/// A whole number as a pixel, when it lies in `0..=limit`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // The range is checked in the same line.
fn pixel(at: f64, limit: u16) -> Option<u16> {
    (at >= 0.0 && at <= f64::from(limit)).then_some(at as u16)
}

#[cfg(test)]
mod tests {
    use super::{Picture, View};
    use crate::raster::{Chart, Ink, Mark, Square};

    fn chart(squares: &[(i32, i32, Ink)]) -> Chart {
        Chart {
            edge: 64.0,
            unit: "m",
            radius: Some(10_500.0),
            squares: squares.iter().map(|(x, z, ink)| Square { x: *x, z: *z, ink: *ink }).collect(),
            marks: vec![Mark { x: 0.0, z: 0.0, ink: Ink::Start, label: "start".to_owned() }],
            layers: vec!["zones"],
            notes: Vec::new(),
        }
    }

    fn rows(picture: &Picture) -> Vec<String> {
        let letter = |ink| match ink {
            Ink::Void => ' ',
            Ink::Unknown => '.',
            Ink::Generated => 'g',
            _ => 'B',
        };
        (0..picture.height).map(|y| (0..picture.width).map(|x| letter(picture.ink(x, y))).collect()).collect()
    }

    #[test]
    fn north_is_up_and_east_is_right() {
        let chart = chart(&[(0, 0, Ink::Generated), (1, 1, Ink::Built)]);
        let view = View { x: 32.0, z: 32.0, scale: 64.0 };
        assert_eq!(rows(&Picture::draw(&chart, view, 4, 4)), ["....", "..B.", ".g..", "...."]);
    }

    #[test]
    fn the_strongest_meaning_wins_where_squares_share_a_pixel() {
        let chart = chart(&[(0, 0, Ink::Built), (1, 0, Ink::Generated), (2, 0, Ink::Generated)]);
        let view = View { x: 64.0, z: 0.0, scale: 256.0 };
        let picture = Picture::draw(&chart, view, 1, 1);
        assert_eq!(picture.ink(0, 0), Ink::Built);
        assert_eq!(picture.ink(1, 0), Ink::Void);
    }

    #[test]
    fn a_fitted_view_holds_every_square_at_any_size() {
        let chart = chart(&[(-40, 3, Ink::Generated), (25, -17, Ink::Built), (3, 90, Ink::Generated)]);
        for (width, height) in [(1, 1), (2, 2), (7, 30), (60, 60), (200, 8)] {
            let view = View::fit(&chart, width, height);
            let picture = Picture::draw(&chart, view, width, height);
            let seen = rows(&picture).concat();
            assert!(seen.contains('B'), "{width}x{height}");
            for square in &chart.squares {
                let (x, z) = (f64::from(square.x) * 64.0, f64::from(square.z) * 64.0);
                assert!((x - view.x).abs() <= view.scale * f64::from(width) / 2.0, "{width}x{height}");
                assert!((z - view.z).abs() <= view.scale * f64::from(height) / 2.0, "{width}x{height}");
            }
        }
    }

    #[test]
    fn a_chart_without_squares_shows_its_marks_or_the_whole_world() {
        let mut empty = chart(&[]);
        empty.marks.clear();
        let view = View::fit(&empty, 60, 60);
        assert!((view.scale * 60.0 - 21_000.0 * 1.16).abs() < 1.0);
        let picture = Picture::draw(&empty, view, 60, 60);
        assert_eq!((picture.ink(0, 0), picture.ink(30, 30)), (Ink::Void, Ink::Unknown));
    }

    #[test]
    fn numbers_that_are_none_do_no_harm() {
        let mut odd = chart(&[(i32::MAX, i32::MIN, Ink::Built), (i32::MIN, 0, Ink::Generated)]);
        odd.edge = f32::MAX;
        odd.radius = Some(f32::NAN);
        odd.marks.push(Mark { x: f32::NAN, z: f32::INFINITY, ink: Ink::Bed, label: String::new() });
        for edge in [f32::MAX, f32::NAN, 0.0, -1.0, f32::MIN_POSITIVE] {
            odd.edge = edge;
            for (width, height) in [(0, 0), (0, 5), (3, 0), (40, 40)] {
                let view = View::fit(&odd, width, height).zoomed(30).moved(1e300, -1e300);
                let picture = Picture::draw(&odd, view, width, height);
                assert!(picture.dots.len() <= odd.marks.len());
                let _ = view.bar(width);
            }
        }
    }

    #[test]
    fn a_scale_bar_is_a_round_length_that_fits() {
        let view = View { x: 0.0, z: 0.0, scale: 100.0 };
        assert_eq!(view.bar(30), Some((20, 2000.0)));
        assert_eq!(view.bar(12), Some((10, 1000.0)));
        assert_eq!(view.bar(1), None);
    }

    #[test]
    fn marks_lie_on_their_pixel() {
        let view = View { x: 0.0, z: 0.0, scale: 10.0 };
        let picture = Picture::draw(&chart(&[]), view, 10, 10);
        assert_eq!(picture.dots.iter().map(|d| (d.x, d.y, d.ink)).collect::<Vec<_>>(), [(5, 5, Ink::Start)]);
        assert!(Picture::draw(&chart(&[]), view.moved(100.0, 0.0), 10, 10).dots.is_empty());
    }
}
