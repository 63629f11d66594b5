//! The shipped rule files, split into rules by the build script. Each rule is parsed on first use.

use std::ops::Range;
use std::sync::OnceLock;

use mind_diag::Diagnostics;
use rustc_hash::FxHashSet;

use super::selection::RuleSelection;
use crate::language::ast::RuleAst;
use crate::language::{RuleLocation, header, parse_from};
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::{Engine, RuleInfo};

/// The source of a shipped rule.
pub(crate) struct Written {
    /// The index of its file.
    pub(crate) file: usize,
    place: RuleLocation<'static>,
    /// Its byte range in the text of the file.
    bytes: Range<usize>,
    pub(super) name: &'static str,
    /// For each side that can be matched, its words that contain a dot; the ops of the side are among them.
    words: &'static [&'static [&'static str]],
    /// Whether one available word of a side is enough, because a fusion has alternatives.
    has_alternatives: bool,
    is_exact: bool,
    engine: Engine,
    /// Whether it is a rule of the idiom phase or a fusion, which run after all other phases.
    pub(super) is_late: bool,
    parsed: OnceLock<Parsed>,
}

/// A parsed shipped rule.
pub(crate) struct Parsed {
    pub(crate) info: RuleInfo,
    pub(crate) rule: RuleAst<'static>,
}

impl Written {
    /// Returns false if the rule is certainly not among `selection`; only parsing decides exactly.
    pub(super) fn may_be(&self, selection: RuleSelection) -> bool {
        selection.has_engine(self.engine) && (self.is_exact || selection.classes != FastMath::EXACT)
    }

    /// Returns false if the rule certainly cannot match where only the ops of `set` are available; only parsing decides
    /// exactly.
    pub(super) fn may_act(&self, set: &FxHashSet<&'static str>) -> bool {
        let mut sides = self.words.iter();
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
            // Tests ensure that shipped rules have no errors.
            let mut found = Diagnostics::new();
            let rules = parse_from(&text[..self.bytes.end], self.bytes.start, &mut found);
            let rule = rules.into_iter().next().expect("a shipped rule parses");
            let info = header::info(&rule, self.place, text, &mut found);
            Parsed { info, rule }
        })
    }
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Returns the names of all shipped rules, in the order of the files.
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
                // Clauses hold token indices, which only the formatter reads.
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
                assert_eq!(cut.words.len(), sides, "{}", cut.name);
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
