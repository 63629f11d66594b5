//! Loads of operands for a vector.

use mind_ir::types::DType;

use crate::lower::{At, load, storage_lane, widen};
use mind_vir::ir::{Addr, Builder, Lane, Op, Value};

use super::body::Operands;
use super::plan::Location;
use super::program::StridedAccess;
use super::quotient::Divisor;

/// The base addresses for a vector.
#[derive(Clone, Copy)]
pub(super) struct BaseAddresses<'a> {
    /// The first element of each input.
    pub inputs: &'a [Value],
    /// The first element of each output.
    pub outputs: &'a [Value],
    /// The start of scratch memory.
    pub scratch: Value,
}

impl BaseAddresses<'_> {
    /// Returns the address of values that one pass stores for another.
    pub fn stored_address(&self, b: &mut Builder, place: Location) -> Value {
        match place {
            Location::Output(output) => self.outputs[output],
            Location::Scratch(offset) => self.scratch(b, offset),
        }
    }

    /// Returns the address of an offset in scratch memory.
    pub fn scratch(&self, b: &mut Builder, offset: usize) -> Value {
        if offset == 0 {
            return self.scratch;
        }
        let offset = b.index(offset as i64);
        b.address(Addr::element(self.scratch, offset, Lane::I8))
    }
}

/// A vector along the inner dimension.
#[derive(Clone, Copy)]
pub(super) struct InnerVector<'a> {
    pub inputs: &'a [StridedAccess],
    pub bases: BaseAddresses<'a>,
    pub at: At,
    /// Reciprocals used instead of dividing by uniform nodes.
    pub divisors: &'a [Option<Divisor>],
}

impl Operands for InnerVector<'_> {
    fn input(&self, b: &mut Builder, input: usize) -> Value {
        let (access, base, at) = (&self.inputs[input], self.bases.inputs[input], self.at);
        let lane = storage_lane(access.dtype);
        let elements = match access.inner {
            0 => b.load_splat(lane, Addr::at(base)),
            1 => return load(b, access.dtype, at.addr(base, lane), at.count),
            stride => {
                let addr = at.strided(b, base, lane, stride);
                let stride = b.index(stride);
                b.op(Op::LoadStrided {
                    lane,
                    addr,
                    stride,
                    count: at.count,
                })
            }
        };
        widen(b, access.dtype, elements)
    }

    fn load_stored(&self, b: &mut Builder, dtype: DType, place: Location) -> Value {
        let base = self.bases.stored_address(b, place);
        let addr = self.at.addr(base, storage_lane(dtype));
        load(b, dtype, addr, self.at.count)
    }

    fn count(&self) -> Option<Value> {
        self.at.count
    }

    fn divisor(&self, node: usize) -> Option<Divisor> {
        self.divisors.get(node).copied().flatten()
    }
}
