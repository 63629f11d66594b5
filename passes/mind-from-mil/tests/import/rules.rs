//! What the import does and refuses on purpose.

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
