//! Rule sets: rules read from files and checked against the op table.

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
use crate::shipped::{Parsed, RuleSelection, SHIPPED, ShippedOps};

/// Compiled rules, with the op table they were checked against.
#[derive(Debug)]
pub struct RuleSet {
    pub(crate) ops: OpTable,
    pub(crate) rules: Vec<Rule>,
    infos: Vec<RuleInfo>,
    warnings: Vec<SourceErrors>,
}

/// The diagnostics of one rule file.
#[derive(Debug)]
pub struct SourceErrors {
    /// The file that the spans refer to.
    pub file: SourceFile,
    /// The diagnostics in text order.
    pub diagnostics: Diagnostics,
}

/// The errors of rule files: one entry for each file with errors.
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
    /// Loads the rules of `sources`, given as name and text; rule names are unique across all of them.
    ///
    /// # Errors
    ///
    /// All errors, file by file. A single error rejects the whole set.
    pub fn load(registry: &Registry, sources: &[(&str, &str)]) -> Result<RuleSet, RuleErrors> {
        RuleSet::load_with(registry, sources, &Vocabulary::new())
    }

    /// Loads rules that may also call the functions and predicates of `vocabulary`.
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

    /// Loads the rules that ship with the compiler.
    ///
    /// # Errors
    ///
    /// If `registry` lacks an op that they name.
    pub fn shipped(registry: &Registry) -> Result<RuleSet, RuleErrors> {
        RuleSet::load(registry, SHIPPED)
    }

    /// Loads the shipped rules among `selection` that can match in modules whose ops are in `ops`, which must be
    /// [closed](ShippedOps::closed).
    ///
    /// On these modules the result equals that of all rules among `selection`, except that ops created in the idiom phase
    /// are read only by fusions.
    ///
    /// # Errors
    ///
    /// As [`RuleSet::shipped`].
    pub fn shipped_for(
        registry: &Registry,
        ops: &ShippedOps,
        selection: RuleSelection,
    ) -> Result<RuleSet, RuleErrors> {
        let table = OpTable::new(registry);
        let (mut infos, mut rules) = (Vec::new(), Vec::new());
        let cx = LoadCx {
            registry,
            table: &table,
            vocabulary: &Vocabulary::new(),
            lint: false,
        };
        let met = ops.met(registry, selection);
        for written in met.rules(registry, &table, selection) {
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

    /// Returns the ops that the rules may name.
    pub fn ops(&self) -> &OpTable {
        &self.ops
    }

    /// Returns every compiled form in the order of the files.
    pub fn compiled(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns whether the rules were checked against the ops of `registry`.
    pub fn is_for(&self, registry: &Registry) -> bool {
        let same = |(own, other): (&&'static OpDef, &'static OpDef)| std::ptr::eq(*own, other);
        let defs = self.ops.defs();
        registry.ops().count() == defs.len() && defs.iter().zip(registry.ops()).all(same)
    }

    /// Returns the warnings of the files, for example rules that an earlier rule shadows.
    pub fn warnings(&self) -> &[SourceErrors] {
        &self.warnings
    }

    /// Keeps only the rules whose names `keep` accepts as active; the indices of all rules stay valid.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let Self { rules, infos, .. } = self;
        rules.retain(|rule| keep(&infos[rule.name.index()].name));
    }

    /// Returns the description of a rule.
    pub fn rule(&self, rule: RuleIx) -> &RuleInfo {
        &self.infos[rule.index()]
    }

    /// Returns the descriptions of all rules, by their [indices](RuleIx::index).
    pub fn infos(&self) -> &[RuleInfo] {
        &self.infos
    }

    /// Returns the name of a rule.
    pub fn name(&self, rule: RuleIx) -> &str {
        &self.rule(rule).name
    }

    /// Returns the names of all rules, in the order of [`infos`](RuleSet::infos).
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.infos.iter().map(|info| info.name.as_str())
    }
}
