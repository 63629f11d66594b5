//! Compiling the left side of a rule to instructions.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Trait};

use super::ast::{DimAst, Expr, Name, Operand, Term, TypeAst};
use super::expand::only_in_fusions;
use super::names::{Names, Ops, bind, kind_of, unknown};
use crate::egraph::optable::OpIx;
use crate::egraph::payload::AttrValue;
use crate::expr::{Expression, Number};
use crate::pattern::{
    AttrPattern, DimPattern, Each, Instruction, Item, Part, Pattern, ShapePattern, TypePattern,
};
use crate::slots::{Reg, Slot};

/// The most attributes, dtypes, extents or lists that a rule may name.
const MAX_NAMES: usize = 200;

/// The pattern for `term`, where it has no error, and the names it binds.
///
/// Errors: those of the names and ops it holds; a pattern that is a mere value.
pub(super) fn compile<'s>(
    term: &Term<'s>,
    ops: Ops<'_>,
    found: &mut Diagnostics,
) -> (Option<Pattern>, Names<'s>) {
    let mut compiler = Compiler {
        ops,
        names: Names {
            registers: 1,
            ..Names::default()
        },
        code: Vec::new(),
        lists: 0,
        repeated: Repeated::No,
        found,
    };
    let compiled = compiler.term(term, 0);
    let root = match compiler.code.first() {
        Some(Instruction::Open { op, .. } | Instruction::OpenList { op, .. }) => Some(*op),
        _ => None,
    };
    if compiled.is_some() && root.is_none() {
        let message = "a lone value matches everything";
        let help = "the left side starts with an op; write `=>` where the right side does not";
        compiler
            .found
            .push(Diagnostic::error(term.span(), message).help(help));
    }
    let Compiler {
        mut names,
        code,
        lists,
        ..
    } = compiler;
    let most = [
        names.attrs.len(),
        names.dtypes.len(),
        names.dims.len(),
        names.shapes.len(),
        lists,
    ];
    if most.into_iter().any(|count| count > MAX_NAMES) {
        let message = format!("a rule of more than {MAX_NAMES} names of one kind");
        found.push(Diagnostic::error(term.span(), message));
        return (None, names);
    }
    let pattern = compiled.and(root).map(|root| Pattern {
        root,
        instructions: code,
        registers: names.registers,
        attrs: names.attrs.len(),
        dtypes: names.dtypes.len(),
        dims: names.dims.len(),
        shapes: names.shapes.len(),
        lists,
    });
    names.broken = pattern.is_none();
    (pattern, names)
}

/// Whether a term stands for each value of a list.
enum Repeated {
    No,
    /// For the first one.
    First,
    /// For another one; what is to be added to lists once it has matched.
    Other(Vec<(Reg, Slot)>),
}

struct Compiler<'s, 'c> {
    ops: Ops<'c>,
    names: Names<'s>,
    code: Vec<Instruction>,
    lists: usize,
    repeated: Repeated,
    found: &'c mut Diagnostics,
}

