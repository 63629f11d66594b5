//! Deliberate choices and rejections of the import.

use crate::module::{imported, read, text};

fn program(params: &str, statements: &str) -> String {
    format!("program(1.3)\n[]\n{{ func main<ios18>({params}) {{\n{statements}\n}} -> (y); }}")
}

#[track_caller]
fn refused(params: &str, statements: &str) -> String {
    match imported(&read(&program(params, statements))) {
        Ok(own) => panic!("{}", text(&own)),
        Err(why) => why.join("\n"),
    }
}

#[test]
fn narrow_indices_are_widened() {
    let own = imported(&read(&program(
        "tensor<fp16, [4]> x, tensor<uint16, [2]> i",
        "tensor<fp16, [2]> y = gather(axis = int32(0), indices = i, x = x);",
    )));
    let own = text(&own.expect("an import"));
    assert!(own.contains("{name=i} : tensor<u16[2]>"), "{own}");
    assert!(own.contains("{dtype=i32} : tensor<i32[2]>"), "{own}");
}

#[test]
fn weights_beside_an_import_are_gone() {
    let own = imported(&read(&program(
        "tensor<fp16, [2]> x",
        "tensor<fp16, []> c = const()[name = string(\"c\"), val = fp16(0x1p+0)];\n\
         tensor<fp16, [2]> y = add(x = x, y = c);",
    )));
    let own = text(&own.expect("an import"));
    assert!(!own.contains("mil."), "{own}");
}

#[test]
fn what_core_cannot_say_is_named() {
    let found = refused(
        "tensor<fp16, [2, 3]> x",
        "tensor<fp16, [2]> y = random_normal(mean = fp16(0x0p+0), seed = int32(1), shape = tensor<int32, [1]>([2]), stddev = fp16(0x1p+0));",
    );
    assert_eq!(
        found,
        "`mil.random_normal` is not imported: its result is random"
    );
}

#[test]
fn other_functions_are_left_out() {
    let text_of = "program(1.3)\n[]\n{ func main<ios18>(tensor<fp16, [2]> x) { tensor<fp16, [2]> y = relu(x = x); } -> (y);\n\
                   func more<ios18>(tensor<fp16, [2]> x) { tensor<fp16, [2]> y = tanh(x = x); } -> (y); }";
    let own = text(&imported(&read(text_of)).expect("an import"));
    assert!(own.contains("Relu") && !own.contains("Tanh"), "{own}");
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let layer = |h: &str, weight: &str, results: &str| {
        let params = format!("tensor<fp32, [3, 1, 2]> x, tensor<fp32, {h}> h");
        let statements = format!(
            "{results} = rnn(initial_h = h, output_sequence = bool(true), weight_hh = tensor<fp32, [1, 1]>([[1]]), \
             weight_ih = tensor<fp32, {weight}, x = x);"
        );
        refused(&params, &statements)
    };
    let (fits, two) = (
        "[1, 2]>([[1, 2]])",
        "tensor<fp32, [3, 1, 1]> y, tensor<fp32, [1, 1]> z",
    );
    for (h, weight, results, why) in [
        ("[1]", fits, two, "a state does not fit the layer"),
        ("[2, 1]", fits, two, "a state does not fit the layer"),
        ("[1, 0]", fits, two, "a state does not fit the layer"),
        (
            "[1, 1]",
            "[1, 1]>([[1]])",
            two,
            "a weight does not fit the layer",
        ),
        (
            "[1, 1]",
            "[2]>([1, 2])",
            two,
            "a weight does not fit the layer",
        ),
        (
            "[1, 1]",
            fits,
            "tensor<fp32, [3, 1, 1]> y, tensor<fp32, [1, 1]> z, tensor<fp32, [1, 1]> more",
            "the number of results is 3, expected 2",
        ),
    ] {
        let found = layer(h, weight, results);
        assert_eq!(found, format!("`mil.rnn` is not imported: {why}"));
    }
    let size = 1 << 24;
    let found = refused(
        "tensor<fp32, [1, 1, 3, 3]> x",
        &format!(
            "tensor<fp32, [1, 1, {size}, {size}]> y = affine(align_corners = bool(true), \
             coordinates_mode = string(\"unnormalized\"), output_height = int32({size}), output_width = int32({size}), \
             padding_mode = string(\"constant\"), padding_value = fp32(0x0p+0), sampling_mode = string(\"bilinear\"), \
             transform_matrix = tensor<fp32, [1, 6]>([[1, 0, 0, 0, 1, 0]]), x = x);"
        ),
    );
    assert_eq!(
        found,
        "`mil.affine` is not imported: the number of places is 281474976710656, the limit is 4194304"
    );
}
