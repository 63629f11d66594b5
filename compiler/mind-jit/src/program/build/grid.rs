//! Kernels and the tasks that they are called for.

use mind_ir::OpId;
use mind_ir::opdef::OpDef;
use smallvec::SmallVec;

use super::Unit;
use crate::program::layout::Region;
use crate::program::step::{Axis, Call, Step};
use crate::vir::{Builder, Value};

/// A kernel before it is built, and how it is called.
#[derive(Debug)]
pub(super) struct Spec {
    /// The op that it is made for.
    pub(super) op: OpId,
    /// What it is called in listings.
    pub(super) name: &'static str,
    /// Lanes of its vectors.
    pub(super) lanes: u32,
    /// What its code depends on besides lanes and sizes, as text.
    pub(super) key: String,
    /// What its pointers point to: all that it may read and write there.
    pub(super) args: SmallVec<[Region; 6]>,
    /// The tasks that it is called for.
    pub(super) grid: SmallVec<[Axis; 4]>,
    /// The work, in about nanoseconds of one thread.
    pub(super) cost: u64,
}

impl Unit<'_> {
    /// Adds a call of a kernel, which `make` builds if none of this kind is there: given a pointer for each argument,
    /// it declares the parameters of the task and appends statements.
    pub(super) fn call(&mut self, spec: Spec, make: impl FnOnce(&mut Builder, &[Value])) {
        let def: &'static OpDef = self.g.def(spec.op);
        let sizes: SmallVec<[usize; 6]> = spec.args.iter().map(|region| region.bytes).collect();
        let key = format!("{} {} {sizes:?} {}", spec.name, spec.lanes, spec.key);
        let kernel = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let mut b = Builder::new(spec.name, spec.lanes);
                let pointers: Vec<Value> =
                    sizes.iter().map(|&bytes| b.buffer_param(bytes)).collect();
                make(&mut b, &pointers);
                self.functions.push((b.finish(), def.name));
                self.known.insert(key, self.functions.len() - 1);
                self.functions.len() - 1
            }
        };
        let call = Call {
            kernel,
            args: spec.args,
            has_scratch: self.functions[kernel].0.scratch().is_some(),
            grid: spec.grid,
            cost: spec.cost,
            op: def.name,
        };
        self.push(spec.op, Step::Call(call));
    }
}

/// Declares a range of the task.
pub(super) fn range(b: &mut Builder) -> (Value, Value) {
    (b.index_param(), b.index_param())
}

/// About nanoseconds of one thread for so many operations on so many elements.
pub(super) fn cost(elements: usize, operations: usize) -> u64 {
    (elements as u64).saturating_mul(operations as u64 + 1) / 16
}
