//! Rules, read from files and checked against the op table.

use std::fmt;

use mind_diag::{Diagnostics, SourceFile};
use mind_ir::opdef::Registry;

use crate::egraph::optable::OpTable;
use crate::pattern::Rule;
use crate::report::RuleIx;
use crate::rules::load;

/// The rule files that ship with the compiler, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    (
        "identities.rules",
        include_str!("../rules/identities.rules"),
    ),
    ("signs.rules", include_str!("../rules/signs.rules")),
    (
        "activations.rules",
        include_str!("../rules/activations.rules"),
    ),
    ("shapes.rules", include_str!("../rules/shapes.rules")),
    (
        "transposes.rules",
        include_str!("../rules/transposes.rules"),
    ),
    ("slices.rules", include_str!("../rules/slices.rules")),
    ("joins.rules", include_str!("../rules/joins.rules")),
    ("gathers.rules", include_str!("../rules/gathers.rules")),
    (
        "contractions.rules",
        include_str!("../rules/contractions.rules"),
    ),
    ("merges.rules", include_str!("../rules/merges.rules")),
    (
        "convolutions.rules",
        include_str!("../rules/convolutions.rules"),
    ),
    (
        "reductions.rules",
        include_str!("../rules/reductions.rules"),
    ),
    (
        "reassociation.rules",
        include_str!("../rules/reassociation.rules"),
    ),
    (
        "approximations.rules",
        include_str!("../rules/approximations.rules"),
    ),
    ("fusions.rules", include_str!("../rules/fusions.rules")),
];

/// Rules ready to use, with the op table they were checked against.
#[derive(Debug)]
pub struct RuleSet {
    pub(crate) ops: OpTable,
    pub(crate) rules: Vec<Rule>,
    names: Vec<String>,
}

/// What is wrong with one rule file.
#[derive(Debug)]
pub struct SourceErrors {
    /// The file, which the spans are places in.
    pub file: SourceFile,
    /// What is wrong, in text order.
    pub diagnostics: Diagnostics,
}

/// What is wrong with rule files: one entry for each that has errors.
#[derive(Debug)]
pub struct RuleErrors(pub Vec<SourceErrors>);

impl fmt::Display for RuleErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|each| each.fmt(f))
    }
}

impl fmt::Display for SourceErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for found in self.diagnostics.iter() {
            let (line, column) = self.file.position(found.span);
            writeln!(f, "{}:{line}:{column}: {}", self.file.name(), found.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for RuleErrors {}

impl RuleSet {
    /// The rules of `sources`, given as name and text; names are unique over all of them.
    ///
    /// Errors: all that is wrong, file by file. No rule acts unless every file is right.
    pub fn load(registry: &Registry, sources: &[(&str, &str)]) -> Result<RuleSet, RuleErrors> {
        let mut set = RuleSet {
            ops: OpTable::new(registry),
            rules: Vec::new(),
            names: Vec::new(),
        };
        let mut errors = Vec::new();
        for &(source, text) in sources {
            let found = load(registry, &set.ops, text, &mut set.names, &mut set.rules);
            if !found.is_empty() {
                errors.push(SourceErrors {
                    file: SourceFile::new(source, text),
                    diagnostics: found,
                });
            }
        }
        match errors.is_empty() {
            true => Ok(set),
            false => Err(RuleErrors(errors)),
        }
    }

    /// The rules that ship with the compiler.
    ///
    /// Errors: `registry` lacks an op that they name.
    pub fn shipped(registry: &Registry) -> Result<RuleSet, RuleErrors> {
        RuleSet::load(registry, SHIPPED)
    }

    /// Lets only the rules act whose names `keep` accepts; all keep their numbers.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let Self { rules, names, .. } = self;
        rules.retain(|rule| keep(&names[rule.name.index()]));
    }

    /// The name of a rule.
    pub fn name(&self, rule: RuleIx) -> &str {
        &self.names[rule.index()]
    }

    /// The names of all rules, in the order of [`Report::rules`](crate::Report::rules).
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}
