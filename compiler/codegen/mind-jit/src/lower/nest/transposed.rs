//! Maps that read an operand across its rows, in tiles that are transposed in registers.

use crate::lower::transpose::columns_of;
use crate::lower::{At, storage_lane, widen};
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

use super::loops::{self, Outer};
use super::operands::BaseAddresses;
use super::plan::Plan;
use super::program::{Nest, Node, StridedAccess};
use super::row::RowBuilder;
use super::sweep::Extent;

/// Maximum lanes; a tile has as many vectors.
pub(super) const LANES: u32 = 16;
/// Width of a panel, such that its pages stay in the TLB.
const PANEL: usize = 512;

/// A nest whose last outer dimension and inner dimension are traversed in tiles.
pub(super) struct TransposedTiles {
    n: Nest,
    /// Whether the last outer dimension is the outermost one.
    is_outermost: bool,
    /// The operands that are contiguous along the last outer dimension.
    across: Vec<usize>,
}

impl TransposedTiles {
    /// Returns the tiled nest if it is a map and tiling makes loads contiguous. A nest with an explicit unroll factor
    /// is traversed along its rows.
    pub fn of(n: &Nest, plan: &Plan) -> Option<TransposedTiles> {
        let [pass] = plan.passes.as_slice() else {
            return None;
        };
        let is_map = pass.reduces.is_empty() && pass.stores.is_empty();
        let is_dense = n.outputs.iter().all(|output| output.access.inner == 1);
        let apart = n.inputs.iter().filter(|access| access.inner.abs() > 1);
        let axis = apart.filter_map(|access| access.outer.iter().position(|&stride| stride == 1));
        let axis = axis.min()?;
        let is_cut = n.total.is_some() || n.unroll.is_some();
        if !is_map || is_cut || !is_dense || n.outer[axis] < 4 || n.inner < 2 {
            return None;
        }
        let mut transposed = n.clone();
        let outputs = transposed
            .outputs
            .iter_mut()
            .map(|output| &mut output.access);
        for access in transposed.inputs.iter_mut().chain(outputs) {
            let stride = access.outer.remove(axis);
            access.outer.push(stride);
        }
        let extent = transposed.outer.remove(axis);
        transposed.outer.push(extent);
        let is_across =
            |access: &StridedAccess| access.inner.abs() > 1 && access.outer.last() == Some(&1);
        let across = (0..n.inputs.len()).filter(|&input| is_across(&transposed.inputs[input]));
        let across = across.collect();
        let fits = all_fit(&transposed);
        fits.then_some(TransposedTiles {
            n: transposed,
            is_outermost: axis == 0,
            across,
        })
    }

    /// Appends the loops, over `rows` of the outermost dimension.
    pub fn repeat(
        &self,
        b: &mut Builder,
        plan: &Plan,
        bases: impl Iterator<Item = Value>,
        scratch: Value,
        rows: (Value, Value),
    ) {
        let n = &self.n;
        let (&extent, outer) = n.outer.split_last().expect("the dimension of squares");
        let full = |b: &mut Builder, extent: usize| (b.index(0), b.index(extent as i64));
        let (first, along) = if self.is_outermost {
            let first = full(b, outer.first().copied().unwrap_or(0));
            (first, rows)
        } else {
            (rows, full(b, extent))
        };
        let loops = Outer::new(outer, &n.inputs, &n.outputs);
        loops.repeat(b, bases, first, |b, bases, _| {
            let walk = Walk {
                squares: self,
                plan,
                bases,
                scratch,
            };
            walk.panels(b, along);
        });
    }
}

/// Returns whether the offset of every row of a tile fits an address.
fn all_fit(n: &Nest) -> bool {
    let outputs = n.outputs.iter().map(|output| &output.access);
    let mut strides = n.inputs.iter().chain(outputs).flat_map(|access| {
        let last = access.outer.last().copied().unwrap_or(0);
        [access.inner, last].map(|stride| stride.checked_mul(access.dtype.size() as i64 * 64))
    });
    strides.all(|bytes| bytes.is_some_and(|bytes| i32::try_from(bytes).is_ok()))
}

/// The loops over the last outer dimension and the inner one.
struct Walk<'a> {
    squares: &'a TransposedTiles,
    plan: &'a Plan,
    /// The addresses at index 0 of both, inputs first.
    bases: &'a [Value],
    scratch: Value,
}

