//! Where values stand while a program runs.

use std::collections::hash_map::Entry;

use mind_core::ops::input::Input;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::memory::{ALIGNMENT, buffer, bytes, is_kernel, places};
use mind_loops::ops::movement::Pack;
use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{Quantised, Widened};
use super::error::ProgramError;
use super::port::Port;

/// The memory that an argument of a kernel points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// An array of the caller's, for each call.
    Input(u32),
    /// An array of the caller's that is written.
    Output(u32),
    /// A weight, while it is bound.
    Param(u32),
    /// The constants of the program.
    Constants,
    /// What is made once when weights are bound.
    Bound,
    /// The results of one call.
    Workspace,
}

/// A place: bytes from the start of some memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The memory.
    pub base: Base,
    /// Bytes from its start.
    pub offset: u64,
}

/// Where each value of a module stands, and what memory there is.
#[derive(Debug, Default)]
pub(super) struct Layout {
    places: FxHashMap<ValueId, Place>,
    /// Ops that run once, when weights are bound.
    fixed: FxHashSet<OpId>,
    pub(super) inputs: Vec<Port>,
    pub(super) params: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    /// Weights that calls read as they are: the weight, and where its copy stands.
    pub(super) kept: Vec<(usize, u64)>,
    pub(super) constants: Vec<u8>,
    pub(super) bound_bytes: u64,
    pub(super) workspace_bytes: u64,
}

impl Layout {
    /// The layout of a verified module at loops level. With `keeps_weights` those that steps read as they are
    /// have copies that outlive their binding.
    ///
    /// Errors: a constant that is too large.
    pub(super) fn of(
        g: &Graph,
        widened: &Widened,
        quantised: &Quantised,
        keeps_weights: bool,
    ) -> Result<Layout, ProgramError> {
        let mut layout = Layout::default();
        layout.place_outputs(g);
        for op in g.ops(g.body()) {
            if let Some(input) = g.view::<Input>(op) {
                layout.place_input(g, quantised, input);
            } else if g.def(op).has(Trait::Constant) {
                layout.place_constant(g, op)?;
            } else if is_kernel(g, op) {
                layout.place_results(g, widened, quantised, op);
            }
        }
        if keeps_weights {
            layout.keep_weights(g);
        }
        Ok(layout)
    }

    /// Where the elements of `value`, or of what it is a view of, begin.
    pub(super) fn place(&self, g: &Graph, value: ValueId) -> Place {
        self.places[&buffer(g, value)]
    }

    /// Puts `value` where `other` stands.
    pub(super) fn alias(&mut self, g: &Graph, value: ValueId, other: ValueId) {
        let place = self.place(g, other);
        self.places.insert(buffer(g, value), place);
    }

    /// Gives a value that has no place yet one in the workspace, behind all others.
    pub(super) fn reserve_workspace(&mut self, value: ValueId, bytes: u64) {
        let offset = self.workspace_bytes.next_multiple_of(ALIGNMENT);
        let place = Place {
            base: Base::Workspace,
            offset,
        };
        if let Entry::Vacant(vacant) = self.places.entry(value) {
            vacant.insert(place);
            self.workspace_bytes = offset + bytes;
        }
    }

    /// Whether an op runs once, when weights are bound.
    pub(super) fn is_fixed(&self, op: OpId) -> bool {
        self.fixed.contains(&op)
    }

    fn place_outputs(&mut self, g: &Graph) {
        for (index, &output) in g.outputs().iter().enumerate() {
            let place = Place {
                base: Base::Output(index as u32),
                offset: 0,
            };
            self.places.insert(buffer(g, output), place);
            self.outputs.push(Port {
                name: format!("%{}", g.label(output)),
                dtype: g.ty(output).dtype,
                shape: known(g, output),
                format: None,
            });
        }
    }

