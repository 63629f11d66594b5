//! Line diffs.

use similar::TextDiff;

/// Limit on the lines, old and new together, that are compared.
const COMPARED: usize = 8000;

/// Returns the unified diff of two texts with two lines of context; empty if they are equal.
///
/// Common leading and trailing lines are skipped. If more than 8000 lines are left, only their number is
/// reported, because computing a minimal diff would take too long.
pub fn unified(old: &str, new: &str, names: (&str, &str)) -> String {
    if old == new {
        return String::new();
    }
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let ends = before[same..].iter().rev().zip(after[same..].iter().rev());
    let ends = ends.take_while(|(a, b)| a == b).count();
    let (gone, come) = (before.len() - same - ends, after.len() - same - ends);
    if gone + come > COMPARED {
        let (from, to) = names;
        let first = same + 1;
        return format!(
            "--- {from}\n+++ {to}\n@@ from line {first} on, {gone} lines are replaced by {come} lines @@\n"
        );
    }
    let diff = TextDiff::from_lines(old, new);
    let mut shown = diff.unified_diff();
    shown.context_radius(2).header(names.0, names.1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_changes_are_shown_line_by_line() {
        let text = unified("a\nb\nc\n", "a\nx\nc\n", ("old", "new"));
        assert_eq!(text, "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
        assert_eq!(unified("a\n", "a\n", ("old", "new")), "");
    }

    #[test]
    fn many_changes_are_counted() {
        let numbered =
            |word: &str| -> String { (0..9000).map(|n| format!("{word} {n}\n")).collect() };
        let text = unified(&numbered("a"), &numbered("b"), ("old", "new"));
        assert_eq!(
            text,
            "--- old\n+++ new\n@@ from line 1 on, 9000 lines are replaced by 9000 lines @@\n"
        );
    }
}
