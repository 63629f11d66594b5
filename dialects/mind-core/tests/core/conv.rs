//! Convolution.

use mind_core::ops::conv::Conv2d;
use mind_ir::attr::Padding;
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{FOLD, OPEN, RUN};

/// Computes the convolution of an explicitly padded input, tap by tap; `pads` are top, bottom, left, right.
fn convolve<T: Num>(x: &Tensor, w: &Tensor, stride: [usize; 2], pads: [usize; 4]) -> Tensor {
    let padded = padded::<T>(x, pads);
    let [batch, height, width, channels] = padded.shape().try_into().expect("rank 4");
    let [kh, kw, _, filters] = w.shape().try_into().expect("rank 4");
    let positions = |long: usize, window: usize, stride: usize| {
        (0..long)
            .step_by(stride)
            .filter(|start| start + window <= long)
            .count()
    };
    let shape = [
        batch,
        positions(height, kh, stride[0]),
        positions(width, kw, stride[1]),
        filters,
    ];
    let element = |index: Vec<usize>| {
        let window = [kh, kw, channels];
        let taps = indices(&window);
        T::narrow(taps.fold(T::Acc::ZERO, |sum, tap| {
            let (row, column) = (index[1] * stride[0] + tap[0], index[2] * stride[1] + tap[1]);
            let pixel = at::<T>(&padded, &[index[0], row, column, tap[2]]);
            pixel
                .widen()
                .fma(at::<T>(w, &[tap[0], tap[1], tap[2], index[3]]).widen(), sum)
        }))
    };
    of(&shape, &indices(&shape).map(element).collect::<Vec<T>>())
}

fn padded<T: Num>(x: &Tensor, [top, bottom, left, right]: [usize; 4]) -> Tensor {
    let [batch, height, width, channels] = x.shape().try_into().expect("rank 4");
    let shape = [batch, height + top + bottom, width + left + right, channels];
    let element = |index: Vec<usize>| {
        let inside =
            (top..top + height).contains(&index[1]) && (left..left + width).contains(&index[2]);
        if inside {
            at(x, &[index[0], index[1] - top, index[2] - left, index[3]])
        } else {
            T::ZERO
        }
    };
    of(&shape, &indices(&shape).map(element).collect::<Vec<T>>())
}

#[test]
fn every_dtype_and_padding_is_one_chain_per_element() {
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            let (x, w) = (sample::<T>(&[2, 5, 6, 3], 7), sample::<T>(&[3, 2, 3, 9], 9));
            let check = |strides: &[i64; 2], padding: Padding<'_>, pads: [usize; 4]| {
                let expected = convolve::<T>(&x, &w, strides.map(|s| s as usize), pads);
                let attrs = Conv2d::attrs(strides, padding);
                let what = format!("{dtype} {strides:?} {padding:?}");
                assert_same(&RUN.get(Conv2d::DEF, &attrs, &[&x, &w]), &expected, &what);
                assert_same(&OPEN.get(Conv2d::DEF, &attrs, &[&x, &w]), &expected, &what);
            };
            check(&[1, 1], Padding::Valid, [0; 4]);
            check(&[2, 3], Padding::Valid, [0; 4]);
            check(&[1, 1], Padding::Same, [1, 1, 0, 1]);
            check(&[2, 2], Padding::Same, [1, 1, 0, 0]);
            check(&[1, 2], Padding::Custom(&[0, 2, 3, 1]), [0, 2, 3, 1]);
        }, else {});
    }
}

#[test]
fn same_padding_keeps_ceil_of_extent_over_stride() {
    let w = sample::<f32>(&[4, 1, 1, 1], 1);
    for (extent, stride, expected) in [(7, 1, 7), (7, 2, 4), (7, 3, 3), (1, 5, 1), (8, 8, 1)] {
        let x = sample::<f32>(&[1, extent, 1, 1], 1);
        let found = RUN.get(
            Conv2d::DEF,
            &Conv2d::attrs(&[stride, 1], Padding::Same),
            &[&x, &w],
        );
        assert_eq!(
            found.shape(),
            [1, expected, 1, 1],
            "extent {extent}, stride {stride}"
        );
    }
}

