//! Random modules that the left side of a rule matches, generated from a fixed seed.

use mind_diag::Span;
use mind_ir::attr::{Attr, AttrKind};
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::{Op, OpDef, OperandClass};
use mind_ir::random::Rng;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHashMap;

use crate::attr_value::AttrValue;
use crate::language::ast::{DimAst, Expr, Operand, Term, TypeAst};
use crate::language::ops::{Ops, split_result};
use crate::unknown::Unknown;

/// The left side of a rule instantiated in a module, over leaves of random types.
pub(super) struct Drawn<'s, 'c> {
    pub(super) g: Graph,
    ops: Ops<'c>,
    rng: Rng,
    base: Vec<i64>,
    dtype: DType,
    values: FxHashMap<&'s str, ValueId>,
    attrs: FxHashMap<&'s str, AttrValue>,
    dims: FxHashMap<&'s str, Vec<i64>>,
}

impl<'s, 'c> Drawn<'s, 'c> {
    /// Generates a module from `seed` and returns it with the root of `term`; `None` if the random types are not valid
    /// for the ops.
    pub(super) fn new(term: &Term<'s>, ops: Ops<'c>, seed: u64) -> Option<(Drawn<'s, 'c>, OpId)> {
        let mut drawn = Drawn {
            g: Graph::new(),
            ops,
            rng: Rng::new(seed),
            base: Vec::new(),
            dtype: DType::F32,
            values: FxHashMap::default(),
            attrs: FxHashMap::default(),
            dims: FxHashMap::default(),
        };
        drawn.dtype = *drawn
            .rng
            .pick(&[DType::F32, DType::F32, DType::I32, DType::Bool]);
        let rank = *drawn.rng.pick(&[2usize, 2, 1, 3, 0, 4]);
        drawn.base = (0..rank).map(|_| *drawn.rng.pick(&EXTENTS)).collect();
        let root = drawn.term(term, None, None)?;
        let root = drawn.g.defining_op(root)?;
        Some((drawn, root))
    }

    /// Builds a term for an operand of `class`; `each` is the index of the value within a term that is repeated for
    /// each value of a list.
    fn term(
        &mut self,
        term: &Term<'s>,
        class: Option<OperandClass>,
        each: Option<usize>,
    ) -> Option<ValueId> {
        match term {
            Term::Value { name, ty } => {
                if let Some(&known) = self.values.get(name.text) {
                    return Some(known);
                }
                let value = self.leaf(ty.as_ref(), class)?;
                self.values.insert(name.text, value);
                Some(value)
            }
            Term::Named { name, term } => {
                let value = self.term(term, class, each)?;
                self.values.insert(name.text, value);
                Some(value)
            }
            Term::Like { .. } | Term::Any { .. } | Term::Near { .. } => None,
            Term::Op {
                name,
                operands,
                attrs,
            } => {
                let def = match self.ops.op {
                    Some(op) if name.text == "op" => self.ops.table.def(op),
                    _ => self.ops.registry.get(split_result(name.text).0)?,
                };
                let mut values = Vec::new();
                let outer = self.dtype;
                if def
                    .attrs
                    .iter()
                    .any(|row| row.kind == AttrKind::ElementType)
                {
                    self.dtype = *self.rng.pick(&[DType::F32, DType::I32, DType::Bool]);
                }
                for operand in operands {
                    let class = def.operand(values.len()).map(|operand| operand.class);
                    match (operand, each) {
                        (Operand::One(term), each) => values.push(self.term(term, class, each)?),
                        (Operand::List(_), Some(_)) => values.push(self.leaf(None, class)?),
                        (Operand::List(_), None) => {
                            values.push(self.leaf(None, class)?);
                            values.push(self.leaf(None, class)?);
                        }
                        (Operand::Each(term), _) => {
                            values.push(self.term(term, class, Some(0))?);
                            values.push(self.term(term, class, Some(1))?);
                        }
                    }
                }
                self.dtype = outer;
                let written: Option<Vec<AttrValue>> =
                    def.attrs.iter().map(|row| self.attr(row, attrs)).collect();
                let result = split_result(name.text).1.unwrap_or(0);
                self.create(def, result, &values, &written?)
            }
        }
    }

    fn create(
        &mut self,
        def: &'static OpDef,
        result: usize,
        operands: &[ValueId],
        attrs: &[AttrValue],
    ) -> Option<ValueId> {
        let attrs: Vec<Attr<'_>> = attrs.iter().map(AttrValue::as_attr).collect();
        let at = InsertPoint::End(self.g.body());
        let mut builder = Builder::new(&mut self.g, at, Span::FILE);
        let op = builder.create(def, operands, &attrs).ok()?;
        let results = self.g.results(op);
        (result < results.len()).then(|| results.get(result))
    }

