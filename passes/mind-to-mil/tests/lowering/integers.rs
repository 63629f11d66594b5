//! Ops on integers compute the same bits, also at the extremes.

use mind_interp::Arrays;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

use crate::module::{lowered, read, results, text};

const NUMBERS: [i32; 13] = [
    i32::MIN,
    i32::MIN + 1,
    -65_537,
    -7,
    -2,
    -1,
    0,
    1,
    3,
    0x5555_5555,
    1 << 30,
    i32::MAX - 1,
    i32::MAX,
];

/// Counts of bits to shift by.
const SHIFTS: [i32; 13] = [i32::MIN, -33, -1, 0, 1, 2, 15, 16, 17, 30, 31, 32, i32::MAX];

const BITWISE: [&str; 3] = ["And (%0, %1)", "Or (%0, %1)", "Xor (%0, %1)"];

/// Compares the results of `op` of the integers `x` and `y`, whose shapes and constants `declared` gives.
#[track_caller]
fn compare(declared: &str, op: &str, arrays: &Arrays) {
    let module = format!("{declared}\n%9 = {op}\noutputs: %9\n");
    let g = read(&module).unwrap_or_else(|why| panic!("{why}\n{module}"));
    let config = Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    };
    let low = lowered(&g, &config).unwrap_or_else(|why| panic!("{why:?}\n{module}"));
    let expected = results(&g, arrays).unwrap_or_else(|| panic!("it does not run:\n{module}"));
    let found = results(&low, arrays).unwrap_or_else(|| panic!("it does not run:\n{}", text(&low)));
    let same = expected.iter().zip(&found).all(|(a, b)| a.same_bits(b));
    assert!(same, "{found:?} is not {expected:?}\n{}", text(&low));
}

/// Every pair of `xs` and `ys` that `is_defined` keeps.
fn pairs(xs: &[i32], ys: &[i32], is_defined: impl Fn(i32, i32) -> bool) -> [Vec<i32>; 2] {
    let mut lists = [Vec::new(), Vec::new()];
    for &x in xs {
        for &y in ys.iter().filter(|&&y| is_defined(x, y)) {
            lists[0].push(x);
            lists[1].push(y);
        }
    }
    lists
}

fn inputs(lists: [Vec<i32>; 2]) -> (String, Arrays) {
    let count = lists[0].len();
    let [x, y] = lists.map(|list| Tensor::of(vec![count], list));
    let declared = format!(
        "%0 = Input {{name=x}} : tensor<i32[{count}]>\n%1 = Input {{name=y}} : tensor<i32[{count}]>"
    );
    let arrays = [("x".to_owned(), x), ("y".to_owned(), y)];
    (declared, arrays.into_iter().collect())
}

#[test]
fn quotients_and_remainders_are_truncated() {
    let is_defined = |x: i32, y: i32| y != 0 && !(x == i32::MIN && y == -1);
    let (declared, arrays) = inputs(pairs(&NUMBERS, &NUMBERS, is_defined));
    for op in ["Div (%0, %1)", "Remainder (%0, %1)", "Mod (%0, %1)"] {
        compare(&declared, op, &arrays);
    }
}

#[test]
fn bits_are_joined_one_by_one() {
    let (declared, arrays) = inputs(pairs(&NUMBERS, &NUMBERS, |_, _| true));
    for op in BITWISE.into_iter().chain(["Not (%0)"]) {
        compare(&declared, op, &arrays);
    }
}

#[test]
fn shifts_take_any_count() {
    let (declared, arrays) = inputs(pairs(&NUMBERS, &SHIFTS, |_, _| true));
    for op in ["ShiftLeft (%0, %1)", "ShiftRight (%0, %1)"] {
        compare(&declared, op, &arrays);
    }
}

#[test]
fn constants_and_shapes_of_any_rank_are_taken() {
    let shifts = ["ShiftLeft (%0, %1)", "ShiftRight (%0, %1)"];
    let x = Tensor::of(vec![13], NUMBERS.to_vec());
    for constant in [-1, 0, 1, 7, 255, 256, i32::MAX, i32::MIN] {
        let declared = format!(
            "%0 = Input {{name=x}} : tensor<i32[13]>\n%1 = ConstTensor {{data={constant}, dtype=i32, shape=[]}}"
        );
        let arrays = [("x".to_owned(), x.clone())].into_iter().collect();
        for op in BITWISE.into_iter().chain(shifts) {
            compare(&declared, op, &arrays);
        }
    }
    let wide = Tensor::of(vec![1, 1, 13, 1, 1], NUMBERS.to_vec());
    let declared =
        "%0 = Input {name=x} : tensor<i32[1, 1, 13, 1, 1]>\n%1 = Input {name=y} : tensor<i32[13]>";
    let arrays: Arrays = [("x".to_owned(), wide), ("y".to_owned(), x)]
        .into_iter()
        .collect();
    for op in BITWISE {
        compare(declared, op, &arrays);
    }
}
