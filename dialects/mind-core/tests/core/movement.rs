//! Ops that copy elements unchanged: all dtypes, compared by bytes.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::index::{Gather, Index, Slice};
use mind_core::ops::join::{Concat, Split};
use mind_core::ops::shape::{ExpandDims, Reshape, Reverse, Squeeze, Transpose};
use mind_ir::attr::{Attr, OPEN_END};
use mind_ir::eval::EvalError;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim};

use crate::elements::{assert_same, indices, marked, of, ravel};
use crate::module::b;
use crate::run::{OPEN, RUN, Setup};

/// Returns the tensor whose element at each index of `shape` is that of `x` at `from(index)`.
fn moved(x: &Tensor, shape: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Tensor {
    let (bytes, size) = (x.buffer().to_bytes(), x.dtype().size());
    let elements = indices(shape).flat_map(|index| {
        let position = ravel(&from(&index), x.shape());
        bytes[position * size..][..size].to_vec()
    });
    let elements: Vec<u8> = elements.collect();
    Tensor::new(shape.to_vec(), Buffer::from_bytes(x.dtype(), &elements))
}

fn check(
    def: &'static OpDef,
    attrs: &[Attr<'_>],
    shape: &[usize],
    expected: impl Fn(&Tensor) -> Tensor,
) {
    for &dtype in DType::ALL {
        let x = marked(dtype, shape);
        let what = format!("{} of {dtype} {shape:?} {attrs:?}", def.name);
        assert_same(&RUN.get(def, attrs, &[&x]), &expected(&x), &what);
    }
}

#[test]
fn transpose() {
    let run = |shape: &[usize], permutation: &[i64]| {
        let written = match permutation {
            [] => (0..shape.len()).rev().collect(),
            list => list.iter().map(|&axis| axis as usize).collect::<Vec<_>>(),
        };
        let result: Vec<usize> = written.iter().map(|&axis| shape[axis]).collect();
        let from = |index: &[usize]| {
            let axis_of = |axis| {
                written
                    .iter()
                    .position(|&named| named == axis)
                    .expect("named")
            };
            (0..index.len()).map(|axis| index[axis_of(axis)]).collect()
        };
        check(Transpose::DEF, &Transpose::attrs(permutation), shape, |x| {
            moved(x, &result, from)
        });
    };
    run(&[2, 3, 4], &[2, 0, 1]);
    run(&[2, 3, 4], &[0, 1, 2]);
    run(&[2, 3, 4], &[]);
    run(&[3, 1, 2, 5], &[3, 1, 0, 2]);
    run(&[4], &[0]);
    run(&[], &[]);
    run(&[3, 0, 2], &[2, 0, 1]);
    let published = RUN.get(
        Transpose::DEF,
        &Transpose::attrs(&[2, 0, 1]),
        &[&marked(DType::F32, &[2, 3, 4])],
    );
    assert_eq!(published.shape(), [4, 2, 3]);
}

#[test]
fn reshape_keeps_the_order() {
    let fixed = |dims: &[i64]| -> Vec<Dim> { dims.iter().map(|&dim| Dim::Fixed(dim)).collect() };
    let run = |shape: &[usize], target: &[i64], result: &[usize]| {
        let target = fixed(target);
        check(Reshape::DEF, &Reshape::attrs(&target), shape, |x| {
            x.clone().with_shape(result.to_vec())
        });
    };
    run(&[2, 3], &[3, 2], &[3, 2]);
    run(&[2, 3], &[2, -1], &[2, 3]);
    run(&[2, 3], &[-1], &[6]);
    run(&[1, 1], &[], &[]);
    run(&[], &[1, 1], &[1, 1]);
    run(&[0, 4], &[4, -1], &[4, 0]);
}

#[test]
fn reshape_solves_symbols_and_checks_counts_when_run() {
    let setup = Setup { b: 3, ..OPEN };
    let x = marked(DType::F32, &[6]);
    let to = |dims: &[Dim]| {
        setup
            .get(Reshape::DEF, &Reshape::attrs(dims), &[&x])
            .shape()
            .to_vec()
    };
    assert_eq!(to(&[b(), Dim::Fixed(2)]), [3, 2]);
    assert_eq!(to(&[b(), Dim::Fixed(-1)]), [3, 2]);
    assert_eq!(to(&[Dim::Fixed(2), Dim::Dynamic]), [2, 3]);
    let text = setup.mismatch(Reshape::DEF, &Reshape::attrs(&[b(), Dim::Fixed(4)]), &[&x]);
    assert!(
        text.contains("[6] has 6") && text.contains("[B, 4]") && text.contains("[3, 4]"),
        "{text}"
    );
    let text = setup.mismatch(
        Reshape::DEF,
        &Reshape::attrs(&[Dim::Fixed(4), Dim::Fixed(-1)]),
        &[&x],
    );
    assert!(text.contains("[4, -1]"), "{text}");
    let none = Setup { b: 0, ..OPEN };
    let target = [b(), Dim::Fixed(-1)];
    let text = none.mismatch(
        Reshape::DEF,
        &Reshape::attrs(&target),
        &[&marked(DType::F32, &[0])],
    );
    assert!(
        text.contains("cannot hold"),
        "any extent completes 0 elements: {text}"
    );
}

#[test]
fn expand_dims_and_squeeze() {
    let expand = |shape: &[usize], axes: &[i64], result: &[usize]| {
        check(ExpandDims::DEF, &ExpandDims::attrs(axes), shape, |x| {
            x.clone().with_shape(result.to_vec())
        });
        check(Squeeze::DEF, &Squeeze::attrs(axes), result, |x| {
            x.clone().with_shape(shape.to_vec())
        });
    };
    expand(&[3, 4], &[0, 2], &[1, 3, 1, 4]);
    expand(&[3, 4], &[2, 0], &[1, 3, 1, 4]);
    expand(&[3, 4], &[2, 3], &[3, 4, 1, 1]);
    expand(&[], &[0, 1], &[1, 1]);
    expand(&[0], &[0], &[1, 0]);
    expand(&[2], &[], &[2]);
}

#[test]
fn slice() {
    let run = |shape: &[usize], starts: &[i64], ends: &[i64], steps: &[i64], result: &[usize]| {
        let from = |index: &[usize]| {
            (0..index.len())
                .map(|a| starts[a] as usize + index[a] * steps[a] as usize)
                .collect()
        };
        let attrs = Slice::attrs(starts, ends, steps);
        check(Slice::DEF, &attrs, shape, |x| moved(x, result, from));
        let x = marked(DType::U16, shape);
        assert_same(
            &OPEN.get(Slice::DEF, &attrs, &[&x]),
            &moved(&x, result, from),
            "open extents",
        );
    };
    run(&[5, 6], &[1, 0], &[4, 6], &[1, 1], &[3, 6]);
    run(&[5, 6], &[0, 1], &[5, 6], &[2, 3], &[3, 2]);
    run(&[5, 6], &[2, 2], &[OPEN_END, 5], &[2, 2], &[2, 2]);
    run(
        &[5, 6],
        &[4, 5],
        &[OPEN_END, OPEN_END],
        &[i64::MAX, i64::MAX],
        &[1, 1],
    );
    run(&[5], &[3], &[3], &[1], &[0]);
    run(&[5], &[i64::MAX - 1], &[OPEN_END], &[1], &[0]);
    run(&[0, 3], &[0, 1], &[OPEN_END, 3], &[1, 1], &[0, 2]);
    run(&[], &[], &[], &[], &[]);
    let text = OPEN.mismatch(
        Slice::DEF,
        &Slice::attrs(&[1], &[7], &[1]),
        &[&marked(DType::I8, &[5])],
    );
    assert!(
        text.contains("1:7 do not fit dimension 0 of extent 5"),
        "{text}"
    );
}

#[test]
fn index() {
    check(Index::DEF, &Index::attrs(&[1, 2]), &[2, 3], |x| {
        moved(x, &[], |_| vec![1, 2])
    });
    check(Index::DEF, &Index::attrs(&[]), &[], Tensor::clone);
    let outside = |indices: &[i64], shape: &[usize]| {
        let x = marked(DType::F32, shape);
        RUN.eval(Index::DEF, &Index::attrs(indices), &[&x])
            .unwrap_err()
    };
    let error = |index, axis, extent| EvalError::IndexOutOfBounds {
        index,
        axis,
        extent,
    };
    assert_eq!(outside(&[0, 3], &[2, 3]), error(3, 1, 3));
    assert_eq!(outside(&[-1, 0], &[2, 3]), error(-1, 0, 2));
    assert_eq!(outside(&[i64::MIN], &[2]), error(i64::MIN, 0, 2));
    assert_eq!(outside(&[1, 1, 0], &[1 << 40, 1 << 40, 0]), error(0, 2, 0));
}

#[test]
fn gather() {
    let run = |shape: &[usize], places: &Tensor, list: &[usize], axis: i64, result: &[usize]| {
        let position = axis.rem_euclid(shape.len() as i64) as usize;
        let from = |index: &[usize]| {
            let (before, rest) = index.split_at(position);
            let (at, after) = rest.split_at(places.rank());
            [before, &[list[ravel(at, places.shape())]], after].concat()
        };
        for &dtype in DType::ALL {
            let x = marked(dtype, shape);
            let found = RUN.get(
                Gather::DEF,
                &Gather::attrs(axis, Bounds::Strict),
                &[&x, places],
            );
            assert_same(
                &found,
                &moved(&x, result, from),
                &format!("{dtype} {shape:?} {axis}"),
            );
        }
    };
    run(
        &[5, 3],
        &of(&[2, 2], &[4i32, 0, 0, 2]),
        &[4, 0, 0, 2],
        0,
        &[2, 2, 3],
    );
    run(
        &[5, 3],
        &of(&[4], &[2i64, 1, 0, 2]),
        &[2, 1, 0, 2],
        1,
        &[5, 4],
    );
    run(&[2, 3, 4], &of(&[2], &[2i64, 0]), &[2, 0], -2, &[2, 2, 4]);
    run(&[5, 3], &of(&[], &[3i32]), &[3], 0, &[3]);
    run(&[5], &of(&[0, 2], &[] as &[i64]), &[], 0, &[0, 2]);
    run(&[0, 3], &of(&[2], &[1i64, 2]), &[1, 2], 1, &[0, 2]);
    let outside = |index: i64, shape: &[usize]| {
        let x = marked(DType::F32, shape);
        RUN.eval(
            Gather::DEF,
            &Gather::attrs(0, Bounds::Strict),
            &[&x, &of(&[1], &[index])],
        )
        .unwrap_err()
    };
    let error = |index, extent| EvalError::IndexOutOfBounds {
        index,
        axis: 0,
        extent,
    };
    assert_eq!(outside(-1, &[5]), error(-1, 5));
    assert_eq!(outside(5, &[5]), error(5, 5));
    assert_eq!(outside(0, &[0]), error(0, 0));
    assert_eq!(
        outside(9, &[5, 0]),
        error(9, 5),
        "also where the result would be empty"
    );
}

#[test]
fn gather_within_bounds_of_every_kind() {
    let x = of(&[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    let run = |bounds, axis, list: &[i64]| {
        let list = of(&[list.len()], list);
        RUN.eval(Gather::DEF, &Gather::attrs(axis, bounds), &[&x, &list])
    };
    let out = |index, axis, extent| EvalError::IndexOutOfBounds {
        index,
        axis,
        extent,
    };
    assert_eq!(run(Bounds::Strict, 1, &[-1]).unwrap_err(), out(-1, 1, 3));
    let found = run(Bounds::FromEnd, 1, &[-1, 0, -3]).expect("in bounds");
    assert_same(&found, &of(&[2, 3], &[3i32, 1, 1, 6, 4, 4]), "from_end");
    assert_eq!(run(Bounds::FromEnd, 1, &[-4]).unwrap_err(), out(-4, 1, 3));
    assert_eq!(run(Bounds::FromEnd, 0, &[2]).unwrap_err(), out(2, 0, 2));
    let found = run(Bounds::Clamp, 0, &[i64::MIN, 1, i64::MAX]).expect("any index");
    assert_same(
        &found,
        &of(&[3, 3], &[1i32, 2, 3, 4, 5, 6, 4, 5, 6]),
        "clamp",
    );
    let found = run(Bounds::Skip, 1, &[3, 1, -1]).expect("any index");
    assert_same(&found, &of(&[2, 3], &[0i32, 2, 0, 0, 5, 0]), "skip");
    let none = of::<bool>(&[0, 2], &[]);
    let list = of(&[1], &[0i32]);
    let skip = RUN.get(
        Gather::DEF,
        &Gather::attrs(0, Bounds::Skip),
        &[&none, &list],
    );
    assert_same(&skip, &of(&[1, 2], &[false; 2]), "of nothing");
    let clamp = RUN.eval(
        Gather::DEF,
        &Gather::attrs(0, Bounds::Clamp),
        &[&none, &list],
    );
    assert_eq!(clamp.unwrap_err(), out(0, 0, 0));
}

#[test]
fn concat_and_split_undo_each_other() {
    for &dtype in DType::ALL {
        for (shape, axis, count) in [
            (&[2, 6, 3][..], 1, 3),
            (&[2, 6, 3], -3, 2),
            (&[4], 0, 4),
            (&[0, 4], 1, 2),
        ] {
            let x = marked(dtype, shape);
            let position = i64::rem_euclid(axis, shape.len() as i64) as usize;
            let size = shape[position] / count as usize;
            let mut piece_shape = shape.to_vec();
            piece_shape[position] = size;
            let piece = |part: i64| {
                let found = RUN.get(Split::DEF, &Split::attrs(axis, count, part), &[&x]);
                let from = |index: &[usize]| {
                    let mut index = index.to_vec();
                    index[position] += part as usize * size;
                    index
                };
                assert_same(
                    &found,
                    &moved(&x, &piece_shape, from),
                    &format!("part {part} of {dtype}"),
                );
                found
            };
            let pieces: Vec<Tensor> = (0..count).map(piece).collect();
            let pieces: Vec<&Tensor> = pieces.iter().collect();
            assert_same(
                &RUN.get(Concat::DEF, &Concat::attrs(axis), &pieces),
                &x,
                "the whole again",
            );
        }
    }
}

#[test]
fn concat_of_unequal_pieces() {
    let (x, y, z) = (
        of(&[2, 1], &[1i32, 4]),
        of::<i32>(&[2, 0], &[]),
        of(&[2, 2], &[2i32, 3, 5, 6]),
    );
    let found = RUN.get(Concat::DEF, &Concat::attrs(1), &[&x, &y, &z]);
    assert_same(
        &found,
        &of(&[2, 3], &[1, 2, 3, 4, 5, 6]),
        "an empty piece between",
    );
    assert_same(
        &RUN.get(Concat::DEF, &Concat::attrs(0), &[&x]),
        &x,
        "one piece",
    );
}

#[test]
fn extents_that_only_running_could_tell() {
    let (x, y) = (marked(DType::F32, &[2, 3]), marked(DType::F32, &[2, 4]));
    let text = OPEN.mismatch(Concat::DEF, &Concat::attrs(0), &[&x, &y]);
    assert!(
        text.contains("dimension 1 must agree: [2, 3] and [2, 4]"),
        "{text}"
    );
    let text = OPEN.mismatch(Split::DEF, &Split::attrs(1, 2, 0), &[&x]);
    assert!(text.contains("extent 3 at dimension 1"), "{text}");
}

#[test]
fn a_squeezed_axis_is_checked_against_the_run() {
    use mind_ir::eval::{DimEnv, EvalCx};
    let mut g = crate::module::empty();
    let declared = crate::module::ty(&mut g, "f32[1, 2]");
    let x = crate::module::input(&mut g, declared);
    let op = crate::module::build(&mut g)
        .create(Squeeze::DEF, &[x], &Squeeze::attrs(&[0]))
        .expect("valid");
    let (dims, wrong) = (DimEnv::default(), marked(DType::F32, &[3, 2]));
    let result = Squeeze::DEF.eval.expect("a meaning")(op, &EvalCx::run(&g, &dims), &[&wrong]);
    let Err(EvalError::Shape(text)) = result else {
        panic!("{result:?}")
    };
    assert!(
        text.contains("axis 0 of [3, 2] cannot be squeezed"),
        "{text}"
    );
}

#[test]
fn reverse() {
    let run = |shape: &[usize], axes: &[i64]| {
        check(Reverse::DEF, &Reverse::attrs(axes), shape, |x| {
            moved(x, shape, |index| {
                let rank = shape.len() as i64;
                let named = |axis: i64| axes.contains(&axis) || axes.contains(&(axis - rank));
                let place = |(axis, &at): (usize, &usize)| match named(axis as i64) {
                    true => shape[axis] - 1 - at,
                    false => at,
                };
                index.iter().enumerate().map(place).collect()
            })
        });
    };
    run(&[2, 3, 4], &[1]);
    run(&[2, 3, 4], &[-1, 0]);
    run(&[5], &[0]);
    run(&[1, 3], &[]);
    run(&[], &[]);
    run(&[3, 0], &[0, 1]);
}

#[test]
fn broadcast_to() {
    let f = Dim::Fixed;
    let run = |shape: &[usize], target: &[Dim], result: &[usize]| {
        check(BroadcastTo::DEF, &BroadcastTo::attrs(target), shape, |x| {
            moved(x, result, |index| {
                let own = &index[index.len() - shape.len()..];
                let place = |(&at, &extent): (&usize, &usize)| if extent == 1 { 0 } else { at };
                own.iter().zip(shape).map(place).collect()
            })
        });
    };
    run(&[3, 1], &[f(2), f(3), f(4)], &[2, 3, 4]);
    run(&[], &[f(3)], &[3]);
    run(&[2, 3], &[f(2), f(3)], &[2, 3]);
    run(&[1, 0], &[f(5), f(0)], &[5, 0]);
    run(&[1], &[f(0)], &[0]);
    run(&[3], &[Dim::Dynamic], &[3]);
}

#[test]
fn broadcast_to_finds_open_extents_that_do_not_fit() {
    let x = marked(DType::F32, &[2, 3]);
    let attrs = BroadcastTo::attrs(&[Dim::Fixed(4), Dim::Fixed(3)]);
    let text = OPEN.mismatch(BroadcastTo::DEF, &attrs, &[&x]);
    assert!(text.contains("extent 2 against 4"), "{text}");
    let large = BroadcastTo::attrs(&[Dim::Fixed(1 << 40), Dim::Fixed(1 << 20)]);
    let found = RUN.eval(BroadcastTo::DEF, &large, &[&marked(DType::F32, &[])]);
    assert!(
        matches!(found, Err(EvalError::TooLarge { .. })),
        "{found:?}"
    );
}

#[test]
fn iota_counts_along_its_axis_in_every_dtype() {
    let f = Dim::Fixed;
    let run =
        |dtype, shape: &[Dim], axis| RUN.get(Iota::DEF, &Iota::attrs(dtype, shape, axis), &[]);
    let rows = run(DType::I64, &[f(2), f(3)], 1);
    assert_same(
        &rows,
        &of(&[2, 3], &[0i64, 1, 2, 0, 1, 2]),
        "along the last axis",
    );
    let columns = run(DType::F32, &[f(2), b()], -2);
    let expected = of(&[2, 5], &[0f32, 0., 0., 0., 0., 1., 1., 1., 1., 1.]);
    assert_same(&columns, &expected, "along the first axis");
    let truths = run(DType::Bool, &[f(3)], 0);
    assert_same(&truths, &of(&[3], &[false, true, true]), "truth values");
    let bytes = run(DType::U8, &[f(258)], 0);
    assert_eq!(bytes.elements::<u8>()[254..], [254, 255, 0, 1]);
    for &dtype in DType::ALL {
        let empty = run(dtype, &[f(0), f(1 << 40)], 1);
        assert_eq!((empty.dtype(), empty.count()), (dtype, 0));
    }
    let found = RUN.eval(Iota::DEF, &Iota::attrs(DType::F32, &[f(1 << 40)], 0), &[]);
    assert!(
        matches!(found, Err(EvalError::TooLarge { .. })),
        "{found:?}"
    );
}

#[test]
fn dim_is_the_extent() {
    let x = marked(DType::Bool, &[2, 0, 5]);
    for (axis, extent) in [(0, 2i64), (1, 0), (-1, 5)] {
        let found = OPEN.get(ExtentOf::DEF, &ExtentOf::attrs(axis), &[&x]);
        assert_same(&found, &Tensor::scalar(extent), "an extent");
    }
}
