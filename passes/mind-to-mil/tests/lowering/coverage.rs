//! Every op of core and tensor is lowered or excused with a reason.

/// Ops that are not lowered, with the reason.
const EXCUSED: &[(&str, &str)] = &[
    ("core.bitcast", "MIL takes no bits for numbers"),
    ("tensor.bitcast", "MIL takes no bits for numbers"),
    (
        "core.block_matmul",
        "MIL has no products of integers on scales of blocks; the weights as numbers lower",
    ),
    (
        "core.scan",
        "recurrent layers are lowered, and MIL loops do not stack slices",
    ),
    ("core.argmax_window", "MIL's `max_pool` has no places"),
    ("core.unique", "MIL has no op that finds different elements"),
    (
        "core.atan2",
        "MIL has no angle of a point; that of the quotient loses its quadrant",
    ),
    (
        "core.asinh",
        "MIL has no inverse of `sinh`; in halves its logarithm loses every negative number",
    ),
    (
        "core.acosh",
        "MIL has no inverse of `cosh`; in halves its logarithm overflows from 256 on",
    ),
    (
        "tensor.slide",
        "the windows of core lower, which say more of what they are",
    ),
];

#[test]
fn every_op_lowers_or_is_excused() {
    let ops = mind_core::ops::OPS.iter().chain(mind_tensor::ops::OPS);
    for def in ops {
        let excused = EXCUSED
            .iter()
            .any(|(name, reason)| *name == def.name && !reason.is_empty());
        assert_ne!(mind_to_mil::lowers(def), excused, "{}", def.name);
    }
}
