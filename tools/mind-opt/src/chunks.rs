//! Implements `--split-input-file`.

use std::ops::Range;

/// The separator line in the output. In the input a name for failure messages may follow it.
const SEPARATOR: &str = "# -----";

/// The separator lines in the input. The second is for formats whose comments start with `//`, for example MIL.
const SEPARATORS: [&str; 2] = [SEPARATOR, "// -----"];

/// Returns the byte ranges of the parts between separator lines.
pub(super) fn chunks(text: &str) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if SEPARATORS.iter().any(|own| line.starts_with(own)) {
            parts.push(start..at);
            start = next;
        }
        at = next;
    }
    parts.push(start..text.len());
    parts
}

/// Joins printed parts with separator lines.
pub(super) fn join(parts: &[String]) -> String {
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(SEPARATOR);
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_between_separator_lines() {
        let text = "a\n# -----\nb\nc\n# ----- name\n";
        let parts: Vec<&str> = chunks(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(parts, ["a\n", "b\nc\n", ""]);
        assert_eq!(chunks("a\n// -----\nb\n"), [0..2, 11..13]);
        assert_eq!(chunks("a"), vec![0..1; 1]);
    }

    #[test]
    fn joined_parts_have_one_line_end_before_each_separator() {
        assert_eq!(join(&["a\n".into(), "b".into()]), "a\n# -----\nb");
        assert_eq!(join(&["a".into()]), "a");
    }
}
