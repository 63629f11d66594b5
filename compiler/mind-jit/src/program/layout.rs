//! Buffer assignment of a running program.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use mind_core::ops::input::Input;
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{Bytes, OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::memory::{ALIGNMENT, buffer, buffer_offsets, bytes, is_kernel};
use mind_loops::ops::movement::Pack;
use rustc_hash::FxHashMap;

use super::build::{FoldedConverts, Quantised};
use super::error::ProgramError;
use super::fixed::Fixed;
use super::port::Port;
use super::weights::Weights;
use mind_vir::program::{Base, Region, Transfer};

/// Minimal size in bytes of a constant that runs read directly instead of a copy.
const READ_IN_PLACE: usize = 1 << 20;

/// The buffer of each value of a module, and the sizes of the memory areas.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The buffer of each value.
    buffers: FxHashMap<ValueId, Region>,
    /// Ops that run once, when weights are bound.
    fixed: Fixed,
    pub(super) inputs: Vec<Port>,
    pub(super) params: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    /// Outputs that yield the same value as an earlier one, by the number of the earlier one.
    pub(super) repeats: BTreeMap<u32, Vec<u32>>,
    /// Copies of weights that calls read directly.
    pub(super) kept: Vec<Transfer>,
    pub(super) constants: Vec<u8>,
    /// Constants that are bound as weights, numbered after those of the caller.
    pub(super) literals: Vec<Bytes>,
    first_literal: usize,
    /// End of the bound memory that is in use.
    bound_end: u64,
    /// End of the workspace that is in use.
    workspace_end: u64,
}

impl Layout {
    /// Returns the layout of a verified module at loops level. `weights` is the lifetime of weights.
    ///
    /// # Errors
    ///
    /// A constant is too large.
    pub(super) fn of(
        g: &Graph,
        folded: &FoldedConverts,
        quantised: &Quantised,
        weights: Weights,
    ) -> Result<Layout, ProgramError> {
        let mut layout = Layout {
            fixed: Fixed::of(g),
            first_literal: g.ops(g.body()).filter(|&op| is_param(g, op)).count(),
            ..Layout::default()
        };
        layout.constants.reserve_exact(literal_bytes(g, weights));
        layout.place_outputs(g);
        for op in g.ops(g.body()) {
            if let Some(input) = g.view::<Input>(op) {
                layout.place_input(g, quantised, input);
            } else if g.def(op).has(Trait::Constant) {
                layout.place_constant(g, weights, op)?;
            } else if is_kernel(g, op) {
                layout.place_results(g, folded, quantised, op);
            }
        }
        match weights {
            Weights::Stay => {}
            Weights::Copied | Weights::Shared | Weights::Embedded => {
                layout.keep_weights(g, weights);
            }
        }
        Ok(layout)
    }

    /// Returns the buffer of `value`, or of the value that it is a view of.
    pub(super) fn buffer(&self, g: &Graph, value: ValueId) -> Region {
        self.buffers[&buffer(g, value)]
    }

    /// Assigns `value` to the buffer of `other`.
    pub(super) fn alias(&mut self, g: &Graph, value: ValueId, other: ValueId) {
        let region = self.buffer(g, other);
        self.buffers.insert(buffer(g, value), region);
    }

    /// Assigns a value without a buffer to the end of the workspace.
    pub(super) fn reserve_workspace(&mut self, value: ValueId, bytes: u64) {
        let offset = self.workspace_end.next_multiple_of(ALIGNMENT);
        if let Entry::Vacant(vacant) = self.buffers.entry(value) {
            vacant.insert(region(Base::Workspace, offset, bytes));
            self.workspace_end = offset + bytes;
        }
    }

    /// Returns whether an op runs once, when weights are bound.
    pub(super) fn is_fixed(&self, op: OpId) -> bool {
        self.fixed.contains(op)
    }

    fn place_outputs(&mut self, g: &Graph) {
        for (index, &output) in g.outputs().iter().enumerate() {
            let port = Port {
                name: g.output_text(index),
                dtype: g.ty(output).dtype,
                shape: known(g, output),
                format: None,
            };
            let index = index as u32;
            let own = region(Base::Output(index), 0, port.bytes() as u64);
            let first = self.buffers.entry(buffer(g, output)).or_insert(own);
            if let Base::Output(first) = first.base
                && first != index
            {
                self.repeats.entry(first).or_default().push(index);
            }
            self.outputs.push(port);
        }
    }

    fn place_input(&mut self, g: &Graph, quantised: &Quantised, input: Input) {
        let value = input.result(g);
        let ports = if input.param(g) {
            &mut self.params
        } else {
            &mut self.inputs
        };
        let index = ports.len() as u32;
        let port = Port {
            name: g.name(input.name(g)).to_owned(),
            dtype: g.ty(value).dtype,
            shape: known(g, value),
            format: quantised.format(value),
        };
        let bytes = port.bytes() as u64;
        ports.push(port);
        let base = if input.param(g) {
            Base::Param(index)
        } else {
            Base::Input(index)
        };
        self.buffers.insert(value, region(base, 0, bytes));
    }

