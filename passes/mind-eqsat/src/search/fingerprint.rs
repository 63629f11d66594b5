//! What classes hold, in a few bits each.

use mind_ir::types::DType;

use mind_rules::{OpIx, OpTable};

/// The bit of a constant.
pub(super) const CONSTANT: u64 = 1;

/// What a class holds.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fingerprint {
    /// The ops of its e-nodes, and whether it is a constant.
    pub(crate) own: u64,
    /// The same of the classes that its e-nodes read.
    pub(crate) below: u64,
    /// Its dtype, as one bit.
    pub(super) dtype: u32,
}

impl Fingerprint {
    /// A class that holds `own`, of this dtype.
    pub(crate) fn new(own: u64, dtype: DType) -> Fingerprint {
        Fingerprint {
            own,
            below: 0,
            dtype: dtype_bit(dtype),
        }
    }
}

/// The bit of a dtype.
pub(super) fn dtype_bit(dtype: DType) -> u32 {
    1 << (dtype as u32)
}

/// The bits of the ops that patterns look for below their roots. Ops beyond the 63rd have none, and are
/// never told apart.
#[derive(Debug)]
pub(crate) struct OpBits {
    by_op: Vec<u64>,
    next: u32,
}

impl OpBits {
    /// No bits yet for the ops of `table`.
    pub(crate) fn new(table: &OpTable) -> OpBits {
        OpBits {
            by_op: vec![0; table.defs().len()],
            next: 1,
        }
    }

    /// The bit of `op`; zero where it has none.
    pub(crate) fn of(&self, op: OpIx) -> u64 {
        self.by_op[op.index()]
    }

    /// The bit of a constant, if it is one.
    pub(crate) fn constant(&self, is_constant: bool) -> u64 {
        if is_constant { CONSTANT } else { 0 }
    }

    /// The bit of `op`, which is given one while there are some.
    pub(super) fn claim(&mut self, op: OpIx) -> u64 {
        let bit = &mut self.by_op[op.index()];
        if *bit == 0 && self.next < u64::BITS {
            *bit = 1 << self.next;
            self.next += 1;
        }
        *bit
    }
}
