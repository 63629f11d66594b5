//! Emits products and convolutions.

use mind_core::parts::Parts;
use mind_ir::attr::Padding;
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_loops::ops::contract::{Contract, Product};
use mind_loops::ops::movement::Pack;
use mind_loops::ops::window::{Taps, Window};
use mind_tensor::ops::window::Window as TensorWindow;

use super::{Emitted, Emitter};
use crate::kernel::{Kernel, Matrix};
use crate::options::{Options, Packing};
use crate::strided::StridedView;

/// The operands of a product: `[batch.., m, k]`, `[batch.., k, n]`, and `[batch.., m, n]` each for those of the
/// epilogue.
struct Sides {
    batch: usize,
    lhs: StridedView,
    rhs: StridedView,
    rest: Vec<StridedView>,
    /// The integers packed in an element of the sides.
    parts: Parts,
}

impl Sides {
    fn all(&self) -> impl Iterator<Item = &StridedView> {
        [&self.lhs, &self.rhs].into_iter().chain(&self.rest)
    }

    fn update(&mut self, change: impl Fn(&StridedView) -> StridedView) {
        self.lhs = change(&self.lhs);
        self.rhs = change(&self.rhs);
        self.rest.iter_mut().for_each(|view| *view = change(view));
    }

    /// Merges the row dimensions to one. Those that cannot be merged become batch dimensions, along which the right
    /// side is broadcast.
    fn join_rows(&mut self, rows: usize) {
        let first = self.batch;
        if rows == 0 {
            self.lhs = self.lhs.with_unit(first);
            self.rest
                .iter_mut()
                .for_each(|view| *view = view.with_unit(first));
        }
        for at in (first..(first + rows).saturating_sub(1)).rev() {
            let own = |view: &StridedView| view.continues(at);
            if own(&self.lhs) && self.rest.iter().all(own) {
                self.lhs = self.lhs.joined(at);
                self.rest
                    .iter_mut()
                    .for_each(|view| *view = view.joined(at));
            } else {
                self.batch += at + 1 - first;
                for axis in first..=at {
                    self.rhs = self.rhs.with_unit(axis);
                    self.rhs.extents[axis] = self.lhs.extents[axis];
                }
                return;
            }
        }
    }

    /// Merges batch dimensions that share one right side with the rows, so that one larger product replaces several.
    fn join_stack_to_rows(&mut self) {
        // An empty right side has arbitrary strides, so that a stride of 0 does not mean that the batch shares it.
        while self.rhs.count() > 0
            && let Some(at) = self.batch.checked_sub(1)
        {
            let is_shared = self.rhs.extents[at] == 1 || self.rhs.strides[at] == 0;
            let continues = |view: &StridedView| view.continues(at);
            if !is_shared || !continues(&self.lhs) || !self.rest.iter().all(continues) {
                return;
            }
            self.lhs = self.lhs.joined(at);
            self.rest
                .iter_mut()
                .for_each(|view| *view = view.joined(at));
            self.rhs.extents.remove(at);
            self.rhs.strides.remove(at);
            self.batch = at;
        }
    }

    /// Merges adjacent batch dimensions where all operands allow it.
    fn join_batch(&mut self) {
        for at in (0..self.batch.saturating_sub(1)).rev() {
            if self.all().all(|view| view.continues(at)) {
                self.update(|view| view.joined(at));
                self.batch -= 1;
            }
        }
    }

    /// Transposes a product with a single column to one with a single row, because only the columns are vectorised.
    fn transpose_column(&mut self) {
        let (m, n) = (self.batch, self.batch + 1);
        if !is_column([self.lhs.extents[m], self.rhs.extents[n]]) {
            return;
        }
        self.parts = self.parts.exchanged();
        let order: Vec<usize> = (0..self.batch).chain([n, m]).collect();
        self.update(|view| view.permuted(&order));
        std::mem::swap(&mut self.lhs, &mut self.rhs);
    }
}

/// Returns whether a product with `rows` rows and `columns` columns has a single column, so that its sides are
/// exchanged.
pub(super) fn is_column([rows, columns]: [usize; 2]) -> bool {
    columns == 1 && rows != 1
}

impl Emitter<'_, '_> {
    /// Emits a matrix product.
    pub(super) fn contract(&mut self, kernel: &Kernel, matrix: Matrix) -> Emitted<Vec<ValueId>> {
        let mut sides = self.sides(kernel, matrix)?;
        sides.join_rows(matrix.rows);
        sides.join_stack_to_rows();
        sides.join_batch();
        sides.transpose_column();
        let lhs = self.value(&sides.lhs);
        // The strides of an empty batch are arbitrary.
        let shared = sides.rhs.count() > 0
            && sides.rhs.strides[..sides.batch]
                .iter()
                .all(|&stride| stride == 0);
        if shared && sides.batch > 0 {
            sides.rhs.extents.drain(..sides.batch);
            sides.rhs.strides.drain(..sides.batch);
        }
        let batch = sides.rhs.extents.len() - 2;
        let rows = sides.lhs.extents[sides.batch];
        let rhs = if self.packs(&sides.rhs, rows) {
            let rhs = self.value(&sides.rhs);
            self.pack(rhs, batch as i64)?
        } else {
            if !has_dense_lines(&sides.rhs) {
                sides.rhs = self.copy(&sides.rhs, kernel.origin)?;
            }
            self.value(&sides.rhs)
        };
        let mut operands = vec![lhs, rhs];
        operands.extend(sides.rest.iter().map(|view| self.value(view)));
        let parallel: Vec<i64> = (0..sides.batch as i64 + 2).collect();
        let Options { micro, block, .. } = self.options;
        let attrs = Contract::attrs(sides.batch as i64, &parallel, micro, block, &[]);
        self.kernel_with_body(Contract::DEF, &operands, &attrs, kernel, |b, arguments| {
            let mut inputs = arguments.to_vec();
            let product = Product::with().parts(sides.parts);
            inputs[0] = product.build(b, arguments[0], arguments[1])?;
            Ok(inputs)
        })
    }

