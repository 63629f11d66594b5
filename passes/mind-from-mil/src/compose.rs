//! Imports ops that core expresses as several ops.

use mind_convert::{EmitCore, Refusal, converted};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::call::floats;
use mind_mil::composition::{Axes, COMPOSITIONS, Composition, Term};
use mind_mil::ops::normalization::LOCAL_RESPONSE_NORM;

use crate::emit::{Emit, One};
use crate::pool::Pool;
use crate::reduce::{Over, operand};

/// Returns the composition of an op; `None` if core has the op itself.
pub(crate) fn composition(op: OpId, e: &Emit<'_>) -> Option<&'static Composition> {
    let call = e.call(op).ok()?;
    let dtype = e.dtype(call.value("x")?);
    let mut rows = COMPOSITIONS.iter();
    rows.find(|row| row.fits(&call, dtype))
}

/// Emits the composition of an op.
pub(crate) fn compose(op: OpId, e: &mut Emit<'_>, row: &'static Composition) -> One {
    let x = e.argument(op, "x")?;
    let dtype = e.dtype(x);
    let wide = row.wide(dtype);
    let rank = e.rank(x) as i64;
    let (axes, keep) = match row.axes {
        Axes::None => (Vec::new(), true),
        Axes::Given => {
            let (_, over) = operand(op, e)?;
            (over.axes, over.keep)
        }
        Axes::Kept => (operand(op, e)?.1.axes, true),
        Axes::Last(count) => ((rank - count as i64..rank).collect(), true),
        Axes::Spatial => ((2..rank).collect(), true),
    };
    let over = Over { axes, keep };
    let mut terms = Terms {
        op,
        e,
        wide,
        over,
        made: Vec::new(),
    };
    let result = terms.value(&row.term, wide)?;
    let result = if row.axes == Axes::Kept {
        let shape = e.shape(e.g().result(op))?;
        e.reshape_to(result, &shape)?
    } else {
        result
    };
    let single = if wide == DType::F64 {
        e.convert(result, DType::F32)?
    } else {
        result
    };
    e.convert(single, dtype)
}

/// State of emitting a composition.
struct Terms<'e, 'g> {
    op: OpId,
    e: &'e mut Emit<'g>,
    /// The dtype of its intermediate tensors.
    wide: DType,
    over: Over,
    made: Vec<(Term, DType, ValueId)>,
}

impl Terms<'_, '_> {
    /// Returns the value of a term; constants get `dtype`. Equal terms share one value.
    fn value(&mut self, term: &'static Term, dtype: DType) -> One {
        let mut made = self.made.iter();
        if let Some((.., value)) = made.find(|(own, as_, _)| own == term && *as_ == dtype) {
            return Ok(*value);
        }
        let value = self.write(term, dtype)?;
        self.made.push((*term, dtype, value));
        Ok(value)
    }

    fn write(&mut self, term: &'static Term, dtype: DType) -> One {
        match *term {
            Term::Value(name) => {
                let value = self.e.argument(self.op, name)?;
                self.e.convert(value, self.wide)
            }
            Term::Param(name) => {
                // A parameter is first rounded to the dtype of the op, whose numbers `f32` can represent.
                let call = self.e.call(self.op)?;
                let number = call.float(name).unwrap_or(0.0) as f32;
                let is_shared = call.name == LOCAL_RESPONSE_NORM.name && name == "alpha";
                let number = match call.int("size").filter(|_| is_shared) {
                    Some(size) => number / size as f32,
                    None => number,
                };
                Ok(self.e.number(dtype, f64::from(number)))
            }
            Term::Number(number) => Ok(self.e.number(dtype, number)),
            Term::Channels(name, default) => match (self.e.call(self.op)?.value(name), default) {
                (None, Some(number)) => Ok(self.e.number(dtype, number)),
                _ => self.channels(name, dtype),
            },
            Term::Apply(function, of) => self.apply(function, of),
            Term::Reduce(kind, of) => {
                let of = self.value(of, self.wide)?;
                self.over.apply(self.e, reduction(kind), of)
            }
            Term::Window(kind, of) => {
                let of = self.value(of, self.wide)?;
                let windows = windows(self.op, self.e)?;
                windows.reduce(self.e, of, kind, false)
            }
            Term::Cast(to, of) => {
                let of = self.value(of, dtype)?;
                self.e.convert(of, to)
            }
        }
    }

    /// Applies a function to terms; constants get the dtype of the other operands.
    fn apply(&mut self, function: ScalarFn, of: &'static [Term]) -> One {
        let mut dtype = self.wide;
        for of in of.iter().filter(|of| !of.is_number()) {
            let value = self.value(of, self.wide)?;
            dtype = match self.e.dtype(value) {
                DType::Bool => dtype,
                own => own,
            };
        }
        let mut operands = Vec::with_capacity(of.len());
        for of in of {
            let dtype = if of.is_number() { dtype } else { self.wide };
            operands.push(self.value(of, dtype)?);
        }
        self.e.apply(function, &operands)
    }

    /// Returns a list with one number per channel, reshaped to `[C, 1, ..]`.
    fn channels(&mut self, name: &str, dtype: DType) -> One {
        let x = self.e.argument(self.op, "x")?;
        let list = floats(&self.e.known(self.op, name)?);
        let mut shape = vec![1; self.e.rank(x).saturating_sub(1).max(1)];
        shape[0] = list.len();
        let list = converted(&Tensor::of(shape, list), dtype);
        Ok(self.e.tensor(&list))
    }
}

/// Returns the sliding windows of an op.
fn windows(op: OpId, e: &mut Emit<'_>) -> Result<Pool, Refusal> {
    if e.call(op)?.name != LOCAL_RESPONSE_NORM.name {
        return Pool::of(op, e);
    }
    let x = e.argument(op, "x")?;
    let size = e.call(op)?.int("size").unwrap_or(1).max(1);
    Ok(Pool::along(1, e.rank(x), size))
}

/// Returns the core op of a reduction.
fn reduction(kind: Reduction) -> &'static OpDef {
    match kind {
        Reduction::Sum => Sum::DEF,
        Reduction::Mean => Mean::DEF,
        Reduction::Max => Max::DEF,
        Reduction::Min => Min::DEF,
        Reduction::Prod => Prod::DEF,
    }
}
