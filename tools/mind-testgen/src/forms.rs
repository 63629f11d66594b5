//! Core ops in forms that exporters distinguish: operands of several dtypes that broadcast, constant operands, omitted
//! optional operands, and regions.

use crate::cases::{Case, all, choices, gathers, placed_windows, samples, scaled, scatters};

/// The dtypes of operands.
const DTYPES: [&str; 6] = ["f32", "f16", "i32", "bool", "i8", "i64"];

/// Returns modules of a single op, and some of several, as Core text. Forms that an op does not support fail
/// verification.
pub fn forms() -> Vec<String> {
    forms_in(&DTYPES)
}

/// As [`forms`], only with operands of these dtypes.
pub fn forms_in(dtypes: &[&'static str]) -> Vec<String> {
    let mut texts = Vec::new();
    for &dtype in dtypes {
        let plain = all().into_iter().chain(samples());
        plain.for_each(|case| both(&case, |_| dtype, &mut texts));
        let indexed = gathers().into_iter().chain(scatters());
        let placed = indexed.chain(placed_windows());
        placed.for_each(|case| both(&case, second(dtype, "i32"), &mut texts));
        let chosen = choices().into_iter().chain(masks());
        chosen.for_each(|case| both(&case, second(dtype, "bool"), &mut texts));
    }
    for integer in ["i8", "u8"] {
        let scaled = scaled().into_iter();
        let dtype = |at: usize| if at == 1 { "f32" } else { integer };
        scaled.for_each(|case| both(&case, dtype, &mut texts));
    }
    texts.extend(normalisations());
    texts.extend(fewer_places());
    texts.extend(CONTROL.map(str::to_owned));
    texts
}

/// Returns `other` for operand 1, and `dtype` for the others.
fn second(dtype: &'static str, other: &'static str) -> impl Fn(usize) -> &'static str + Copy {
    move |at| if at == 1 { other } else { dtype }
}

/// Appends a case with all operands as inputs, and with each operand except the first one as a constant.
fn both(case: &Case, dtype: impl Fn(usize) -> &'static str, texts: &mut Vec<String>) {
    texts.push(text(case, &dtype, usize::MAX));
    for constant in 1..case.shapes.len() {
        texts.push(text(case, &dtype, constant));
    }
}

fn text(case: &Case, dtype: &impl Fn(usize) -> &'static str, constant: usize) -> String {
    let mut text = String::new();
    for (at, shape) in case.shapes.iter().enumerate() {
        let (dims, dtype) = (format!("{shape:?}"), dtype(at));
        let fill = match dtype {
            "bool" => "true",
            "f32" | "f16" => "0.5",
            _ => "1",
        };
        // Booleans are converted from and to numbers, because few formats support them as inputs or outputs.
        text += &match (at == constant, dtype) {
            (true, _) => format!(
                "%{at} = ConstTensor {{dtype={dtype}, fill={fill}, shape={dims}}} : tensor<{dtype}{dims}>\n"
            ),
            (false, "bool") => format!(
                "%2{at} = Input {{name=x{at}}} : tensor<f32{dims}>\n%3{at} = Relu (%2{at})\n\
                 %{at} = Cast (%3{at}) {{dtype=bool}}\n"
            ),
            (false, _) => format!("%{at} = Input {{name=x{at}}} : tensor<{dtype}{dims}>\n"),
        };
    }
    let gives_truth = dtype(0) == "bool" || case.op.starts_with("Compare");
    match gives_truth && case.results == 1 {
        true => {
            text + &format!(
                "%9 = {}\n%19 = Cast (%9) {{dtype=f32}}\noutputs: %19\n",
                case.op
            )
        }
        false => text + &case.end(),
    }
}

/// Selects whose condition has more elements than both operands, for example causal masks.
fn masks() -> Vec<Case> {
    let shapes: [[&[usize]; 3]; 6] = [
        [&[], &[4, 5], &[]],
        [&[1], &[4, 5], &[5]],
        [&[5], &[4, 1], &[]],
        [&[], &[2, 1, 5], &[4, 1]],
        [&[1, 5], &[4, 1], &[1]],
        [&[3, 1, 1], &[1, 4, 5], &[1, 1, 5]],
    ];
    let case = |shapes: [&[usize]; 3]| Case {
        before: "",
        op: "Select (%1, %0, %2)".to_owned(),
        shapes: shapes.map(<[usize]>::to_vec).into(),
        results: 1,
    };
    shapes.map(case).into()
}