    /// Builds an opaque value with a random type that satisfies `ty`, for an operand of `class`.
    fn leaf(&mut self, ty: Option<&TypeAst<'s>>, class: Option<OperandClass>) -> Option<ValueId> {
        let dtype = match class {
            Some(OperandClass::Bool) => DType::Bool,
            Some(OperandClass::Index) => DType::I64,
            Some(
                OperandClass::Any
                | OperandClass::F32
                | OperandClass::Num
                | OperandClass::Float
                | OperandClass::Signed
                | OperandClass::Integer
                | OperandClass::Bits,
            )
            | None => self.dtype,
        };
        let shape = match ty.and_then(|ty| ty.dims.as_ref()) {
            Some(dims) => self.shape(dims),
            None => self.any_shape(),
        };
        let ty = TensorType::fixed(dtype, &shape);
        let ty = self.g.intern_type(ty.view());
        let at = InsertPoint::End(self.g.body());
        let mut builder = Builder::new(&mut self.g, at, Span::FILE);
        let op = builder.create_typed(Unknown::DEF, &[], &[], &[ty]);
        Some(self.g.result(op))
    }

    fn any_shape(&mut self) -> Vec<i64> {
        let mut shape = self.base.clone();
        match self.rng.below(8) {
            0 => shape.reverse(),
            1 => shape.clear(),
            2 => shape.iter_mut().for_each(|extent| *extent = 1),
            3 if !shape.is_empty() => {
                let at = self.rng.below(shape.len());
                shape[at] = *self.rng.pick(&EXTENTS);
            }
            _ => {}
        }
        shape
    }

    fn shape(&mut self, dims: &[DimAst<'s>]) -> Vec<i64> {
        let mut shape = Vec::new();
        for dim in dims {
            match dim {
                DimAst::Fixed(extent) => shape.push(*extent),
                DimAst::Named(name) => {
                    let extent = *self.rng.pick(&EXTENTS);
                    let known = self.dims.entry(name.text).or_insert_with(|| vec![extent]);
                    shape.extend(&*known);
                }
                DimAst::Rest(name) => {
                    let some = self.any_shape();
                    let known = self.dims.entry(name.text).or_insert(some);
                    shape.extend(&*known);
                }
            }
        }
        shape
    }

    fn attr(
        &mut self,
        row: &mind_ir::opdef::AttrDef,
        written: &[(crate::language::ast::Name<'s>, Expr<'s>)],
    ) -> Option<AttrValue> {
        let written = written.iter().find(|(name, _)| name.text == row.name);
        match written.map(|(_, expr)| expr) {
            None => AttrValue::of(row.default?),
            Some(Expr::Attr(name)) => {
                if let Some(known) = self.attrs.get(name.text) {
                    return Some(known.clone());
                }
                let value = self.any_attr(row.kind)?;
                self.attrs.insert(name.text, value.clone());
                Some(value)
            }
            Some(expr) => literal(expr, row.kind),
        }
    }

    fn any_attr(&mut self, kind: AttrKind) -> Option<AttrValue> {
        const INTS: &[&[i64]] = &[
            &[],
            &[0],
            &[1],
            &[1, 0],
            &[0, 1],
            &[1, 1],
            &[0, 0],
            &[2, 2],
            &[0, 2, 1],
            &[2, 0, 1],
        ];
        Some(match kind {
            AttrKind::Int => AttrValue::Int(*self.rng.pick(&[0, 1, -1, 2])),
            AttrKind::Bool => AttrValue::Bool(*self.rng.pick(&[false, true])),
            AttrKind::Float => AttrValue::Float(0.5f64.to_bits()),
            AttrKind::Ints => AttrValue::Ints((*self.rng.pick(INTS)).into()),
            AttrKind::Dims => {
                let mut shape = self.base.clone();
                match self.rng.below(3) {
                    0 => shape.reverse(),
                    1 => shape = vec![shape.iter().product()],
                    _ => {}
                }
                AttrValue::Dims(shape.into_iter().map(Dim::Fixed).collect())
            }
            AttrKind::Pad => (*self.rng.pick(&[AttrValue::Valid, AttrValue::Same])).clone(),
            AttrKind::ElementType => AttrValue::DType(match self.rng.chance(70) {
                true => self.dtype,
                false => *self.rng.pick(DType::ALL),
            }),
            AttrKind::Word(words) => AttrValue::Word(self.rng.pick::<&str>(words)),
            AttrKind::Str | AttrKind::LiteralData => return None,
        })
    }
}

const EXTENTS: [i64; 4] = [2, 3, 4, 1];

fn literal(expr: &Expr<'_>, kind: AttrKind) -> Option<AttrValue> {
    let int = |expr: &Expr<'_>| match expr {
        Expr::Number(name) => name.text.parse::<i64>().ok(),
        _ => None,
    };
    Some(match (expr, kind) {
        (Expr::Number(_), AttrKind::Int) => AttrValue::Int(int(expr)?),
        (Expr::Number(name), AttrKind::Float) => {
            AttrValue::Float(name.text.parse::<f64>().ok()?.to_bits())
        }
        (Expr::Word(name), AttrKind::Word(words)) => {
            AttrValue::Word(words.iter().find(|word| **word == name.text)?)
        }
        (Expr::Word(name), AttrKind::ElementType) => AttrValue::DType(DType::parse(name.text)?),
        (Expr::Word(name), AttrKind::Bool) => AttrValue::Bool(name.text == "true"),
        (Expr::List(_, items), AttrKind::Ints) => {
            AttrValue::Ints(items.iter().map(int).collect::<Option<_>>()?)
        }
        (Expr::List(_, items), AttrKind::Dims) => {
            let dims = items.iter().map(|item| int(item).map(Dim::Fixed));
            AttrValue::Dims(dims.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
