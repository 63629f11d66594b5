//! Products, and what they are packed from.

use mind_ir::OpId;
use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::extents::known;
use mind_loops::ops::contract::Contract;
use mind_loops::ops::movement::Pack;
use mind_loops::ops::window::Window;
use smallvec::SmallVec;

use super::body::nodes;
use super::epilogue::{Epilogue, Extra};
use super::grid::{cost, params, range};
use super::nest::weight;
use super::{Strided, Unit};
use crate::lower::product::{
    Lhs, Operands, Packing, Panels, Product, Region, Rhs, Schedule, pack, product,
};
use crate::lower::{compute_lane, storage_lane};
use crate::program::error::ProgramError;
use crate::program::step::{Axis, Call, Step};
use crate::vir::{Addr, Builder, Function, IndexOp, Value};

/// A product with its stack and epilogue, all that its kernel depends on.
#[derive(Debug)]
struct Stacked {
    product: Product,
    /// Strides in elements of the operands and results over the dimensions of the stack.
    stack: Vec<Vec<i64>>,
    /// The first elements of the operands and results.
    offsets: Vec<i64>,
    dtypes: Vec<DType>,
    epilogue: Epilogue,
}

impl Unit<'_> {
    /// A product: the grid has the stack, the rows and the columns.
    pub(super) fn contract(&mut self, op: Contract) -> Result<(), ProgramError> {
        let g = self.g;
        let inputs = op.inputs(g);
        let operands: Vec<Strided> = inputs.iter().map(|&value| self.strided(value)).collect();
        let results: Vec<Strided> = g
            .results(op.id())
            .into_iter()
            .map(|value| self.strided(value))
            .collect();
        let batch = op.batch(g) as usize;
        let (lhs, rhs) = (&operands[0], &operands[1]);
        let (m, k) = (lhs.extents[batch], lhs.extents[batch + 1]);
        let n = rhs.extents[rhs.extents.len() - 1];
        let dtype = g.ty(inputs[0]).dtype;
        let panels = self.panels.get(&inputs[1]).copied();
        let Some(right) = side(rhs, panels) else {
            return self.refuse(
                op.id(),
                "neither rows nor columns of the right side are dense",
            );
        };
        let schedule = self.schedule(dtype, (m, n, k), right, op.micro(g));
        let product = Product {
            dtype,
            m,
            n,
            k,
            lhs: Lhs {
                row_stride: lhs.strides[batch] as usize,
                k_stride: lhs.strides[batch + 1] as usize,
            },
            rhs: right,
            schedule,
        };
        let (nodes, yielded) = nodes(g, op.body(g));
        let work: usize = nodes.iter().map(weight).sum();
        let extra = |strided: &Strided, dtype| Extra {
            dtype,
            row: strided.strides[batch],
            column: strided.strides[batch + 1],
        };
        let dtype_of = |value| g.ty(value).dtype;
        let extras = operands.iter().zip(inputs).skip(2);
        let stored = results.iter().zip(g.results(op.id()));
        let all = operands.iter().chain(&results);
        let stacked = Stacked {
            product,
            stack: all
                .clone()
                .enumerate()
                .map(|(index, strided)| {
                    stack(
                        strided,
                        batch,
                        (index == 1).then_some(panels).flatten(),
                        [k, n],
                    )
                })
                .collect(),
            offsets: all.clone().map(|strided| strided.offset).collect(),
            dtypes: inputs
                .iter()
                .map(|&value| dtype_of(value))
                .chain(g.results(op.id()).into_iter().map(dtype_of))
                .collect(),
            epilogue: Epilogue {
                dtype,
                nodes,
                extras: extras
                    .map(|(strided, &value)| extra(strided, dtype_of(value)))
                    .collect(),
                outputs: stored
                    .zip(yielded)
                    .map(|((strided, value), node)| (node, extra(strided, dtype_of(value))))
                    .collect(),
            },
        };
        let lanes = self.target.lanes(compute_lane(dtype).bits());
        let (rows, columns) = product.grain(lanes);
        let mut grid: SmallVec<[Axis; 4]> = lhs.extents[..batch]
            .iter()
            .map(|&extent| Axis::Each(extent))
            .collect();
        grid.push(Axis::Range {
            extent: m,
            grain: rows,
        });
        grid.push(Axis::Range {
            extent: n,
            grain: columns,
        });
        let tall: usize = lhs.extents[..batch].iter().product::<usize>() * m * n;
        self.scratch_bytes = self.scratch_bytes.max(product.scratch_bytes(lanes));
        let args = all.map(|strided| strided.place).collect();
        let name = g.def(op.id()).name;
        let kernel = self.function(format!("{stacked:?}"), name, || {
            function(&stacked, batch, lanes)
        });
        let cost = cost(tall, work) + cost(tall.saturating_mul(k), 0);
        let call = Call {
            kernel,
            args,
            grid,
            cost,
            op: name,
        };
        self.push(op.id(), Step::Call(call));
        Ok(())
    }

    /// The schedule that the op asks for, completed for the target.
    fn schedule(
        &self,
        dtype: DType,
        sizes: (usize, usize, usize),
        rhs: Rhs,
        micro: &[i64],
    ) -> Schedule {
        let chosen = Schedule::choose(self.target, dtype, sizes, rhs, false);
        let lanes = self.target.lanes(compute_lane(dtype).bits());
        let &[rows, vectors] = micro else {
            return chosen;
        };
        let pick = |asked: i64, own: u32| {
            u32::try_from(asked)
                .ok()
                .filter(|&asked| asked > 0)
                .unwrap_or(own)
        };
        let asked = Schedule {
            rows: pick(rows, chosen.rows),
            vectors: pick(vectors, chosen.vectors),
            ..chosen
        };
        match asked.check(lanes, &rhs) {
            Ok(()) => asked,
            Err(_) => chosen,
        }
    }

    /// Panels of the right sides of products; the first one that reads them says how wide.
    pub(super) fn pack(&mut self, op: Pack) -> Result<(), ProgramError> {
        let g = self.g;
        let result = op.result(g);
        let from = self.strided(op.input(g));
        let batch = op.batch(g) as usize;
        let (terms, n) = from.extents[batch..].split_at(from.extents.len() - batch - 1);
        let (k, n) = (terms.iter().product::<usize>(), n[0]);
        let Some(k_stride) = collapsed(terms, &from.strides[batch..]) else {
            return self.refuse(op.id(), "the terms of a column have no common stride");
        };
        let n_stride = from.strides[from.strides.len() - 1];
        let dtype = g.ty(result).dtype;
        let rows = self.readers_rows(result);
        let whole = Rhs::Rows { k_stride: n };
        let chosen = Schedule::choose(self.target, dtype, (rows, n, k), whole, true);
        let lanes = self.target.lanes(compute_lane(dtype).bits()) as usize;
        let panels = chosen.packed.unwrap_or(Panels {
            width: chosen.vectors as usize * lanes,
            dtype,
        });
        self.panels.insert(result, panels);
        let packing = Packing {
            dtype,
            n,
            k,
            n_stride: n_stride as usize,
            k_stride: k_stride as usize,
            panels,
        };
        let stacks = [
            from.strides[..batch].to_vec(),
            panel_stack(&from.extents[..batch], panels, [k, n]),
        ];
        let offset = from.offset;
        let name = g.def(op.id()).name;
        let key = format!("{packing:?} {stacks:?} {offset}");
        let lanes = lanes as u32;
        let kernel = self.function(key, name, || {
            let mut b = Builder::new("pack", lanes);
            let params = params(&mut b, 2);
            let task: Vec<Value> = (0..batch).map(|_| b.index_param()).collect();
            let range = range(&mut b);
            let source = moved(&mut b, params.pointers[0], dtype, offset, &stacks[0], &task);
            let target = moved(
                &mut b,
                params.pointers[1],
                panels.dtype,
                0,
                &stacks[1],
                &task,
            );
            pack(&mut b, &packing, source, target, range);
            b.finish()
        });
        let mut grid: SmallVec<[Axis; 4]> = from.extents[..batch]
            .iter()
            .map(|&extent| Axis::Each(extent))
            .collect();
        grid.push(Axis::Range {
            extent: packing.count(),
            grain: 1,
        });
        let all: usize = from.extents.iter().product();
        let args = [from.place, self.layout.place(g, result)]
            .into_iter()
            .collect();
        let call = Call {
            kernel,
            args,
            grid,
            cost: cost(all, 2),
            op: name,
        };
        self.push(op.id(), Step::Call(call));
        Ok(())
    }

    /// The rows of the first product that reads packed panels.
    fn readers_rows(&self, packed: mind_ir::ValueId) -> usize {
        let g = self.g;
        let rows = |op: OpId| {
            let contract = g.view::<Contract>(op)?;
            let lhs = known(g, contract.inputs(g)[0]);
            Some(lhs[lhs.len() - 2])
        };
        let mut uses = g.uses(packed);
        uses.find_map(|(op, _)| rows(op))
            .unwrap_or(usize::MAX >> 16)
    }

    /// A convolution.
    pub(super) fn window(&mut self, op: Window) -> Result<(), ProgramError> {
        self.refuse(op.id(), "not yet")
    }
}

