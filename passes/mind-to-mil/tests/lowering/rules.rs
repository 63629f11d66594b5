//! Deliberate choices and rejections of the lowering.

use mind_interp::{Arrays, Extents, random_inputs};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

use crate::module::{lowered, narrowed, near, read, results, text};

#[track_caller]
fn program(module: &str, config: &Config) -> String {
    let g = read(module).unwrap_or_else(|why| panic!("{why}"));
    match lowered(&g, config) {
        Ok(low) => text(&low),
        Err(why) => panic!("{why:?}"),
    }
}

#[track_caller]
fn refused(module: &str, config: &Config) -> String {
    let g = read(module).unwrap_or_else(|why| panic!("{why}"));
    match lowered(&g, config) {
        Ok(low) => panic!("{}", text(&low)),
        Err(why) => why.join("\n"),
    }
}

#[test]
fn a_reduction_times_zero_is_a_difference() {
    let module = |factor: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<f32[2, 3]>\n%1 = Sum (%0) {{axes=[1], keepdims=true}}\n\
             %2 = ConstF32 {{value={factor}}}\n%3 = Mul (%1, %2)\noutputs: %3\n"
        )
    };
    for zero in ["0.0", "1e-30"] {
        let text = program(&module(zero), &Config::default());
        assert!(
            !text.contains(" mul(") && text.contains("sub(x = reduce_sum"),
            "{text}"
        );
    }
    assert!(program(&module("0.5"), &Config::default()).contains(" mul("));
}

#[test]
fn masks_of_a_softmax_alone_hold_no_infinity() {
    let module = "%0 = Input {name=x} : tensor<f32[2]>\n\
        %1 = ConstTensor {data=[0.0, -inf], dtype=f32, shape=[2]} : tensor<f32[2]>\n\
        %2 = Add (%0, %1)\n%3 = Softmax (%2)\noutputs: %3\n";
    let finite = "[0x0p+0, -0x1.388p+13]";
    let own = |module: &str| program(module, &Config::default());
    assert!(own(module).contains(finite));
    let lowest = module.replace("-inf", "-3.4e38");
    assert!(own(&lowest).contains(finite), "{}", own(&lowest));
    let written_out = module.replace(
        "%3 = Softmax (%2)",
        "%4 = Max (%2) {axes=[0], keepdims=true}\n%5 = Sub (%2, %4)\n%6 = Exp (%5)\n\
         %7 = Sum (%6) {axes=[0], keepdims=true}\n%3 = Div (%6, %7)",
    );
    assert!(own(&written_out).contains(finite), "{}", own(&written_out));
    // Other users can tell both numbers apart, and so does a row whose elements are all masked.
    for other in [
        module.replace("Add", "Mul"),
        module.replace("outputs: %3", "outputs: %2, %3"),
        module.replace("outputs: %3", "outputs: %2"),
        module.replace("data=[0.0, -inf]", "data=[-inf, -inf]"),
    ] {
        let found = own(&other);
        assert!(
            found.contains("-inf") && !found.contains("-0x1.388p+13"),
            "{found}"
        );
    }
    let kept = Config {
        layout: Layout::Keep,
        ..Config::default()
    };
    assert!(program(module, &kept).contains("[0x0p+0, -inf]"));
}

#[test]
fn numbers_outside_of_halves_are_refused() {
    let module = "%0 = Input {name=x} : tensor<f32[1]>\n%1 = ConstF32 {value=70000.0}\n\
        %2 = Mul (%0, %1)\noutputs: %2\n";
    assert!(refused(module, &Config::default()).contains("it holds 70000"));
    let singles = Config {
        float: mind_ir::types::DType::F32,
        interface: Interface::Any,
        ..Config::default()
    };
    assert!(program(module, &singles).contains("fp32(0x1.117p+16)"));
}

