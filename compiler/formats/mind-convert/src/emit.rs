//! Core ops that every importer emits.

use mind_core::eval::convert::cast;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::convert::Cast;
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::index::Slice;
use mind_core::ops::join::Concat;
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::attr::OPEN_END;
use mind_ir::builder::Build;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{Graph, ValueId};

use crate::Refusal;
use crate::source::open_extent;

/// The result of an emitted op.
pub type One = Result<ValueId, Refusal>;

/// The results of emitted ops.
pub type Many = Result<Vec<ValueId>, Refusal>;

/// Emits core ops at an insertion point, and reads the types of values.
///
/// Each importer implements it for a type that also has the state of its format, for example the constants of a block.
/// Ops that change nothing, for example a reshape to the same extents, are not emitted.
pub trait EmitCore: Build + Sized {
    /// Returns the module.
    fn g(&self) -> &Graph;

    /// Returns the element type of a value.
    fn dtype(&self, value: ValueId) -> DType {
        self.g().ty(value).dtype
    }

    /// Returns the rank of a value.
    fn rank(&self, value: ValueId) -> usize {
        self.g().ty(value).rank()
    }

    /// Returns the dimensions of a value.
    fn dims(&self, value: ValueId) -> Vec<Dim> {
        self.g().ty(value).shape.to_vec()
    }

    /// Returns the refusal of an extent of `value` that is not known; `extent` names it. Importers override it whose users
    /// have other ways to make it known.
    fn unknown_extent(&self, value: ValueId, extent: String) -> Refusal {
        Refusal::not_constant(extent, open_extent(self.g(), value))
    }

    /// Returns the extents of a value.
    ///
    /// # Errors
    ///
    /// If one is not known; see [`unknown_extent`](EmitCore::unknown_extent).
    fn shape(&self, value: ValueId) -> Result<Vec<i64>, Refusal> {
        self.g().ty(value).static_shape().ok_or_else(|| {
            let ty = self.g().type_text(value);
            self.unknown_extent(value, format!("an extent of {ty}"))
        })
    }

    /// Returns the extent of a value along an axis.
    ///
    /// # Errors
    ///
    /// If it is not known; see [`unknown_extent`](EmitCore::unknown_extent).
    fn extent(&self, value: ValueId, axis: usize) -> Result<i64, Refusal> {
        let dim = self.g().ty(value).shape.get(axis).copied();
        dim.and_then(Dim::fixed).ok_or_else(|| {
            let ty = self.g().type_text(value);
            self.unknown_extent(value, format!("dimension {axis} of {ty}"))
        })
    }

    /// Returns the index of an axis, which is counted from the end if it is negative.
    ///
    /// # Errors
    ///
    /// E3004 if a value of rank `rank` does not have the axis.
    fn axis(&self, axis: i64, rank: usize) -> Result<usize, Refusal> {
        let index = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(index) {
            Ok(index) if index < rank => Ok(index),
            _ => Err(Refusal::axis(axis, rank)),
        }
    }

    /// Emits a constant.
    fn tensor(&mut self, tensor: &Tensor) -> ValueId {
        mind_core::constant(&mut self.builder(), tensor)
    }

    /// Emits a constant of shape `shape` whose elements are all the one of `element`.
    fn splat(&mut self, element: &Tensor, shape: &[i64]) -> ValueId {
        let dims = shape.iter().copied().map(Dim::Fixed);
        let ty = TensorType::new(element.dtype(), dims);
        mind_core::splat(&mut self.builder(), ty.view(), element)
    }

    /// Emits a constant of rank 0, rounded to `dtype`.
    fn number(&mut self, dtype: DType, number: f64) -> ValueId {
        self.tensor(&scalar(dtype, number))
    }

