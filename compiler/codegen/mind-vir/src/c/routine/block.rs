//! Lines in braces.

use std::fmt::Display;

/// The lines of a function body.
pub(super) struct Block<'o> {
    depth: usize,
    out: &'o mut String,
}

impl<'o> Block<'o> {
    /// Returns the body of a function whose text so far is `out`.
    pub(super) fn new(out: &'o mut String) -> Block<'o> {
        Block { depth: 1, out }
    }

    pub(super) fn line(&mut self, line: impl Display) {
        *self.out += &format!("{:1$}{line}\n", "", 4 * self.depth);
    }

    /// Writes a line and indents the following ones, up to [`close`](Block::close).
    pub(super) fn open(&mut self, head: impl Display) {
        self.line(head);
        self.depth += 1;
    }

    /// Closes `levels` levels.
    pub(super) fn close(&mut self, levels: usize) {
        for _ in 0..levels {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// Opens a loop in which `name` runs from 0 to `extent` (exclusive).
    pub(super) fn count(&mut self, name: &str, extent: usize) {
        self.open(format_args!(
            "for (int64_t {name} = 0; {name} < INT64_C({extent}); ++{name}) {{"
        ));
    }
}

/// Returns the sum of `terms`, each an index times its stride; strides of 0 are skipped.
pub(super) fn sum<'a>(terms: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let terms = terms.into_iter().filter(|&(_, factor)| factor != 0);
    let terms: Vec<String> = terms
        .map(|(name, factor)| match factor {
            1 => name.to_owned(),
            factor => format!("{name} * {factor}"),
        })
        .collect();
    if terms.is_empty() {
        "0".to_owned()
    } else {
        terms.join(" + ")
    }
}
