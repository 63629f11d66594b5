//! Gathers and scatters.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::data::{NonMaxSuppression, NonZero, Unique};
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_core::ops::sort::{Sort, TopK};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

use crate::elements::{assert_same, indices, marked, of, ravel};
use crate::run::{FOLD, OPEN, RUN};

#[test]
fn bounds_say_what_an_index_may_be() {
    use Bounds::{Clamp, FromEnd, Skip, Strict};
    let place = |bounds: Bounds, index| bounds.position(index, 2, 3).ok();
    for (bounds, expected) in [
        (
            Strict,
            [None, None, None, Some(Some(0)), Some(Some(2)), None],
        ),
        (
            FromEnd,
            [
                None,
                Some(Some(0)),
                Some(Some(2)),
                Some(Some(0)),
                Some(Some(2)),
                None,
            ],
        ),
        (
            Clamp,
            [
                Some(Some(0)),
                Some(Some(0)),
                Some(Some(0)),
                Some(Some(0)),
                Some(Some(2)),
                Some(Some(2)),
            ],
        ),
        (
            Skip,
            [
                Some(None),
                Some(None),
                Some(None),
                Some(Some(0)),
                Some(Some(2)),
                Some(None),
            ],
        ),
    ] {
        let found = [-4, -3, -1, 0, 2, 3].map(|index| place(bounds, index));
        assert_eq!(found, expected, "{bounds:?}");
        for extreme in [i64::MIN, i64::MAX] {
            assert_eq!(
                place(bounds, extreme).is_some(),
                matches!(bounds, Clamp | Skip)
            );
        }
    }
    assert!(Clamp.position(0, 0, 0).is_err());
}

#[test]
fn gather_elements_replaces_one_index() {
    let list = [2i64, 0, 1, 1, 0, 2, 2, 2];
    for &dtype in DType::ALL {
        let x = marked(dtype, &[3, 4]);
        let places = of(&[4, 2], &list);
        let found = RUN.get(
            GatherElements::DEF,
            &GatherElements::attrs(0, Bounds::Strict),
            &[&x, &places],
        );
        let bytes = x.buffer().to_bytes();
        let picked = indices(&[4, 2]).zip(list).flat_map(|(index, place)| {
            let at = ravel(&[place as usize, index[1]], &[3, 4]) * dtype.size();
            bytes[at..at + dtype.size()].to_vec()
        });
        let picked: Vec<u8> = picked.collect();
        assert_eq!(found.buffer().to_bytes(), picked, "{dtype}");
        assert_eq!(found.shape(), [4, 2]);
    }
}

#[test]
fn gathers_skip_and_find_what_is_out_of_bounds() {
    let x = of(&[3], &[10i32, 20, 30]);
    let run = |bounds, index: i32| {
        let list = of(&[1], &[index]);
        let elements = RUN.eval(
            GatherElements::DEF,
            &GatherElements::attrs(0, bounds),
            &[&x, &list],
        );
        let list = of(&[1, 1], &[index]);
        let nd = RUN.eval(GatherNd::DEF, &GatherNd::attrs(0, bounds), &[&x, &list]);
        [elements, nd].map(|found| found.map(|found| found.elements::<i32>()[0]))
    };
    let out = |index| {
        Err(EvalError::IndexOutOfBounds {
            index,
            axis: 0,
            extent: 3,
        })
    };
    assert_eq!(run(Bounds::Strict, -1), [out(-1), out(-1)]);
    assert_eq!(run(Bounds::FromEnd, -1), [Ok(30), Ok(30)]);
    assert_eq!(run(Bounds::FromEnd, 3), [out(3), out(3)]);
    assert_eq!(run(Bounds::Clamp, i32::MIN), [Ok(10), Ok(10)]);
    assert_eq!(run(Bounds::Skip, 3), [Ok(0), Ok(0)]);
}

