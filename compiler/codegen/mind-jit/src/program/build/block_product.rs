//! Integer products with block-quantised matrices.

use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::extents::known;
use mind_loops::memory::buffer;
use mind_loops::ops::block_product::BlockProduct;
use mind_vir::ir::{Builder, Lane};
use mind_vir::program::Axis;

use super::ProgramBuilder;
use super::grid::{Params, Work};
use super::kernel::{Computation, KernelCall};
use crate::lower::product::{self, BlockOperands, Rhs, block_product};
use crate::program::error::ProgramError;

/// Appends the columns of a task.
pub(super) fn append(b: &mut Builder, p: &product::BlockProduct, params: &Params) {
    let Params { pointers, task } = params;
    let at = BlockOperands {
        lhs: pointers[0],
        scale: pointers[1],
        panels: pointers[2],
    };
    let to = pointers[3];
    block_product(b, p, at, task.ranges[0], &mut |b, coord, sum| {
        let addr = coord.addr(b, to, p.n, Lane::F32);
        b.store(sum, addr, coord.column.count);
    });
}

impl ProgramBuilder<'_> {
    /// Builds a product with packed blocks. Its columns are parallel.
    pub(super) fn block_product(&mut self, op: BlockProduct) -> Result<(), ProgramError> {
        let g = self.g;
        let result = op.result(g);
        self.check_dense(op.id(), &[op.lhs(g), op.scale(g), result])?;
        let packed = self.panels.get(&buffer(g, op.blocks(g))).copied();
        let lhs = known(g, op.lhs(g));
        let (&k, rows) = lhs.split_last().expect("a verified rank");
        let (m, n) = (rows.iter().product(), known(g, op.blocks(g))[0]);
        let panels = match packed.map(|packed| (packed.rhs, packed.sizes)) {
            Some((Rhs::Quantised(panels), sizes))
                if Some(panels.format) == op.format(g) && sizes == [1, k, n] =>
            {
                panels
            }
            _ => {
                return self.refuse(
                    op.id(),
                    "blocks are packed for another product, or not at all",
                );
            }
        };
        let lanes = self.target.lanes(DType::F32.size() as u32 * 8);
        let product = product::BlockProduct::new((m, n, k), panels, self.target);
        let operands = [op.lhs(g), op.scale(g), op.blocks(g), result];
        self.call(KernelCall {
            op: op.id(),
            lanes,
            args: self.regions(op.id(), operands)?,
            grid: std::iter::once(Axis::Range {
                extent: n,
                grain: product.grain(lanes),
            })
            .collect(),
            computation: Computation::BlockProduct(product),
            work: Work::new(m * n, 1).and_products(m.saturating_mul(n).saturating_mul(k)),
        });
        Ok(())
    }
}
