//! Matrix products.

use mind_ir::opdef::Op;
use mind_loops::ops::contract::Contract;

use super::ProgramBuilder;
use super::grid::{Params, Shared, Work};
use super::kernel::{Computation, KernelCall};
use super::nest::weight;
use super::product::Stacked;
use crate::lower::product::Region;
use crate::program::error::ProgramError;
use mind_vir::ir::Builder;

/// A product and its parallel dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Contraction {
    stacked: Stacked,
    shared: Shared,
}

impl Contraction {
    pub(super) fn append(&self, b: &mut Builder, Params { pointers, task }: &Params) {
        self.shared.each(b, task, &mut |b, indices, ranges| {
            let (rows, columns) = (ranges[0], ranges[1]);
            let pointers = self.stacked.pointers(b, pointers, indices);
            self.stacked.append(b, &pointers, Region { rows, columns });
        });
    }
}

/// The minimal number of columns of a thread in products on AMX tiles, a multiple of the panel width. Sharing rows
/// takes 0.6 to 0.7 of the time of sharing columns.
const AMX_COLUMNS: usize = 256;

impl ProgramBuilder<'_> {
    /// Builds a product. The axes of its grid are the parallel dimensions among batch, rows and columns.
    pub(super) fn contract(&mut self, op: Contract) -> Result<(), ProgramError> {
        let g = self.g;
        let stacked = self.stacked(op)?;
        let values = op.inputs(g).iter().copied().chain(g.results(op.id()));
        let batch = op.batch(g) as usize;
        let stack: Vec<usize> = self.strided(op.inputs(g)[0]).extents[..batch].to_vec();
        let (lanes, product) = (stacked.lanes(self.target), stacked.product);
        let (rows, columns) = product.grain(lanes);
        let columns = if product.schedule.uses_amx {
            columns.max(AMX_COLUMNS)
        } else {
            columns
        };
        let shared = Shared::new(
            &stack,
            &[(batch, product.m, rows), (batch + 1, product.n, columns)],
            op.parallel(g),
        );
        let results = stack.iter().product::<usize>() * product.m * product.n;
        let work = stacked.epilogue.nodes.iter().map(weight).sum();
        let work = Work::new(results, work).and_products(results.saturating_mul(product.k));
        let work = if product.schedule.uses_amx {
            work.in_matrices()
        } else {
            work
        };
        self.call(KernelCall {
            op: op.id(),
            lanes,
            args: self.regions(op.id(), values)?,
            grid: shared.grid(),
            computation: Computation::Contract(Box::new(Contraction { stacked, shared })),
            work,
        });
        Ok(())
    }
}