#[test]
fn gathers_take_narrow_indices() {
    let module = "%0 = Input {name=x} : tensor<f32[8, 4]>\n%1 = Input {name=i} : tensor<i32[3]>\n\
        %2 = Gather (%0, %1)\noutputs: %2\n";
    assert!(program(module, &Config::default()).contains("tensor<uint16, [3]> i"));
    let open = Config {
        interface: Interface::Any,
        ..Config::default()
    };
    assert!(program(module, &open).contains("tensor<int32, [3]> i"));
}

#[test]
fn matrices_are_convolutions_where_rows_fill_the_last_axis() {
    let module = |rows: usize| {
        format!(
            "%0 = Input {{name=x}} : tensor<f32[{rows}, 4]>\n\
             %1 = ConstTensor {{dtype=f32, fill=0.5, shape=[4, 2]}} : tensor<f32[4, 2]>\n\
             %2 = MatMul (%0, %1)\noutputs: %2\n"
        )
    };
    assert!(program(&module(32), &Config::default()).contains(" conv("));
    assert!(program(&module(31), &Config::default()).contains(" matmul("));
    let keep = Config {
        layout: Layout::Keep,
        ..Config::default()
    };
    assert!(program(&module(32), &keep).contains(" matmul("));
}

#[test]
fn attention_is_one_op_from_64_heads_and_496_positions() {
    let module = |heads: usize, positions: usize| {
        let ty = format!("tensor<f32[1, {heads}, {positions}, 64]>");
        format!(
            "%0 = Input {{name=q}} : {ty}\n%1 = Input {{name=k}} : {ty}\n%2 = Input {{name=v}} : {ty}\n\
             %3 = Transpose (%1) {{permutation=[0, 1, 3, 2]}}\n%4 = MatMul (%0, %3)\n\
             %5 = ConstF32 {{value=0.125}}\n%6 = Mul (%4, %5)\n%7 = Softmax (%6)\n\
             %8 = MatMul (%7, %2)\noutputs: %8\n"
        )
    };
    let one = program(&module(64, 496), &Config::default());
    assert!(
        one.contains("scaled_dot_product_attention(key = k, query = q, value = v)"),
        "{one}"
    );
    assert!(!one.contains("softmax"), "{one}");
    for (heads, positions) in [(63, 496), (64, 495)] {
        assert!(program(&module(heads, positions), &Config::default()).contains(" softmax("));
    }
}

/// Returns attention of 2 heads over `positions`, with scores that are divided or multiplied, with or without a mask.
fn attention(positions: usize, scale: &str, mask: &str) -> String {
    let ty = format!("tensor<f32[1, 2, {positions}, 4]>");
    let masked = match mask {
        "" => "%8 = Softmax (%6)".to_owned(),
        shape => format!(
            "%7 = ConstTensor {{dtype=f32, fill=-1.0, shape={shape}}} : tensor<f32{shape}>\n\
             %9 = Add (%6, %7)\n%8 = Softmax (%9)"
        ),
    };
    format!(
        "%0 = Input {{name=q}} : {ty}\n%1 = Input {{name=k}} : {ty}\n%2 = Input {{name=v}} : {ty}\n\
         %3 = Transpose (%1) {{permutation=[0, 1, 3, 2]}}\n%4 = MatMul (%0, %3)\n{scale}\n{masked}\n\
         %10 = MatMul (%8, %2)\noutputs: %10\n"
    )
}

#[test]
fn attention_is_taken_apart_by_heads_where_positions_fill_the_last_axis() {
    let divided = "%5 = ConstF32 {value=2.0}\n%6 = Div (%4, %5)";
    let multiplied = "%5 = ConstF32 {value=0.5}\n%6 = Mul (%4, %5)";
    for scale in [divided, multiplied] {
        for mask in ["", "[32, 32]", "[1, 2, 32, 32]", "[1, 1, 32, 32]"] {
            let own = program(&attention(32, scale, mask), &Config::default());
            assert_eq!(own.matches("einsum(").count(), 4, "{own}");
            assert_eq!(own.matches("softmax(axis = ").count(), 2, "{own}");
            assert!(!own.contains("matmul("), "{own}");
        }
    }
    assert!(program(&attention(31, divided, ""), &Config::default()).contains("matmul("));
    let keep = Config {
        layout: Layout::Keep,
        ..Config::default()
    };
    let kept = program(&attention(32, divided, ""), &keep);
    let whole = "scaled_dot_product_attention(key = k, query = q, value = v)";
    assert!(kept.contains(whole) && !kept.contains("einsum("), "{kept}");
}

