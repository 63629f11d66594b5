//! Batched products with an epilogue.

use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::memory::buffer;
use mind_loops::node;
use mind_loops::ops::contract::Contract;

use super::epilogue::{Epilogue, Extra};
use super::{ProgramBuilder, Strided};
use crate::lower::nest::is_long;
use crate::lower::product::{
    Lhs, Operands, Panels, Product, Region, Rhs, Schedule, ScheduleRequest, Sums, product,
    product_in_place,
};
use crate::lower::{compute_lane, storage_lane};
use crate::program::error::ProgramError;
use mind_vir::ir::{Addr, Builder, IndexOp, Value};

/// A product with its batch and epilogue, which determine its kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Stacked {
    pub(super) product: Product,
    pub(super) epilogue: Epilogue,
    /// Batch strides of the operands and results, in elements.
    stack: Vec<Vec<i64>>,
    /// Offsets of the first elements of the operands and results.
    offsets: Vec<i64>,
    dtypes: Vec<DType>,
}

impl Stacked {
    /// Returns the vector lanes on `target`.
    pub(super) fn lanes(&self, target: &mind_vir::target::TargetInfo) -> u32 {
        target.lanes(compute_lane(self.product.dtype).bits())
    }

    /// Returns the pointers of the operands and results, moved to the matrices with the batch indices `task`.
    pub(super) fn pointers(&self, b: &mut Builder, params: &[Value], task: &[Value]) -> Vec<Value> {
        let mut pointers = Vec::with_capacity(params.len());
        for (at, &pointer) in params.iter().enumerate() {
            let dtype = match (at, self.product.rhs) {
                (1, Rhs::Panels(panels)) => panels.dtype,
                _ => self.dtypes[at],
            };
            let (offset, stack) = (self.offsets[at], &self.stack[at]);
            pointers.push(moved(b, pointer, dtype, offset, stack, task));
        }
        pointers
    }

    /// Appends a region of the product of the matrices at `pointers`.
    pub(super) fn append(&self, b: &mut Builder, pointers: &[Value], region: Region) {
        let operands = Operands {
            lhs: pointers[0],
            rhs: pointers[1],
        };
        if let Some(row_stride) = self.epilogue.keeps_sums() {
            let start = pointers[2 + self.epilogue.extras.len()];
            let to = Sums { start, row_stride };
            if product_in_place(b, &self.product, operands, region, to) {
                return;
            }
        }
        product(b, &self.product, operands, region, &mut |b, coord, sum| {
            self.epilogue.finish(b, &pointers[2..], coord, sum);
        });
    }
}

impl ProgramBuilder<'_> {
    /// Returns the product of an op.
    ///
    /// # Errors
    ///
    /// Neither rows nor columns of the right-hand side are contiguous.
    pub(super) fn stacked(&self, op: Contract) -> Result<Stacked, ProgramError> {
        let g = self.g;
        let inputs = op.inputs(g);
        let results: Vec<_> = g.results(op.id()).into_iter().collect();
        let values: Vec<_> = inputs.iter().chain(&results).copied().collect();
        let all: Vec<Strided> = values.iter().map(|&value| self.strided(value)).collect();
        let batch = op.batch(g) as usize;
        let (lhs, rhs) = (&all[0], &all[1]);
        let (m, k) = (lhs.extents[batch], lhs.extents[batch + 1]);
        let n = rhs.extents[rhs.extents.len() - 1];
        let dtype = g.ty(inputs[0]).dtype;
        if all
            .iter()
            .flat_map(|strided| &strided.strides)
            .any(|&stride| stride < 0)
        {
            return self.refuse(op.id(), "an operand runs backwards");
        }
        let packed = self.panels.get(&buffer(g, inputs[1]));
        if packed.is_some() {
            self.check_dense(op.id(), &inputs[1..2])?;
        }
        let stack: usize = rhs.extents[..rhs.extents.len() - 2].iter().product();
        if packed.is_some_and(|packed| packed.sizes != [stack, k, n]) {
            return self.refuse(op.id(), "the right side is packed for another product");
        }
        let packed = packed.map(|packed| packed.rhs);
        let Some(right) = side(rhs, packed) else {
            let reason = "neither rows nor columns of the right side are dense";
            return self.refuse(op.id(), reason);
        };
        let (nodes, yielded) = node::read(g, op.body(g));
        let asked = asked(op.micro(g), op.block(g));
        let lies = Lhs {
            row_stride: lhs.strides[batch] as usize,
            k_stride: lhs.strides[batch + 1] as usize,
        };
        let in_matrices = Schedule::in_matrices(self.target, op.parts(g), (m, n, k), right);
        let takes_matrices = asked == ScheduleRequest::default()
            && matches!(right, Rhs::Panels(_))
            && lies.is_in_rows_of_words(k);
        let schedule = match in_matrices.filter(|_| takes_matrices) {
            Some(schedule) => schedule,
            None => {
                let schedule = Schedule::with_request(self.target, dtype, (m, n, k), right, asked);
                let schedule = schedule.or_else(|why| self.refuse(op.id(), &why.to_string()))?;
                Schedule {
                    stages_output: is_long(&nodes),
                    ..schedule
                }
            }
        };
        let product = Product {
            dtype,
            m,
            n,
            k,
            lhs: lies,
            rhs: right,
            parts: op.parts(g),
            schedule,
        };
        let extra = |at: usize| Extra {
            dtype: g.ty(values[at]).dtype,
            row: all[at].strides[batch],
            column: all[at].strides[batch + 1],
        };
        let stacks = all.iter().enumerate().map(|(at, strided)| {
            let packed = packed.filter(|_| at == 1);
            stack_strides(strided, batch, packed, [k, n])
        });
        Ok(Stacked {
            product,
            stack: stacks.collect(),
            offsets: all.iter().map(|strided| strided.offset).collect(),
            dtypes: values.iter().map(|&value| g.ty(value).dtype).collect(),
            epilogue: Epilogue {
                dtype,
                nodes,
                extras: (2..inputs.len()).map(extra).collect(),
                outputs: yielded
                    .into_iter()
                    .zip((inputs.len()..values.len()).map(extra))
                    .collect(),
            },
        })
    }
}

