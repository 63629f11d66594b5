//! Line-based differences between texts.

use similar::TextDiff;

/// Returns the unified diff of two texts, with three lines of context.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    unified_with(3, old, new, old_name, new_name)
}

/// Returns the unified diff of two texts, with the given number of context lines. Like Python's diff, it ignores a
/// missing last newline.
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

/// The treatment of whitespace in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blanks {
    /// It is compared.
    Count,
    /// CR LF is equal to LF.
    StripReturn,
    /// Runs of whitespace are equal to one space, and whitespace at the ends of lines is ignored.
    Squeeze,
    /// It is ignored.
    Ignore,
}

impl Blanks {
    /// Returns the text without the whitespace that is ignored.
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
