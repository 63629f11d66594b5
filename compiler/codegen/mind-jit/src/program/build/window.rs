//! Convolutions.

use mind_ir::ValueId;
use mind_ir::attr::Padding;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::extents::known;
use mind_loops::node;
use mind_loops::ops::window::Window;

use super::epilogue::{Epilogue, Extra};
use super::grid::{Params, Shared, Work};
use super::kernel::{Computation, KernelCall};
use super::nest::weight;
use super::product::{asked, moved};
use super::{ProgramBuilder, Strided};
use crate::lower::compute_lane;
use crate::lower::product::{Conv, Operands, Rhs, Schedule, conv};
use crate::program::error::ProgramError;
use mind_vir::ir::{Builder, Value};

/// A batched convolution with its epilogue and parallel dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Convolution {
    conv: Conv,
    epilogue: Epilogue,
    /// Elements from one image to the next, for each operand and result.
    images: Vec<i64>,
    /// Offsets of the first elements.
    offsets: Vec<i64>,
    dtypes: Vec<DType>,
    shared: Shared,
}

impl Convolution {
    pub(super) fn append(&self, b: &mut Builder, Params { pointers, task }: &Params) {
        self.shared.each(b, task, &mut |b, image, ranges| {
            self.image(b, pointers, image, (ranges[0], ranges[1]));
        });
    }

    /// Appends ranges of the positions and filters of one image's convolution.
    fn image(
        &self,
        b: &mut Builder,
        params: &[Value],
        image: &[Value],
        (positions, filters): ((Value, Value), (Value, Value)),
    ) {
        let mut pointers = Vec::with_capacity(params.len());
        for (at, &pointer) in params.iter().enumerate() {
            let (offset, stride) = (self.offsets[at], self.images[at]);
            pointers.push(moved(b, pointer, self.dtypes[at], offset, &[stride], image));
        }
        let operands = Operands {
            lhs: pointers[0],
            rhs: pointers[1],
        };
        let finish = &mut |b: &mut Builder, coord, sum| {
            self.epilogue.finish(b, &pointers[2..], coord, sum);
        };
        conv(b, &self.conv, operands, positions, filters, finish);
    }
}

impl ProgramBuilder<'_> {
    /// Builds a convolution. The axes of its grid are the parallel dimensions among images, positions and filters.
    pub(super) fn window(&mut self, op: Window) -> Result<(), ProgramError> {
        let g = self.g;
        let inputs = op.inputs(g);
        self.check_dense(op.id(), &inputs[..2])?;
        let results: Vec<ValueId> = g.results(op.id()).into_iter().collect();
        let values: Vec<ValueId> = inputs.iter().chain(&results).copied().collect();
        let all: Vec<Strided> = values.iter().map(|&value| self.strided(value)).collect();
        let (image, filter) = (known(g, inputs[0]), known(g, inputs[1]));
        let output = known(g, results[0]);
        let dtype = g.ty(inputs[0]).dtype;
        let rhs = match self.panels.get(&inputs[1]) {
            Some(packed) if packed.sizes != [1, filter[..3].iter().product(), filter[3]] => {
                return self.refuse(op.id(), "the filters are packed for another product");
            }
            Some(packed) => packed.rhs,
            None => Rhs::Rows {
                k_stride: filter[3],
            },
        };
        let mut whole = Conv {
            dtype,
            input: (image[1], image[2], image[3]),
            taps: (filter[0], filter[1]),
            filters: filter[3],
            strides: (op.strides(g)[0] as usize, op.strides(g)[1] as usize),
            padding: padding(g, op, &image, &filter, &output),
            output: (output[1], output[2]),
            rhs,
            schedule: Schedule::choose(self.target, dtype, (1, 1, 1), rhs, false),
        }
        .concatenated_lines();
        let schedule =
            whole.schedule_with(self.target, asked(op.micro(g), &[]), op.lines(g) as usize);
        whole.schedule = schedule.or_else(|why| self.refuse(op.id(), &why.to_string()))?;
        let (nodes, yielded) = node::read(g, op.body(g));
        // Rows and columns of positions are collapsed. If a row has a single position, its stride is meaningless, so
        // that of rows is used.
        let position = if output[2] == 1 { 1 } else { 2 };
        let extra = |at: usize| Extra {
            dtype: g.ty(values[at]).dtype,
            row: all[at].strides[position],
            column: all[at].strides[3],
        };
        let lanes = self.target.lanes(compute_lane(dtype).bits());
        let (positions, grain) = whole.positions();
        let convolution = Convolution {
            conv: whole,
            images: all
                .iter()
                .enumerate()
                .map(|(at, strided)| if at == 1 { 0 } else { strided.strides[0] })
                .collect(),
            offsets: all.iter().map(|strided| strided.offset).collect(),
            dtypes: values.iter().map(|&value| g.ty(value).dtype).collect(),
            epilogue: Epilogue {
                dtype,
                nodes,
                extras: (2..inputs.len()).map(extra).collect(),
                outputs: yielded
                    .into_iter()
                    .zip((inputs.len()..values.len()).map(extra))
                    .collect(),
            },
            shared: Shared::new(
                &output[..1],
                &[(1, positions, grain), (3, filter[3], whole.grain(lanes))],
                op.parallel(g),
            ),
        };
        let work = convolution.epilogue.nodes.iter().map(weight).sum();
        let elements: usize = output.iter().product();
        self.call(KernelCall {
            op: op.id(),
            lanes,
            args: self.regions(op.id(), values)?,
            grid: convolution.shared.grid(),
            computation: Computation::Window(Box::new(convolution)),
            work: Work::new(elements, work).and_products(elements.saturating_mul(whole.terms())),
        });
        Ok(())
    }
}

/// Returns the padding above and to the left of the image.
fn padding(
    g: &Graph,
    op: Window,
    image: &[usize],
    filter: &[usize],
    output: &[usize],
) -> (usize, usize) {
    let same = |axis: usize| {
        let stride = op.strides(g)[axis] as usize;
        let needed = (output[axis + 1] - 1) * stride + filter[axis];
        needed.saturating_sub(image[axis + 1]) / 2
    };
    match op.padding(g) {
        Padding::Valid => (0, 0),
        Padding::Same => (same(0), same(1)),
        Padding::Custom(&[top, _, left, _]) => (top as usize, left as usize),
    }
}