#[test]
fn gather_nd_reads_slices_at_tuples() {
    let x = of(&[2, 2, 2], &[0i32, 1, 2, 3, 4, 5, 6, 7]);
    let run = |list: Tensor, batch| {
        RUN.get(
            GatherNd::DEF,
            &GatherNd::attrs(batch, Bounds::Strict),
            &[&x, &list],
        )
    };
    let rows = run(of(&[2, 2], &[0i64, 1, 1, 0]), 0);
    assert_same(&rows, &of(&[2, 2], &[2i32, 3, 4, 5]), "rows");
    let planes = run(of(&[1, 1], &[1i64]), 0);
    assert_same(&planes, &of(&[1, 2, 2], &[4i32, 5, 6, 7]), "planes");
    let batches = run(of(&[2, 1], &[1i64, 0]), 1);
    assert_same(&batches, &of(&[2, 2], &[2i32, 3, 4, 5]), "batches");
    let whole = run(of::<i64>(&[2, 0], &[]), 0);
    assert_eq!(whole.shape(), [2, 2, 2, 2]);
    let none = run(of::<i64>(&[0, 2], &[]), 0);
    assert_eq!(none.shape(), [0, 2]);
    let list = of(&[3, 1], &[0i64, 0, 0]);
    let text = OPEN.mismatch(
        GatherElements::DEF,
        &GatherElements::attrs(1, Bounds::Strict),
        &[&of(&[1, 1], &[0i32]), &list],
    );
    assert!(text.contains("are larger than"), "{text}");
}

#[test]
fn scatters_apply_updates_in_order() {
    let x = of(&[3], &[1.0f32, 2.0, 3.0]);
    let (list, updates) = (
        of(&[4], &[0i64, 0, 2, 0]),
        of(&[4], &[10.0f32, 20.0, 30.0, 0.5]),
    );
    let run = |kind| {
        let elements = RUN.get(
            ScatterElements::DEF,
            &ScatterElements::attrs(0, kind, Bounds::Strict),
            &[&x, &list, &updates],
        );
        let tuples = list.clone().with_shape(vec![4, 1]);
        let nd = RUN.get(
            ScatterNd::DEF,
            &ScatterNd::attrs(kind, Bounds::Strict),
            &[&x, &tuples, &updates],
        );
        assert_same(&nd, &elements, "tuples of one index");
        elements
    };
    assert_same(
        &run(Update::Replace),
        &of(&[3], &[0.5f32, 2.0, 30.0]),
        "none",
    );
    assert_same(&run(Update::Add), &of(&[3], &[31.5f32, 2.0, 33.0]), "add");
    assert_same(&run(Update::Mul), &of(&[3], &[100.0f32, 2.0, 90.0]), "mul");
    assert_same(&run(Update::Min), &of(&[3], &[0.5f32, 2.0, 3.0]), "min");
    assert_same(&run(Update::Max), &of(&[3], &[20.0f32, 2.0, 30.0]), "max");
}

#[test]
fn scatters_along_other_axes_and_of_slices() {
    let x = of(&[2, 3], &[0i8; 6]);
    let (list, updates) = (of(&[2, 1], &[2i32, -1]), of(&[2, 1], &[5i8, 6]));
    let attrs = ScatterElements::attrs(1, Update::Replace, Bounds::FromEnd);
    let found = RUN.get(ScatterElements::DEF, &attrs, &[&x, &list, &updates]);
    assert_same(&found, &of(&[2, 3], &[0i8, 0, 5, 0, 0, 6]), "along columns");
    let (list, updates) = (of(&[2, 1], &[1i32, 7]), of(&[2, 3], &[1i8, 2, 3, 4, 5, 6]));
    let attrs = ScatterNd::attrs(Update::Add, Bounds::Skip);
    let found = RUN.get(ScatterNd::DEF, &attrs, &[&x, &list, &updates]);
    assert_same(
        &found,
        &of(&[2, 3], &[0i8, 0, 0, 1, 2, 3]),
        "a skipped slice",
    );
    let truths = of(&[2], &[true, false]);
    let attrs = ScatterElements::attrs(0, Update::Replace, Bounds::Strict);
    let (list, updates) = (of(&[1], &[1i64]), of(&[1], &[true]));
    let found = RUN.get(ScatterElements::DEF, &attrs, &[&truths, &list, &updates]);
    assert_same(&found, &of(&[2], &[true, true]), "truth values");
}

