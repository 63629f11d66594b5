//! Products of matrices.

use mind_ir::opdef::Op;
use mind_loops::ops::contract::Contract;
use smallvec::SmallVec;

use super::Unit;
use super::grid::{cost, params, range};
use super::nest::weight;
use super::product::Stacked;
use crate::lower::product::Region;
use crate::program::error::ProgramError;
use crate::program::step::{Axis, Call, Step};
use crate::vir::{Builder, Function, Value};

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
        self.scratch_bytes = self.scratch_bytes.max(product.scratch_bytes(lanes));
        let args = values.map(|value| self.strided(value).place).collect();
        let name = g.def(op.id()).name;
        let kernel = self.function(format!("{stacked:?}"), name, || {
            function(&stacked, batch, lanes)
        });
        let call = Call {
            kernel,
            args,
            grid,
            cost: cost(results, work) + cost(results.saturating_mul(product.k), 0),
            op: name,
        };
        self.push(op.id(), Step::Call(call));
        Ok(())
    }
}

fn function(stacked: &Stacked, batch: usize, lanes: u32) -> Function {
    let mut b = Builder::new("contract", lanes);
    let pointers = 2 + stacked.epilogue.extras.len() + stacked.epilogue.outputs.len();
    let params = params(&mut b, pointers);
    let task: Vec<Value> = (0..batch).map(|_| b.index_param()).collect();
    let (rows, columns) = (range(&mut b), range(&mut b));
    let pointers = stacked.pointers(&mut b, &params.pointers, &task);
    stacked.append(&mut b, &pointers, params.scratch, Region { rows, columns });
    b.finish()
}
