//! Carries comments from a source text over to its canonical form.
//!
//! A comment belongs to a statement: the one that ends on its line, else the one that encloses it, else the next one.
//! Statements of the two texts are matched by the name they define (a value, type or symbol), or by their order if they
//! define no name.

use std::collections::HashMap;
use std::ops::Range;

use crate::formats::Format;
use mind_diag::{Diagnostic, Diagnostics, Span};

use super::lines;
#[cfg(feature = "mil")]
use super::mil;
use super::split::Split;

/// Identifies a statement in both texts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    word: String,
    /// Number of preceding statements with the same word.
    repeat: usize,
}

/// Positions of the comments of one statement.
#[derive(Default, Debug)]
struct Comments {
    above: Vec<Range<usize>>,
    trailing: Option<Range<usize>>,
}

impl Comments {
    /// Returns the comments in text order.
    fn ranges(&self) -> impl Iterator<Item = &Range<usize>> {
        self.above.iter().chain(&self.trailing)
    }
}

/// Inserts the comments of `source` into `printed`, its canonical form.
///
/// # Errors
///
/// Errors if a comment belongs to a statement that `printed` lacks.
pub(super) fn carry_over(
    source: &str,
    printed: &str,
    format: Format,
) -> Result<String, Diagnostics> {
    let (mut found, rest) = collect(source, format);
    let mut text = String::with_capacity(source.len());
    let mut keys = Keys::new(format);
    for (number, line) in printed.lines().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let statement = line.trim_start();
        let comments = found.remove(&keys.next(statement)).unwrap_or_default();
        for place in comments.above {
            text.push_str(&line[..line.len() - statement.len()]);
            text.push_str(&source[place]);
            text.push('\n');
        }
        text.push_str(line);
        if let Some(place) = comments.trailing {
            text.push_str("  ");
            text.push_str(&source[place]);
        }
    }
    let left = found.values().flat_map(Comments::ranges);
    if let Some(place) = left.min_by_key(|place| place.start) {
        let span = Span::new(place.start as u32, place.end as u32);
        return Err(Diagnostic::error(span, "this comment cannot be kept")
            .label("the canonical form has no line for it")
            .help("`--drop-comments` formats without comments")
            .into());
    }
    for place in rest {
        text.push('\n');
        text.push_str(&source[place]);
    }
    Ok(text)
}

/// Returns the comments of each statement, and those after the last statement.
fn collect(source: &str, format: Format) -> (HashMap<Key, Comments>, Vec<Range<usize>>) {
    let Split {
        statements,
        comments,
    } = split(source, format);
    let (mut found, mut keys) = (HashMap::new(), Keys::new(format));
    let mut comments = comments.into_iter().peekable();
    let mut statements = statements.into_iter().peekable();
    while let Some(statement) = statements.next() {
        let end = statement.place.end;
        let mut own = Comments::default();
        while let Some(place) = comments.next_if(|place| place.start < end) {
            own.above.push(place);
        }
        let next = statements
            .peek()
            .map_or(source.len(), |next| next.place.start);
        own.trailing = comments
            .next_if(|place| place.start < next && !source[end..place.start].contains('\n'));
        let key = keys.next(&statement.code);
        if own.ranges().next().is_some() {
            found.insert(key, own);
        }
    }
    (found, comments.collect())
}

fn split(source: &str, format: Format) -> Split {
    match format {
        Format::Mic1 | Format::Mic2 | Format::Core => lines::split(source),
        #[cfg(feature = "mil")]
        Format::Mil | Format::MilPrimer => mil::split(source),
    }
}

/// Assigns keys to statements in text order.
struct Keys {
    format: Format,
    seen: HashMap<String, usize>,
}

impl Keys {
    fn new(format: Format) -> Keys {
        Keys {
            format,
            seen: HashMap::new(),
        }
    }

    fn next(&mut self, statement: &str) -> Key {
        let word = match self.format {
            Format::Mic1 | Format::Mic2 | Format::Core => lines::word(statement, self.format),
            #[cfg(feature = "mil")]
            Format::Mil | Format::MilPrimer => mil::word(statement),
        };
        let count = self.seen.entry(word.clone()).or_default();
        let repeat = *count;
        *count += 1;
        Key { word, repeat }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(source: &str, printed: &str, format: Format) -> String {
        carry_over(source, printed, format).unwrap_or_else(|found| panic!("{found:?}"))
    }

    #[test]
    fn comments_stay_with_what_they_stand_at() {
        let source =
            "# top\nmic@2 # two\nT0 f32   2\n# a\n# b\na X  T0\n\n r 0   # relu\nO 1\n# end\n";
        let printed = "mic@2\nT0 f32 2\na X T0\nr 0\nO 1";
        let expected = "# top\nmic@2  # two\nT0 f32 2\n# a\n# b\na X T0\nr 0  # relu\nO 1\n# end";
        assert_eq!(carried(source, printed, Format::Mic2), expected);
        assert_eq!(carried(expected, printed, Format::Mic2), expected);
    }

    #[test]
    fn what_moved_is_found_by_its_name() {
        let source = "mic@1\nN0 input S0 T0 # x\nT0 f32 # t\nS0 \"a # b\"  # s\nO N0\n";
        let printed = "mic@1\nS0 \"a # b\"\nT0 f32\nN0 input S0 T0\nO N0";
        let expected = "mic@1\nS0 \"a # b\"  # s\nT0 f32  # t\nN0 input S0 T0  # x\nO N0";
        assert_eq!(carried(source, printed, Format::Mic1), expected);
    }

    #[test]
    fn entries_of_tables_are_known_by_what_they_say() {
        let source = "mic@1\nT0 f64\nT1 [f32; 2,3]  # used\nN0 input S0 T1\n";
        let printed = "mic@1\nT0 [f32;2,3]\nN0 input S0 T0";
        let expected = "mic@1\nT0 [f32;2,3]  # used\nN0 input S0 T0";
        assert_eq!(carried(source, printed, Format::Mic1), expected);
    }

    #[test]
    fn what_went_takes_no_comment_along() {
        let source = "mic@1\nT0 f32\nT1 f64 # unused\nN0 input S0 T0\n";
        let printed = "mic@1\nT0 f32\nN0 input S0 T0";
        let found = carry_over(source, printed, Format::Mic1).unwrap_err();
        let spans: Vec<Span> = found.iter().map(|error| error.span).collect();
        assert_eq!(spans, [Span::new(20, 28)]);
    }

    #[test]
    fn statements_of_mil_may_span_lines_and_share_them() {
        let source = "\
program(1.3) // version
{ // a model
  func main<ios18>(
    // the input
    fp16 x) {
    fp16 y = relu(x = // of x
      x); fp16 z = exp(x = y); // both
    // out
  } -> (z);
}
// end";
        let printed = "\
program(1.3)
[]
{
    func main<ios18>(fp16 x) {
            fp16 y = relu(x = x);
            fp16 z = exp(x = y);
        } -> (z);
}";
        let expected = "\
program(1.3)  // version
[]
{  // a model
    // the input
    func main<ios18>(fp16 x) {
            // of x
            fp16 y = relu(x = x);
            fp16 z = exp(x = y);  // both
        // out
        } -> (z);
}
// end";
        assert_eq!(carried(source, printed, Format::Mil), expected);
        assert_eq!(carried(expected, printed, Format::Mil), expected);
    }
}