#[test]
fn scatters_find_what_is_out_of_bounds_and_overflow_when_folded() {
    let (x, list, updates) = (of(&[1], &[100i8]), of(&[1], &[1i64]), of(&[1], &[100i8]));
    let attrs = ScatterElements::attrs(0, Update::Add, Bounds::Strict);
    let found = RUN.eval(ScatterElements::DEF, &attrs, &[&x, &list, &updates]);
    assert!(
        matches!(found, Err(EvalError::IndexOutOfBounds { .. })),
        "{found:?}"
    );
    let tuples = list.with_shape(vec![1, 1]);
    let nd = ScatterNd::attrs(Update::Add, Bounds::Strict);
    let found = RUN.eval(ScatterNd::DEF, &nd, &[&x, &tuples, &updates]);
    assert!(
        matches!(found, Err(EvalError::IndexOutOfBounds { .. })),
        "{found:?}"
    );
    let list = of(&[1], &[0i64]);
    let wrapped = RUN.get(ScatterElements::DEF, &attrs, &[&x, &list, &updates]);
    assert_same(&wrapped, &of(&[1], &[-56i8]), "it wraps");
    let found = FOLD.eval(ScatterElements::DEF, &attrs, &[&x, &list, &updates]);
    assert!(matches!(found, Err(EvalError::Overflow)), "{found:?}");
}

#[test]
fn sorting_is_stable_in_both_directions() {
    let x = of(
        &[7],
        &[2.0f32, f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NAN, -1.0],
    );
    let run = |descending| {
        let sorted = RUN.eval_all(Sort::DEF, &Sort::attrs(0, descending), &[&x]);
        sorted.unwrap()[1].elements::<i64>().to_vec()
    };
    assert_eq!(run(false), [6, 2, 3, 0, 4, 1, 5]);
    assert_eq!(run(true), [1, 5, 4, 0, 2, 3, 6]);
}

#[test]
fn values_and_places_of_every_dtype_along_every_axis() {
    for &dtype in DType::ALL {
        let x = marked(dtype, &[3, 4, 2]);
        for axis in 0..3 {
            let sorted = RUN
                .eval_all(Sort::DEF, &Sort::attrs(axis, true), &[&x])
                .unwrap();
            let attrs = GatherElements::attrs(axis, Bounds::Strict);
            let gathered = RUN.get(GatherElements::DEF, &attrs, &[&x, &sorted[1]]);
            assert_same(&gathered, &sorted[0], dtype.name());
            for k in 0..=2 {
                let top = RUN
                    .eval_all(TopK::DEF, &TopK::attrs(k, axis, true), &[&x])
                    .unwrap();
                let rows = of(&[k as usize], &(0..k).collect::<Vec<i64>>());
                let attrs = mind_core::ops::index::Gather::attrs(axis, Bounds::Strict);
                for (top, sorted) in top.iter().zip(&sorted) {
                    let first =
                        RUN.get(mind_core::ops::index::Gather::DEF, &attrs, &[sorted, &rows]);
                    assert_same(top, &first, dtype.name());
                }
            }
        }
    }
}

#[test]
fn top_k_takes_the_first_of_equals_and_wants_enough() {
    let x = of(&[5], &[1i32, 3, 1, 3, 1]);
    let top = |k, largest| OPEN.eval_all(TopK::DEF, &TopK::attrs(k, 0, largest), &[&x]);
    assert_eq!(top(3, true).unwrap()[1].elements::<i64>(), [1, 3, 0]);
    assert_eq!(top(2, false).unwrap()[1].elements::<i64>(), [0, 2]);
    assert!(matches!(top(6, true), Err(EvalError::Shape(_))));
}

#[test]
fn nonzero_lists_indices_in_row_major_order() {
    let x = of(&[2, 3], &[0.0f32, f32::NAN, -0.0, 1.0, 0.0, -2.0]);
    let found = OPEN.get(NonZero::DEF, &[], &[&x]);
    assert_same(&found, &of(&[2, 3], &[0i64, 1, 1, 1, 0, 2]), "columns");
    let scalar = |truth| RUN.get(NonZero::DEF, &[], &[&of(&[], &[truth])]);
    assert_eq!(scalar(true).shape(), [0, 1]);
    assert_eq!(scalar(false).shape(), [0, 0]);
    let empty = RUN.get(NonZero::DEF, &[], &[&of::<i8>(&[3, 0], &[])]);
    assert_eq!(empty.shape(), [2, 0]);
}

