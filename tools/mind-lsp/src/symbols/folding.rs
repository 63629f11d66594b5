//! Folding ranges.

use lsp_types::{FoldingRange, FoldingRangeKind};

use super::outline;
use crate::view::View;

/// Returns the ranges of functions, rules, blocks in braces and consecutive comments, each from its first line to its
/// last.
pub(crate) fn folding(view: View<'_>) -> Vec<FoldingRange> {
    let lines: Vec<&str> = view.text().lines().collect();
    let mut found = blocks(&lines, view.analysis.language.comment());
    for symbol in outline(view) {
        // A rule extends to the next one; blank lines between them are not folded.
        let (start, last) = (symbol.range.start.line, symbol.range.end);
        let mut end = last.line - u32::from(last.character == 0 && last.line > start);
        while end > start && is_blank(&lines, end) {
            end -= 1;
        }
        let same = |own: &FoldingRange| own.start_line == start;
        if end > start && !found.iter().any(same) {
            found.push(fold(start, end, None));
        }
    }
    found.sort_by_key(|fold| (fold.start_line, fold.end_line));
    found
}

fn is_blank(lines: &[&str], line: u32) -> bool {
    lines
        .get(line as usize)
        .is_none_or(|line| line.trim().is_empty())
}

/// Returns blocks whose opening brace ends a line and whose closing brace starts one, and comments of several lines.
fn blocks(lines: &[&str], comment: &str) -> Vec<FoldingRange> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let mut comments: Option<u32> = None;
    for (number, line) in (0u32..).zip(lines) {
        let line = line.trim();
        let is_comment = line.starts_with(comment);
        if let Some(first) = comments.filter(|_| !is_comment) {
            if number - first > 1 {
                found.push(fold(first, number - 1, Some(FoldingRangeKind::Comment)));
            }
            comments = None;
        }
        if is_comment {
            comments = comments.or(Some(number));
            continue;
        }
        if line.starts_with('}')
            && let Some(first) = open.pop()
            && number > first
        {
            found.push(fold(first, number, None));
        }
        if line.ends_with('{') {
            open.push(number);
        }
    }
    let count = lines.len() as u32;
    if let Some(first) = comments.filter(|first| count - first > 1) {
        found.push(fold(first, count - 1, Some(FoldingRangeKind::Comment)));
    }
    found
}

fn fold(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange {
        start_line,
        end_line,
        kind,
        ..FoldingRange::default()
    }
}