    /// Returns the operands with a single dimension for the columns. An operand whose column dimensions cannot be
    /// merged is copied.
    fn sides(&mut self, kernel: &Kernel, matrix: Matrix) -> Emitted<Sides> {
        let mut views: Vec<StridedView> = kernel
            .operands
            .iter()
            .map(|operand| operand.view.clone())
            .collect();
        for (index, view) in views.iter_mut().enumerate().skip(1) {
            let end = view.extents.len();
            *view = match matrix.columns {
                0 => view.with_unit(end),
                columns => match view.collapsed(end - columns..end) {
                    Some(view) => view,
                    None => {
                        let dense = self.copy(view, kernel.origin)?;
                        dense
                            .collapsed(end - columns..end)
                            .expect("a dense buffer collapses")
                    }
                },
            };
            debug_assert!(index > 0);
        }
        let mut views = views.into_iter();
        let (lhs, rhs) = (views.next(), views.next());
        let (Some(lhs), Some(rhs)) = (lhs, rhs) else {
            unreachable!("a product has two sides");
        };
        Ok(Sides {
            batch: matrix.batch,
            lhs,
            rhs,
            rest: views.collect(),
            parts: matrix.parts,
        })
    }

    /// Returns whether to pack the right side of a product with `rows` rows.
    pub(super) fn packs(&self, rhs: &StridedView, rows: usize) -> bool {
        let (&[.., k, n], &[.., column]) = (&rhs.extents[..], &rhs.strides[..]) else {
            return false;
        };
        match self.options.pack {
            Packing::Always => true,
            Packing::Never => false,
            Packing::Auto if self.is_fixed(rhs.source) => k * n > 1,
            Packing::Auto => {
                let size = self.b.graph.ty(self.source(rhs.source)).dtype.size();
                let large = k * n * size > CACHE || rows >= MANY && k * n * size > SMALL;
                rows >= REUSED && (large || column != 1)
            }
        }
    }

    /// Emits a pack of right sides with `batch` batch dimensions.
    pub(super) fn pack(&mut self, rhs: ValueId, batch: i64) -> Emitted<ValueId> {
        Pack::with().batch(batch).build(&mut self.b, rhs)
    }

    /// Emits a convolution.
    pub(super) fn window(&mut self, kernel: &Kernel, origin: OpId) -> Emitted<Vec<ValueId>> {
        let mut operands: Vec<ValueId> = Vec::with_capacity(kernel.operands.len());
        for (index, operand) in kernel.operands.iter().enumerate() {
            // An operand of the epilogue is indexed by one position for the lines and columns of an image, so that
            // these have to merge.
            let is_plane = operand.view.collapsed(1..3).is_some();
            let value = match index < 2 || is_plane {
                true => self.value(&operand.view),
                false => {
                    let dense = self.copy(&operand.view, kernel.origin)?;
                    self.value(&dense)
                }
            };
            operands.push(value);
        }
        let fixed = self.is_fixed(kernel.operands[1].view.source);
        if self.options.pack == Packing::Always || fixed && self.options.pack == Packing::Auto {
            operands[1] = self.pack(operands[1], 0)?;
        }
        let g = &*self.b.graph;
        let convolution = TensorWindow::from_id(origin);
        let strides = convolution.strides(g).to_vec();
        let pads = match convolution.padding(g) {
            Padding::Custom(pads) => Some(*pads),
            _ => None,
        };
        let padding = match (convolution.padding(g), &pads) {
            (_, Some(pads)) => Padding::Custom(pads),
            (Padding::Same, _) => Padding::Same,
            _ => Padding::Valid,
        };
        let Options { micro, block, .. } = self.options;
        // The rows of the product are positions of a line, and a line has as many as the result is wide.
        let rows = block.first().map_or(0, |&rows| rows as usize);
        let lines = rows.div_ceil(kernel.dims[2].max(1)) as i64;
        let attrs = Window::attrs(&strides, padding, &[0, 1, 3], micro, lines, &[]);
        self.kernel_with_body(Window::DEF, &operands, &attrs, kernel, |b, arguments| {
            let mut inputs = arguments.to_vec();
            inputs[0] = Taps::build(b, arguments[0], arguments[1])?;
            Ok(inputs)
        })
    }
}

/// Returns whether the rows or the columns of a right side are contiguous.
pub(super) fn has_dense_lines(rhs: &StridedView) -> bool {
    let (&[.., k, n], &[.., row, column]) = (&rhs.extents[..], &rhs.strides[..]) else {
        return false;
    };
    column == 1 || n <= 1 || row == 1 || k <= 1
}

/// The largest size in bytes of an unpacked right side, which is reread from cache.
const CACHE: usize = 256 << 10;

/// The least number of rows for which packing a right side in every run pays.
const REUSED: usize = 12;

/// The least number of rows of which a cache holds only a part, so that the right side is reread for each part. A right
/// side of more than [`SMALL`] bytes is then read faster from panels.
const MANY: usize = 256;
const SMALL: usize = 16 << 10;
