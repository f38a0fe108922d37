/// What a part of a map means; themes and palettes give it a colour, a letter and a place in the drawing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ink {
    /// Outside the world.
    Void,
    /// Inside the world, never generated.
    Unknown,
    /// Generated: somebody was near.
    Generated,
    /// Generated, with things that players built.
    Built,
    /// A location that players came near.
    Location,
    /// Where players start.
    Start,
    /// A portal.
    Portal,
    /// A bed.
    Bed,
}

/// One square of a map's grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// East, in squares.
    pub x: i32,
    /// North, in squares.
    pub z: i32,
    /// What it means.
    pub ink: Ink,
}

/// One named point.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// East, in the world's unit (metres, blocks).
    pub x: f32,
    /// North, in the world's unit; games with south as positive turn it round before they get here.
    pub z: f32,
    /// What it means.
    pub ink: Ink,
    /// Its name, untrusted text.
    pub label: String,
}

/// What a map of a layer shows, in the world's own coordinates: the answer of a game, and the input of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Edge of one square in the world's unit; square (x, z) covers `(x - 0.5) * edge .. (x + 0.5) * edge`.
    pub edge: f32,
    /// Name of the world's unit, such as `m`.
    pub unit: &'static str,
    /// Half the edge of the world in its unit, when the world has an end.
    pub radius: Option<f32>,
    /// Squares that are not [`Ink::Unknown`].
    pub squares: Vec<Square>,
    /// Points, later ones on top.
    pub marks: Vec<Mark>,
    /// Words for the pane's title: what is drawn, such as `zones`, `locations`.
    pub layers: Vec<&'static str>,
    /// What a person should know about the picture, such as "12 zones far outside are not drawn".
    pub notes: Vec<String>,
}
