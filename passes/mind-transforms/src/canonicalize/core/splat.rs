//! Constants with one value everywhere.

use mind_core::ops::constant::{ConstF32, ConstF64, ConstI64, ConstTensor};
use mind_ir::graph::Graph;
use mind_ir::tensor::Num;
use mind_ir::{ValueId, with_num};

/// The value that a constant has everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum Splat {
    /// A float, exactly.
    Float(f64),
    /// An integer.
    Int(i128),
}

impl Splat {
    /// Whether this is the float `value`, sign of zero included, or the integer `value`.
    pub(super) fn is(self, float: f64, int: i128) -> bool {
        match self {
            Splat::Float(own) => own.to_bits() == float.to_bits(),
            Splat::Int(own) => own == int,
        }
    }
}

/// The value of `value` everywhere, if it is such a constant. Elements are looked at only where they
/// are stored once.
pub(super) fn splat(g: &Graph, value: ValueId) -> Option<Splat> {
    let op = g.defining_op(value)?;
    if let Some(constant) = g.view::<ConstF32>(op) {
        return Some(Splat::Float(constant.value(g)));
    }
    if let Some(constant) = g.view::<ConstF64>(op) {
        return Some(Splat::Float(constant.value(g)));
    }
    if let Some(constant) = g.view::<ConstI64>(op) {
        return Some(Splat::Int(constant.value(g).into()));
    }
    let data = g.view::<ConstTensor>(op)?.data(g);
    if !data.is_splat() && data.count != Some(1) {
        return None;
    }
    let bytes = data.bytes.get(..data.dtype.size())?;
    with_num!(data.dtype, T => Some(read::<T>(bytes)), else None)
}

fn read<T: Num>(bytes: &[u8]) -> Splat {
    let element = T::read(bytes);
    match element.to_i128() {
        Some(int) => Splat::Int(int),
        None => Splat::Float(element.to_f64()),
    }
}