#[test]
fn attention_by_heads_computes_the_same() {
    for mask in ["", "[32, 32]", "[1, 2, 32, 32]"] {
        let source = attention(32, "%5 = ConstF32 {value=0.5}\n%6 = Mul (%4, %5)", mask);
        let g = read(&source).unwrap_or_else(|why| panic!("{why}"));
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        let expected = results(&g, &arrays).expect("a module that runs");
        let low = lowered(&g, &Config::default()).unwrap_or_else(|why| panic!("{why:?}"));
        let found = results(&low, &narrowed(&low, &arrays)).expect("a program that runs");
        for (expected, found) in expected.iter().zip(&found) {
            near(expected, found, 2e-3).unwrap_or_else(|why| panic!("{why}\n{}", text(&low)));
        }
    }
}

#[test]
fn normalizations_written_out_are_one_op() {
    let softmax = "%0 = Input {name=x} : tensor<f32[2, 8]>\n\
        %1 = Max (%0) {axes=[1], keepdims=true}\n%2 = Sub (%0, %1)\n%3 = Exp (%2)\n\
        %4 = Sum (%3) {axes=[1], keepdims=true}\n%5 = Div (%3, %4)\noutputs: %5\n";
    let own = program(softmax, &Config::default());
    assert!(
        own.contains("softmax(axis") && !own.contains(" exp("),
        "{own}"
    );
    let other = program(
        &softmax.replace("Sum (%3) {axes=[1]", "Sum (%3) {axes=[0]"),
        &Config::default(),
    );
    assert!(other.contains(" exp("), "{other}");
    let layer = "%0 = Input {name=x} : tensor<f32[2, 8]>\n\
        %1 = Mean (%0) {axes=[1], keepdims=true}\n%2 = Sub (%0, %1)\n%3 = Mul (%2, %2)\n\
        %4 = Mean (%3) {axes=[1], keepdims=true}\n%5 = ConstF32 {value=0.001}\n%6 = Add (%4, %5)\n\
        %7 = Sqrt (%6)\n%8 = Div (%2, %7)\noutputs: %8\n";
    let own = program(layer, &Config::default());
    assert!(
        own.contains("layer_norm(axes") && !own.contains(" sqrt("),
        "{own}"
    );
}

/// Returns a module for `x / sqrt(mean(x x) + epsilon)` over rows of 8.
fn root_mean_square(epsilon: &str) -> String {
    format!(
        "%0 = Input {{name=x}} : tensor<f32[2, 8]>\n%1 = Mul (%0, %0)\n\
         %2 = Mean (%1) {{axes=[1], keepdims=true}}\n%3 = ConstF32 {{value={epsilon}}}\n%4 = Add (%2, %3)\n\
         %5 = Sqrt (%4)\n%6 = Div (%0, %5)\noutputs: %6\n"
    )
}