#[test]
fn unique_elements_in_either_order() {
    let x = of(&[2, 3], &[2.0f32, f32::NAN, -0.0, 0.0, f32::NAN, 2.0]);
    let run = |sorted| {
        OPEN.eval_all(Unique::DEF, &Unique::attrs(true, 0, sorted), &[&x])
            .unwrap()
    };
    let lists = |found: &[Tensor]| -> Vec<Vec<i64>> {
        found[1..]
            .iter()
            .map(|list| list.elements::<i64>().to_vec())
            .collect()
    };
    let sorted = run(true);
    assert_same(&sorted[0], &of(&[3], &[-0.0f32, 2.0, f32::NAN]), "values");
    assert_eq!(
        lists(&sorted),
        [vec![2, 0, 1], vec![1, 2, 0, 0, 2, 1], vec![2, 2, 2]]
    );
    let found = run(false);
    assert_same(&found[0], &of(&[3], &[2.0f32, f32::NAN, -0.0]), "values");
    assert_eq!(
        lists(&found),
        [vec![0, 1, 2], vec![0, 1, 2, 2, 1, 0], vec![2, 2, 2]]
    );
}

#[test]
fn unique_slices_compare_element_by_element() {
    let x = of(&[2, 3, 1], &[1i32, 0, 1, 5, 7, 5]);
    let found = RUN
        .eval_all(Unique::DEF, &Unique::attrs(false, 1, true), &[&x])
        .unwrap();
    assert_same(&found[0], &of(&[2, 2, 1], &[0i32, 1, 7, 5]), "values");
    assert_same(&found[2], &of(&[3], &[1i64, 0, 1]), "inverse");
    let empty = of::<i32>(&[0, 3], &[]);
    let found = RUN
        .eval_all(Unique::DEF, &Unique::attrs(false, 1, true), &[&empty])
        .unwrap();
    assert_eq!(found[0].shape(), [0, 1]);
    let found = RUN
        .eval_all(Unique::DEF, &Unique::attrs(false, 0, true), &[&empty])
        .unwrap();
    assert_eq!(found[0].shape(), [0, 3]);
}

#[test]
fn suppression_keeps_the_best_of_boxes_that_overlap() {
    // The second box overlaps the first with an IoU of 0.9 / 1.1; the corners of the third are swapped.
    let corners = [
        0.0f32, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 1.0, 11.0, 0.0, 10.0, 3.0, 3.0, 3.0, 3.0,
    ];
    let boxes = of(&[1, 4, 4], &corners);
    let scores = of(
        &[1, 2, 4],
        &[0.9f32, 0.75, 0.6, f32::NAN, 0.1, 0.2, 0.2, 0.2],
    );
    let run = |max: i32, iou: f32, least: f32| {
        let scalars = [of(&[], &[iou]), of(&[], &[least])];
        let max = of(&[], &[max]);
        let operands = [&boxes, &scores, &max, &scalars[0], &scalars[1]];
        let found = OPEN.get(
            NonMaxSuppression::DEF,
            &NonMaxSuppression::attrs(false),
            &operands,
        );
        let triples = found
            .elements::<i64>()
            .chunks(3)
            .map(|triple| (triple[1], triple[2]));
        triples.collect::<Vec<_>>()
    };
    assert_eq!(run(9, 0.5, 0.0), [(0, 0), (0, 2), (1, 1), (1, 2), (1, 3)]);
    assert_eq!(run(1, 0.5, 0.0), [(0, 0), (1, 1)]);
    assert_eq!(run(9, 0.9, 0.5), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(run(-1, 0.5, 0.0), []);
    let mismatch = OPEN.mismatch(
        NonMaxSuppression::DEF,
        &NonMaxSuppression::attrs(true),
        &[
            &boxes,
            &of(&[1, 1, 3], &[0.0f32; 3]),
            &of(&[], &[1i64]),
            &of(&[], &[0.0f32]),
            &of(&[], &[0.0f32]),
        ],
    );
    assert!(mismatch.contains("do not fit"), "{mismatch}");
}

#[test]
fn boxes_may_be_given_by_their_centres() {
    let boxes = of(&[1, 2, 4], &[0.5f32, 0.5, 1.0, 1.0, 0.5, 0.6, 1.0, 1.0]);
    let scores = of(&[1, 1, 2], &[0.5f32, 0.6]);
    let (max, iou, least) = (of(&[], &[2i64]), of(&[], &[0.5f32]), of(&[], &[0.0f32]));
    let operands = [&boxes, &scores, &max, &iou, &least];
    let found = RUN.get(
        NonMaxSuppression::DEF,
        &NonMaxSuppression::attrs(true),
        &operands,
    );
    assert_same(&found, &of(&[1, 3], &[0i64, 0, 1]), "the better one");
}
