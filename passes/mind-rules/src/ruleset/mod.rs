//! Rules, read from files and checked against the op table.

pub(crate) mod fast_math;
pub(crate) mod rule_info;

use std::fmt;

use mind_diag::{Diagnostics, SourceFile};
use mind_ir::opdef::{OpDef, Registry};

use crate::expr::Vocabulary;
use crate::language::{LoadCx, compile, load};
use crate::matching::pattern::Rule;
use crate::op_table::OpTable;
use crate::ruleset::rule_info::RuleInfo;
use crate::ruleset::rule_info::RuleIx;
use crate::shipped::{Parsed, SHIPPED, ShippedOps, Wanted};

/// Rules ready to use, with the op table they were checked against.
#[derive(Debug)]
pub struct RuleSet {
    pub(crate) ops: OpTable,
    pub(crate) rules: Vec<Rule>,
    infos: Vec<RuleInfo>,
    warnings: Vec<SourceErrors>,
}

/// What is wrong or doubtful in one rule file.
#[derive(Debug)]
pub struct SourceErrors {
    /// The file, which the spans are places in.
    pub file: SourceFile,
    /// What was found, in text order.
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
    /// # Errors
    ///
    /// All that is wrong, file by file. No rule acts unless every file is right.
    pub fn load(registry: &Registry, sources: &[(&str, &str)]) -> Result<RuleSet, RuleErrors> {
        RuleSet::load_with(registry, sources, &Vocabulary::new())
    }

    /// The same, with words of the program's own.
    ///
    /// # Errors
    ///
    /// As [`RuleSet::load`].
    pub fn load_with(
        registry: &Registry,
        sources: &[(&str, &str)],
        vocabulary: &Vocabulary,
    ) -> Result<RuleSet, RuleErrors> {
        let ops = OpTable::new(registry);
        let files = sources
            .iter()
            .map(|&(name, text)| SourceFile::new(name, text));
        let files: Vec<SourceFile> = files.collect();
        let (mut written, mut infos, mut rules) = (Vec::new(), Vec::new(), Vec::new());
        let mut found: Vec<Diagnostics> = Vec::new();
        for (file, &(_, text)) in files.iter().zip(sources) {
            let cx = LoadCx {
                registry,
                table: &ops,
                vocabulary,
                lint: !SHIPPED.iter().any(|(_, own)| std::ptr::eq(*own, text)),
            };
            found.push(load(cx, file, &mut written, &mut infos, &mut rules));
        }
        drop(written);
        let refused = found.iter().any(Diagnostics::has_errors);
        let found = files.into_iter().zip(found);
        let findings: Vec<SourceErrors> = found
            .filter(|(_, diagnostics)| !diagnostics.is_empty())
            .map(|(file, diagnostics)| SourceErrors { file, diagnostics })
            .collect();
        match refused {
            true => Err(RuleErrors(findings)),
            false => Ok(RuleSet {
                ops,
                rules,
                infos,
                warnings: findings,
            }),
        }
    }

    /// The rules that ship with the compiler.
    ///
    /// # Errors
    ///
    /// `registry` lacks an op that they name.
    pub fn shipped(registry: &Registry) -> Result<RuleSet, RuleErrors> {
        RuleSet::load(registry, SHIPPED)
    }

    /// The shipped rules among `wanted` that can act on modules whose ops are among `ops`, which is
    /// [closed](ShippedOps::closed). Such a set does to them what all rules among `wanted` do, but that only fusions read
    /// what the idiom phase made.
    ///
    /// # Errors
    ///
    /// As [`RuleSet::shipped`].
    pub fn shipped_for(
        registry: &Registry,
        ops: &ShippedOps,
        wanted: Wanted,
    ) -> Result<RuleSet, RuleErrors> {
        let table = OpTable::new(registry);
        let (mut infos, mut rules) = (Vec::new(), Vec::new());
        let cx = LoadCx {
            registry,
            table: &table,
            vocabulary: &Vocabulary::new(),
            lint: false,
        };
        let met = ops.met(registry, wanted);
        for written in met.rules(registry, &table, wanted) {
            let Parsed { info, rule } = written.parsed();
            let has = |name: &str| met.by(written).has(name);
            let mut diagnostics = Diagnostics::new();
            let number = RuleIx(infos.len() as u16);
            compile(rule, number, info, cx, &has, &mut rules, &mut diagnostics);
            if diagnostics.has_errors() {
                let (name, text) = SHIPPED[written.file];
                let file = SourceFile::new(name, text);
                return Err(RuleErrors(vec![SourceErrors { file, diagnostics }]));
            }
            infos.push(info.clone());
        }
        Ok(RuleSet {
            ops: table,
            rules,
            infos,
            warnings: Vec::new(),
        })
    }

    /// The ops that the rules may name.
    pub fn ops(&self) -> &OpTable {
        &self.ops
    }

    /// Every form, ready for matching, in the order of the files.
    pub fn compiled(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether the rules were checked against the ops of `registry`.
    pub fn is_for(&self, registry: &Registry) -> bool {
        let same = |(own, other): (&&'static OpDef, &'static OpDef)| std::ptr::eq(*own, other);
        let defs = self.ops.defs();
        registry.ops().count() == defs.len() && defs.iter().zip(registry.ops()).all(same)
    }

    /// What is doubtful in the files, though no mistake: rules that an earlier one leaves nothing to do.
    pub fn warnings(&self) -> &[SourceErrors] {
        &self.warnings
    }

    /// Lets only the rules act whose names `keep` accepts; all keep their numbers.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let Self { rules, infos, .. } = self;
        rules.retain(|rule| keep(&infos[rule.name.index()].name));
    }

    /// What a rule says of itself.
    pub fn rule(&self, rule: RuleIx) -> &RuleInfo {
        &self.infos[rule.index()]
    }

    /// What all rules say of themselves, by their [numbers](RuleIx::index).
    pub fn infos(&self) -> &[RuleInfo] {
        &self.infos
    }

    /// The name of a rule.
    pub fn name(&self, rule: RuleIx) -> &str {
        &self.rule(rule).name
    }

    /// The names of all rules, in the order of [`infos`](RuleSet::infos).
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.infos.iter().map(|info| info.name.as_str())
    }
}
