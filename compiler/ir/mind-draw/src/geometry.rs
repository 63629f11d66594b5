//! Points and rectangles of a drawing.

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Area {
    /// The left border.
    pub x: i64,
    /// The upper border.
    pub y: i64,
    /// The width.
    pub width: i64,
    /// The height.
    pub height: i64,
}

/// A point of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Distance from the left border of the paper.
    pub x: i64,
    /// Distance from its upper border.
    pub y: i64,
}
