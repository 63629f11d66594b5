//! Epilogues of products, applied to sums in registers.

use mind_ir::types::DType;

use crate::lower::nest::Node;
use crate::lower::product::TileCoord;
use crate::lower::{
    apply, compute_lane, constant, convert, load, round, storage_lane, store, widen,
};
use mind_vir::ir::{Addr, Builder, IndexOp, Op, Value};

/// Layout of an operand or a result of the epilogue: strides in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Extra {
    pub(super) dtype: DType,
    pub(super) row: i64,
    pub(super) column: i64,
}

/// The element-wise function after a product, for example a bias and an activation. The first two nodes are the
/// operands of the product, and the first one has the value of the product.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Epilogue {
    pub(super) dtype: DType,
    pub(super) nodes: Vec<Node>,
    pub(super) extras: Vec<Extra>,
    pub(super) outputs: Vec<(usize, Extra)>,
}

impl Epilogue {
    /// Returns the row stride of the only result, if the epilogue stores the sums unchanged.
    pub(super) fn keeps_sums(&self) -> Option<usize> {
        let &[(0, result)] = &self.outputs[..] else {
            return None;
        };
        let keeps =
            result.dtype == self.dtype && storage_lane(self.dtype) == compute_lane(self.dtype);
        let is_dense = result.column == 1 && result.row > 0;
        (keeps && is_dense).then_some(result.row as usize)
    }

    /// Appends the epilogue for the elements at `coord` with the sums `sum`. `pointers` are those of the extra operands
    /// and of the results.
    pub(super) fn finish(&self, b: &mut Builder, pointers: &[Value], coord: TileCoord, sum: Value) {
        let rounded = round(b, self.dtype, sum);
        let mut values: Vec<Option<Value>> = vec![None; self.nodes.len()];
        values[0] = Some(rounded);
        for (at, node) in self.nodes.iter().enumerate() {
            let value = match node {
                Node::Input(0 | 1) => continue,
                Node::Input(index) => self.extras[index - 2].load(b, pointers[index - 2], coord),
                Node::Constant { dtype, bits } => constant(b, *dtype, *bits),
                Node::Apply {
                    function,
                    dtype,
                    args,
                } => {
                    let args: Vec<Value> = args.iter().filter_map(|&arg| values[arg]).collect();
                    apply(b, *function, *dtype, &args, coord.column.count)
                }
                Node::Convert { from, to, arg } => match values[*arg] {
                    Some(value) => convert(b, *from, *to, value),
                    None => continue,
                },
                Node::Reduce { .. } => continue,
            };
            values[at] = Some(value);
        }
        let results = &pointers[self.extras.len()..];
        for ((node, extra), &pointer) in self.outputs.iter().zip(results) {
            if let Some(value) = values[*node] {
                extra.store(b, pointer, coord, value);
            }
        }
    }
}

impl Extra {
    fn load(&self, b: &mut Builder, base: Value, coord: TileCoord) -> Value {
        let lane = storage_lane(self.dtype);
        let addr = self.addr(b, base, coord);
        let count = coord.column.count;
        match self.column {
            1 => load(b, self.dtype, addr, count),
            0 => {
                let element = b.load_splat(lane, addr);
                widen(b, self.dtype, element)
            }
            stride => {
                let stride = b.index(stride);
                let elements = b.op(Op::LoadStrided {
                    lane,
                    addr,
                    stride,
                    count,
                });
                widen(b, self.dtype, elements)
            }
        }
    }

    /// Stores a row of results, which is always contiguous.
    fn store(&self, b: &mut Builder, base: Value, coord: TileCoord, value: Value) {
        let addr = self.addr(b, base, coord);
        store(b, self.dtype, value, addr, coord.column.count);
    }

    /// Returns the address of the first element of `coord`.
    fn addr(&self, b: &mut Builder, base: Value, coord: TileCoord) -> Addr {
        let lane = storage_lane(self.dtype);
        if self.column == 1 && self.row > 0 {
            return coord.addr(b, base, self.row as usize, lane);
        }
        let mut index = None;
        let mut add = |b: &mut Builder, value: Value, stride: i64| {
            if stride == 0 {
                return;
            }
            let step = match stride {
                1 => value,
                stride => {
                    let stride = b.index(stride);
                    b.index_op(IndexOp::Mul, value, stride)
                }
            };
            index = Some(match index {
                Some(index) => b.index_op(IndexOp::Add, index, step),
                None => step,
            });
        };
        add(b, coord.row, self.row);
        add(b, coord.column.index, self.column);
        let ahead = i64::from(coord.below) * self.row + i64::from(coord.column.ahead) * self.column;
        let ahead = b.index(ahead);
        add(b, ahead, 1);
        let index = index.unwrap_or(ahead);
        Addr::element(base, index, lane)
    }
}
