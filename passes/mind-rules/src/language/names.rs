//! The scope of a rule during its compilation.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::nearest;

use super::ast::Name;
use crate::expr::ExprKind;
use crate::matching::pattern::SlotUse;
use crate::matching::slots::{Reg, RuleNames, Slot};

/// The largest number of values of a rule.
const MAX_REGISTERS: usize = 64;

/// The names that the left side of a rule binds.
#[derive(Default)]
pub(super) struct Names<'s> {
    pub(super) values: Vec<(&'s str, Reg)>,
    /// Lists of values.
    pub(super) lists: Vec<(&'s str, Slot)>,
    /// The number of registers in use.
    pub(super) registers: usize,
    /// The lists whose values the current expression reads, with the register for the value.
    pub(super) each: Vec<(Slot, Reg)>,
    /// Whether the left side has an error, so a name may be unbound only because of it.
    pub(super) broken: bool,
    pub(super) attrs: Vec<(&'s str, ExprKind)>,
    pub(super) dtypes: Vec<&'s str>,
    pub(super) dims: Vec<&'s str>,
    pub(super) shapes: Vec<&'s str>,
}

/// Returns the slot of `name` in `names`, and binds it if it is new.
pub(super) fn bind<'s>(names: &mut Vec<&'s str>, name: &'s str) -> SlotUse {
    match names.iter().position(|own| *own == name) {
        Some(at) => SlotUse::Same(at as Slot),
        None => {
            names.push(name);
            SlotUse::Bind((names.len() - 1) as Slot)
        }
    }
}

/// Returns the expression kind of an attribute; `None` for literal data, which expressions cannot read.
pub(super) fn kind_of(kind: AttrKind) -> Option<ExprKind> {
    Some(match kind {
        AttrKind::Int => ExprKind::Int,
        AttrKind::Bool => ExprKind::Bool,
        AttrKind::Float => ExprKind::Float,
        AttrKind::Str => ExprKind::Str,
        AttrKind::Ints => ExprKind::Ints,
        AttrKind::Dims => ExprKind::Dims,
        AttrKind::Pad => ExprKind::Padding,
        AttrKind::ElementType => ExprKind::DType,
        AttrKind::Word(_) => ExprKind::Word,
        AttrKind::LiteralData => return None,
    })
}

/// Returns the error for a name that the left side does not bind.
fn unbound(mark: &str, name: Name<'_>, known: &[&str]) -> Diagnostic {
    let message = format!("`{mark}{}` is not bound by the left side", name.text);
    let error = Diagnostic::error(name.span, message);
    match nearest(name.text, known.iter().copied()) {
        Some(near) => error.did_you_mean(&format!("{mark}{near}")),
        None if known.is_empty() => error.help(match mark {
            "$" => "an attribute is bound after its op, as in `core.sum(?x) {axes=$a}`",
            "'" => "a dtype is bound by a type, as in `?x: 't`",
            ".." => "extents are bound by a type, as in `?x: 't[..s]`",
            "?" => "values are bound as operands, as in `core.neg(?x)`, and lists as `?xs..`",
            _ => "an extent is bound by a type, as in `?x: 't[m, n]`; values are written `?x`",
        }),
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("`{mark}{name}`")).collect();
            error.help(format!("it binds {}", known.join(", ")))
        }
    }
}

impl<'s> Names<'s> {
    /// Returns the names for messages.
    pub(super) fn owned(&self) -> RuleNames {
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let values = self.values.iter();
        let attrs = self.attrs.iter();
        RuleNames {
            values: values.map(|&(name, reg)| (reg, name.to_owned())).collect(),
            attrs: attrs.map(|&(name, _)| name.to_owned()).collect(),
            dtypes: own(&self.dtypes),
            dims: own(&self.dims),
            shapes: own(&self.shapes),
            lists: self
                .lists
                .iter()
                .map(|&(name, _)| name.to_owned())
                .collect(),
        }
    }

    /// Returns the register of `?name`; `None` after reporting that the name is not bound.
    pub(super) fn register(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<Reg> {
        let bound = self.values.iter().find(|(own, _)| *own == name.text);
        if bound.is_none() && self.list(name.text).is_some() {
            let message = format!("`?{}` is a list of values", name.text);
            let help = format!("write `?{}..` among the operands of an op", name.text);
            found.push(Diagnostic::error(name.span, message).help(help));
        } else if bound.is_none() {
            let known: Vec<&str> = self.values.iter().map(|&(own, _)| own).collect();
            self.report_unbound("?", name, &known, found);
        }
        bound.map(|&(_, reg)| reg)
    }

    /// Returns the slot of the list `?name..`, if the left side binds one.
    pub(super) fn list(&self, name: &str) -> Option<Slot> {
        let bound = self.lists.iter().find(|(own, _)| *own == name);
        bound.map(|&(_, slot)| slot)
    }

    /// Returns the slot of the list `?name..`; `None` after reporting that the name is not bound.
    pub(super) fn list_slot(&self, name: Name<'_>, found: &mut Diagnostics) -> Option<Slot> {
        let bound = self.list(name.text);
        if bound.is_none() && self.values.iter().any(|(own, _)| *own == name.text) {
            let message = format!("`?{}` is one value, not a list", name.text);
            let help = format!("write `?{}`", name.text);
            found.push(Diagnostic::error(name.span, message).help(help));
        } else if bound.is_none() {
            let known: Vec<&str> = self.lists.iter().map(|&(own, _)| own).collect();
            self.report_unbound("?", name, &known, found);
        }
        bound
    }

    /// Reports an unbound name, unless an error in the left side may be the cause.
    pub(super) fn report_unbound(
        &self,
        mark: &str,
        name: Name<'_>,
        known: &[&str],
        found: &mut Diagnostics,
    ) {
        if !self.broken {
            found.push(unbound(mark, name, known));
        }
    }

    /// Allocates a register; `None` after reporting at `place` that the rule has too many values.
    pub(super) fn new_register(&mut self, place: Name<'_>, found: &mut Diagnostics) -> Option<Reg> {
        if self.registers == MAX_REGISTERS {
            let message = format!("a rule of more than {MAX_REGISTERS} values");
            found.push(Diagnostic::error(place.span, message));
            return None;
        }
        self.registers += 1;
        Some((self.registers - 1) as Reg)
    }
}

/// Returns the error for a word that is not in a closed set.
pub(super) fn unknown<'a>(
    what: &str,
    name: Name<'_>,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    const LISTED: usize = 12;
    let error = Diagnostic::error(name.span, format!("unknown {what} `{}`", name.text));
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name.text, known.iter().copied()) {
        Some(near) => error.did_you_mean(near),
        None if known.is_empty() => error.help("it has none"),
        None if known.len() > LISTED => {
            error.help("docs/add-a-rule.md lists the predicates and functions")
        }
        None => {
            let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            error.help(format!("it is one of {}", known.join(", ")))
        }
    }
}