/// Returns the schedule that the attributes of a product request: rows and vectors of a tile, and rows, columns and
/// terms of a cache block.
pub(super) fn asked(micro: &[i64], block: &[i64]) -> ScheduleRequest {
    let of = |list: &[i64], at: usize| list.get(at).map_or(0, |&number| number as usize);
    let tile = |at: usize| u32::try_from(of(micro, at)).unwrap_or(u32::MAX);
    ScheduleRequest {
        rows: tile(0),
        vectors: tile(1),
        mc: of(block, 0),
        nc: of(block, 1),
        kc: of(block, 2),
    }
}

/// Returns the layout of the right-hand side of a product; `None` if neither its rows nor its columns are contiguous.
fn side(rhs: &Strided, packed: Option<Rhs>) -> Option<Rhs> {
    let rank = rhs.extents.len();
    let [k, n] = [rhs.extents[rank - 2], rhs.extents[rank - 1]];
    let [k_stride, n_stride] = [rhs.strides[rank - 2], rhs.strides[rank - 1]];
    if packed.is_some() {
        return packed;
    }
    if n_stride == 1 || n <= 1 {
        return Some(Rhs::Rows {
            k_stride: k_stride as usize,
        });
    }
    (k_stride == 1 || k <= 1).then_some(Rhs::Columns {
        n_stride: n_stride as usize,
    })
}

/// Returns the batch strides of an operand; for panels, those of whole packed matrices.
fn stack_strides(
    strided: &Strided,
    batch: usize,
    packed: Option<Rhs>,
    [k, n]: [usize; 2],
) -> Vec<i64> {
    let own = strided.extents.len() - 2;
    if own < batch {
        return vec![0; batch];
    }
    match packed {
        Some(Rhs::Panels(panels)) => panel_stack(&strided.extents[..batch], panels, [k, n]),
        // The whole batch shares one matrix.
        Some(Rhs::Quantised(_)) => vec![0; batch],
        _ => strided.strides[..batch].to_vec(),
    }
}

/// Returns the strides of a dense batch of packed matrices.
pub(super) fn panel_stack(extents: &[usize], panels: Panels, [k, n]: [usize; 2]) -> Vec<i64> {
    let mut stride = (panels.bytes(n, k) / panels.dtype.size()) as i64;
    let mut strides = vec![0; extents.len()];
    for (at, &extent) in extents.iter().enumerate().rev() {
        strides[at] = stride;
        stride *= extent as i64;
    }
    strides
}

/// Returns `pointer` moved to the matrix with the batch indices `task`.
pub(super) fn moved(
    b: &mut Builder,
    pointer: Value,
    dtype: DType,
    offset: i64,
    strides: &[i64],
    task: &[Value],
) -> Value {
    let steps = strides.iter().zip(task).filter(|(stride, _)| **stride != 0);
    let mut index = (offset != 0).then(|| b.index(offset));
    for (&stride, &at) in steps {
        let stride = b.index(stride);
        let step = b.index_op(IndexOp::Mul, at, stride);
        index = Some(match index {
            Some(index) => b.index_op(IndexOp::Add, index, step),
            None => step,
        });
    }
    match index {
        Some(index) => b.address(Addr::element(pointer, index, storage_lane(dtype))),
        None => pointer,
    }
}
