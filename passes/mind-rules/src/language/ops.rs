//! Resolution of op names in rules.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::{OpDef, Registry, Results, nearest};

use super::ast::Name;
use crate::expr::Vocabulary;
use crate::op_table::{OpIx, OpTable};

/// The names that a rule file may use.
#[derive(Clone, Copy)]
pub(crate) struct Ops<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) table: &'a OpTable,
    /// Additional functions and predicates.
    pub(crate) vocabulary: &'a Vocabulary,
    /// The op that `op` denotes in the current instance of a rule with `for op in …`.
    pub(crate) op: Option<OpIx>,
}

/// Splits a result index off the name of an op: `core.sort.0` is the first result of `core.sort`.
pub(crate) fn split_result(text: &str) -> (&str, Option<usize>) {
    let split = text.rsplit_once('.');
    let numbered = split.and_then(|(op, number)| Some((op, number.parse().ok()?)));
    numbered.map_or((text, None), |(op, number)| (op, Some(number)))
}

impl Ops<'_> {
    /// Resolves the op called `name`. Returns `None` after reporting an op that is unknown or not allowed in rules.
    pub(super) fn resolve(
        &self,
        name: Name<'_>,
        found: &mut Diagnostics,
    ) -> Option<(OpIx, &'static OpDef)> {
        let text = name.text;
        if let ("op", Some(op)) = (text, self.op) {
            return Some((op, self.table.def(op)));
        }
        let (own, result) = split_result(text);
        if let (Some(def), Some(result)) = (self.registry.get(own), result) {
            return self.projection(name, def, result, found);
        }
        let Some(def) = self.registry.get(text) else {
            let error = Diagnostic::error(name.span, format!("unknown op `{text}`"));
            let names = self.registry.ops().map(|def| def.name);
            let short = text.rsplit('.').next().unwrap_or(text);
            let alike = |def: &&OpDef| def.short_name().eq_ignore_ascii_case(short);
            let same = self.registry.ops().find(alike).map(|def| def.name);
            found.push(match same.or_else(|| nearest(text, names)) {
                Some(near) => error.did_you_mean(near),
                None if text == "op" => {
                    error.help("`op` needs a clause such as `for op in elementwise/1`")
                }
                None => error.help("`mind-opt --show-dialects` lists the ops"),
            });
            return None;
        };
        let number = self.table.transparent(def);
        if number.is_none() {
            let message = format!("`{text}` is not allowed in a rule");
            let help = match self.table.projection(def, 0) {
                Some(_) => format!("name one of its results, as in `{text}.0(...)`"),
                None => {
                    "rules are about pure ops without regions, whose types are inferred".to_owned()
                }
            };
            found.push(Diagnostic::error(name.span, message).help(help));
        }
        Some((number?, def))
    }

    /// Resolves one result of `def`, a multi-result op.
    fn projection(
        &self,
        name: Name<'_>,
        def: &'static OpDef,
        result: usize,
        found: &mut Diagnostics,
    ) -> Option<(OpIx, &'static OpDef)> {
        let number = self.table.projection(def, result);
        if number.is_none() {
            let message = format!("`{}` is not allowed in a rule", name.text);
            let help = match (def.results, self.table.projection(def, 0)) {
                (Results::Named(names), Some(_)) => {
                    format!("`{}` has {} results, counted from 0", def.name, names.len())
                }
                _ => format!("`{}` has no numbered results for rules", def.name),
            };
            found.push(Diagnostic::error(name.span, message).help(help));
        }
        Some((number?, def))
    }
}
