//! Short forms for the ops that an import emits.

use mind_core::ops::constant::ConstTensor;
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::{Add, Div, Maximum, Minimum, Mul, Relu, Sqrt, Sub, Tanh};
use mind_core::ops::join::Concat;
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::attr::{Attr, Literal};
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{OpId, ValueId, with_float};
use mind_mil::call::Call;
use mind_mil::ops;
use mind_mil::structure::constant_of;
use rustc_hash::FxHashMap;

use crate::refuse::Refused;

/// The value that an op becomes.
pub(crate) type Imported = Result<ValueId, Box<Refused>>;

/// Emits before an op what it becomes.
pub(crate) type Import = fn(OpId, &mut Emit<'_>) -> Imported;

/// Emits core and tensor ops before an op of MIL.
pub(crate) struct Emit<'g> {
    pub(crate) b: Builder<'g>,
    /// What each constant of MIL became.
    pub(crate) constants: &'g mut FxHashMap<ValueId, ValueId>,
}

impl Emit<'_> {
    pub(crate) fn g(&self) -> &Graph {
        self.b.graph
    }

    /// The op with its arguments bound to their names.
    ///
    /// # Errors
    ///
    /// An op that is not one of a signature.
    pub(crate) fn call(&self, op: OpId) -> Result<Call<'_>, Box<Refused>> {
        let row = ops::row(self.g().def(op)).ok_or_else(|| Refused::new("it has no signature"))?;
        Ok(Call::bind(row, op, self.g())?)
    }

    /// The values of argument `name`, constants as core's.
    pub(crate) fn arguments(&mut self, op: OpId, name: &str) -> Result<Vec<ValueId>, Box<Refused>> {
        let values = self.call(op)?.values(name).to_vec();
        values.into_iter().map(|value| self.taken(value)).collect()
    }

    /// The value of argument `name`, a constant as core's; `None` if it is left out.
    pub(crate) fn optional(
        &mut self,
        op: OpId,
        name: &str,
    ) -> Result<Option<ValueId>, Box<Refused>> {
        match self.call(op)?.value(name) {
            Some(value) => Ok(Some(self.taken(value)?)),
            None => Ok(None),
        }
    }

    /// The value of argument `name`, a constant as core's.
    ///
    /// # Errors
    ///
    /// An argument that is left out.
    pub(crate) fn argument(&mut self, op: OpId, name: &str) -> Imported {
        let value = self.optional(op, name)?;
        value.ok_or_else(|| Refused::new(format!("`{name}` is left out")))
    }

    /// The elements of argument `name`.
    ///
    /// # Errors
    ///
    /// An argument that only a run knows.
    pub(crate) fn known(&self, op: OpId, name: &str) -> Result<Tensor, Box<Refused>> {
        let known = self.call(op)?.tensor(name).known();
        known.ok_or_else(|| Refused::new(format!("`{name}` comes at run time")))
    }

    /// The integers of argument `name`.
    ///
    /// # Errors
    ///
    /// An argument that only a run knows.
    pub(crate) fn ints(&self, op: OpId, name: &str) -> Result<Vec<i64>, Box<Refused>> {
        Ok(mind_mil::call::integers(&self.known(op, name)?))
    }

    /// A value as core takes it: constants of MIL become constants of core.
    ///
    /// # Errors
    ///
    /// Text, weights that were not read.
    pub(crate) fn taken(&mut self, value: ValueId) -> Imported {
        let Some(constant) = constant_of(self.g(), value) else {
            return Ok(value);
        };
        if let Some(&known) = self.constants.get(&value) {
            return Ok(known);
        }
        let tensor = constant.tensor(self.g()).ok_or_else(|| {
            let path = self.g().name(constant.path(self.g()));
            Refused::new(format!("the weights in `{path}` were not read"))
        })?;
        let new = self.constant(&tensor);
        self.constants.insert(value, new);
        Ok(new)
    }

    pub(crate) fn dtype(&self, value: ValueId) -> DType {
        self.g().ty(value).dtype
    }

    pub(crate) fn rank(&self, value: ValueId) -> usize {
        self.g().ty(value).rank()
    }

    /// The extents of a value.
    ///
    /// # Errors
    ///
    /// One that is not known.
    pub(crate) fn shape(&self, value: ValueId) -> Result<Vec<i64>, Box<Refused>> {
        self.g().ty(value).static_shape().ok_or_else(|| {
            let ty = self.g().type_text(value);
            Refused::new(format!("{ty} has an extent that is not known"))
        })
    }

    /// Refuses a value that is no float: what `function` computes is defined for floats alone.
    pub(crate) fn float(&self, value: ValueId) -> Result<ValueId, Box<Refused>> {
        match self.dtype(value) {
            dtype if dtype.is_float() => Ok(value),
            dtype => Err(Refused::new(format!(
                "core does not compute it for {dtype}"
            ))),
        }
    }

    /// An op of one result, whose kind is not known here.
    pub(crate) fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> Imported {
        Ok(self.b.one(def, operands, attrs)?)
    }

    /// A constant of core.
    pub(crate) fn constant(&mut self, tensor: &Tensor) -> ValueId {
        let bytes = tensor.buffer().to_bytes();
        let literal = Literal {
            dtype: tensor.dtype(),
            count: Some(tensor.count()),
            bytes: &bytes,
        };
        self.literal(&literal, tensor.shape())
    }

    /// A constant of core with the one element of `tensor` at every position of `shape`.
    pub(crate) fn splat(&mut self, tensor: &Tensor, shape: &[i64]) -> ValueId {
        let bytes = tensor.buffer().to_bytes();
        let literal = Literal {
            dtype: tensor.dtype(),
            count: None,
            bytes: &bytes,
        };
        let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
        self.literal(&literal, &shape)
    }

    fn literal(&mut self, literal: &Literal<'_>, shape: &[usize]) -> ValueId {
        let shape = shape.iter().map(|&extent| Dim::Fixed(extent as i64));
        let ty = self
            .b
            .graph
            .intern_type(TensorType::new(literal.dtype, shape).view());
        let op = self
            .b
            .create_typed(ConstTensor::DEF, &[], &ConstTensor::attrs(literal), &[ty]);
        self.g().result(op)
    }

    /// A number in a float dtype, of rank 0.
    pub(crate) fn number(&mut self, dtype: DType, value: f64) -> ValueId {
        let tensor = number(dtype, value);
        self.constant(&tensor)
    }

    /// `x` in the dtype `to`.
    pub(crate) fn convert(&mut self, x: ValueId, to: DType) -> Imported {
        if self.dtype(x) == to {
            return Ok(x);
        }
        Ok(Cast::with(to).build(&mut self.b, x)?)
    }

    pub(crate) fn reshape(&mut self, x: ValueId, shape: &[i64]) -> Imported {
        if self.shape(x)? == shape {
            return Ok(x);
        }
        let dims: Vec<Dim> = shape.iter().copied().map(Dim::Fixed).collect();
        Ok(Reshape::with(&dims).build(&mut self.b, x)?)
    }

    pub(crate) fn transpose(&mut self, x: ValueId, perm: &[i64]) -> Imported {
        if perm.iter().copied().eq(0..perm.len() as i64) {
            return Ok(x);
        }
        Ok(Transpose::with().permutation(perm).build(&mut self.b, x)?)
    }

    /// The last two dimensions exchanged.
    pub(crate) fn flipped(&mut self, x: ValueId) -> Imported {
        let rank = self.rank(x);
        let mut perm: Vec<i64> = (0..rank as i64).collect();
        perm.swap(rank - 1, rank - 2);
        self.transpose(x, &perm)
    }

    pub(crate) fn concat(&mut self, inputs: &[ValueId], axis: usize) -> Imported {
        match inputs {
            [one] => Ok(*one),
            _ => Ok(Concat::with(axis as i64).build(&mut self.b, inputs)?),
        }
    }
}

/// Arithmetic, one method an op of core; `n` stands for a number on the right, in the dtype of `x`.
macro_rules! arithmetic {
    ([$($unary:ident = $unary_op:ident,)*] [$($binary:ident $(, $by:ident)? = $binary_op:ident,)*]) => {
        impl Emit<'_> {
            $(pub(crate) fn $unary(&mut self, x: ValueId) -> Imported {
                Ok($unary_op::build(&mut self.b, x)?)
            })*
            $(pub(crate) fn $binary(&mut self, x: ValueId, y: ValueId) -> Imported {
                Ok($binary_op::build(&mut self.b, x, y)?)
            }

            $(pub(crate) fn $by(&mut self, x: ValueId, n: f64) -> Imported {
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

/// A number of rank 0. Panics unless `dtype` is a float.
pub(crate) fn number(dtype: DType, value: f64) -> Tensor {
    with_float!(dtype, T => Tensor::scalar(<T as FloatNum>::from_f64(value)),
        else unreachable!("numbers are made for floats"))
}