#[test]
fn root_mean_squares_are_scaled_down_in_the_engines_layout() {
    let engine = Config {
        layout: Layout::Ane,
        ..Config::default()
    };
    for epsilon in [1e-5_f64, 1e-3, 0.25] {
        let module = root_mean_square(&format!("{epsilon}"));
        assert!(!program(&module, &Config::default()).contains("reduce_max("));
        let g = read(&module).unwrap_or_else(|why| panic!("{why}"));
        let low = lowered(&g, &engine).unwrap_or_else(|why| panic!("{why:?}"));
        assert!(text(&low).contains("reduce_max("), "{}", text(&low));
        // The mean squares are far below epsilon, equal to it and above it, up to ones that overflow f16.
        let root = epsilon.sqrt();
        for size in [root / 16.0, root, 4.0 * root, 1.0, 300.0, 6e4] {
            let rows = (0..16).map(|at| {
                let sign = if at % 3 == 0 { -1.0 } else { 1.0 };
                half::f16::from_f64(sign * size).to_f32()
            });
            let x = Tensor::of(vec![2, 8], rows.collect());
            let arrays: Arrays = [("x".to_owned(), x)].into_iter().collect();
            let expected = results(&g, &arrays).expect("a module that runs");
            let found = results(&low, &narrowed(&low, &arrays)).expect("a program that runs");
            near(&expected[0], &found[0], 4e-3)
                .unwrap_or_else(|why| panic!("epsilon {epsilon}, size {size}: {why}"));
        }
    }
    let singles = Config {
        float: DType::F32,
        interface: Interface::Any,
        ..engine
    };
    assert!(!program(&root_mean_square("1e-5"), &singles).contains("reduce_max("));
}

#[test]
fn scales_near_the_root_of_the_depth_are_not_taken_for_it() {
    let singles = Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    };
    let own = |value: &str| {
        let scale = format!("%5 = ConstF32 {{value={value}}}\n%6 = Mul (%4, %5)");
        program(&attention(32, &scale, ""), &singles)
    };
    let exact = own("0.5");
    assert!(exact.contains("scaled_dot_product_attention("), "{exact}");
    let near = own("0.5003");
    assert!(!near.contains("scaled_dot_product_attention("), "{near}");
}

/// Checks that an f32 module and its program agree to `error`, and that the program calls `op`.
#[track_caller]
fn agree_in_singles(module: &str, op: &str, error: f64) {
    let singles = Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    };
    let g = read(module).unwrap_or_else(|why| panic!("{why}\n{module}"));
    let low = lowered(&g, &singles).unwrap_or_else(|why| panic!("{why:?}\n{module}"));
    assert!(text(&low).contains(op), "{}", text(&low));
    let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
    let expected = results(&g, &arrays).expect("a module that runs");
    let found = results(&low, &arrays).expect("a program that runs");
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected.shape(), found.shape());
        near(expected, found, error).unwrap_or_else(|why| panic!("{why}\n{module}"));
    }
}

#[test]
fn every_resize_is_written_out_that_no_op_has() {
    let coordinates = [
        "half_pixel",
        "pytorch_half_pixel",
        "half_pixel_symmetric",
        "asymmetric",
        "align_corners",
        "align_centre",
        "offset",
        "mil_default",
    ];
    for coordinates in coordinates {
        for more in [
            "mode=nearest, nearest=prefer_floor",
            "mode=nearest, nearest=prefer_ceil",
            "mode=nearest, nearest=ceil",
            "mode=linear",
            "mode=linear, antialias=true",
            "mode=cubic, cubic_a=-0.75",
            "mode=cubic, cubic_a=-0.5, exclude_outside=true",
            "mode=cubic, antialias=true",
        ] {
            for (axes, sizes) in [("[2, 3]", "[7, 3]"), ("[1, 3]", "[1, 8]"), ("[0]", "[3]")] {
                let module = format!(
                    "%0 = Input {{name=x}} : tensor<f32[2, 3, 4, 5]>\n\
                     %1 = Resize (%0) {{axes={axes}, sizes={sizes}, {more}, coordinates={coordinates}}}\n\
                     outputs: %1\n"
                );
                agree_in_singles(&module, "", 1e-5);
            }
        }
    }
    let scaled = "%0 = Input {name=x} : tensor<f32[1, 1, 4, 5]>\n\
        %1 = ConstTensor {data=[0.6, 0.6], dtype=f32, shape=[2]} : tensor<f32[2]>\n\
        %2 = Resize (%0, %1) {axes=[2, 3], sizes=[2, 3], mode=cubic}\noutputs: %2\n";
    agree_in_singles(scaled, "gather(", 1e-5);
    let cropped = "%0 = Input {name=x} : tensor<f32[1, 1, 4, 5]>\n\
        %1 = ConstTensor {data=[-0.5, 0.2, 0.7, 1.4], dtype=f32, shape=[4]} : tensor<f32[4]>\n\
        %2 = Resize (%0, %1) {axes=[2, 3], sizes=[3, 4], mode=linear, coordinates=crop, fill=7.5}\noutputs: %2\n";
    agree_in_singles(cropped, "select(", 1e-5);
}

