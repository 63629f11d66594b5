//! A cheap scan of a rule file that extracts the headers of its rules without parsing them.

use std::ops::Range;

/// A rule in a file.
pub struct Cut<'t> {
    /// Its byte range in the file.
    pub bytes: Range<usize>,
    /// The line number of its first line, from 1.
    pub line: usize,
    pub name: &'t str,
    /// The dotted words, which include all ops, of each side that is matched.
    pub words: Vec<Vec<&'t str>>,
    /// Whether one word of a side is sufficient, because a fusion has alternatives.
    pub has_alternatives: bool,
    pub is_exact: bool,
    /// The name of the variant of `Engine`.
    pub engine: &'static str,
    /// Whether it is applied after all rules of other phases, because it is in the phase `idiom` or a fusion.
    pub is_late: bool,
}

/// Returns the rules of a file, in order.
pub fn rules(text: &str) -> impl Iterator<Item = Cut<'_>> {
    let (mut at, mut heads) = (0, Vec::new());
    for (line, own) in text.split_inclusive('\n').enumerate() {
        if own.starts_with("rule ") || own.starts_with("fusion ") {
            heads.push((at, line + 1));
        }
        at += own.len();
    }
    let ends: Vec<usize> = (heads.iter().skip(1).map(|&(at, _)| at))
        .chain([text.len()])
        .collect();
    let heads = heads.into_iter().zip(ends);
    heads.map(|((start, line), end)| rule(&text[start..end], start..end, line))
}

/// Scans the rule whose text is `text`.
fn rule(text: &str, bytes: Range<usize>, line: usize) -> Cut<'_> {
    let mut lines = text.lines();
    let mut head = lines.next().unwrap_or("").split_ascii_whitespace();
    let is_fusion = head.next() == Some("fusion");
    let mut cut = Cut {
        bytes,
        line,
        name: head.next().unwrap_or(""),
        words: Vec::new(),
        has_alternatives: is_fusion,
        is_exact: false,
        engine: "Egraph",
        is_late: is_fusion,
    };
    if is_fusion {
        cut.words = vec![dotted(text)];
    }
    for line in lines {
        let line = line.trim_start();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "class" => cut.is_exact = rest == "exact",
            "engine" => {
                cut.engine = match rest {
                    "greedy" => "Greedy",
                    "both" => "Both",
                    _ => "Egraph",
                }
            }
            "phase" => cut.is_late = rest == "idiom",
            "for" | "where" | "kind" | "#" => {}
            _ => {
                // The sides are the last clause apart from the source.
                if !is_fusion {
                    cut.words = left_sides(line);
                }
                break;
            }
        }
    }
    cut
}

/// Returns the dotted words of the left side in the line `sides`; of each side if the rule is bidirectional.
fn left_sides(sides: &str) -> Vec<Vec<&str>> {
    match sides.split_once(" <=> ") {
        Some((left, right)) => vec![dotted(left), dotted(right)],
        None => {
            let left = sides.split_once(" => ").map_or(sides, |(left, _)| left);
            vec![dotted(left)]
        }
    }
}

/// Returns the distinct words of `text` of the form `dialect.op`, for example `core.add`, without the result number
/// that follows the op in `core.sort.0`.
fn dotted(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let begins = |text: &str, is: fn(&char) -> bool| text.chars().next().is_some_and(|c| is(&c));
    let words = text.split(|c| !is_part(c)).filter(|word| {
        word.split_once('.').is_some_and(|(dialect, op)| {
            begins(dialect, char::is_ascii_alphabetic) && begins(op, char::is_ascii_alphanumeric)
        })
    });
    let mut found: Vec<&str> = words.map(without_result).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the op of a word such as `core.sort.0`, which names one result of it.
fn without_result(word: &str) -> &str {
    match word.rsplit_once('.') {
        Some((op, number)) if number.parse::<usize>().is_ok() => op,
        _ => word,
    }
}
