//! Integers are computed exactly, and wrap.

use mind_coreml::mil::{self, Spelling};
use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::Limits;

/// Integers of both signs: small, on both sides of 2^24, and extreme.
const NUMBERS: [i32; 15] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -7,
    46_341,
    16_777_217,
    -16_777_217,
    33_554_435,
    1_000_000_007,
    i32::MIN + 1,
    i32::MIN,
    i32::MAX,
];

/// Evaluates a program of these statements over `x` and `y`; returns the result or the error message.
fn ran(shape: &[usize], statements: &str, x: Vec<i32>, y: Vec<i32>) -> Result<Vec<i32>, String> {
    let text = format!(
        "program(1.3)\n[]\n{{\n func main<ios18>(tensor<int32, {shape:?}> x, tensor<int32, {shape:?}> y) {{\n\
         {statements}\n}} -> (z);\n}}"
    );
    let parsed = mil::parse(&text, 0, &Limits::default(), Spelling::Compiler);
    let mut g = parsed.unwrap_or_else(|found| panic!("{:?}\n{text}", found.first_error()));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{:?}\n{text}", found.first_error());
    let arrays: Arrays = [("x", x), ("y", y)]
        .into_iter()
        .map(|(name, list)| (name.to_owned(), Tensor::of(shape.to_vec(), list)))
        .collect();
    let bound = bind(&g, &arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let results = run(&g, &bound, &RunConfig::default());
    let results = results.map_err(|error| error.error.to_string())?;
    Ok(results[0].elements::<i32>().to_vec())
}

fn wrap(number: i128) -> i32 {
    number as i32
}

/// Returns `base` to the power `exponent`, modulo 2^64.
fn power(base: i32, exponent: i32) -> i128 {
    match (base, exponent) {
        (_, 0..) => i128::from(i64::from(base).wrapping_pow(exponent as u32)),
        (1, _) => 1,
        (-1, _) => 1 - 2 * i128::from(exponent % 2 != 0),
        _ => 0,
    }
}

#[test]
fn arithmetic_of_two_integers_is_exact_and_wraps() {
    let least = i128::from(i32::MIN);
    for x in NUMBERS {
        for y in NUMBERS {
            let (a, b) = (i128::from(x), i128::from(y));
            let undefined = y == 0 || a == least && y == -1;
            let floor =
                |a: i128, b: i128| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
            let of = |name: &str| {
                let statement = format!("tensor<int32, [1]> z = {name}(x = x, y = y);");
                ran(&[1], &statement, vec![x], vec![y])
            };
            for (name, expected) in [
                ("floor_div", (!undefined).then(|| floor(a, b))),
                ("mod", (y != 0).then(|| a - b * floor(a, b))),
                ("real_div", (!undefined).then(|| a / b)),
                ("pow", (x != 0 || y >= 0).then(|| power(x, y))),
                ("add", Some(a + b)),
                ("sub", Some(a - b)),
                ("mul", Some(a * b)),
                ("maximum", Some(a.max(b))),
                ("minimum", Some(a.min(b))),
            ] {
                let found = of(name);
                match expected {
                    Some(expected) => assert_eq!(found, Ok(vec![wrap(expected)]), "{x} {name} {y}"),
                    None => {
                        let found = found.expect_err("a quotient that there is not");
                        assert!(found.contains("division"), "{x} {name} {y}: {found}");
                    }
                }
            }
        }
    }
}

#[test]
fn functions_of_an_integer_are_exact_and_wrap() {
    for x in NUMBERS {
        for (call, expected) in [
            ("abs(x = x)", x.wrapping_abs()),
            ("sign(x = x)", x.signum()),
            ("square(x = x)", x.wrapping_mul(x)),
            (
                "threshold(alpha = int32(16777217), x = x)",
                x.max(16_777_217),
            ),
            ("cast(dtype = string(\"int32\"), x = x)", x),
            (
                "resize(resized_dims = uint32(1), shape = tensor<int32, [1]>([1]), x = x)",
                x,
            ),
        ] {
            let found = ran(
                &[1],
                &format!("tensor<int32, [1]> z = {call};"),
                vec![x],
                vec![0],
            );
            assert_eq!(found, Ok(vec![expected]), "{call} of {x}");
        }
    }
}

#[test]
fn sums_products_and_places_keep_every_bit() {
    let (x, y) = (
        vec![16_777_217, 1, i32::MAX, -3],
        vec![33_554_435, 2, 3, i32::MIN],
    );
    for (statement, expected) in [
        (
            "tensor<int32, [4]> z = cumsum(axis = int32(0), x = x);",
            vec![16_777_217, 16_777_218, -2_130_706_431, -2_130_706_434],
        ),
        (
            "tensor<int32, [1]> z = reduce_prod(keep_dims = bool(true), x = y);",
            vec![0],
        ),
        (
            "tensor<int32, [1]> z = reduce_prod(keep_dims = bool(true), x = x);",
            vec![16_777_217i32.wrapping_mul(i32::MAX).wrapping_mul(-3)],
        ),
        (
            "tensor<int32, [2]> z, tensor<int32, [2]> i = topk(axis = int32(0), k = int32(2), x = x);",
            vec![i32::MAX, 16_777_217],
        ),
        (
            "tensor<int32, [4]> z = scatter(data = x, indices = tensor<int32, [4]>([0, 0, 1, 2]), \
             mode = string(\"add\"), updates = y);",
            vec![
                16_777_217 + 33_554_435 + 2,
                4,
                i32::MAX.wrapping_add(i32::MIN),
                -3,
            ],
        ),
        (
            "tensor<int32, [4]> z = scatter(data = x, indices = tensor<int32, [4]>([0, 1, 2, 3]), \
             mode = string(\"update\"), updates = y);",
            vec![33_554_435, 2, 3, i32::MIN],
        ),
        (
            "tensor<int32, [2]> z = range_1d(end = int32(16777219), start = int32(16777217), step = int32(1));",
            vec![16_777_217, 16_777_218],
        ),
        (
            "tensor<int32, [2]> z = one_hot(indices = int32(1), off_value = int32(-16777219), \
             on_value = int32(16777217), one_hot_vector_size = int32(2));",
            vec![-16_777_219, 16_777_217],
        ),
    ] {
        assert_eq!(
            ran(&[4], statement, x.clone(), y.clone()),
            Ok(expected),
            "{statement}"
        );
    }
    // One below the square of 5000, which is beyond 2^24.
    let root = "tensor<int32, [1]> z = reduce_l2_norm(keep_dims = bool(true), x = x);";
    assert_eq!(
        ran(&[4], root, vec![4999, 99, 14, 1], vec![0; 4]),
        Ok(vec![4999])
    );
}