/// How the right side of a product lies; none where neither its rows nor its columns are dense.
fn side(rhs: &Strided, panels: Option<Panels>) -> Option<Rhs> {
    let rank = rhs.extents.len();
    let [k, n] = [rhs.extents[rank - 2], rhs.extents[rank - 1]];
    let [k_stride, n_stride] = [rhs.strides[rank - 2], rhs.strides[rank - 1]];
    if let Some(panels) = panels {
        return Some(Rhs::Panels(panels));
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

/// The strides of an operand over the stack; of panels those of whole packed matrices.
fn stack(strided: &Strided, batch: usize, panels: Option<Panels>, [k, n]: [usize; 2]) -> Vec<i64> {
    let own = strided.extents.len() - 2;
    if own < batch {
        return vec![0; batch];
    }
    match panels {
        Some(panels) => panel_stack(&strided.extents[..batch], panels, [k, n]),
        None => strided.strides[..batch].to_vec(),
    }
}

/// The strides of a dense stack of packed matrices.
fn panel_stack(extents: &[usize], panels: Panels, [k, n]: [usize; 2]) -> Vec<i64> {
    let mut stride = (panels.bytes(n, k) / panels.dtype.size()) as i64;
    let mut strides = vec![0; extents.len()];
    for (at, &extent) in extents.iter().enumerate().rev() {
        strides[at] = stride;
        stride *= extent as i64;
    }
    strides
}

/// The stride of several dimensions as one; none where they do not continue each other.
fn collapsed(extents: &[usize], strides: &[i64]) -> Option<i64> {
    let mut dims = extents
        .iter()
        .zip(strides)
        .rev()
        .filter(|(extent, _)| **extent != 1);
    let Some((&extent, &inner)) = dims.next() else {
        return Some(1);
    };
    let mut next = inner * extent as i64;
    for (&extent, &stride) in dims {
        if stride != next {
            return None;
        }
        next *= extent as i64;
    }
    Some(inner)
}

/// `pointer` moved to the matrix of the stack that `task` names.
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

fn function(stacked: &Stacked, batch: usize, lanes: u32) -> Function {
    let mut b = Builder::new("contract", lanes);
    let params = params(&mut b, stacked.stack.len());
    let task: Vec<Value> = (0..batch).map(|_| b.index_param()).collect();
    let (rows, columns) = (range(&mut b), range(&mut b));
    let mut pointers = Vec::with_capacity(params.pointers.len());
    for (at, &pointer) in params.pointers.iter().enumerate() {
        let dtype = match (at, stacked.product.rhs) {
            (1, Rhs::Panels(panels)) => panels.dtype,
            _ => stacked.dtypes[at],
        };
        let (offset, stack) = (stacked.offsets[at], &stacked.stack[at]);
        pointers.push(moved(&mut b, pointer, dtype, offset, stack, &task));
    }
    let operands = Operands {
        lhs: pointers[0],
        rhs: pointers[1],
        scratch: params.scratch,
    };
    let epilogue = &stacked.epilogue;
    product(
        &mut b,
        &stacked.product,
        operands,
        Region { rows, columns },
        &mut |b, spot, sum| {
            epilogue.finish(b, &pointers[2..], spot, sum);
        },
    );
    b.finish()
}
