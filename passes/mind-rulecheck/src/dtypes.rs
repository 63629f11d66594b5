//! Assignment of dtypes to the values of a left side.

use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_ir::attr::AttrKind;
use mind_ir::opdef::{Op, OperandClass};
use mind_ir::types::DType;
use mind_rules::{AttrValue, Hint, LhsAttr, LhsType};

use crate::plan::{PlanOp, is_any, is_index};

/// The dtype of quantised values.
const SCALED: DType = DType::I8;

/// The dtype family of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// The main dtype, in which the rule is tried.
    Main,
    /// This dtype, regardless of the others.
    Fixed(DType),
    /// The drawn dtype of this index, which may be shared by several values.
    Other(usize),
}

/// Returns the family of each of `values` values, some of which have written types, and the number of drawn dtypes.
pub(crate) fn families(
    ops: &[PlanOp<'_>],
    hints: &[Hint],
    types: &[(usize, LhsType)],
    values: usize,
) -> (Vec<Family>, usize) {
    let mut groups = Groups {
        parents: (0..values).collect(),
        fixed: vec![None; values],
    };
    let mut named: Vec<(usize, usize)> = Vec::new();
    for op in ops {
        groups.op(op);
        let Some((dtype, row)) = op.left.attrs.iter().zip(op.left.def.attrs).find(is_dtype) else {
            continue;
        };
        debug_assert_eq!(row.kind, AttrKind::ElementType);
        match dtype {
            LhsAttr::Fixed(AttrValue::DType(dtype)) => groups.fix(op.result, *dtype),
            LhsAttr::Fixed(_) => {}
            LhsAttr::Named(number) => {
                let known = named.iter().find(|(own, _)| own == number);
                if let Some(&(_, other)) = known {
                    groups.join(op.result, other);
                }
                named.push((*number, op.result));
            }
        }
    }
    for (at, (value, ty)) in types.iter().enumerate() {
        let same = |(_, other): &&(usize, LhsType)| ty.dtype.is_some() && other.dtype == ty.dtype;
        if let Some((other, _)) = types[..at].iter().find(same) {
            groups.join(*value, *other);
        }
    }
    for hint in hints {
        if let Hint::Truth(value) = *hint {
            groups.fix(value, DType::Bool);
        }
    }
    groups.numbered(ops)
}

fn is_dtype(pair: &(&LhsAttr<'_>, &mind_ir::opdef::AttrDef)) -> bool {
    pair.1.kind == AttrKind::ElementType
}

/// Union-find sets of values that have the same dtype, identified by their root.
struct Groups {
    parents: Vec<usize>,
    fixed: Vec<Option<DType>>,
}

impl Groups {
    fn root(&self, mut value: usize) -> usize {
        while self.parents[value] != value {
            value = self.parents[value];
        }
        value
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.fixed[a] = self.fixed[a].or(self.fixed[b]);
        self.parents[b] = a;
    }

    fn fix(&mut self, value: usize, dtype: DType) {
        let root = self.root(value);
        self.fixed[root] = Some(dtype);
    }

    /// Joins the operands and results of `op` that must have the same dtype, and fixes those that must have a certain
    /// one.
    fn op(&mut self, op: &PlanOp<'_>) {
        let def = op.left.def;
        if is_any(def, &[Quantize::DEF, Dequantize::DEF]) {
            return self.scaled(op);
        }
        let mut alike: Vec<usize> = Vec::new();
        for (at, &value) in op.operands.iter().enumerate() {
            let class = def.operand(at).map(|operand| operand.class);
            if class == Some(OperandClass::Bool) {
                self.fix(value, DType::Bool);
            } else if !is_index(def, at) {
                alike.push(value);
            }
        }
        let converts = def
            .attrs
            .iter()
            .any(|row| row.kind == AttrKind::ElementType);
        let compares = |function: mind_ir::scalar::ScalarFn| function.result(DType::F32);
        if is_any(def, &[ArgMax::DEF, ArgMin::DEF, ExtentOf::DEF]) {
            self.fix(op.result, DType::I64);
        } else if def.scalar.map(compares) == Some(DType::Bool) {
            self.fix(op.result, DType::Bool);
        } else if !converts {
            alike.push(op.result);
        }
        for pair in alike.windows(2) {
            self.join(pair[0], pair[1]);
        }
    }

    /// Joins the floats of a quantisation with the scale, and fixes the dtype of the quantised values and zero point.
    fn scaled(&mut self, op: &PlanOp<'_>) {
        let (number, integer) = match is_any(op.left.def, &[Quantize::DEF]) {
            true => (op.operands[0], op.result),
            false => (op.result, op.operands[0]),
        };
        self.fix(integer, SCALED);
        if let Some(&zero_point) = op.operands.get(2) {
            self.fix(zero_point, SCALED);
        }
        self.join(number, op.operands[1]);
    }

    /// Returns the families and the number of drawn dtypes. The main family is that of the first operand whose dtype is
    /// not fixed.
    fn numbered(&self, ops: &[PlanOp<'_>]) -> (Vec<Family>, usize) {
        let operands = ops.iter().flat_map(|op| &op.operands);
        let roots = operands.map(|&value| self.root(value));
        let main = roots.clone().find(|&root| self.fixed[root].is_none());
        let mut others: Vec<usize> = Vec::new();
        let family = |value: usize| {
            let root = self.root(value);
            match self.fixed[root] {
                Some(dtype) => Family::Fixed(dtype),
                None if Some(root) == main => Family::Main,
                None => {
                    let known = others.iter().position(|&own| own == root);
                    Family::Other(known.unwrap_or_else(|| {
                        others.push(root);
                        others.len() - 1
                    }))
                }
            }
        };
        let families = (0..self.parents.len()).map(family).collect();
        (families, others.len())
    }
}