impl<'s> Compiler<'s, '_> {
    fn term(&mut self, term: &Term<'s>, reg: Reg) -> Option<()> {
        match term {
            Term::Value { name, ty } => {
                self.value(*name, reg)?;
                match ty {
                    Some(ty) => self.ty(ty, reg),
                    None => Some(()),
                }
            }
            Term::Named { name, term } => {
                self.value(*name, reg)?;
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
                self.code.push(Instruction::Near { reg, value });
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

    fn value(&mut self, name: Name<'s>, reg: Reg) -> Option<()> {
        if self.names.list(name.text).is_some() {
            return self.both_kinds(name);
        }
        match self.names.values.iter().find(|(own, _)| *own == name.text) {
            Some(&(_, first)) => self.code.push(Instruction::Same(first, reg)),
            None => self.names.values.push((name.text, reg)),
        }
        Some(())
    }

    fn both_kinds(&mut self, name: Name<'s>) -> Option<()> {
        let message = format!("`?{}` cannot be a value and a list of values", name.text);
        self.found.push(Diagnostic::error(name.span, message));
        None
    }

    fn op(
        &mut self,
        name: Name<'s>,
        operands: &[Operand<'s>],
        attrs: &[(Name<'s>, Expr<'s>)],
        reg: Reg,
    ) -> Option<()> {
        let resolved = self.ops.resolve(name, self.found);
        let Some((op, def)) = resolved else {
            self.look_into(name, operands);
            return None;
        };
        let attrs = self.attrs(name, def, attrs);
        let arity = check_arity(name, def, operands, self.found);
        let (Some(attrs), Some(())) = (attrs, arity) else {
            self.look_into(name, operands);
            return None;
        };
        let one = |operand: &Operand<'_>| match operand {
            Operand::One(_) => true,
            Operand::List(_) => def.variadic.is_none(),
            Operand::Each(_) => false,
        };
        if !operands.iter().all(one) {
            return self.op_of_lists(name, op, attrs, operands, reg);
        }
        let out = self.names.registers;
        for _ in operands {
            self.names.new_register(name, self.found)?;
        }
        self.code.push(Instruction::Open {
            reg,
            op,
            attrs,
            out: out as Reg,
            operands: operands.len() as Reg,
            swap: def.has(Trait::Commutative) && operands.len() == 2,
        });
        let each = operands.iter().zip(out..);
        let compiled: Vec<Option<()>> = each
            .map(|(operand, reg)| match operand {
                Operand::One(term) | Operand::Each(term) => self.term(term, reg as Reg),
                Operand::List(name) => self.element(*name, reg as Reg),
            })
            .collect();
        compiled.into_iter().collect()
    }

    /// Reports what is wrong with operands of an op that is not understood.
    fn look_into(&mut self, name: Name<'s>, operands: &[Operand<'s>]) {
        for operand in operands {
            if let Operand::One(term) | Operand::Each(term) = operand
                && let Some(reg) = self.names.new_register(name, self.found)
            {
                self.term(term, reg);
            }
        }
    }

    /// An op over lists of operands.
    fn op_of_lists(
        &mut self,
        name: Name<'s>,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        operands: &[Operand<'s>],
        reg: Reg,
    ) -> Option<()> {
        let many = operands
            .iter()
            .filter(|operand| !matches!(operand, Operand::One(_)));
        if !matches!(self.repeated, Repeated::No) {
            let message = "a list of lists of operands cannot be matched";
            self.found.push(Diagnostic::error(name.span, message));
            return None;
        }
        if many.count() > 2 {
            let message = "at most two lists of operands in one op";
            self.found.push(Diagnostic::error(name.span, message));
            return None;
        }
        let at = self.code.len();
        let mut items = Vec::new();
        let mut inner: Vec<(&Term<'s>, Item)> = Vec::new();
        for operand in operands {
            let item = match operand {
                Operand::One(_) => Item::One(self.names.new_register(name, self.found)?),
                Operand::Each(_) => Item::Many(self.new_list()),
                Operand::List(name) => Item::Many(self.bind_list(*name)?),
            };
            items.push(item);
            if let Operand::One(term) | Operand::Each(term) = operand {
                inner.push((term, item));
            }
        }
        let open = Instruction::OpenList {
            reg,
            op,
            attrs,
            items: items.into(),
        };
        self.code.insert(at, open);
        let compiled: Vec<Option<()>> = inner
            .into_iter()
            .map(|(term, item)| match item {
                Item::One(reg) => self.term(term, reg),
                Item::Many(list) => self.each(name, term, list),
            })
            .collect();
        compiled.into_iter().collect()
    }

    /// A term that every value of a list must be. It is compiled for the first value, which binds
    /// names, and again for the others, which must agree with it.
    fn each(&mut self, name: Name<'s>, term: &Term<'s>, list: Slot) -> Option<()> {
        let reg = self.names.new_register(name, self.found)?;
        self.code.push(Instruction::First { list, reg });
        self.repeated = Repeated::First;
        let first = self.term(term, reg);
        self.repeated = Repeated::Other(Vec::new());
        let outer = std::mem::take(&mut self.code);
        let reg = self.names.new_register(name, self.found);
        let others = first.and(reg).and_then(|reg| self.term(term, reg));
        let body = std::mem::replace(&mut self.code, outer);
        let collected = std::mem::replace(&mut self.repeated, Repeated::No);
        others?;
        let collect = match collected {
            Repeated::Other(collect) => collect.into(),
            Repeated::No | Repeated::First => return None,
        };
        self.code.push(Instruction::Each(Each {
            list,
            reg: reg?,
            body: body.into(),
            collect,
        }));
        Some(())
    }

    /// One value of the list `?name..`.
    fn element(&mut self, name: Name<'s>, reg: Reg) -> Option<()> {
        match &mut self.repeated {
            Repeated::No => {
                let message = format!("`?{}..` stands for any number of operands", name.text);
                let help = "this op takes a fixed number; write one name for each";
                self.found
                    .push(Diagnostic::error(name.span, message).help(help));
                None
            }
            Repeated::First => {
                if self.names.list(name.text).is_some() {
                    let message = format!("`?{}..` is bound already", name.text);
                    self.found.push(Diagnostic::error(name.span, message));
                    return None;
                }
                let list = self.bind_list(name)?;
                self.code.push(Instruction::Start { reg, list });
                Some(())
            }
            Repeated::Other(collect) => {
                collect.push((reg, self.names.list(name.text)?));
                Some(())
            }
        }
    }

    /// The slot of a list; one of its own, compared with the first, where the name is bound.
    fn bind_list(&mut self, name: Name<'s>) -> Option<Slot> {
        if self.names.values.iter().any(|(own, _)| *own == name.text) {
            self.both_kinds(name)?;
        }
        let list = self.new_list();
        match self.names.list(name.text) {
            Some(first) => self.code.push(Instruction::SameList(first, list)),
            None => self.names.lists.push((name.text, list)),
        }
        Some(list)
    }

    fn new_list(&mut self) -> Slot {
        self.lists += 1;
        (self.lists - 1) as Slot
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
                    let (expression, kind) =
                        self.names
                            .expression(expr, self.ops.vocabulary, self.found)?;
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

/// Checks the number of operands written for `def`. A list may be of any length where the op takes any
/// number.
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
        (AttrKind::Dims, Expression::List(items)) => Expression::Dims(items),
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
