//! Lines in braces.

use std::fmt::Display;

/// Lines of a function, as they are written.
pub(super) struct Block<'o> {
    depth: usize,
    out: &'o mut String,
}

impl<'o> Block<'o> {
    /// The body of a function, whose text so far is `out`.
    pub(super) fn new(out: &'o mut String) -> Block<'o> {
        Block { depth: 1, out }
    }

    pub(super) fn line(&mut self, line: impl Display) {
        *self.out += &format!("{:1$}{line}\n", "", 4 * self.depth);
    }

    /// A line, after which lines are one step further in, up to [`close`](Block::close).
    pub(super) fn open(&mut self, head: impl Display) {
        self.line(head);
        self.depth += 1;
    }

    /// Ends as many levels as were opened.
    pub(super) fn close(&mut self, levels: usize) {
        for _ in 0..levels {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// Opens a loop in which `name` counts from 0 to below `extent`.
    pub(super) fn count(&mut self, name: &str, extent: usize) {
        self.open(format_args!(
            "for (int64_t {name} = 0; {name} < INT64_C({extent}); ++{name}) {{"
        ));
    }
}

/// The sum of `terms`, each an index by the name and how much it counts; those that count nothing are left out.
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
