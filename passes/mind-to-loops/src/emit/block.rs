//! Emits blocks of kernels that are run a few rows at a time.

use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_loops::ops::block::Block;

use super::product::{has_dense_lines, is_column};
use super::{Emitted, Emitter};
use crate::kernel::{INNER, Kernel, KernelKind};
use crate::options::{Options, Packing};
use crate::strided::{Source, StridedView};

impl Emitter<'_, '_> {
    /// Emits a block with the kernels of `chain` in its body.
    pub(super) fn block(&mut self, kernel: &Kernel, chain: &[Kernel]) -> Emitted<Vec<ValueId>> {
        let mut chain = chain.to_vec();
        self.pack_outside(&mut chain)?;
        let mut operands: Vec<ValueId> = Vec::new();
        for operand in chain.iter().flat_map(|kernel| &kernel.operands) {
            if is_inner(operand.view.source) {
                continue;
            }
            let value = self.source(operand.view.source);
            if !operands.contains(&value) {
                operands.push(value);
            }
        }
        let attrs = Block::attrs(0, &[], &[]);
        let options = Options {
            pack: Packing::Never,
            ..self.options.clone()
        };
        let results = &self.results;
        let outputs = kernel.outputs.len();
        let block =
            (self.b).create_with_body(Block::DEF, &operands, &attrs, outputs, |b, arguments| {
                let moved = |source: Source| {
                    let outer = match source {
                        Source::Kernel { kernel, result } if kernel >= INNER => {
                            let kernel = kernel - INNER;
                            return Source::Kernel { kernel, result };
                        }
                        Source::Kernel { kernel, result } => results[kernel][result],
                        Source::Value(value) => value,
                    };
                    let at = operands.iter().position(|&own| own == outer);
                    Source::Value(at.map_or(outer, |at| arguments[at]))
                };
                inner(b, &chain, &options, &moved)
            })?;
        self.share_rows(Block::from_id(block));
        Ok(self.b.graph.results(block).into_iter().collect())
    }

    /// Distributes the rows of a fused block to threads, instead of the work within its kernels.
    fn share_rows(&mut self, block: Block) {
        let rows = self.options.rows as i64;
        let g = &mut *self.b.graph;
        let Some((first, nest, second)) = block.back_to_back_products(g) else {
            return;
        };
        let rank = g.ty(g.results(block.id()).get(0)).rank() as i64;
        let parallel: Vec<i64> = (0..rank - 1).collect();
        let dims = nest.dims(g).to_vec();
        let mut set = |op: OpId, name: &str, value: Attr<'_>| {
            let index = g.def(op).attr_index(name);
            g.set_attr(op, index.expect("an attribute of kernels"), value);
        };
        set(block.id(), "rows", Attr::Int(rows));
        set(block.id(), "parallel", Attr::Ints(&parallel));
        for op in [first.id(), nest.id(), second.id()] {
            set(op, "parallel", Attr::Ints(&[]));
        }
        set(nest.id(), "tile", Attr::Ints(&dims));
    }

    /// Packs or copies right sides before the block, so that it happens once for all of its rows. They are packed if
    /// that pays, and copied if neither their rows nor their columns are contiguous.
    fn pack_outside(&mut self, chain: &mut [Kernel]) -> Emitted<()> {
        for kernel in chain {
            let KernelKind::Contract(matrix) = kernel.kind else {
                continue;
            };
            let rows = kernel.dims[matrix.batch];
            let view = kernel.operands[1].view.clone();
            let columns = view.extents[view.extents.len() - 1];
            if is_inner(view.source) || is_column([rows, columns]) {
                continue;
            }
            if self.packs(&view, rows) {
                let rhs = self.value(&view);
                let packed = Source::Value(self.pack(rhs, matrix.batch as i64)?);
                kernel.operands[1].view = StridedView::whole(packed, view.extents);
            } else if !has_dense_lines(&view) {
                kernel.operands[1].view = self.copy(&view, kernel.origin)?;
            }
        }
        Ok(())
    }
}

fn is_inner(source: Source) -> bool {
    matches!(source, Source::Kernel { kernel, .. } if kernel >= INNER)
}

/// Emits the kernels of a block in its body and returns the results of the last one.
fn inner(
    b: &mut Builder<'_>,
    chain: &[Kernel],
    options: &Options,
    moved: &dyn Fn(Source) -> Source,
) -> Emitted<Vec<ValueId>> {
    let mut emitter = Emitter::new(b.reborrow(), options);
    for kernel in chain {
        let mut kernel = kernel.clone();
        for operand in &mut kernel.operands {
            operand.view.source = moved(operand.view.source);
        }
        emitter.kernel(&kernel)?;
    }
    Ok(emitter.results.pop().unwrap_or_default())
}