/// Returns a normalisation with and without a scale and a shift, as constants and as inputs.
fn normalisations() -> Vec<String> {
    let mut texts = Vec::new();
    for dtype in ["f32", "f16"] {
        for (factor, shift) in [
            (0, 0),
            (1, 0),
            (0, 1),
            (1, 1),
            (2, 0),
            (0, 2),
            (2, 2),
            (1, 2),
        ] {
            let mut text = format!("%0 = Input {{name=x}} : tensor<{dtype}[2, 4]>\n");
            let mut last = "%1".to_owned();
            let mut lines = "%1 = LayerNorm (%0)\n".to_owned();
            for (at, (form, op)) in [(factor, "Mul"), (shift, "Add")].into_iter().enumerate() {
                let (operand, result) = (2 + at, 4 + at);
                match form {
                    0 => continue,
                    1 => {
                        text += &format!(
                            "%{operand} = ConstTensor {{data=[0.5, -1.0, 2.0, 0.25], dtype={dtype}, shape=[4]}} : tensor<{dtype}[4]>\n"
                        );
                    }
                    _ => {
                        text +=
                            &format!("%{operand} = Input {{name=x{at}}} : tensor<{dtype}[4]>\n");
                    }
                }
                lines += &format!("%{result} = {op} ({last}, %{operand})\n");
                last = format!("%{result}");
            }
            texts.push(format!("{text}{lines}outputs: {last}\n"));
        }
    }
    texts
}

/// Returns gathers and scatters of elements whose indices have smaller extents than the data outside of their axis.
fn fewer_places() -> Vec<String> {
    let mut texts = Vec::new();
    let inputs = |indices: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<f32[3, 4, 5]>\n%1 = Input {{name=i}} : tensor<i32{indices}>\n\
             %2 = Input {{name=u}} : tensor<f32{indices}>\n"
        )
    };
    for (axis, indices) in [
        (0, "[2, 3, 5]"),
        (0, "[2, 4, 2]"),
        (1, "[2, 6, 2]"),
        (1, "[3, 1, 1]"),
        (-1, "[2, 3, 5]"),
        (2, "[1, 1, 1]"),
    ] {
        texts.push(format!(
            "{}%3 = GatherElements (%0, %1) {{axis={axis}, bounds=from_end}}\noutputs: %3\n",
            inputs(indices)
        ));
        for kind in ["replace", "add"] {
            texts.push(format!(
                "{}%3 = ScatterElements (%0, %1, %2) {{axis={axis}, kind={kind}, bounds=from_end}}\noutputs: %3\n",
                inputs(indices)
            ));
        }
    }
    texts
}

/// Nested loops and branches that read values of outer scopes.
const CONTROL: [&str; 4] = [
    "%0 = Input {name=x} : tensor<f32[3]>
%1 = ConstTensor {data=1.5, dtype=f32, shape=[]} : tensor<f32[]>
%2 = While (%0) {carried=1} : tensor<f32[3]> {
  args: %3
  %4 = Sum (%3)
  %5 = ConstTensor {data=8.0, dtype=f32, shape=[]} : tensor<f32[]>
  %6 = Compare (%4, %5) {direction=lt}
  yield: %6
} {
  args: %7
  %8 = ConstTensor {data=1.0, dtype=f32, shape=[]} : tensor<f32[]>
  %9 = Add (%7, %8)
  yield: %9
}
outputs: %2
",
    "%0 = Input {name=x} : tensor<f32[3]>
%1 = Input {name=y} : tensor<f32[3]>
%2, %3 = While (%0, %1) {carried=2} : tensor<f32[3]>, tensor<f32[3]> {
  args: %4, %5
  %6 = Max (%4)
  %7 = ConstTensor {data=4.0, dtype=f32, shape=[]} : tensor<f32[]>
  %8 = Compare (%6, %7) {direction=lt}
  yield: %8
} {
  args: %9, %10
  %11 = ConstTensor {data=1.0, dtype=f32, shape=[]} : tensor<f32[]>
  %12 = Add (%9, %11)
  %13 = Sub (%10, %9)
  yield: %12, %13
}
outputs: %2, %3
",
    "%0 = Input {name=x} : tensor<f32[3]>
%1 = Sum (%0)
%2 = ConstTensor {data=0.0, dtype=f32, shape=[]} : tensor<f32[]>
%3 = Compare (%1, %2) {direction=gt}
%4 = If (%3, %0) : tensor<f32[3]> {
  args: %5
  %6 = Tanh (%5)
  yield: %6
} {
  args: %7
  %8 = Neg (%7)
  yield: %8
}
outputs: %4
",
    "%0 = Input {name=x} : tensor<f32[3]>
%1 = While (%0) {carried=1} : tensor<f32[3]> {
  args: %2
  %3 = Max (%2)
  %4 = ConstTensor {data=4.0, dtype=f32, shape=[]} : tensor<f32[]>
  %5 = Compare (%3, %4) {direction=lt}
  yield: %5
} {
  args: %6
  %7 = Sum (%6)
  %8 = ConstTensor {data=0.0, dtype=f32, shape=[]} : tensor<f32[]>
  %9 = Compare (%7, %8) {direction=gt}
  %10 = If (%9, %6) : tensor<f32[3]> {
    args: %11
    %12 = Add (%11, %11)
    yield: %12
  } {
    args: %13
    %14 = ConstTensor {data=1.0, dtype=f32, shape=[]} : tensor<f32[]>
    %15 = Add (%13, %14)
    yield: %15
  }
  %16 = ConstTensor {data=0.5, dtype=f32, shape=[]} : tensor<f32[]>
  %17 = Add (%10, %16)
  yield: %17
}
outputs: %1
",
];
