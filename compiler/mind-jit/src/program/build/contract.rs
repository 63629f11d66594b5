//! Products of matrices.

use mind_ir::opdef::Op;
use mind_loops::ops::contract::Contract;
use smallvec::SmallVec;

use super::Unit;
use super::grid::{Params, Spec, cost};
use super::nest::weight;
use super::product::Stacked;
use crate::lower::product::Region;
use crate::program::error::ProgramError;
use crate::program::step::Axis;
use crate::vir::Builder;

impl Unit<'_> {
    /// A product: the grid has the stack, the rows and the columns.
    pub(super) fn contract(&mut self, op: Contract) -> Result<(), ProgramError> {
        let g = self.g;
        let stacked = self.stacked(op)?;
        let values = op.inputs(g).iter().copied().chain(g.results(op.id()));
        let batch = op.batch(g) as usize;
        let stack: Vec<usize> = self.strided(op.inputs(g)[0]).extents[..batch].to_vec();
        let (lanes, product) = (stacked.lanes(self.target), stacked.product);
        let (rows, columns) = product.grain(lanes);
        let mut grid: SmallVec<[Axis; 4]> =
            stack.iter().map(|&extent| Axis::Each(extent)).collect();
        for (extent, grain) in [(product.m, rows), (product.n, columns)] {
            grid.push(Axis::Range { extent, grain });
        }
        let results = stack.iter().product::<usize>() * product.m * product.n;
        let work = stacked.epilogue.nodes.iter().map(weight).sum();
        let spec = Spec {
            op: op.id(),
            name: "contract",
            lanes,
            key: format!("{stacked:?}"),
            args: self.regions(op.id(), values)?,
            grid,
            cost: cost(results, work) + cost(results.saturating_mul(product.k), 0),
        };
        self.call(spec, |b, params| append(b, &stacked, params));
        Ok(())
    }
}

fn append(b: &mut Builder, stacked: &Stacked, Params { pointers, task }: &Params) {
    let (rows, columns) = (task.ranges[0], task.ranges[1]);
    let pointers = stacked.pointers(b, pointers, &task.indices);
    stacked.append(b, &pointers, Region { rows, columns });
}