#[test]
fn a_padded_tap_is_a_multiply_add_with_zero() {
    let (x, w) = (
        of(&[1, 1, 1, 1], &[1.0f32]),
        of(&[1, 2, 1, 1], &[1.0f32, f32::INFINITY]),
    );
    let attrs = Conv2d::attrs(&[1, 1], Padding::Custom(&[0, 0, 0, 1]));
    let found = RUN.get(Conv2d::DEF, &attrs, &[&x, &w]);
    assert_same(&found, &of(&[1, 1, 1, 1], &[f32::NAN]), "+0 * inf");
    let (x, w) = (of(&[1, 1, 1, 1], &[-0.0f32]), of(&[1, 1, 1, 1], &[1.0f32]));
    let found = RUN.get(
        Conv2d::DEF,
        &Conv2d::attrs(&[1, 1], Padding::Valid),
        &[&x, &w],
    );
    assert_same(
        &found,
        &of(&[1, 1, 1, 1], &[0.0f32]),
        "chains start from +0",
    );
}

#[test]
fn zero_extents() {
    let run = |x: &[usize], w: &[usize], padding| {
        let (x, w) = (sample::<f32>(x, 1), sample::<f32>(w, 1));
        RUN.get(Conv2d::DEF, &Conv2d::attrs(&[1, 1], padding), &[&x, &w])
    };
    let zeros = |shape: &[usize]| of(shape, &vec![0.0f32; shape.iter().product()]);
    let valid = Padding::Valid;
    assert_same(
        &run(&[0, 3, 3, 2], &[2, 2, 2, 4], valid),
        &zeros(&[0, 2, 2, 4]),
        "no image",
    );
    assert_same(
        &run(&[1, 3, 3, 0], &[2, 2, 0, 4], valid),
        &zeros(&[1, 2, 2, 4]),
        "no channel",
    );
    assert_same(
        &run(&[1, 3, 3, 2], &[2, 2, 2, 0], valid),
        &zeros(&[1, 2, 2, 0]),
        "no filter",
    );
    assert_same(
        &run(&[1, 3, 3, 2], &[0, 2, 2, 4], valid),
        &zeros(&[1, 4, 2, 4]),
        "no tap",
    );
    let around = Padding::Custom(&[1, 1, 1, 1]);
    assert_same(
        &run(&[1, 0, 1, 2], &[2, 2, 2, 1], around),
        &zeros(&[1, 1, 2, 1]),
        "only padding",
    );
}

#[test]
fn pads_and_strides_of_any_size() {
    let (x, w) = (of(&[1, 1, 1, 1], &[3i32]), of(&[1, 1, 1, 1], &[2i32]));
    let huge = i64::MAX;
    let (pads, strides) = ([huge, 0, 0, 0], [huge, 1]);
    let attrs = Conv2d::attrs(&strides, Padding::Custom(&pads));
    let found = RUN.get(Conv2d::DEF, &attrs, &[&x, &w]);
    assert_same(
        &found,
        &of(&[1, 2, 1, 1], &[0i32, 6]),
        "one position in the padding, one at 0",
    );
    let pads = [huge, huge, 0, 0];
    let attrs = Conv2d::attrs(&[1, 1], Padding::Custom(&pads));
    assert!(
        OPEN.mismatch(Conv2d::DEF, &attrs, &[&x, &w])
            .contains("positions")
    );
}

#[test]
fn integer_overflow_is_refused_when_folded() {
    let (x, w) = (
        of(&[1, 1, 2, 1], &[100i8, 100]),
        of(&[1, 2, 1, 1], &[1i8, 1]),
    );
    let attrs = Conv2d::attrs(&[1, 1], Padding::Valid);
    assert_same(
        &RUN.get(Conv2d::DEF, &attrs, &[&x, &w]),
        &of(&[1, 1, 1, 1], &[-56i8]),
        "wraps",
    );
    assert_eq!(
        FOLD.eval(Conv2d::DEF, &attrs, &[&x, &w]).unwrap_err(),
        EvalError::Overflow
    );
}

#[test]
fn extents_that_only_running_could_tell() {
    let attrs = Conv2d::attrs(&[1, 1], Padding::Valid);
    let (x, w) = (
        sample::<f32>(&[1, 3, 3, 2], 1),
        sample::<f32>(&[2, 2, 3, 1], 1),
    );
    let text = OPEN.mismatch(Conv2d::DEF, &attrs, &[&x, &w]);
    assert!(
        text.contains("input has 2 channels, filter has 3"),
        "{text}"
    );
    let (x, w) = (
        sample::<f32>(&[1, 3, 3, 2], 1),
        sample::<f32>(&[5, 2, 2, 1], 1),
    );
    let text = OPEN.mismatch(Conv2d::DEF, &attrs, &[&x, &w]);
    assert!(
        text.contains("a window of 5 has -1 positions along an extent of 3"),
        "{text}"
    );
}
