//! Attributes and types on the left side of a rule.

use mind_diag::Diagnostic;
use mind_ir::attr::AttrKind;
use mind_ir::opdef::OpDef;

use super::Compiler;
use crate::attr_value::AttrValue;
use crate::expr::Expression;
use crate::language::ast::{DimAst, Expr, Name, TypeAst};
use crate::language::names::{bind, kind_of};
use crate::language::written::{check_attrs, check_kind, coerce};
use crate::matching::pattern::{
    AttrPattern, DimPattern, Instruction, ShapePattern, SlotUse, TypePattern,
};
use crate::matching::slots::{Reg, Slot};

impl<'s> Compiler<'s, '_> {
    /// Returns one pattern for each attribute of the op's definition; an omitted attribute must have its default.
    pub(super) fn attrs(
        &mut self,
        op: Name<'s>,
        def: &'static OpDef,
        written: &[(Name<'s>, Expr<'s>)],
    ) -> Option<Box<[AttrPattern]>> {
        check_attrs(def, written, self.found)?;
        let mut patterns = Vec::new();
        for row in def.attrs {
            let given = written.iter().find(|(name, _)| name.text == row.name);
            let pattern = match (given, row.default.and_then(AttrValue::of)) {
                (Some((_, Expr::Attr(name))), _) => self.bind_attr(*name, row.kind)?,
                (Some((name, expr)), _) => {
                    if let Some(inner) = inner_attr(expr) {
                        let message = format!(
                            "`${}` is part of an expression, which binds nothing",
                            inner.text
                        );
                        let help = format!(
                            "bind the attribute as a whole, as in `{{{}=${}}}`, and compare it under `where`",
                            name.text, inner.text
                        );
                        self.found
                            .push(Diagnostic::error(inner.span, message).help(help));
                        return None;
                    }
                    let (expression, kind) =
                        self.names
                            .attribute(expr, row.kind, self.ops.vocabulary, self.found)?;
                    self.names.each.clear();
                    let value = coerce(expression, row.kind);
                    let Expression::Literal(value) = value else {
                        let message = format!("a computed `{}` cannot be matched", name.text);
                        let help = "bind it, as in `{perm=$p}`, and compare it under `where`";
                        self.found
                            .push(Diagnostic::error(expr.span(), message).help(help));
                        return None;
                    };
                    check_kind(*name, row.kind, &value, kind.text(), expr, self.found)?;
                    AttrPattern::Equals(value)
                }
                (None, Some(default)) => AttrPattern::Equals(default),
                (None, None) => {
                    let message =
                        format!("attribute `{}` of `{}` is not written", row.name, def.name);
                    let help = format!("bind it, as in `{{{}=$a}}`", row.name);
                    self.found
                        .push(Diagnostic::error(op.span, message).help(help));
                    return None;
                }
            };
            patterns.push(pattern);
        }
        Some(patterns.into())
    }

    fn bind_attr(&mut self, name: Name<'s>, kind: AttrKind) -> Option<AttrPattern> {
        let kind = kind_of(kind)?;
        match self
            .names
            .attrs
            .iter()
            .position(|(own, _)| *own == name.text)
        {
            Some(at) if self.names.attrs[at].1 == kind => Some(AttrPattern::Same(at as Slot)),
            Some(at) => {
                let before = self.names.attrs[at].1.text();
                let message = format!(
                    "`${}` is {before} before and {} here",
                    name.text,
                    kind.text()
                );
                let help = "give each its own name, and compare them under `where`";
                self.found
                    .push(Diagnostic::error(name.span, message).help(help));
                None
            }
            None => {
                self.names.attrs.push((name.text, kind));
                Some(AttrPattern::Bind((self.names.attrs.len() - 1) as Slot))
            }
        }
    }

    pub(super) fn ty(&mut self, ty: &TypeAst<'s>, reg: Reg) -> Option<()> {
        let dtype = ty.dtype.map(|name| bind(&mut self.names.dtypes, name.text));
        let shape = match &ty.dims {
            Some(dims) => Some(self.shape(dims)?),
            None => None,
        };
        self.code.push(Instruction::Type {
            reg,
            ty: TypePattern { dtype, shape },
        });
        Some(())
    }

    fn shape(&mut self, dims: &[DimAst<'s>]) -> Option<ShapePattern> {
        let (mut front, mut rest, mut back) = (Vec::new(), None, Vec::new());
        for dim in dims {
            let part = match *dim {
                DimAst::Fixed(extent) => DimPattern::Fixed(extent),
                DimAst::Named(name) => DimPattern::Named(bind(&mut self.names.dims, name.text)),
                DimAst::Rest(name) => {
                    let part: SlotUse = bind(&mut self.names.shapes, name.text);
                    if rest.replace(part).is_some() {
                        let message = "a type holds at most one `..`";
                        let help = "name the other extents one by one, as in `'t[..s, m, n]`";
                        self.found
                            .push(Diagnostic::error(name.span, message).help(help));
                        return None;
                    }
                    continue;
                }
            };
            if rest.is_none() {
                front.push(part)
            } else {
                back.push(part)
            }
        }
        Some(ShapePattern {
            front: front.into(),
            rest,
            back: back.into(),
        })
    }
}

/// Returns the first `$name` inside a list or a call.
fn inner_attr<'s>(expr: &Expr<'s>) -> Option<Name<'s>> {
    let items = match expr {
        Expr::List(_, items)
        | Expr::Call {
            arguments: items, ..
        } => items,
        _ => return None,
    };
    items.iter().find_map(|item| match item {
        Expr::Attr(name) => Some(*name),
        other => inner_attr(other),
    })
}
