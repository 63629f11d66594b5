//! The elements of operands at the lanes of a vector.

use mind_ir::types::DType;

use crate::lower::{At, load, storage_lane, widen};
use mind_vir::ir::{Addr, Builder, Lane, Op, Value};

use super::body::Operands;
use super::plan::Location;
use super::program::StridedAccess;
use super::quotient::Divisor;

/// Where the elements are that one vector works on.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// The first element of each input.
    pub inputs: &'a [Value],
    /// The first element of each output.
    pub outputs: &'a [Value],
    /// The start of scratch memory.
    pub scratch: Value,
}

impl Places<'_> {
    /// Where values are that one pass keeps for another.
    pub fn kept(&self, b: &mut Builder, place: Location) -> Value {
        match place {
            Location::Output(output) => self.outputs[output],
            Location::Scratch(offset) => self.scratch(b, offset),
        }
    }

    /// Scratch memory from a byte on.
    pub fn scratch(&self, b: &mut Builder, offset: usize) -> Value {
        if offset == 0 {
            return self.scratch;
        }
        let offset = b.index(offset as i64);
        b.address(Addr::element(self.scratch, offset, Lane::I8))
    }
}

/// The elements at the lanes of one vector along the inner dimension.
#[derive(Clone, Copy)]
pub(super) struct Along<'a> {
    pub inputs: &'a [StridedAccess],
    pub places: Places<'a>,
    pub at: At,
    /// What stands in for dividing by the value of a node, for those that divide whole rows.
    pub divisors: &'a [Option<Divisor>],
}

impl Operands for Along<'_> {
    fn input(&self, b: &mut Builder, input: usize) -> Value {
        let (access, base, at) = (&self.inputs[input], self.places.inputs[input], self.at);
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

    fn kept(&self, b: &mut Builder, dtype: DType, place: Location) -> Value {
        let base = self.places.kept(b, place);
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
