//! Ops with the shape as an operand.

use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};

use crate::elements::{assert_same, of};
use crate::run::{OPEN, RUN};

const OPEN_3: [Dim; 2] = [Dim::Dynamic, Dim::Fixed(3)];

#[test]
fn shapes_are_those_of_the_operand() {
    let x = of(&[6], &[0.5f32, 1.0, f32::NAN, -0.0, 4.0, 5.0]);
    let to = of(&[2], &[2i64, 3]);
    let found = OPEN.get(
        DynamicReshape::DEF,
        &DynamicReshape::attrs(&OPEN_3, false),
        &[&x, &to],
    );
    assert_same(&found, &x.clone().with_shape(vec![2, 3]), "reshape");

    let column = of(&[2, 1], &[7u8, 8]);
    let attrs = DynamicBroadcastTo::attrs(&OPEN_3);
    let found = OPEN.get(DynamicBroadcastTo::DEF, &attrs, &[&column, &to]);
    assert_same(&found, &of(&[2, 3], &[7u8, 7, 7, 8, 8, 8]), "broadcast");
    let row = of(&[1], &[true]);
    let none = of(&[2], &[0i32, 3]);
    let found = RUN.get(DynamicBroadcastTo::DEF, &attrs, &[&row, &none]);
    assert_eq!(found.shape(), [0, 3]);

    let attrs = DynamicIota::attrs(DType::I16, &OPEN_3, -1);
    let found = OPEN.get(DynamicIota::DEF, &attrs, &[&to]);
    assert_same(&found, &of(&[2, 3], &[0i16, 1, 2, 0, 1, 2]), "indices");
}

#[test]
fn shapes_of_a_run_are_checked() {
    let x = of(&[6], &[0i32; 6]);
    let reshape = |extents: &[i64]| {
        let extents = of(&[extents.len()], extents);
        OPEN.mismatch(
            DynamicReshape::DEF,
            &DynamicReshape::attrs(&OPEN_3, false),
            &[&x, &extents],
        )
    };
    for (extents, expected) in [
        (&[1i64, 3][..], "[6] has 6, which [1, 3] cannot hold"),
        (&[i64::MAX, 3], "[6] has 6, which"),
        (&[3, 2], "dimension 1 has extent 2, expected 3"),
        (&[-2, 3], "gives a negative extent: [-2, 3]"),
        (&[6], "`extents` has 1 elements for a shape of rank 2"),
    ] {
        let text = reshape(extents);
        assert!(text.contains(expected), "{extents:?}: {text}");
    }
    let ones = [of(&[2], &[2i64, 3]), of(&[2], &[1i64, 6])];
    let attrs = DynamicReshape::attrs(&[Dim::Dynamic; 2], true);
    let found = OPEN.get(DynamicReshape::DEF, &attrs, &[&x, &ones[0]]);
    assert_eq!(found.shape(), [2, 3]);
    let text = OPEN.mismatch(DynamicReshape::DEF, &attrs, &[&x, &ones[1]]);
    assert!(
        text.contains("dimension 0 of [1, 6] has extent 1"),
        "{text}"
    );
    let extents = of(&[2], &[2i64, 3]);
    let attrs = DynamicBroadcastTo::attrs(&OPEN_3);
    let text = OPEN.mismatch(DynamicBroadcastTo::DEF, &attrs, &[&x, &extents]);
    assert!(text.contains("extent 6 against 3"), "{text}");
}
