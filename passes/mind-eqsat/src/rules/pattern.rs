//! Compiling the left side of a rule to instructions.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Trait};

use super::ast::{DimAst, Expr, Name, Term, TypeAst};
use super::expand::only_in_fusions;
use super::names::{Names, Ops, bind, kind_of, unknown};
use crate::egraph::payload::AttrValue;
use crate::expr::Expression;
use crate::pattern::{
    AttrPattern, DimPattern, Instruction, Number, Part, Pattern, ShapePattern, TypePattern,
};
use crate::slots::{Reg, Slot};

/// The most values that a pattern may hold.
const MAX_REGISTERS: usize = 64;

/// The pattern for `term` and the names it binds.
///
/// Errors: those of the names and ops it holds; a pattern that is a mere value.
pub(super) fn compile<'s>(
    term: &Term<'s>,
    ops: Ops<'_>,
    found: &mut Diagnostics,
) -> Option<(Pattern, Names<'s>)> {
    let mut compiler = Compiler {
        ops,
        names: Names::default(),
        instructions: Vec::new(),
        registers: 1,
        found,
    };
    compiler.term(term, 0)?;
    let Some(&Instruction::Open { op: root, .. }) = compiler.instructions.first() else {
        let message = "a lone value matches everything";
        let help = "the left side starts with an op; write `=>` where the right side does not";
        compiler
            .found
            .push(Diagnostic::error(term.span(), message).help(help));
        return None;
    };
    let Compiler {
        names,
        instructions,
        registers,
        ..
    } = compiler;
    let pattern = Pattern {
        root,
        instructions,
        registers,
        attrs: names.attrs.len(),
        dtypes: names.dtypes.len(),
        dims: names.dims.len(),
        shapes: names.shapes.len(),
    };
    Some((pattern, names))
}

struct Compiler<'s, 'c> {
    ops: Ops<'c>,
    names: Names<'s>,
    instructions: Vec<Instruction>,
    registers: usize,
    found: &'c mut Diagnostics,
}

