//! Slices with data-dependent starts.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

use crate::elements::{assert_same, marked, of};
use crate::run::{OPEN, RUN};

#[test]
fn starts_are_clamped_checked_or_counted_from_the_end() {
    let x = of(&[5], &[0i32, 1, 2, 3, 4]);
    let run = |start: i64, bounds| {
        let attrs = DynamicSlice::attrs(&[2], bounds);
        RUN.eval(DynamicSlice::DEF, &attrs, &[&x, &Tensor::scalar(start)])
    };
    for (start, first) in [
        (0, 0),
        (2, 2),
        (3, 3),
        (4, 3),
        (i64::MAX, 3),
        (-1, 0),
        (i64::MIN, 0),
    ] {
        let found = run(start, Bounds::Clamp).expect("a window");
        assert_same(&found, &of(&[2], &[first, first + 1]), &format!("{start}"));
    }
    for bounds in [Bounds::Strict, Bounds::FromEnd] {
        let found = run(3, bounds).expect("a window");
        assert_same(&found, &of(&[2], &[3i32, 4]), bounds.name());
        for start in [4, -6, i64::MAX, i64::MIN] {
            let found = run(start, bounds);
            assert!(
                matches!(found, Err(EvalError::IndexOutOfBounds { .. })),
                "{start}: {found:?}"
            );
        }
    }
    assert!(run(-2, Bounds::Strict).is_err());
    let found = run(-2, Bounds::FromEnd).expect("a window");
    assert_same(&found, &of(&[2], &[3i32, 4]), "from the end");
}

#[test]
fn windows_of_every_dtype() {
    let starts = [Tensor::scalar(1i32), Tensor::scalar(2i64)];
    for &dtype in DType::ALL {
        let x = marked(dtype, &[3, 4]);
        let attrs = DynamicSlice::attrs(&[2, 2], Bounds::Clamp);
        let window = RUN.get(DynamicSlice::DEF, &attrs, &[&x, &starts[0], &starts[1]]);
        let (bytes, size) = (x.buffer().to_bytes(), dtype.size());
        let expected = [6, 7, 10, 11].map(|at| bytes[at * size..][..size].to_vec());
        assert_eq!(window.buffer().to_bytes(), expected.concat(), "{dtype}");
        let attrs = DynamicUpdateSlice::attrs(Bounds::Clamp);
        let operands = [&x, &window, &starts[0], &starts[1]];
        let back = RUN.get(DynamicUpdateSlice::DEF, &attrs, &operands);
        assert_same(&back, &x, "the same window written");
    }
}

#[test]
fn updates_replace_their_window() {
    let (x, update) = (of(&[2, 3], &[1i8, 2, 3, 4, 5, 6]), of(&[1, 2], &[8i8, 9]));
    let attrs = DynamicUpdateSlice::attrs(Bounds::Clamp);
    let starts = [Tensor::scalar(7i32), Tensor::scalar(-1i32)];
    let found = RUN.get(
        DynamicUpdateSlice::DEF,
        &attrs,
        &[&x, &update, &starts[0], &starts[1]],
    );
    assert_same(&found, &of(&[2, 3], &[1i8, 2, 3, 8, 9, 6]), "clamped");
    let none = of::<i8>(&[0, 2], &[]);
    let found = RUN.get(
        DynamicUpdateSlice::DEF,
        &attrs,
        &[&x, &none, &starts[0], &starts[1]],
    );
    assert_same(&found, &x, "nothing to write");
}

#[test]
fn windows_of_a_run_are_checked() {
    let (x, start) = (marked(DType::F32, &[2]), Tensor::scalar(0i32));
    let attrs = DynamicSlice::attrs(&[3], Bounds::Clamp);
    let text = OPEN.mismatch(DynamicSlice::DEF, &attrs, &[&x, &start]);
    assert!(
        text.contains("a window of 3 is larger than dimension 0 of 2"),
        "{text}"
    );
    let attrs = DynamicUpdateSlice::attrs(Bounds::Clamp);
    let update = marked(DType::F32, &[3]);
    let text = OPEN.mismatch(DynamicUpdateSlice::DEF, &attrs, &[&x, &update, &start]);
    assert!(
        text.contains("a window of 3 is larger than dimension 0 of 2"),
        "{text}"
    );
}
