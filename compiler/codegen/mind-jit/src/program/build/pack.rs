//! Packing of the right-hand sides of products into panels.

use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::memory::bytes;
use mind_loops::ops::block::Block;
use mind_loops::ops::contract::Contract;
use mind_loops::ops::movement::Pack;
use mind_loops::ops::window::Window;
use smallvec::SmallVec;

use super::grid::{Params, Work};
use super::kernel::{Computation, KernelCall};
use super::product::{moved, panel_stack};
use super::{Packed, ProgramBuilder};
use crate::lower::compute_lane;
use crate::lower::product::{Packing, Panels, Parts, Rhs, Schedule, pack};
use crate::program::error::ProgramError;
use crate::program::panels::PanelChoice;
use mind_vir::ir::Builder;
use mind_vir::program::Axis;

/// Packing of each matrix of a batch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct StackedPacking {
    packing: Packing,
    /// Batch strides in elements, of the source and of the destination.
    stacks: [Vec<i64>; 2],
    /// Offset of the first source element.
    offset: i64,
}

impl StackedPacking {
    pub(super) fn append(&self, b: &mut Builder, Params { pointers, task }: &Params) {
        let (packing, [from, to]) = (&self.packing, &self.stacks);
        let (dtype, indices) = (packing.dtype, &task.indices);
        let source = moved(b, pointers[0], dtype, self.offset, from, indices);
        let target = moved(b, pointers[1], packing.panels.dtype, 0, to, indices);
        pack(b, packing, source, target, task.ranges[0]);
    }
}

impl ProgramBuilder<'_> {
    /// Packs the right-hand side of products. The first product that reads the panels determines their width.
    pub(super) fn pack(&mut self, op: Pack) -> Result<(), ProgramError> {
        let g = self.g;
        if let Some(matrix) = self.quantised.packed(g, op) {
            return self.pack_quantised(op, matrix);
        }
        let result = op.result(g);
        let mut from = self.strided(op.input(g));
        let mut dtype = g.ty(result).dtype;
        if let Some(weight) = self.folded.source(g, op.input(g)) {
            from.buffer = self.layout.buffer(g, weight);
            dtype = g.ty(weight).dtype;
        }
        let batch = op.batch(g) as usize;
        let (terms, n) = from.extents[batch..].split_at(from.extents.len() - batch - 1);
        let (k, n) = (terms.iter().product::<usize>(), n[0]);
        // An empty operand is not read, so its strides do not matter.
        let k_stride = if from.extents.contains(&0) {
            Some(1)
        } else {
            collapsed(terms, &from.strides[batch..])
        };
        let Some(k_stride) = k_stride else {
            return self.refuse(op.id(), "the terms of a column have no common stride");
        };
        if from.strides.iter().any(|&stride| stride < 0) {
            return self.refuse(op.id(), "an operand runs backwards");
        }
        let n_stride = from.strides[from.strides.len() - 1];
        let (rows, parts) = self.reader(result);
        let whole = Rhs::Rows { k_stride: n };
        let chosen = Schedule::in_matrices(self.target, parts, (rows, n, k), whole);
        let chosen = chosen
            .unwrap_or_else(|| Schedule::choose(self.target, dtype, (rows, n, k), whole, true));
        let lanes = self.target.lanes(compute_lane(dtype).bits()) as usize;
        let asked = self.asked_vectors(result);
        let panels = match self.choice {
            _ if asked.is_some() => Panels {
                width: asked.unwrap_or(1) * lanes,
                dtype: chosen.packed.map_or(dtype, |panels| panels.dtype),
            },
            PanelChoice::Shared if self.layout.is_fixed(op.id()) => Panels {
                width: SHARED_VECTORS.min(n.div_ceil(lanes)).max(1) * lanes,
                dtype,
            },
            _ => chosen.packed.unwrap_or(Panels {
                width: chosen.vectors as usize * lanes,
                dtype,
            }),
        };
        let stack: usize = from.extents[..batch].iter().product();
        let room = bytes(g, result) as usize / stack.max(1);
        // A requested tile width must be a whole number of panels.
        let fits = |panels: &Panels| {
            let is_whole =
                asked.is_none_or(|vectors| (vectors * lanes).is_multiple_of(panels.width));
            is_whole && panels.bytes(n, k) <= room
        };
        let panels = narrowed(panels, lanes, fits);
        let sizes = [stack, k, n];
        let rhs = Rhs::Panels(panels);
        self.panels.insert(result, Packed { rhs, sizes });
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
        let mut grid: SmallVec<[Axis; 4]> = from.extents[..batch]
            .iter()
            .map(|&extent| Axis::Each(extent))
            .collect();
        grid.push(Axis::Range {
            extent: packing.count(),
            grain: 1,
        });
        let all: usize = from.extents.iter().product();
        let read = self.part(op.id(), from.buffer, from.reach() * dtype.size())?;
        self.call(KernelCall {
            op: op.id(),
            lanes: lanes as u32,
            computation: Computation::Pack(StackedPacking {
                packing,
                stacks,
                offset: from.offset,
            }),
            args: [read, self.region(op.id(), result)?].into_iter().collect(),
            grid,
            work: Work::new(all, 2),
        });
        Ok(())
    }

    /// Returns the tile width in vectors that the first reader of packed panels requests.
    fn asked_vectors(&self, packed: ValueId) -> Option<usize> {
        let g = self.g;
        let mut readers = g.uses(packed);
        readers.find_map(|(op, operand)| {
            if let Some(block) = g.view::<Block>(op) {
                return self.asked_vectors(g.arguments(block.body(g)).get(operand));
            }
            let contract = g.view::<Contract>(op).map(|contract| contract.micro(g));
            let window = g.view::<Window>(op).map(|window| window.micro(g));
            let &[_, vectors] = contract.or(window)? else {
                return None;
            };
            usize::try_from(vectors)
                .ok()
                .filter(|&vectors| (1..=MAX_VECTORS).contains(&vectors))
        })
    }

    /// Returns the number of rows of the first product that reads packed panels, and the integers that its elements
    /// consist of.
    fn reader(&self, packed: ValueId) -> (usize, Parts) {
        let g = self.g;
        let rows = |op: OpId| {
            let contract = g.view::<Contract>(op)?;
            let lhs = known(g, contract.inputs(g)[0]);
            Some((lhs[lhs.len() - 2], contract.parts(g)))
        };
        let mut uses = g.uses(packed);
        uses.find_map(|(op, _)| rows(op))
            .unwrap_or((usize::MAX >> 16, Parts::Whole))
    }
}

/// Vectors in a panel row that suits products of any number of rows: tiles of many rows have this width, and products
/// of a single row read several panels at a time.
pub(super) const SHARED_VECTORS: usize = 2;

/// The maximal tile width in vectors for which panels are made; no register file holds more.
const MAX_VECTORS: usize = 64;

/// Returns the panels, or the widest narrower ones that fit, in whole vectors of `lanes` lanes.
fn narrowed(panels: Panels, lanes: usize, fits: impl Fn(&Panels) -> bool) -> Panels {
    let widths = (1..=panels.width / lanes)
        .rev()
        .map(|vectors| vectors * lanes);
    let mut narrower = widths.map(|width| Panels { width, ..panels });
    narrower.find(fits).unwrap_or(Panels {
        width: lanes,
        ..panels
    })
}

/// Returns the common stride of several dimensions; `None` if they cannot be collapsed to one.
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