#[test]
fn small_arguments_keep_their_digits_in_singles() {
    for op in ["Expm1", "Log1p"] {
        let module = format!(
            "%0 = Input {{name=x}} : tensor<f32[4]>\n%1 = ConstF32 {{value=1e-6}}\n%2 = Mul (%0, %1)\n\
             %3 = {op} (%2)\n%4 = ConstF32 {{value=1e6}}\n%5 = Mul (%3, %4)\noutputs: %5\n"
        );
        agree_in_singles(&module, "tanh(", 1e-6);
        agree_in_singles(
            &format!(
                "%0 = Input {{name=x}} : tensor<f32[64]>\n%1 = Abs (%0)\n%2 = {op} (%1)\noutputs: %2\n"
            ),
            "",
            1e-6,
        );
    }
}

#[test]
fn doubles_between_singles_are_computed_in_the_floats_of_the_program() {
    let module = "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Cast (%0) {dtype=f64}\n\
        %2 = ConstTensor {data=0.3, dtype=f64, shape=[]} : tensor<f64[]>\n%3 = Mul (%1, %2)\n%4 = Erf (%3)\n\
        %5 = Cast (%4) {dtype=f32}\noutputs: %5\n";
    agree_in_singles(module, "erf(", 1e-6);
    let config = Config::default();
    assert!(program(module, &config).contains("erf("));
    let given = module.replace("outputs: %5", "outputs: %4");
    assert!(refused(&given, &config).contains("a program gives no f64 away"));
    let large = module.replace("data=0.3", "data=1e300");
    assert!(refused(&large, &config).contains("it holds"));
}

#[test]
fn tensors_without_elements_are_left_out_or_refused_by_name() {
    let joined = "%0 = Input {name=x} : tensor<f32[2, 3]>\n\
        %1 = ConstTensor {data=[], dtype=f32, shape=[2, 0]} : tensor<f32[2, 0]>\n\
        %2 = Concat (%0, %1) {axis=1}\n%3 = Relu (%2)\noutputs: %3\n";
    let found = program(joined, &Config::default());
    assert!(!found.contains("concat("), "{found}");
    let empty = "%0 = Input {name=x} : tensor<f32[2, 3]>\n\
        %1 = Slice (%0) {starts=[0, 1], ends=[2, 1], steps=[1, 1]}\n%2 = Relu (%1)\noutputs: %2\n";
    let found = refused(empty, &Config::default());
    assert!(
        found.contains(
            "`core.slice` cannot be lowered to MIL: its result f32[2, 0] has no elements"
        ),
        "{found}"
    );
}

#[test]
fn what_mil_cannot_say_is_refused_by_name() {
    let cases = [
        (
            "%0 = Input {name=x} : tensor<f64[2]>\n%1 = Relu (%0)\noutputs: %1\n",
            "no op of MIL takes f64",
        ),
        (
            "%0 = Input {name=x} : tensor<f32[B]>\n%1 = Relu (%0)\noutputs: %1\n",
            "has an extent that is not known",
        ),
        (
            "%0 = Input {name=x} : tensor<i32[2]>\n%1 = Neg (%0)\noutputs: %1\n",
            "a program takes no int32",
        ),
    ];
    for (module, reason) in cases {
        let found = refused(module, &Config::default());
        assert!(
            found.contains(reason) && found.contains("cannot be lowered to MIL"),
            "{found}"
        );
    }
}

#[test]
fn outputs_are_values_of_their_own() {
    let module = "%0 = Input {name=x} : tensor<f32[]>\n%1 = Neg (%0)\noutputs: %0, %1, %1\n";
    let text = program(module, &Config::default());
    assert!(text.contains("tensor<fp16, [1]> x)"), "{text}");
}