    /// Emits the extent of a value along an axis, as an `i64` of rank 0.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn extent_value(&mut self, value: ValueId, axis: usize) -> One {
        match self.dims(value)[axis] {
            Dim::Fixed(extent) => Ok(self.tensor(&Tensor::scalar(extent))),
            Dim::Symbol(_) | Dim::Dynamic => Ok(ExtentOf::with(axis as i64).build(self, value)?),
        }
    }

    /// Emits a scalar function, which is applied at every position.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn apply(&mut self, function: ScalarFn, operands: &[ValueId]) -> One {
        Ok(mind_core::apply(&mut self.builder(), function, operands)?)
    }

    /// Emits a scalar function of `x` and of a number in its dtype.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn apply_number(&mut self, function: ScalarFn, x: ValueId, number: f64) -> One {
        let number = self.number(self.dtype(x), number);
        self.apply(function, &[x, number])
    }

    /// Emits a comparison.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn compare(&mut self, direction: Direction, lhs: ValueId, rhs: ValueId) -> One {
        Ok(Compare::with(direction).build(self, lhs, rhs)?)
    }

    /// Emits a conversion of `x` to the dtype `to`.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn convert(&mut self, x: ValueId, to: DType) -> One {
        if self.dtype(x) == to {
            return Ok(x);
        }
        Ok(Cast::with(to).build(self, x)?)
    }

    /// Emits a reshape of `x` to dimensions.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn reshape(&mut self, x: ValueId, shape: &[Dim]) -> One {
        // Two unknown dimensions need not have the same extent.
        if self.g().ty(x).shape == shape && !shape.contains(&Dim::Dynamic) {
            return Ok(x);
        }
        Ok(Reshape::with(shape).build(self, x)?)
    }

    /// Emits a reshape of `x` to known extents.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn reshape_to(&mut self, x: ValueId, shape: &[i64]) -> One {
        let shape: Vec<Dim> = shape.iter().copied().map(Dim::Fixed).collect();
        self.reshape(x, &shape)
    }

    /// Emits a transpose of `x`.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn transpose(&mut self, x: ValueId, permutation: &[i64]) -> One {
        if permutation.iter().copied().eq(0..permutation.len() as i64) {
            return Ok(x);
        }
        Ok(Transpose::with().permutation(permutation).build(self, x)?)
    }

    /// Emits a transpose of `x` whose permutation was computed from ranks.
    ///
    /// # Errors
    ///
    /// The operands do not satisfy the shape rule of the op.
    fn permute(&mut self, x: ValueId, permutation: &[usize]) -> One {
        let permutation: Vec<i64> = permutation.iter().map(|&axis| axis as i64).collect();
        self.transpose(x, &permutation)
    }

    /// Emits a slice of `x`: the elements `start..end` along an axis.
    ///
    /// # Errors
    ///
    /// E3002 if `x` does not have the axis; those of the shape rule.
    fn part(&mut self, x: ValueId, axis: usize, start: i64, end: i64) -> One {
        let dims = self.g().ty(x).shape;
        let rank = dims.len();
        let Some(&dim) = dims.get(axis) else {
            let expected = format!("{} or more", axis + 1);
            let what = "an operand".to_owned();
            return Err(Refusal::rank(what, self.g().type_text(x), expected));
        };
        if start == 0 && dim == Dim::Fixed(end) {
            return Ok(x);
        }
        let mut starts = vec![0; rank];
        let ends = dims.iter().map(|dim| dim.fixed().unwrap_or(OPEN_END));
        let mut ends: Vec<i64> = ends.collect();
        (starts[axis], ends[axis]) = (start, end);
        Ok(Slice::with(&starts, &ends, &vec![1; rank]).build(self, x)?)
    }

    /// Emits a concatenation along an axis.
    ///
    /// # Errors
    ///
    /// E2007 if `inputs` is empty; those of the shape rule.
    fn concat(&mut self, inputs: &[ValueId], axis: usize) -> One {
        match inputs {
            [] => Err(Refusal::operands(0, "1 or more")),
            [input] => Ok(*input),
            _ => Ok(Concat::with(axis as i64).build(self, inputs)?),
        }
    }
}

/// Returns the tensor of rank 0 with a number, rounded to `dtype`.
pub fn scalar(dtype: DType, number: f64) -> Tensor {
    converted(&Tensor::scalar(number), dtype)
}

/// Converts the elements of a tensor to `dtype`, with the rounding of [`Cast`].
pub fn converted(tensor: &Tensor, dtype: DType) -> Tensor {
    let (module, dims) = (Graph::new(), DimEnv::default());
    let unlimited = EvalCx {
        tensor_limit: u64::MAX,
        ..EvalCx::run(&module, &dims)
    };
    cast(&unlimited, tensor, dtype).expect("a conversion fails only above the limit")
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use mind_diag::Code;
    use mind_ir::builder::Builder;

    use super::*;
    use crate::Constants;

    struct Emit<'g>(Builder<'g>);

    impl Build for Emit<'_> {
        fn builder(&mut self) -> Builder<'_> {
            self.0.reborrow()
        }
    }

    impl EmitCore for Emit<'_> {
        fn g(&self) -> &Graph {
            self.0.graph
        }
    }

    #[test]
    fn ops_that_change_nothing_are_not_emitted() -> Result<(), Refusal> {
        let mut module = Graph::new();
        let mut e = Emit(Builder::at_end(&mut module));
        let x = e.tensor(&Tensor::of(
            vec![2, 3],
            vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0],
        ));
        assert_eq!(e.reshape_to(x, &[2, 3])?, x);
        assert_eq!(e.permute(x, &[0, 1])?, x);
        assert_eq!(e.convert(x, DType::F32)?, x);
        assert_eq!(e.concat(&[x], 0)?, x);
        assert_eq!(e.part(x, 1, 0, 3)?, x);
        let last = e.part(x, 1, 2, 3)?;
        assert_eq!(e.shape(last)?, [2, 1]);
        let count = module.ops(module.body()).count();
        assert_eq!(count, 2);
        Ok(())
    }

    #[test]
    fn axes_are_within_the_rank() {
        let mut module = Graph::new();
        let mut e = Emit(Builder::at_end(&mut module));
        assert_eq!(e.axis(-1, 3), Ok(2));
        assert_eq!(e.axis(3, 3), Err(Refusal::axis(3, 3)));
        assert_eq!(e.axis(-4, 3), Err(Refusal::axis(-4, 3)));
        let x = e.number(DType::BF16, 1.0);
        let refusal = e.part(x, 0, 0, 1).expect_err("a scalar");
        assert_eq!(refusal.code(), Code(3002));
    }

    #[test]
    fn a_constant_is_emitted_once() {
        let mut module = Graph::new();
        let mut e = Emit(Builder::at_end(&mut module));
        let mut constants = Constants::default();
        let (one, same) = (Rc::new(1.0), Rc::new(1.0));
        let mut value = |own: &Rc<f64>| constants.value(own, |own| e.number(DType::F32, *own));
        let first = value(&one);
        assert_eq!(value(&one), first);
        assert_ne!(value(&same), first);
    }
}
