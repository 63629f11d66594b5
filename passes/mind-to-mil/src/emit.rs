//! Helpers for emitting MIL ops.

use half::f16;
use mind_convert::Refusal;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::infer_op;
use mind_ir::{OpId, Ty, ValueId};
use mind_mil::structure::Const;
use mind_mil::{Attributes, MilOp, constant};

use crate::config::Config;
use crate::constant::narrowed;
use crate::matching::{argument, ints, source};

/// Maximum size in bytes of a folded constant.
const COMPUTED: u64 = 1 << 16;

/// The value that replaces the result of an op.
pub(crate) type Lowered = Result<ValueId, Refusal>;

/// Emits the lowering of an op before it.
pub(crate) type Lower = fn(OpId, &mut Emit<'_, '_>) -> Lowered;

/// Emits the lowering of an op with several results before it.
pub(crate) type LowerMany = fn(OpId, &mut Emit<'_, '_>) -> Result<Vec<ValueId>, Refusal>;

/// The value of an argument of a MIL op.
#[derive(Clone)]
pub(crate) enum Argument<'a> {
    Value(ValueId),
    Values(&'a [ValueId]),
    Int(i64),
    Ints(&'a [i64]),
    Flag(bool),
    Flags(&'a [bool]),
    Word(&'a str),
    /// A number in the float dtype of the program.
    Number(f64, DType),
}

use Argument::{Flag, Flags, Int, Ints, Number, Value, Values, Word};

/// Builder of MIL ops before an op.
pub(crate) struct Emit<'g, 'c> {
    pub(crate) b: Builder<'g>,
    pub(crate) config: &'c Config,
}

impl Emit<'_, '_> {
    pub(crate) fn g(&self) -> &Graph {
        self.b.graph
    }

    pub(crate) fn dtype(&self, value: ValueId) -> DType {
        self.g().ty(value).dtype
    }

    /// Returns the extents of a value.
    ///
    /// # Errors
    ///
    /// If an extent is unknown.
    pub(crate) fn shape(&self, value: ValueId) -> Result<Vec<i64>, Refusal> {
        self.g().ty(value).static_shape().ok_or_else(|| {
            let ty = self.g().type_text(value);
            Refusal::unsupported(
                format!("{ty} has an extent that is not known"),
                "`mind-opt --specialize=dims=B:32` and `mind-translate --dim B=32` write the extent of dimension B; \
                 `mind-translate --flexible B=1..32` keeps it open where no op needs it",
            )
        })
    }

    /// Emits an op with one result.
    pub(crate) fn op(&mut self, row: &'static MilOp, args: &[(&str, Argument<'_>)]) -> Lowered {
        let (operands, segments) = self.bound(row, args);
        let unnamed = self.b.graph.intern("");
        let attrs = Attributes::list(&segments, [unnamed; 2]);
        let op = self.b.create(&row.def, &operands, &attrs)?;
        let Some(tensor) = self.computed(op) else {
            return Ok(self.g().result(op));
        };
        self.b.graph.erase(op);
        let numbers = mind_mil::call::floats(&tensor);
        if numbers.into_iter().any(f64::is_nan) {
            return Err(Refusal::no_counterpart(
                "it computes the constant NaN, which no constant of MIL is",
            ));
        }
        Ok(self.constant(&tensor))
    }

    /// Emits an op with as many results as `op`, of the same shapes, in the dtypes of the program.
    pub(crate) fn several(
        &mut self,
        row: &'static MilOp,
        args: &[(&str, Argument<'_>)],
        op: OpId,
    ) -> Result<Vec<ValueId>, Refusal> {
        let mut types = Vec::new();
        for result in self.g().results(op) {
            let mut ty = self.g().ty(result).to_owned();
            ty.dtype = narrowed(ty.dtype, self.float())?;
            types.push(self.b.graph.intern_type(ty.view()));
        }
        self.typed(row, args, &types)
    }

    /// Emits an op with results of the given types; types that its own inference determines take precedence.
    pub(crate) fn typed(
        &mut self,
        row: &'static MilOp,
        args: &[(&str, Argument<'_>)],
        types: &[Ty],
    ) -> Result<Vec<ValueId>, Refusal> {
        let (operands, segments) = self.bound(row, args);
        let unnamed = self.b.graph.intern("");
        let attrs = Attributes::list(&segments, [unnamed; 2]);
        let op = self.b.create_typed(&row.def, &operands, &attrs, types);
        let types = infer_op(self.b.graph, op)?;
        self.b.graph.set_types(op, &types);
        if let Some(Ok(results)) = mind_mil::fold::folded(self.g(), op, COMPUTED) {
            self.b.graph.erase(op);
            return Ok(results.iter().map(|own| self.constant(own)).collect());
        }
        Ok(self.g().results(op).into_iter().collect())
    }

    /// Returns the operands of the arguments, and the number of operands of each.
    fn bound(
        &mut self,
        row: &'static MilOp,
        args: &[(&str, Argument<'_>)],
    ) -> (Vec<ValueId>, Vec<i64>) {
        let given = args.iter().map(|(name, argument)| {
            let param = row.param(name).expect("a row has the arguments of its ops");
            let values = match argument {
                Values(values) => values.to_vec(),
                one => vec![self.value(one)],
            };
            (param, values)
        });
        let given: Vec<(usize, Vec<ValueId>)> = given.collect();
        row.arrange(given.iter().map(|(param, values)| (*param, &values[..])))
    }

    /// Folds an op of constants if the result is small, because the engine does not fold constants.
    fn computed(&self, op: OpId) -> Option<Tensor> {
        let mut results = mind_mil::fold::folded(self.g(), op, COMPUTED)?.ok()?;
        results.pop().filter(|_| results.is_empty())
    }

    fn value(&mut self, argument: &Argument<'_>) -> ValueId {
        let rows = |entries: &[i64]| {
            let entries: Vec<i32> = entries.iter().map(|&entry| entry as i32).collect();
            Tensor::of(vec![entries.len()], entries)
        };
        let tensor = match argument {
            Int(value) => Tensor::scalar(*value as i32),
            Ints(entries) => rows(entries),
            Flag(flag) => Tensor::scalar(*flag),
            Flags(flags) => Tensor::of(vec![flags.len()], flags.to_vec()),
            Number(value, DType::F32) => Tensor::scalar(*value as f32),
            Number(value, _) => Tensor::scalar(f16::from_f64(*value)),
            Word(word) => return constant::word(&mut self.b, word),
            Value(value) => return *value,
            Values(values) => return values[0],
        };
        self.constant(&tensor)
    }

    /// Appends a constant with the contents of `tensor`; the printer names it.
    pub(crate) fn constant(&mut self, tensor: &Tensor) -> ValueId {
        constant::constant(&mut self.b, tensor)
    }

    /// Returns the elements of a constant of MIL.
    pub(crate) fn elements(&self, value: ValueId) -> Option<Tensor> {
        let op = self.g().defining_op(value)?;
        self.g().view::<Const>(op)?.tensor(self.g())
    }

    /// Returns the number in a constant whose elements are all equal.
    pub(crate) fn uniform(&self, value: ValueId) -> Option<f64> {
        let elements = mind_mil::call::floats(&self.elements(value)?);
        let first = *elements.first()?;
        elements
            .iter()
            .all(|&element| element == first)
            .then_some(first)
    }

    /// Returns the float dtype of this program.
    pub(crate) fn float(&self) -> DType {
        self.config.float
    }

    pub(crate) fn reshape(&mut self, x: ValueId, shape: &[i64]) -> Lowered {
        if self.g().ty(x).static_shape().as_deref() == Some(shape) {
            return Ok(x);
        }
        if shape.is_empty() {
            // `reshape` does not take an empty shape, so a reshape to a scalar squeezes all axes.
            let axes: Vec<i64> = (0..self.g().ty(x).rank() as i64).collect();
            let row = &mind_mil::ops::movement::SQUEEZE;
            return self.op(row, &[("x", Value(x)), ("axes", Ints(&axes))]);
        }
        let row = &mind_mil::ops::movement::RESHAPE;
        self.op(row, &[("x", Value(x)), ("shape", Ints(shape))])
    }

    /// Reshapes `value`; a constant becomes another constant.
    pub(crate) fn constant_or_reshaped(&mut self, value: ValueId, shape: &[i64]) -> Lowered {
        match self.elements(value) {
            Some(tensor) if self.shape(value)? != shape => {
                let shape = shape.iter().map(|&extent| extent as usize).collect();
                Ok(self.constant(&tensor.with_shape(shape)))
            }
            _ => self.reshape(value, shape),
        }
    }

    pub(crate) fn transpose(&mut self, x: ValueId, perm: &[i64]) -> Lowered {
        if perm.iter().copied().eq(0..perm.len() as i64) {
            return Ok(x);
        }
        if let Some(tensor) = self.elements(x) {
            let moved = permuted(&tensor, perm);
            return Ok(self.constant(&moved));
        }
        // Two transposes in a row are one, or none if they cancel.
        if let Some(before) = source(self, x, "transpose")
            && let (Some(x), Some(order)) =
                (argument(self, before, "x"), ints(self, before, "perm"))
        {
            let rank = order.len() as i64;
            let both = perm
                .iter()
                .map(|&axis| order[axis as usize].rem_euclid(rank));
            return self.transpose(x, &both.collect::<Vec<i64>>());
        }
        let row = &mind_mil::ops::movement::TRANSPOSE;
        self.op(row, &[("x", Value(x)), ("perm", Ints(perm))])
    }
}

/// Returns `tensor` with its dimensions permuted.
pub(crate) fn permuted(tensor: &Tensor, perm: &[i64]) -> Tensor {
    let shape: Vec<usize> = perm
        .iter()
        .map(|&axis| tensor.shape()[axis as usize])
        .collect();
    let strides = mind_ir::tensor::row_major(tensor.shape());
    let size = tensor.dtype().size();
    let bytes = tensor.buffer().to_bytes();
    let mut moved = Vec::with_capacity(bytes.len());
    let mut index = vec![0usize; shape.len()];
    for _ in 0..tensor.count() {
        let at: usize = index
            .iter()
            .zip(perm)
            .map(|(i, &axis)| i * strides[axis as usize])
            .sum();
        moved.extend_from_slice(&bytes[at * size..][..size]);
        mind_ir::tensor::advance(&mut index, &shape);
    }
    Tensor::new(shape, Buffer::from_bytes(tensor.dtype(), &moved))
}
