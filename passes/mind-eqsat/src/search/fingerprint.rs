//! Bit sets that summarise the contents of classes.

use mind_ir::types::DType;

use mind_rules::{OpIx, OpTable};

/// The bit of a constant.
pub(super) const CONSTANT: u64 = 1;

/// A summary of a class.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fingerprint {
    /// The bits of the ops of its e-nodes, and of a constant.
    pub(crate) own: u64,
    /// The bits of all its child classes.
    pub(crate) below: u64,
    /// Its dtype, as one bit.
    pub(super) dtype: u32,
}

impl Fingerprint {
    /// Returns the fingerprint of a class with these bits and this dtype.
    pub(crate) fn new(own: u64, dtype: DType) -> Fingerprint {
        Fingerprint {
            own,
            below: 0,
            dtype: dtype_bit(dtype),
        }
    }
}

/// Returns the bit of a dtype.
pub(super) fn dtype_bit(dtype: DType) -> u32 {
    1 << (dtype as u32)
}

/// The bits of the ops that patterns contain below their roots. Ops after the 63rd have no bit, so patterns are not
/// filtered by them.
#[derive(Debug)]
pub(crate) struct OpBits {
    by_op: Vec<u64>,
    next: u32,
}

impl OpBits {
    /// Creates the table without any bits, for the ops of `table`.
    pub(crate) fn new(table: &OpTable) -> OpBits {
        OpBits {
            by_op: vec![0; table.defs().len()],
            next: 1,
        }
    }

    /// Returns the bit of `op`; zero if it has none.
    pub(crate) fn of(&self, op: OpIx) -> u64 {
        self.by_op[op.index()]
    }

    /// Returns the bit of a constant if `is_constant`, else zero.
    pub(crate) fn constant(&self, is_constant: bool) -> u64 {
        if is_constant { CONSTANT } else { 0 }
    }

    /// Returns the bit of `op`, which is assigned one while bits are left.
    pub(super) fn claim(&mut self, op: OpIx) -> u64 {
        let bit = &mut self.by_op[op.index()];
        if *bit == 0 && self.next < u64::BITS {
            *bit = 1 << self.next;
            self.next += 1;
        }
        *bit
    }
}
