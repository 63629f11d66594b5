//! Truth values in registers: bytes of 0 and 1 as they come from memory, masks where they were computed.

use mind_ir::scalar::ScalarFn;

use mind_vir::ir::{Builder, ConvertOp, Lane, MaskOp, Predicate, Type, Value};

/// The lanes that a mask is for, or those of a vector.
pub(super) fn lane(b: &Builder, value: Value) -> Lane {
    match b.ty(value) {
        Type::Mask(lane) | Type::Vector(lane) => lane,
        Type::Index | Type::Ptr => panic!("an index or a pointer is no truth value"),
    }
}

/// The truth values as a mask for lanes as wide as `wanted`.
pub(super) fn mask(b: &mut Builder, value: Value, wanted: Lane) -> Value {
    let wanted = wanted.int();
    if b.ty(value) == Type::Mask(wanted) {
        return value;
    }
    let numbers = numbers(b, value, wanted);
    let zero = b.constant(wanted, 0);
    b.compare(Predicate::ULt, zero, numbers)
}

/// The truth values as 0 and 1 in lanes of the integer `wanted`.
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

/// A function on truth values alone, as a mask.
///
/// # Panics
///
/// If it is not defined on them.
pub(super) fn apply(b: &mut Builder, function: ScalarFn, operands: &[Value]) -> Value {
    let masks = operands.iter().copied();
    let known = masks
        .clone()
        .find(|&value| matches!(b.ty(value), Type::Mask(_)));
    let lane = known.map_or(Lane::I8, |value| lane(b, value));
    let masks: Vec<Value> = masks.map(|value| mask(b, value, lane)).collect();
    let (x, y) = (masks[0], masks[masks.len() - 1]);
    match function {
        ScalarFn::And | ScalarFn::Minimum => b.mask_op(MaskOp::And, x, y),
        ScalarFn::Or | ScalarFn::Maximum => b.mask_op(MaskOp::Or, x, y),
        ScalarFn::Xor | ScalarFn::NotEqual => differ(b, x, y),
        ScalarFn::Not => not(b, x),
        ScalarFn::Equal => {
            let differ = differ(b, x, y);
            not(b, differ)
        }
        ScalarFn::Less => b.mask_op(MaskOp::AndNot, y, x),
        ScalarFn::Greater => b.mask_op(MaskOp::AndNot, x, y),
        ScalarFn::LessEqual => {
            let greater = b.mask_op(MaskOp::AndNot, x, y);
            not(b, greater)
        }
        ScalarFn::GreaterEqual => {
            let less = b.mask_op(MaskOp::AndNot, y, x);
            not(b, less)
        }
        ScalarFn::Select => {
            let first = b.mask_op(MaskOp::And, x, masks[1]);
            let second = b.mask_op(MaskOp::AndNot, y, x);
            b.mask_op(MaskOp::Or, first, second)
        }
        function => panic!("{function:?} on truth values"),
    }
}

fn differ(b: &mut Builder, x: Value, y: Value) -> Value {
    let first = b.mask_op(MaskOp::AndNot, x, y);
    let second = b.mask_op(MaskOp::AndNot, y, x);
    b.mask_op(MaskOp::Or, first, second)
}

/// The lanes where `mask` does not hold.
pub(super) fn not(b: &mut Builder, mask: Value) -> Value {
    let lane = lane(b, mask);
    let zero = b.constant(lane, 0);
    let all = b.compare(Predicate::Eq, zero, zero);
    b.mask_op(MaskOp::AndNot, all, mask)
}
