//! The ops that a rule may name.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::{OpDef, Registry, nearest};

use super::ast::Name;
use crate::expr::Vocabulary;
use crate::op_table::{OpIx, OpTable};

/// What a rule file may name.
#[derive(Clone, Copy)]
pub(crate) struct Ops<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) table: &'a OpTable,
    /// Functions and predicates besides the built-in ones.
    pub(crate) vocabulary: &'a Vocabulary,
    /// The op that `op` names in a rule written `for` several.
    pub(crate) op: Option<OpIx>,
}

impl Ops<'_> {
    /// The op called `name`. Returns `None` for an unknown op and for one that rules may not name, after reporting it.
    pub(super) fn resolve(
        &self,
        name: Name<'_>,
        found: &mut Diagnostics,
    ) -> Option<(OpIx, &'static OpDef)> {
        let text = name.text;
        if let ("op", Some(op)) = (text, self.op) {
            return Some((op, self.table.def(op)));
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
            let message = format!("`{text}` cannot stand in a rule");
            let help =
                "rules are about pure ops of one result, without regions, whose type is inferred";
            found.push(Diagnostic::error(name.span, message).help(help));
        }
        Some((number?, def))
    }
}