impl<'s> Compiler<'s, '_> {
    fn term(&mut self, term: &Term<'s>, reg: Reg) -> Option<()> {
        match term {
            Term::Value { name, ty } => {
                self.value(*name, reg);
                match ty {
                    Some(ty) => self.ty(ty, reg),
                    None => Some(()),
                }
            }
            Term::Named { name, term } => {
                self.value(*name, reg);
                self.term(term, reg)
            }
            Term::Op {
                name,
                operands,
                attrs,
            } => self.op(*name, operands, attrs, reg),
            Term::Near { number, .. } => {
                let parsed = Number::parse(number.text);
                let Some(value) = parsed.map(Number::to_f64) else {
                    let message = format!("`{}` is no number", number.text);
                    self.found.push(Diagnostic::error(number.span, message));
                    return None;
                };
                self.instructions.push(Instruction::Near { reg, value });
                Some(())
            }
            Term::Any { span, .. } => {
                self.found.push(only_in_fusions("any", *span));
                None
            }
            Term::Like { span, .. } => {
                let message = "`like` makes a constant and cannot be matched";
                let help = "match a value and ask `is_splat(?c, v)` of it";
                self.found
                    .push(Diagnostic::error(*span, message).help(help));
                None
            }
        }
    }

    fn value(&mut self, name: Name<'s>, reg: Reg) {
        match self.names.values.iter().find(|(own, _)| *own == name.text) {
            Some(&(_, first)) => self.instructions.push(Instruction::Same(first, reg)),
            None => self.names.values.push((name.text, reg)),
        }
    }

    fn op(
        &mut self,
        name: Name<'s>,
        operands: &[Term<'s>],
        attrs: &[(Name<'s>, Expr<'s>)],
        reg: Reg,
    ) -> Option<()> {
        let (op, def) = self.ops.resolve(name, self.found)?;
        check_arity(name, def, operands.len(), self.found)?;
        let attrs = self.attrs(name, def, attrs)?;
        let out = self.registers;
        self.registers += operands.len();
        if self.registers > MAX_REGISTERS {
            let message = format!("a pattern of more than {MAX_REGISTERS} values");
            self.found.push(Diagnostic::error(name.span, message));
            return None;
        }
        let swap = def.has(Trait::Commutative) && operands.len() == 2;
        self.instructions.push(Instruction::Open {
            reg,
            op,
            attrs,
            arity: operands.len(),
            out: out as Reg,
            swap,
        });
        for (at, operand) in operands.iter().enumerate() {
            self.term(operand, (out + at) as Reg)?;
        }
        Some(())
    }

    /// One pattern per row of the table entry; an attribute that is not written has its default.
    fn attrs(
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
                    let (expression, kind) = self.names.expression(expr, self.found)?;
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
                self.found.push(Diagnostic::error(name.span, message));
                None
            }
            None => {
                self.names.attrs.push((name.text, kind));
                Some(AttrPattern::Bind((self.names.attrs.len() - 1) as Slot))
            }
        }
    }

    fn ty(&mut self, ty: &TypeAst<'s>, reg: Reg) -> Option<()> {
        let dtype = ty.dtype.map(|name| bind(&mut self.names.dtypes, name.text));
        let shape = match &ty.dims {
            Some(dims) => Some(self.shape(dims)?),
            None => None,
        };
        self.instructions.push(Instruction::Type {
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
                DimAst::Named(name) => DimPattern::Part(bind(&mut self.names.dims, name.text)),
                DimAst::Rest(name) => {
                    let part: Part = bind(&mut self.names.shapes, name.text);
                    if rest.replace(part).is_some() {
                        let message = "a type holds at most one `..`";
                        self.found.push(Diagnostic::error(name.span, message));
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

/// Checks the number of operands written for `def`.
pub(super) fn check_arity(
    name: Name<'_>,
    def: &'static OpDef,
    operands: usize,
    found: &mut Diagnostics,
) -> Option<()> {
    if def.admits_operands(operands) {
        return Some(());
    }
    let message = format!(
        "`{}` takes {}, found {operands}",
        def.name,
        def.arity_text()
    );
    found.push(Diagnostic::error(name.span, message));
    None
}

/// Checks the names of the attributes written for `def`.
pub(super) fn check_attrs(
    def: &'static OpDef,
    written: &[(Name<'_>, Expr<'_>)],
    found: &mut Diagnostics,
) -> Option<()> {
    for (at, (name, _)) in written.iter().enumerate() {
        if def.attr_index(name.text).is_none() {
            let known = def.attrs.iter().map(|attr| attr.name);
            let what = format!("attribute of `{}`", def.name);
            found.push(unknown_attr(&what, *name, known));
            return None;
        }
        if written[..at]
            .iter()
            .any(|(before, _)| before.text == name.text)
        {
            let message = format!("attribute `{}` is written twice", name.text);
            found.push(Diagnostic::error(name.span, message));
            return None;
        }
    }
    Some(())
}

fn unknown_attr<'a>(
    what: &str,
    name: Name<'_>,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let error = unknown(what, name, known.clone());
    let all: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    match (&error.help, all.is_empty()) {
        (Some(_), _) => error,
        (None, true) => error.help("it has none"),
        (None, false) => error.help(format!("it has {}", all.join(", "))),
    }
}

/// A literal in the kind that an attribute wants: `[2, 3]` is a shape too, and `1` a float.
pub(super) fn coerce(expression: Expression, wanted: AttrKind) -> Expression {
    use mind_ir::types::Dim;
    match (wanted, expression) {
        (AttrKind::Dims, Expression::Literal(AttrValue::Ints(list))) => {
            let dims = list.iter().copied().map(Dim::Fixed).collect();
            Expression::Literal(AttrValue::Dims(dims))
        }
        (AttrKind::Float, Expression::Literal(AttrValue::Int(value))) => {
            Expression::Literal(AttrValue::Float((value as f64).to_bits()))
        }
        (_, expression) => expression,
    }
}

fn check_kind(
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
    found.push(Diagnostic::error(expr.span(), message));
    None
}
