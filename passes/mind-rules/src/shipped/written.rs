//! The shipped files, cut into rules, each parsed when it is first asked for.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use mind_diag::Diagnostics;
use rustc_hash::FxHashSet;

use super::files::SHIPPED;
use crate::language::ast::RuleAst;
use crate::language::ops::split_result;
use crate::language::{RuleLocation, header, parse_from};
use crate::ruleset::rule_info::RuleInfo;

/// A shipped rule as it is written.
pub(crate) struct Written {
    /// Which of the files it is in, from 0.
    pub(crate) file: usize,
    place: RuleLocation<'static>,
    /// Where it begins and ends in the text of the file.
    bytes: Range<usize>,
    pub(super) name: &'static str,
    /// The words with a dot on each side from which it may act; ops are among them.
    sides: Vec<Vec<&'static str>>,
    /// Whether one of those words is enough: a fusion has alternatives.
    has_alternatives: bool,
    /// Whether it acts after all rules of other phases, in the phase of idioms or as a fusion.
    pub(super) is_late: bool,
    parsed: OnceLock<Parsed>,
}

/// What a shipped rule says.
pub(crate) struct Parsed {
    pub(crate) info: RuleInfo,
    pub(crate) rule: RuleAst<'static>,
}

impl Written {
    fn new(file: usize, place: RuleLocation<'static>, bytes: Range<usize>) -> Written {
        let text = &SHIPPED[file].1[bytes.clone()];
        let is_fusion = text.starts_with("fusion ");
        Written {
            file,
            place,
            bytes,
            name: text.split_ascii_whitespace().nth(1).unwrap_or(""),
            sides: left_sides(text),
            has_alternatives: is_fusion,
            is_late: is_fusion || text.contains("\n  phase idiom\n"),
            parsed: OnceLock::new(),
        }
    }

    /// Whether it may act where only ops of `set` are; parsing says whether it can.
    pub(super) fn may_act(&self, set: &FxHashSet<&'static str>) -> bool {
        let mut sides = self.sides.iter();
        sides.any(|words| {
            let mut words = words.iter();
            if self.has_alternatives {
                words.any(|word| set.contains(word))
            } else {
                words.all(|word| set.contains(word))
            }
        })
    }

    pub(crate) fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| {
            let text = SHIPPED[self.file].1;
            // Tests hold that there are no mistakes.
            let mut found = Diagnostics::new();
            let rules = parse_from(&text[..self.bytes.end], self.bytes.start, &mut found);
            let rule = rules.into_iter().next().expect("a shipped rule parses");
            let info = header::info(&rule, self.place, text, &mut found);
            Parsed { info, rule }
        })
    }
}

/// The words with a dot of the left side of a rule; of both sides if it is read both ways, of the whole text if it has
/// no sides.
fn left_sides(text: &str) -> Vec<Vec<&str>> {
    let sides = text.match_indices("=> ").find_map(|(arrow, _)| {
        let line = text[..arrow].rfind('\n')? + 1;
        let left = text[line..arrow].trim_start();
        let is_clause = left.starts_with("source ") || left.starts_with('#');
        let right = text[arrow..].lines().next()?;
        (!is_clause).then_some((left, right))
    });
    let Some((left, right)) = sides else {
        return vec![dotted(text)];
    };
    match left.strip_suffix('<') {
        Some(left) => vec![dotted(left), dotted(right)],
        None => vec![dotted(left)],
    }
}

/// The words of `text` with a dot between two letters or digits, that begin with a letter and are no list.
fn dotted(text: &str) -> Vec<&str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let bytes = text.as_bytes();
    let word = |(dot, _): (usize, &str)| {
        let before = bytes[..dot]
            .iter()
            .rev()
            .take_while(|byte| is_part(byte))
            .count();
        let behind = bytes[dot + 1..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let word = &text[dot - before..=dot + behind];
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains("..");
        (is_name && before > 0 && behind > 0).then(|| split_result(word).0)
    };
    text.match_indices('.').filter_map(word).collect()
}

/// All shipped rules, in the order of the files. Each begins a line.
pub(super) static WRITTEN: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (number, &(name, text)) in SHIPPED.iter().enumerate() {
        let (mut at, mut heads) = (0, Vec::new());
        for (line, own) in text.split_inclusive('\n').enumerate() {
            if own.starts_with("rule ") || own.starts_with("fusion ") {
                heads.push((at, line + 1));
            }
            at += own.len();
        }
        let ends = heads.iter().skip(1).map(|&(at, _)| at).chain([text.len()]);
        for (&(start, line), end) in heads.iter().zip(ends) {
            let place = RuleLocation { file: name, line };
            all.push(Written::new(number, place, start..end));
        }
    }
    all
});

/// The names of all shipped rules, in the order of the files.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    WRITTEN.iter().map(|own| own.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::parse_from;
    use crate::ruleset::rule_info::Phase;

    #[test]
    fn files_are_cut_where_their_rules_begin_and_end() {
        for (number, &(file, text)) in SHIPPED.iter().enumerate() {
            let mut found = Diagnostics::new();
            let whole = parse_from(text, 0, &mut found);
            assert!(!found.has_errors(), "{file}");
            let cut: Vec<&Written> = WRITTEN.iter().filter(|own| own.file == number).collect();
            assert_eq!(whole.len(), cut.len(), "{file}");
            for (whole, cut) in whole.iter().zip(cut) {
                let own = &cut.parsed().rule;
                assert_eq!(whole.name.text, cut.name, "{file}");
                // Clauses hold numbers of tokens, which only the formatter reads.
                let said = |rule: &RuleAst<'_>| {
                    let parts = (
                        &rule.body,
                        &rule.condition,
                        &rule.lets,
                        &rule.ops,
                        &rule.kind,
                    );
                    let header = (
                        rule.span,
                        &rule.class,
                        &rule.engine,
                        &rule.phase,
                        &rule.source,
                    );
                    format!("{parts:?} {header:?}")
                };
                assert_eq!(said(whole), said(own), "{file}");
                let phase = cut.parsed().info.phase;
                let is_late = matches!(phase, Phase::Idiom | Phase::Fusion);
                assert_eq!(is_late, cut.is_late, "{}", cut.name);
                let line = text[..whole.name.span.start as usize].lines().count();
                assert_eq!(cut.place.line, line, "{}", cut.name);
            }
        }
    }
}
