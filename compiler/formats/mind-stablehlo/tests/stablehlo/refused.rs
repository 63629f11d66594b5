//! Errors in texts.

use mind_snapshot::snapshot;

use super::support::{function, problems};

#[test]
fn everything_that_is_missing_is_named_at_once() {
    snapshot!(problems(&function(
        "%x: tensor<4xf32>, %k: tensor<2xui32>",
        "tensor<4xf32>",
        "  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %1 = stablehlo.custom_call @lapack_spotrf(%x) {api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @lapack_spotrf(%1) {api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.sine %2 : tensor<4xf32>
  %4 = stablehlo.sine %x {speed = 5 : i64} : tensor<4xf32>
  %5 = stablehlo.add %x, %nowhere : tensor<4xf32>
  %6 = arith.addf %x, %x : tensor<4xf32>
  %7 = stablehlo.cosine %x : tensor<5xf32>
  %8 = stablehlo.concatenate %3, %4, %5, %6, %7, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<21xf32>
  %9 = stablehlo.rng_bit_generator %k, algorithm = DEFAULT : (tensor<2xui32>) -> (tensor<2xui32>)
  %unread = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  return %8 : tensor<21xf32>",
    )));
}

#[test]
fn a_text_that_is_none() {
    let cases = [
        "module @m {",
        "module @m { arith.constant }",
        "func.func @main(%x: tensor<4xf32>",
        "func.func @main(%x tensor<4xf32>) { return %x : tensor<4xf32> }",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>",
        "func.func @main() { %0 = stablehlo.constant dense<[1, [2]]> : tensor<2xi32> }",
        "func.func @main() { %0 = stablehlo.constant dense<[[1], [2, 3]]> : tensor<2xi32> }",
        "func.func @main() { %0 = stablehlo.constant 5 : i32 }",
        "func.func @main() { %0 = stablehlo.add %x %y }",
        "func.func @main() { \"stablehlo.case\"(%x) ({ ^bb0: ^bb1: }) : () -> () }",
        "func.func @main() { return \"never closed",
        "func.func @f() { return } func.func @f() { return }",
    ];
    let found: Vec<String> = cases.iter().map(|text| problems(text)).collect();
    snapshot!(found.join("\n"));
}

#[test]
fn a_module_that_makes_no_sense() {
    let cases = [
        "func.func private @f() { return }".to_owned(),
        function(
            "%x: tensor<4xf32>",
            "tensor<4xf32>",
            "%0 = stablehlo.sine %x : tensor<4xf32>",
        ),
        function(
            "%x: tensor<4xf32>",
            "tensor<4xf32>",
            "return %y : tensor<4xf32>",
        ),
        function(
            "%x: tensor<4xf32>",
            "tensor<5xf32>",
            "return %x : tensor<4xf32>",
        ),
        function(
            "%x: tensor<4xf32>",
            "tensor<4xf32>",
            "return %x, %x : tensor<4xf32>, tensor<4xf32>",
        ),
        function(
            "%x: tensor<4xf8E4M3FN>",
            "tensor<4xf8E4M3FN>",
            "return %x : tensor<4xf8E4M3FN>",
        ),
        function(
            "%x: !stablehlo.token",
            "!stablehlo.token",
            "return %x : !stablehlo.token",
        ),
        function(
            "%x: tensor<4xf32>",
            "tensor<2xi32>",
            "%0 = stablehlo.constant dense<[1, 2, 3]> : tensor<2xi32>\nreturn %0 : tensor<2xi32>",
        ),
        function(
            "",
            "tensor<2xi8>",
            "%0 = stablehlo.constant dense<[300, 0x7]> : tensor<2xi8>\nreturn %0 : tensor<2xi8>",
        ),
    ];
    let found: Vec<String> = cases.iter().map(|text| problems(text)).collect();
    snapshot!(found.join("\n"));
}

#[test]
fn functions_that_call_themselves_end() {
    let text = "func.func public @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}";
    assert!(
        problems(text).contains("more than 64 calls"),
        "{}",
        problems(text)
    );
    // Each of 40 functions calls the next one twice.
    let mut text = String::new();
    for at in 0..40 {
        let (name, next) = (
            if at == 0 {
                "main".to_owned()
            } else {
                format!("f{at}")
            },
            at + 1,
        );
        let visible = if at == 0 { "public" } else { "private" };
        text += &format!(
            "func.func {visible} @{name}(%x: tensor<f32>) -> tensor<f32> {{
               %0 = call @f{next}(%x) : (tensor<f32>) -> tensor<f32>
               %1 = call @f{next}(%0) : (tensor<f32>) -> tensor<f32>
               return %1 : tensor<f32>
             }}\n"
        );
    }
    text += "func.func private @f40(%x: tensor<f32>) -> tensor<f32> {
               %0 = stablehlo.sine %x : tensor<f32>
               return %0 : tensor<f32>
             }";
    assert!(problems(&text).contains("more than 1000000 operations"));
}

#[test]
fn brackets_inside_of_each_other_end() {
    let deep = "[".repeat(100_000);
    let text =
        format!("func.func @main() {{ %0 = stablehlo.constant dense<{deep}> : tensor<1xi32> }}");
    assert!(problems(&text).contains("more than 64 brackets"));
}