    fn place_constant(
        &mut self,
        g: &Graph,
        weights: Weights,
        op: OpId,
    ) -> Result<(), ProgramError> {
        if let Some(literal) = weights.shared(g, op) {
            let base = Base::Param((self.first_literal + self.literals.len()) as u32);
            let own = region(base, 0, literal.bytes.len() as u64);
            self.literals.push(g.shared_bytes(literal));
            self.buffers.insert(g.result(op), own);
            return Ok(());
        }
        let start = self.constants.len().next_multiple_of(ALIGNMENT as usize);
        self.constants.resize(start, 0);
        match g.attrs(op) {
            // Literals have the layout of memory.
            [Attr::Literal(literal)] if !literal.is_splat() => {
                self.constants.extend_from_slice(literal.bytes);
            }
            _ => self.evaluate_constant(g, op)?,
        }
        let bytes = (self.constants.len() - start) as u64;
        let own = region(Base::Constants, start as u64, bytes);
        self.buffers.insert(g.result(op), own);
        Ok(())
    }

    /// Appends the elements of a constant.
    ///
    /// # Errors
    ///
    /// The constant is too large.
    fn evaluate_constant(&mut self, g: &Graph, op: OpId) -> Result<(), ProgramError> {
        let eval = g.def(op).eval.expect("a constant has a value");
        let dims = mind_ir::eval::DimEnv::default();
        let cx = mind_ir::eval::EvalCx::run(g, &dims);
        let tensors = eval(op, &cx, &[]).map_err(|why| ProgramError::Op {
            op: g.def(op).name,
            reason: why.to_string(),
        })?;
        for tensor in &tensors {
            self.constants.extend_from_slice(tensor.buffer().as_bytes());
        }
        Ok(())
    }

    /// Assigns the results of a kernel: to the module's workspace offsets, or to bound memory if the op runs once and
    /// runs read the result.
    fn place_results(
        &mut self,
        g: &Graph,
        folded: &FoldedConverts,
        quantised: &Quantised,
        op: OpId,
    ) {
        let fixed = self.is_fixed(op);
        let ats = buffer_offsets(g, op).unwrap_or(&[]);
        let pack = g.view::<Pack>(op);
        let packed = pack.and_then(|pack| quantised.packed_bytes(g, pack));
        for (value, &at) in g.results(op).into_iter().zip(ats) {
            let bytes = bytes(g, value);
            let own = if !fixed {
                region(Base::Workspace, at.max(0) as u64, bytes)
            } else if folded.absorbs(g, op) {
                self.reserve(0)
            } else if let Some(packed) = packed {
                self.reserve(packed)
            } else if pack.is_some() && folded.source(g, g.operands(op)[0]).is_some() {
                // These panels have 16-bit elements, while `bytes` counts 32-bit accumulators.
                self.reserve(bytes / 2)
            } else if let Some(at) = self.fixed.temporary(value) {
                region(Base::Workspace, at, bytes)
            } else {
                self.reserve(bytes)
            };
            let vacant = !self.buffers.contains_key(&value);
            if vacant && own.base == Base::Workspace {
                self.workspace_end = self.workspace_end.max(own.end());
            }
            self.buffers.entry(value).or_insert(own);
        }
    }

    /// Reserves `bytes` of bound memory.
    fn reserve(&mut self, bytes: u64) -> Region {
        let offset = self.bound_end.next_multiple_of(ALIGNMENT);
        self.bound_end = offset + bytes;
        region(Base::Bound, offset, bytes)
    }

    /// Returns whether runs can read a weight directly: it is valid in every run and aligned, so that vector loads do
    /// not cross cache lines.
    fn stays(&self, index: u32, weights: Weights) -> bool {
        let own = (index as usize).checked_sub(self.first_literal);
        own.is_some_and(|at| {
            if weights == Weights::Embedded {
                return true;
            }
            let bytes = &self.literals[at];
            bytes.len() >= READ_IN_PLACE && bytes.as_ptr().addr().is_multiple_of(ALIGNMENT as usize)
        })
    }

    /// Assigns bound memory to weights that calls read directly, because they outlive their binding there.
    fn keep_weights(&mut self, g: &Graph, weights: Weights) {
        for op in g.ops(g.body()) {
            if !is_kernel(g, op) || self.is_fixed(op) {
                continue;
            }
            for &operand in g.operands(op) {
                let value = buffer(g, operand);
                let from = self.buffers[&value];
                if let Base::Param(index) = from.base
                    && !self.stays(index, weights)
                {
                    let to = self.reserve(bytes(g, value));
                    self.kept.push(Transfer { from, to });
                    self.buffers.insert(value, to);
                }
            }
        }
    }
}

fn is_param(g: &Graph, op: OpId) -> bool {
    g.view::<Input>(op).is_some_and(|input| input.param(g))
}

/// Returns the bytes of a module's literals that are stored together, including padding.
fn literal_bytes(g: &Graph, weights: Weights) -> usize {
    let literals = g
        .ops(g.body())
        .filter(|&op| weights.shared(g, op).is_none());
    let literals = literals.flat_map(|op| g.attrs(op));
    let sizes = literals.filter_map(|attr| match attr {
        Attr::Literal(literal) => Some(literal.bytes.len().next_multiple_of(ALIGNMENT as usize)),
        _ => None,
    });
    sizes.sum()
}

fn region(base: Base, offset: u64, bytes: u64) -> Region {
    Region {
        base,
        offset,
        bytes: bytes as usize,
    }
}