impl Walk<'_> {
    fn panels(&self, b: &mut Builder, rows: (Value, Value)) {
        let lanes = b.lanes() as usize;
        let inner = self.squares.n.inner;
        let whole = inner / lanes * lanes;
        if whole <= 2 * PANEL {
            let columns = (b.index(0), b.index(whole as i64));
            return self.panel(b, rows, columns, true);
        }
        let last = whole.next_multiple_of(PANEL) - PANEL;
        let bounds = (b.index(0), b.index(last as i64));
        b.repeat(LoopKind::Whole, bounds, PANEL as i64, &[], |b, round| {
            let columns = (round.index, self.limit(b, round.index, PANEL, None));
            self.panel(b, rows, columns, false);
            Vec::new()
        });
        let columns = (b.index(last as i64), b.index(whole as i64));
        self.panel(b, rows, columns, true);
    }

    /// Returns the minimum of `start + length` and `end`.
    fn limit(&self, b: &mut Builder, start: Value, length: usize, end: Option<Value>) -> Value {
        let length = b.index(length as i64);
        let limit = b.index_op(IndexOp::Add, start, length);
        end.map_or(limit, |end| b.index_op(IndexOp::Min, limit, end))
    }

    /// Appends tiles of the size of cache lines over all rows; the last panel includes the edge tiles of each row.
    fn panel(&self, b: &mut Builder, rows: (Value, Value), columns: (Value, Value), is_last: bool) {
        let lanes = b.lanes();
        let outputs = self.squares.n.outputs.iter();
        let narrowest = outputs.map(|output| output.access.dtype.size()).min();
        /// Size of a cache line.
        const LINE: usize = 64;
        let side = (LINE / narrowest.unwrap_or(LINE)).max(lanes as usize);
        let step = i64::from(lanes);
        b.repeat(LoopKind::Rest, rows, side as i64, &[], |b, block| {
            let end = self.limit(b, block.index, side, Some(rows.1));
            b.repeat(LoopKind::Rest, columns, side as i64, &[], |b, across| {
                let stop = self.limit(b, across.index, side, Some(columns.1));
                b.repeat(LoopKind::Whole, (block.index, end), step, &[], |b, row| {
                    let range = (across.index, stop);
                    b.repeat(LoopKind::Whole, range, step, &[], |b, place| {
                        self.square(b, row.index, place.index, None);
                        Vec::new()
                    });
                    Vec::new()
                });
                Vec::new()
            });
            if is_last {
                let (rest, _) = b.repeat(LoopKind::Whole, (block.index, end), step, &[], |_, _| {
                    Vec::new()
                });
                self.ends(b, (block.index, rest), columns.1);
                self.rows(b, (rest, end));
            }
            Vec::new()
        });
    }

    /// Appends the edge tiles at the end of rows.
    fn ends(&self, b: &mut Builder, rows: (Value, Value), start: Value) {
        let left = self.squares.n.inner % b.lanes() as usize;
        if left == 0 {
            return;
        }
        let step = i64::from(b.lanes());
        b.repeat(LoopKind::Whole, rows, step, &[], |b, row| {
            self.square(b, row.index, start, Some(left));
            Vec::new()
        });
    }

    /// Appends rows that are too few for a tile.
    fn rows(&self, b: &mut Builder, rows: (Value, Value)) {
        b.repeat(LoopKind::Rest, rows, 1, &[], |b, row| {
            let bases = self.at(b, row.index);
            let extent = Extent::Known(self.squares.n.inner);
            self.row(&bases).passes(b, extent);
            Vec::new()
        });
    }

    fn row<'a>(&'a self, bases: &'a [Value]) -> RowBuilder<'a> {
        let n = &self.squares.n;
        let (inputs, outputs) = bases.split_at(n.inputs.len());
        let bases = BaseAddresses {
            inputs,
            outputs,
            scratch: self.scratch,
        };
        RowBuilder::new(n, self.plan, bases)
    }

    fn accesses(&self) -> Vec<&StridedAccess> {
        let n = &self.squares.n;
        let outputs = n.outputs.iter().map(|output| &output.access);
        n.inputs.iter().chain(outputs).collect()
    }

    /// Returns the addresses at an index of the last outer dimension.
    fn at(&self, b: &mut Builder, row: Value) -> Vec<Value> {
        let last = self.squares.n.outer.len() - 1;
        loops::at(b, &self.accesses(), last, self.bases, row)
    }

    /// Appends a tile: as many rows as lanes, with as many elements each, or `count`.
    fn square(&self, b: &mut Builder, row: Value, place: Value, count: Option<usize>) {
        let n = &self.squares.n;
        let bases = self.at(b, row);
        let mut given = vec![Vec::new(); b.lanes() as usize];
        for &input in &self.squares.across {
            let columns = self.columns(b, input, bases[input], place, count);
            for (given, column) in given.iter_mut().zip(columns) {
                let nodes = (0..n.nodes.len()).filter(|&node| n.nodes[node] == Node::Input(input));
                given.extend(nodes.map(|node| (node, column)));
            }
        }
        let accesses = self.accesses();
        let count = count.map(|count| b.index(count as i64));
        for (row, given) in given.iter().enumerate() {
            let operands = accesses.iter().zip(&bases);
            let bases: Vec<Value> = operands
                .map(|(access, &base)| {
                    let stride = access.outer.last().copied().unwrap_or(0);
                    let bytes = stride * (row * access.dtype.size()) as i64;
                    b.address(Addr::at(base).plus(bytes as i32))
                })
                .collect();
            let at = At {
                index: place,
                ahead: 0,
                count,
            };
            self.row(&bases).vector(b, at, given);
        }
    }

    /// Returns the elements of an operand for each row of a tile, with as many elements as lanes, or `count`; widened.
    fn columns(
        &self,
        b: &mut Builder,
        input: usize,
        base: Value,
        place: Value,
        count: Option<usize>,
    ) -> Vec<Value> {
        let access = &self.squares.n.inputs[input];
        let lane = storage_lane(access.dtype);
        let stride = b.index(access.inner);
        let place = b.index_op(IndexOp::Mul, place, stride);
        let bytes = access.inner as i32 * lane.bytes() as i32;
        let lanes = b.lanes() as usize;
        let count = count.unwrap_or(lanes);
        let lines = (0..lanes as i32).map(|line| {
            if line as usize >= count {
                return b.constant(lane, 0);
            }
            let addr = Addr::element(base, place, lane).plus(line * bytes);
            b.load(lane, addr, None)
        });
        let lines = lines.collect();
        let columns = columns_of(b, lines).into_iter();
        columns
            .map(|column| widen(b, access.dtype, column))
            .collect()
    }
}
