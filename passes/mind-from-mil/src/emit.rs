//! Emission of core ops for ops of MIL.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::elementwise::{Add, Div, Maximum, Minimum, Mul, Relu, Sqrt, Sub, Tanh};
use mind_ir::attr::Attr;
use mind_ir::builder::{Build, Builder};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::{OpId, ValueId};
use mind_mil::call::Call;
use mind_mil::ops;
use mind_mil::structure::constant_of;
use rustc_hash::FxHashMap;

pub(crate) use mind_convert::{Many, One};

/// Emits core ops before an op of MIL and returns the value that replaces its result.
pub(crate) type Import = fn(OpId, &mut Emit<'_>) -> One;

/// Emits core and tensor ops before an op of MIL.
pub(crate) struct Emit<'g> {
    pub(crate) b: Builder<'g>,
    /// The core constant of each constant of MIL that was used in the block.
    pub(crate) constants: &'g mut FxHashMap<ValueId, ValueId>,
}

impl Build for Emit<'_> {
    fn builder(&mut self) -> Builder<'_> {
        self.b.reborrow()
    }
}

impl EmitCore for Emit<'_> {
    fn g(&self) -> &Graph {
        self.b.graph
    }

    fn unknown_extent(&self, _: ValueId, extent: String) -> Refusal {
        Refusal::no_counterpart(format!("{extent} is not known"))
    }
}

impl Emit<'_> {
    /// Returns the op with its arguments bound to the names of its signature.
    ///
    /// # Errors
    ///
    /// E6003 if the op has no signature; those of the binding.
    pub(crate) fn call(&self, op: OpId) -> Result<Call<'_>, Refusal> {
        let row = ops::row(self.g().def(op))
            .ok_or_else(|| Refusal::no_counterpart("it has no signature"))?;
        Ok(Call::bind(row, op, self.g())?)
    }

    /// Returns the values of argument `name`. Constants are converted to constants of core.
    pub(crate) fn arguments(&mut self, op: OpId, name: &str) -> Many {
        let values = self.call(op)?.values(name).to_vec();
        values.into_iter().map(|value| self.taken(value)).collect()
    }

    /// Returns the value of argument `name`, a constant as one of core; `None` if the argument is omitted.
    pub(crate) fn optional(&mut self, op: OpId, name: &str) -> Result<Option<ValueId>, Refusal> {
        match self.call(op)?.value(name) {
            Some(value) => Ok(Some(self.taken(value)?)),
            None => Ok(None),
        }
    }

    /// Returns the value of argument `name`, a constant as one of core.
    ///
    /// # Errors
    ///
    /// E4104 if the argument is omitted.
    pub(crate) fn argument(&mut self, op: OpId, name: &str) -> One {
        let value = self.optional(op, name)?;
        value.ok_or_else(|| Refusal::missing(name))
    }

    /// Returns the elements of argument `name`.
    ///
    /// # Errors
    ///
    /// E6003 if the argument is computed at run time.
    pub(crate) fn known(&self, op: OpId, name: &str) -> Result<Tensor, Refusal> {
        let known = self.call(op)?.tensor(name).known();
        known.ok_or_else(|| Refusal::no_counterpart(format!("`{name}` comes at run time")))
    }

    /// Returns the integers of argument `name`.
    ///
    /// # Errors
    ///
    /// E6003 if the argument is computed at run time.
    pub(crate) fn ints(&self, op: OpId, name: &str) -> Result<Vec<i64>, Refusal> {
        Ok(mind_mil::call::integers(&self.known(op, name)?))
    }

    /// Returns a value of MIL, converted to a constant of core if it is a constant.
    ///
    /// # Errors
    ///
    /// E6003 if the constant has no tensor, for example because its weights were not read.
    pub(crate) fn taken(&mut self, value: ValueId) -> One {
        let Some(constant) = constant_of(self.g(), value) else {
            return Ok(value);
        };
        if let Some(&known) = self.constants.get(&value) {
            return Ok(known);
        }
        let tensor = constant.tensor(self.g()).ok_or_else(|| {
            let path = self.g().name(constant.path(self.g()));
            Refusal::no_counterpart(format!("the weights in `{path}` were not read"))
        })?;
        let new = self.tensor(&tensor);
        self.constants.insert(value, new);
        Ok(new)
    }

    /// Returns a value whose elements are floats.
    ///
    /// # Errors
    ///
    /// E4106 for other elements.
    pub(crate) fn float(&self, value: ValueId) -> Result<ValueId, Refusal> {
        match self.dtype(value) {
            dtype if dtype.is_float() => Ok(value),
            dtype => Err(Refusal::dtype("an operand".to_owned(), dtype, "floats")),
        }
    }

    /// Emits an op with one result; `def` selects its kind.
    pub(crate) fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> One {
        Ok(self.b.one(def, operands, attrs)?)
    }

    /// Emits a transpose of the last two dimensions.
    pub(crate) fn flipped(&mut self, x: ValueId) -> One {
        let rank = self.rank(x);
        let mut perm: Vec<i64> = (0..rank as i64).collect();
        perm.swap(rank - 1, rank - 2);
        self.transpose(x, &perm)
    }
}

/// Arithmetic, one method per op of core. The right operand of a method with `_n` is a number in the dtype of `x`.
macro_rules! arithmetic {
    ([$($unary:ident = $unary_op:ident,)*] [$($binary:ident $(, $by:ident)? = $binary_op:ident,)*]) => {
        impl Emit<'_> {
            $(pub(crate) fn $unary(&mut self, x: ValueId) -> One {
                Ok($unary_op::build(&mut self.b, x)?)
            })*
            $(pub(crate) fn $binary(&mut self, x: ValueId, y: ValueId) -> One {
                Ok($binary_op::build(&mut self.b, x, y)?)
            }

            $(pub(crate) fn $by(&mut self, x: ValueId, n: f64) -> One {
                let n = self.number(self.dtype(x), n);
                self.$binary(x, n)
            })?)*
        }
    };
}

arithmetic! {
    [relu = Relu, sqrt = Sqrt, tanh = Tanh,]
    [add, add_n = Add, sub = Sub, mul, mul_n = Mul, div = Div, max = Maximum, min = Minimum,]
}
