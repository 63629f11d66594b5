//! Differences between texts, line by line.

use similar::TextDiff;

/// The unified diff of two texts, with three lines of context.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    unified_with(3, old, new, old_name, new_name)
}

/// The unified diff of two texts, with as many lines of context; like Python's, it passes over a missing
/// last newline.
pub fn unified_with(
    context: usize,
    old: &str,
    new: &str,
    old_name: &str,
    new_name: &str,
) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(context)
        .missing_newline_hint(false)
        .header(old_name, new_name)
        .to_string()
}

/// How blanks count in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blanks {
    /// As they are.
    Count,
    /// CR LF is LF.
    StripReturn,
    /// Every run is one blank, and none at a line's ends.
    Squeeze,
    /// Not at all.
    Ignore,
}

impl Blanks {
    /// The text with the blanks that don't count removed.
    pub fn normalize(self, text: &str) -> String {
        let words = |glue: &str| {
            let lines = text
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(glue) + "\n");
            lines.collect()
        };
        match self {
            Blanks::Count => text.to_owned(),
            Blanks::StripReturn => text.replace("\r\n", "\n"),
            Blanks::Squeeze => words(" "),
            Blanks::Ignore => words(""),
        }
    }
}