    fn place_input(&mut self, g: &Graph, quantised: &Quantised, input: Input) {
        let value = input.result(g);
        let ports = match input.param(g) {
            true => &mut self.params,
            false => &mut self.inputs,
        };
        let index = ports.len() as u32;
        ports.push(Port {
            name: g.name(input.name(g)).to_owned(),
            dtype: g.ty(value).dtype,
            shape: known(g, value),
            format: quantised.panels(g, value).map(|panels| panels.format),
        });
        let base = match input.param(g) {
            true => Base::Param(index),
            false => Base::Input(index),
        };
        self.places.insert(value, Place { base, offset: 0 });
    }

    fn place_constant(&mut self, g: &Graph, op: OpId) -> Result<(), ProgramError> {
        let eval = g.def(op).eval.expect("a constant has a value");
        let dims = mind_ir::eval::DimEnv::default();
        let cx = mind_ir::eval::EvalCx::run(g, &dims);
        let tensors = eval(op, &cx, &[]).map_err(|why| ProgramError::Op {
            op: g.def(op).name,
            reason: why.to_string(),
        })?;
        let start = self.constants.len().next_multiple_of(ALIGNMENT as usize);
        self.constants.resize(start, 0);
        for tensor in &tensors {
            self.constants.extend(tensor.buffer().to_bytes());
        }
        let place = Place {
            base: Base::Constants,
            offset: start as u64,
        };
        self.places.insert(g.result(op), place);
        Ok(())
    }

    /// A kernel that reads nothing but constants and weights runs once.
    fn place_results(&mut self, g: &Graph, widened: &Widened, quantised: &Quantised, op: OpId) {
        let stays = |value: &ValueId| {
            let place = self.place(g, *value);
            matches!(place.base, Base::Constants | Base::Param(_) | Base::Bound)
        };
        let is_output = |value: ValueId| self.places.contains_key(&value);
        let fixed = g.operands(op).iter().all(stays) && !g.results(op).into_iter().any(is_output);
        if fixed {
            self.fixed.insert(op);
        }
        let ats = places(g, op).unwrap_or(&[]);
        let packed = || quantised.packed_bytes(g, g.operands(op)[0]);
        let packed = g.is::<Pack>(op).then(packed).flatten();
        for (value, &at) in g.results(op).into_iter().zip(ats) {
            let place = match fixed {
                true if widened.absorbs(g, op) => self.reserve(0),
                true if packed.is_some() => self.reserve(packed.unwrap_or(0)),
                true if g.is::<Pack>(op) && widened.source(g, g.operands(op)[0]).is_some() => {
                    // Panels of halves: `bytes` counts whole accumulators.
                    self.reserve(bytes(g, value) / 2)
                }
                true => self.reserve(bytes(g, value)),
                false => Place {
                    base: Base::Workspace,
                    offset: at.max(0) as u64,
                },
            };
            let vacant = !self.places.contains_key(&value);
            if vacant && place.base == Base::Workspace {
                let end = place.offset + bytes(g, value);
                self.workspace_bytes = self.workspace_bytes.max(end);
            }
            self.places.entry(value).or_insert(place);
        }
    }

    /// So many bytes of what is made once.
    fn reserve(&mut self, bytes: u64) -> Place {
        let offset = self.bound_bytes.next_multiple_of(ALIGNMENT);
        self.bound_bytes = offset + bytes;
        Place {
            base: Base::Bound,
            offset,
        }
    }

    /// Gives the weights that calls read as they are a place that outlives their binding.
    fn keep_weights(&mut self, g: &Graph) {
        for op in g.ops(g.body()) {
            if !is_kernel(g, op) || self.is_fixed(op) {
                continue;
            }
            for &operand in g.operands(op) {
                let value = buffer(g, operand);
                if let Base::Param(index) = self.places[&value].base {
                    let place = self.reserve(bytes(g, value));
                    self.kept.push((index as usize, place.offset));
                    self.places.insert(value, place);
                }
            }
        }
    }
}
