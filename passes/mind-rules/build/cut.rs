//! What can be told of the rules of a file without parsing them.

use std::ops::Range;

/// A rule of a file.
pub struct Cut<'t> {
    /// Where it begins and ends in the text of the file.
    pub bytes: Range<usize>,
    /// The line where it begins, from 1.
    pub line: usize,
    pub name: &'t str,
    /// The words with a dot on each side from which it may act; ops are among them.
    pub words: Vec<Vec<&'t str>>,
    /// Whether one word of its sides is enough: a fusion has alternatives.
    pub has_alternatives: bool,
    pub is_exact: bool,
    /// The variant of `Engine`.
    pub engine: &'static str,
    /// Whether it acts after all rules of other phases, in the phase of idioms or as a fusion.
    pub is_late: bool,
}

/// The rules of a file, in order.
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

/// The rule that is `text`.
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
                // No clause is below the sides but the source.
                if !is_fusion {
                    cut.words = left_sides(line);
                }
                break;
            }
        }
    }
    cut
}

/// The words with a dot of the left side of `sides`, a line; of each side if they are read both ways.
fn left_sides(sides: &str) -> Vec<Vec<&str>> {
    match sides.split_once(" <=> ") {
        Some((left, right)) => vec![dotted(left), dotted(right)],
        None => {
            let left = sides.split_once(" => ").map_or(sides, |(left, _)| left);
            vec![dotted(left)]
        }
    }
}

/// The words of `text` that begin with a letter and have a dot before another letter or digit, each once; without the
/// number of a result behind them.
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

/// The op in `core.sort.0`, which names a result of it.
fn without_result(word: &str) -> &str {
    match word.rsplit_once('.') {
        Some((op, number)) if number.parse::<usize>().is_ok() => op,
        _ => word,
    }
}
