//! The shipped files, cut into rules, each parsed when it is first asked for.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use mind_diag::Diagnostics;
use rustc_hash::FxHashSet;

use super::files::SHIPPED;
use super::part::Wanted;
use crate::language::ast::RuleAst;
use crate::language::ops::split_result;
use crate::language::{RuleLocation, header, parse_from};
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::{Engine, RuleInfo};

/// A shipped rule as it is written.
pub(crate) struct Written {
    /// Which of the files it is in, from 0.
    pub(crate) file: usize,
    place: RuleLocation<'static>,
    /// Where it begins and ends in the text of the file.
    bytes: Range<usize>,
    pub(super) name: &'static str,
    /// The line with its sides; of a fusion, all of it.
    sides: &'static str,
    words: OnceLock<Vec<Vec<&'static str>>>,
    /// Whether one word of its sides is enough: a fusion has alternatives.
    has_alternatives: bool,
    is_exact: bool,
    engine: Engine,
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
    /// The rule at `bytes`. Of its clauses those are read without parsing that say whether it is asked for.
    fn new(file: usize, place: RuleLocation<'static>, bytes: Range<usize>) -> Written {
        let text = &SHIPPED[file].1[bytes.clone()];
        let mut lines = text.lines();
        let mut head = lines.next().unwrap_or("").split_ascii_whitespace();
        let is_fusion = head.next() == Some("fusion");
        let mut written = Written {
            file,
            place,
            bytes,
            name: head.next().unwrap_or(""),
            sides: if is_fusion { text } else { "" },
            words: OnceLock::new(),
            has_alternatives: is_fusion,
            is_exact: false,
            engine: Engine::Egraph,
            is_late: is_fusion,
            parsed: OnceLock::new(),
        };
        for line in lines {
            let line = line.trim_start();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "class" => written.is_exact = rest == "exact",
                "engine" => {
                    let named = Engine::NAMES.iter().find(|(name, _)| *name == rest);
                    written.engine = named.map_or(Engine::Egraph, |(_, engine)| *engine);
                }
                "phase" => written.is_late = rest == "idiom",
                "for" | "where" | "kind" | "#" => {}
                _ => {
                    // No clause is below the sides but the source.
                    if !is_fusion {
                        written.sides = line;
                    }
                    break;
                }
            }
        }
        written
    }

    /// The words with a dot on each side from which it may act; ops are among them.
    fn words(&self) -> &[Vec<&'static str>] {
        self.words.get_or_init(|| {
            if self.has_alternatives {
                vec![dotted(self.sides)]
            } else {
                left_sides(self.sides)
            }
        })
    }

    /// Whether it may be among `wanted`; parsing says whether it is.
    pub(super) fn may_be(&self, wanted: Wanted) -> bool {
        wanted.has_engine(self.engine) && (self.is_exact || wanted.classes != FastMath::EXACT)
    }

    /// Whether it may act where only ops of `set` are; parsing says whether it can.
    pub(super) fn may_act(&self, set: &FxHashSet<&'static str>) -> bool {
        let mut sides = self.words().iter();
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

/// Whether a byte may be in a word with a dot.
const IN_WORD: [bool; 256] = {
    let (mut all, mut byte) = ([false; 256], 0);
    while byte < all.len() {
        let own = byte as u8;
        all[byte] = own.is_ascii_alphanumeric() || own == b'_' || own == b'.';
        byte += 1;
    }
    all
};

/// The words of `text` that begin with a letter and have a dot before another letter or digit.
fn dotted(text: &str) -> Vec<&str> {
    let is_part = |byte: &u8| IN_WORD[usize::from(*byte)];
    let is_word = |word: &&str| {
        let begins = |text: &str, is: fn(&u8) -> bool| text.as_bytes().first().is_some_and(is);
        word.split_once('.').is_some_and(|(dialect, op)| {
            begins(dialect, u8::is_ascii_alphabetic) && begins(op, u8::is_ascii_alphanumeric)
        })
    };
    let (mut words, mut start) = (Vec::new(), 0);
    for end in 0..=text.len() {
        if text.as_bytes().get(end).is_some_and(is_part) {
            continue;
        }
        // What is around a part is ASCII or a boundary of characters.
        words.extend(text.get(start..end).filter(is_word));
        start = end + 1;
    }
    words.into_iter().map(|word| split_result(word).0).collect()
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
    use crate::ruleset::rule_info::{Direction, Phase};

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
                let info = &cut.parsed().info;
                let sides = 1 + usize::from(info.direction == Direction::Both);
                assert_eq!(cut.words().len(), sides, "{}", cut.name);
                let is_late = matches!(info.phase, Phase::Idiom | Phase::Fusion);
                let read = (info.engine, info.class == FastMath::EXACT, is_late);
                let cut_words = (cut.engine, cut.is_exact, cut.is_late);
                assert_eq!(cut_words, read, "{}", cut.name);
                let line = text[..whole.name.span.start as usize].lines().count();
                assert_eq!(cut.place.line, line, "{}", cut.name);
            }
        }
    }
}
