//! Booleans in registers: bytes of 0 and 1 when they are loaded, masks when they are computed.

use mind_vir::ir::{Builder, ConvertOp, Lane, MaskOp, Predicate, Type, Value};

/// Returns the lane type of a mask or a vector.
pub(super) fn lane(b: &Builder, value: Value) -> Lane {
    match b.ty(value) {
        Type::Mask(lane) | Type::Vector(lane) => lane,
        Type::Index | Type::Ptr => panic!("an index or a pointer is not a boolean"),
    }
}

/// Converts booleans to a mask for lanes of the width of `wanted`.
pub(super) fn mask(b: &mut Builder, value: Value, wanted: Lane) -> Value {
    let wanted = wanted.int();
    if b.ty(value) == Type::Mask(wanted) {
        return value;
    }
    let numbers = numbers(b, value, wanted);
    let zero = b.constant(wanted, 0);
    b.compare(Predicate::ULt, zero, numbers)
}

/// Converts booleans to 0 and 1 in lanes of the integer `wanted`.
pub(super) fn numbers(b: &mut Builder, value: Value, wanted: Lane) -> Value {
    let own = lane(b, value);
    let numbers = match b.ty(value) {
        Type::Mask(_) => {
            let [zero, one] = [0, 1].map(|number| b.constant(own, number));
            b.select(value, one, zero)
        }
        _ => value,
    };
    match own.bits().cmp(&wanted.bits()) {
        std::cmp::Ordering::Less => b.convert(ConvertOp::ZeroExtend, wanted, numbers),
        std::cmp::Ordering::Equal => numbers,
        std::cmp::Ordering::Greater => b.convert(ConvertOp::Truncate, wanted, numbers),
    }
}

/// Converts booleans to masks of one width: that of the first one that is a mask, else of bytes.
pub(super) fn masks(b: &mut Builder, values: &[Value]) -> Vec<Value> {
    let mut all = values.iter();
    let known = all.find(|&&value| matches!(b.ty(value), Type::Mask(_)));
    let lane = known.map_or(Lane::I8, |&value| lane(b, value));
    values.iter().map(|&value| mask(b, value, lane)).collect()
}

/// A select between masks.
pub(super) fn choose(b: &mut Builder, which: Value, x: Value, y: Value) -> Value {
    let first = b.mask_op(MaskOp::And, which, x);
    let second = b.mask_op(MaskOp::AndNot, y, which);
    b.mask_op(MaskOp::Or, first, second)
}

/// Exclusive or of masks.
pub(super) fn differ(b: &mut Builder, x: Value, y: Value) -> Value {
    let first = b.mask_op(MaskOp::AndNot, x, y);
    let second = b.mask_op(MaskOp::AndNot, y, x);
    b.mask_op(MaskOp::Or, first, second)
}

/// The complement of a mask.
pub(super) fn not(b: &mut Builder, mask: Value) -> Value {
    let lane = lane(b, mask);
    let zero = b.constant(lane, 0);
    let all = b.compare(Predicate::Eq, zero, zero);
    b.mask_op(MaskOp::AndNot, all, mask)
}
