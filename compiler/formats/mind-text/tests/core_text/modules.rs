//! The shape examples of the specification as modules, with their inferred types.

use crate::verified;

/// Asserts that `op` on inputs of `types` has the type `expected`.
#[track_caller]
fn infers(types: &[&str], op: &str, expected: &str) {
    let inputs = types.iter().enumerate();
    let mut text: String = inputs
        .map(|(at, ty)| format!("%{at} = Input {{name=x{at}}} : tensor<{ty}>\n"))
        .collect();
    let id = types.len();
    text += &format!("%{id} = {op}\noutputs: %{id}");
    let printed = verified(&text);
    let line = printed.lines().nth(id).unwrap_or_default();
    assert_eq!(
        line.rsplit(" : ").next(),
        Some(format!("tensor<{expected}>").as_str()),
        "{line}"
    );
    assert_eq!(verified(&printed), printed);
}

#[test]
fn constants() {
    infers(&[], "ConstI64(7)", "i64[]");
    infers(&[], "ConstF32(1.5)", "f32[]");
    infers(&[], "ConstF64(1.5)", "f64[]");
    infers(&[], "ConstTensor([[1.0],[2.0]], f32, [2, 1])", "f32[2, 1]");
}

#[test]
fn reductions() {
    infers(&["f32[3, 4, 5]"], "Sum(%0, [1], false)", "f32[3, 5]");
    infers(&["f32[3, 4, 5]"], "Sum(%0, [1], true)", "f32[3, 1, 5]");
    infers(&["f32[2, 3, 4]"], "Mean(%0, [1, 2])", "f32[2]");
    infers(&["f32[3, 4, 5]"], "Sum(%0, [], true)", "f32[]");
}

#[test]
fn shapes() {
    infers(
        &["f32[2, 3, 4]"],
        "Transpose(%0, [2, 0, 1])",
        "f32[4, 2, 3]",
    );
    infers(&["f32[3, 4]"], "ExpandDims(%0, [0, 2])", "f32[1, 3, 1, 4]");
    infers(&["f32[1, 3, 1, 4]"], "Squeeze(%0, [0, 2])", "f32[3, 4]");
    infers(&["f32[4, 6]"], "Reshape(%0, [2, -1])", "f32[2, 12]");
}

#[test]
fn indexing() {
    infers(&["f32[4, 6]"], "Index(%0, [1, 2])", "f32[]");
    infers(&["f32[4, 6]"], "Slice(%0, [0:2:1, 1:4])", "f32[2, 3]");
    infers(&["f32[4, 6]"], "Slice(%0, [3:3, 1::2])", "f32[0, 3]");
    infers(
        &["f32[4, 6]", "i64[7, 8]"],
        "Gather(%0, %1)",
        "f32[7, 8, 6]",
    );
}

#[test]
fn products() {
    infers(&["f32[3]", "f32[3]"], "Dot(%0, %1)", "f32[]");
    infers(&["f32[2, 3]", "f32[3]"], "Dot(%0, %1)", "f32[2]");
    infers(&["f32[2]", "f32[2, 3]"], "Dot(%0, %1)", "f32[3]");
    infers(
        &["f32[5, 2, 3]", "f32[1, 3, 4]"],
        "MatMul(%0, %1)",
        "f32[5, 2, 4]",
    );
    infers(
        &["f32[1, 5, 5, 2]", "f32[3, 3, 2, 8]"],
        "Conv2d(%0, %1, [1, 1], Valid)",
        "f32[1, 3, 3, 8]",
    );
    infers(
        &["f32[1, 5, 5, 2]", "f32[3, 3, 2, 8]"],
        "Conv2d(%0, %1, [2, 2], Same)",
        "f32[1, 3, 3, 8]",
    );
}

#[test]
fn a_declared_type_is_printed_before_an_inferred_one() {
    let text = "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Relu (%0) : tensor<f32[?]>\noutputs: %1";
    assert_eq!(verified(text), text);
    let bare = text.replace(" : tensor<f32[?]>", "");
    assert_eq!(verified(&bare), text.replace('?', "4"));
}
