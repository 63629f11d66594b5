//! `Pad`, compared with listed source indices.

use mind_core::ops::pad::{PadMode, PadOp};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;

use crate::elements::{assert_same, marked, of};
use crate::run::{OPEN, RUN};

/// Runs `pad` along one axis of extent `extent`. Each entry of `places` is the source index of an element of the
/// result, -1 for the value.
fn check(extent: usize, [low, high, interior]: [i64; 3], mode: PadMode, places: &[i64]) {
    let (low, high, interior) = ([low], [high], [interior]);
    let attrs = PadOp::attrs(&low, &high, &interior, mode);
    for &dtype in DType::ALL {
        let (x, size) = (marked(dtype, &[extent]), dtype.size());
        let value = marked(dtype, &[2]);
        let value = Tensor::new(
            vec![],
            Buffer::from_bytes(dtype, &value.buffer().to_bytes()[size..]),
        );
        let zero = Tensor::new(vec![], Buffer::zeros(dtype, 1));
        let operands: &[(&Tensor, &[&Tensor])] = match mode {
            PadMode::Constant => &[(&value, &[&x, &value]), (&zero, &[&x])],
            PadMode::Edge | PadMode::Reflect | PadMode::Wrap => &[(&zero, &[&x])],
        };
        for &(outside, operands) in operands {
            let element = |&place: &i64| match usize::try_from(place) {
                Ok(place) => x.buffer().to_bytes()[place * size..][..size].to_vec(),
                Err(_) => outside.buffer().to_bytes().to_vec(),
            };
            let bytes: Vec<u8> = places.iter().flat_map(element).collect();
            let expected = Tensor::new(vec![places.len()], Buffer::from_bytes(dtype, &bytes));
            let what = format!("{dtype} {extent} {attrs:?}");
            assert_same(&RUN.get(PadOp::DEF, &attrs, operands), &expected, &what);
        }
    }
}

#[test]
fn constant() {
    let check = |extent, amounts, places: &[i64]| check(extent, amounts, PadMode::Constant, places);
    check(3, [2, 1, 0], &[-1, -1, 0, 1, 2, -1]);
    check(3, [0, 0, 2], &[0, -1, -1, 1, -1, -1, 2]);
    check(3, [-1, 1, 1], &[-1, 1, -1, 2, -1]);
    check(3, [-2, -2, 2], &[-1, 1, -1]);
    check(3, [-5, 4, 0], &[-1, -1]);
    check(3, [4, -5, 0], &[-1, -1]);
    check(0, [1, 1, 5], &[-1, -1]);
    check(0, [-2, 3, 0], &[-1]);
    check(1, [0, 0, 7], &[0]);
    check(3, [-3, 0, 0], &[]);
}

#[test]
fn edge() {
    check(3, [2, 1, 0], PadMode::Edge, &[0, 0, 0, 1, 2, 2]);
    check(1, [1, 3, 0], PadMode::Edge, &[0, 0, 0, 0, 0]);
    check(0, [0, 0, 0], PadMode::Edge, &[]);
}

#[test]
fn reflect() {
    check(3, [2, 1, 0], PadMode::Reflect, &[2, 1, 0, 1, 2, 1]);
    check(
        3,
        [5, 5, 0],
        PadMode::Reflect,
        &[1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1],
    );
    check(2, [1, 2, 0], PadMode::Reflect, &[1, 0, 1, 0, 1]);
    check(1, [2, 1, 0], PadMode::Reflect, &[0, 0, 0, 0]);
}

#[test]
fn wrap() {
    check(3, [2, 1, 0], PadMode::Wrap, &[1, 2, 0, 1, 2, 0]);
    check(2, [5, 2, 0], PadMode::Wrap, &[1, 0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn axes_are_padded_together() {
    let x = of(&[2, 2], &[1i32, 2, 3, 4]);
    let attrs = PadOp::attrs(&[1, 0], &[0, 1], &[0, 1], PadMode::Constant);
    let value = Tensor::scalar(9i32);
    let found = RUN.get(PadOp::DEF, &attrs, &[&x, &value]);
    let expected = [9, 9, 9, 9, 1, 9, 2, 9, 3, 9, 4, 9];
    assert_same(&found, &of(&[3, 4], &expected), "both axes");
}

#[test]
fn extents_of_a_run_are_checked() {
    let attrs = PadOp::attrs(&[-2], &[0], &[], PadMode::Constant);
    let text = OPEN.mismatch(PadOp::DEF, &attrs, &[&marked(DType::F32, &[1])]);
    assert!(text.contains("extent 1 of dimension 0 to -1"), "{text}");
    let attrs = PadOp::attrs(&[1], &[0], &[], PadMode::Edge);
    let text = OPEN.mismatch(PadOp::DEF, &attrs, &[&marked(DType::F32, &[0])]);
    assert!(text.contains("no element to repeat"), "{text}");
    let attrs = PadOp::attrs(&[1 << 50], &[0], &[], PadMode::Edge);
    let found = RUN.eval(PadOp::DEF, &attrs, &[&marked(DType::F32, &[1])]);
    assert!(
        matches!(found, Err(EvalError::TooLarge { .. })),
        "{found:?}"
    );
}
