//! Checks of op terms against the definition of the op.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::OpDef;

use super::ast::{Expr, Name, Operand};
use super::names::{kind_of, unknown};
use crate::attr_value::AttrValue;
use crate::expr::Expression;

/// Checks the number of operands of `def`. A list of operands satisfies a variadic op, whatever its length.
pub(super) fn check_arity(
    name: Name<'_>,
    def: &'static OpDef,
    operands: &[Operand<'_>],
    found: &mut Diagnostics,
) -> Option<()> {
    let any = def.variadic.is_some()
        && operands
            .iter()
            .any(|operand| !matches!(operand, Operand::One(_)));
    if any || def.admits_operands(operands.len()) {
        return Some(());
    }
    let message = format!(
        "`{}` takes {}, found {}",
        def.name,
        def.arity_text(),
        operands.len()
    );
    let operands: Vec<String> = def
        .operands
        .iter()
        .map(|operand| format!("?{}", operand.name))
        .chain(def.variadic.map(|operand| format!("?{}..", operand.name)))
        .collect();
    let help = format!("as in `{}({})`", def.name, operands.join(", "));
    found.push(Diagnostic::error(name.span, message).help(help));
    None
}

/// Checks the names of the attributes given for `def`.
pub(super) fn check_attrs(
    def: &'static OpDef,
    written: &[(Name<'_>, Expr<'_>)],
    found: &mut Diagnostics,
) -> Option<()> {
    for (at, (name, _)) in written.iter().enumerate() {
        if def.attr_index(name.text).is_none() {
            let known = def.attrs.iter().map(|attr| attr.name);
            found.push(unknown_attr(def, *name, known));
            return None;
        }
        if written[..at]
            .iter()
            .any(|(before, _)| before.text == name.text)
        {
            let message = format!("attribute `{}` is written twice", name.text);
            found.push(Diagnostic::error(name.span, message).help("keep one of them"));
            return None;
        }
    }
    Some(())
}

fn unknown_attr<'a>(
    def: &OpDef,
    name: Name<'_>,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let message = format!("`{}` has no attribute `{}`", def.name, name.text);
    Diagnostic {
        message,
        ..unknown("attribute", name, known)
    }
}

/// Converts a literal to the kind of an attribute: a list of integers to a shape, an integer to a float.
pub(super) fn coerce(expression: Expression, wanted: AttrKind) -> Expression {
    use mind_ir::types::Dim;
    match (wanted, expression) {
        (AttrKind::Dims, Expression::Literal(AttrValue::Ints(list))) => {
            let dims = list.iter().copied().map(Dim::Fixed).collect();
            Expression::Literal(AttrValue::Dims(dims))
        }
        (AttrKind::Dims, Expression::List(items)) => Expression::Dims(items),
        (AttrKind::Float, Expression::Literal(AttrValue::Int(value))) => {
            Expression::Literal(AttrValue::Float((value as f64).to_bits()))
        }
        (_, expression) => expression,
    }
}

/// Checks that `value` is of the kind of the attribute.
pub(super) fn check_kind(
    name: Name<'_>,
    wanted: AttrKind,
    value: &AttrValue,
    kind: &str,
    expr: &Expr<'_>,
    found: &mut Diagnostics,
) -> Option<()> {
    if wanted.admits(&value.as_attr()) {
        return Some(());
    }
    let wanted = kind_of(wanted).map_or("a literal", |kind| kind.text());
    let message = format!("attribute `{}` is {wanted}, found {kind}", name.text);
    let help = format!("write {wanted}, or bind it, as in `{{{}=$a}}`", name.text);
    found.push(Diagnostic::error(expr.span(), message).help(help));
    None
}
