//! Snapshots of imported modules.

use mind_snapshot::snapshot;
use mind_stablehlo::{is_module, op_names};

use super::support::{core, core_with, function};

#[test]
fn functions_stand_in_the_place_of_their_calls() {
    snapshot!(core(
        "module @m {
           func.func public @main(%x: tensor<4xf32> loc(\"x\")) -> tensor<4xf32> {
             %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
             %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
             return %1 : tensor<4xf32>
           }
           func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
             %0 = stablehlo.add %x, %x : tensor<4xf32>
             return %0 : tensor<4xf32>
           }
         }"
    ));
}

#[test]
fn an_extent_keeps_the_name_that_jax_gives_it() {
    let text = "func.func public @main(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
        %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
        %m = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
        %same = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%same, %m, %n) {error_message = \"unequal\"} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
        %0 = call @own(%n, %a, %b) : (tensor<i32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
        return %0 : tensor<?x4xf32>
      }
      func.func private @own(%n: tensor<i32> {jax.global_constant = \"batch\"}, %x: tensor<?x4xf32> loc(\"x\"), %y: tensor<?x4xf32> loc(\"y\")) -> tensor<?x4xf32> {
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %four = stablehlo.constant dense<4> : tensor<1xi32>
        %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %1 = stablehlo.concatenate %0, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %2 = stablehlo.dynamic_broadcast_in_dim %one, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
        %3 = stablehlo.add %x, %2 : tensor<?x4xf32>
        %4 = stablehlo.multiply %3, %y : tensor<?x4xf32>
        return %4 : tensor<?x4xf32>
      }";
    snapshot!(core(text));
    snapshot!(core_with(text, &[("batch", 3)]));
}

#[test]
fn both_forms_of_an_operation_are_one_module() {
    let arguments = "%x: tensor<2x3xf32>, %y: tensor<3x4xf32>";
    let pretty = "
        %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        %c = stablehlo.constant dense<0.0> : tensor<f32>
        %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
        return %1 : tensor<2xf32>";
    let generic = "
        %0 = \"stablehlo.dot_general\"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        %c = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
        %1 = \"stablehlo.reduce\"(%0, %c) <{dimensions = array<i64: 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = \"stablehlo.add\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            \"stablehlo.return\"(%s) : (tensor<f32>) -> ()
        }) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
        \"func.return\"(%1) : (tensor<2xf32>) -> ()";
    let text = core(&function(arguments, "tensor<2xf32>", pretty));
    assert_eq!(text, core(&function(arguments, "tensor<2xf32>", generic)));
    snapshot!(text);
}

#[test]
fn elements_in_every_form() {
    let constants = [
        "dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>",
        "dense<true> : tensor<2xi1>",
        "dense<[true, false]> : tensor<2xi1>",
        "dense<0xFF800000> : tensor<f32>",
        "dense<[1.5, 0x7FC00000]> : tensor<2xf32>",
        "dense<\"0x0000803F00000040\"> : tensor<2xf32>",
        "dense<\"0x0100\"> : tensor<2xi1>",
        "dense<\"0x05\"> : tensor<3xi1>",
        "dense<1.001> : tensor<bf16>",
        "dense<[255, -1]> : tensor<2xui8>",
        "dense<> : tensor<0x3xf32>",
        "dense_resource<own> : tensor<2xf32>",
        "dense<2.5> : tensor<4096x4096xf64>",
    ];
    let mut operations = String::new();
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for (at, constant) in constants.iter().enumerate() {
        operations += &format!("%{at} = stablehlo.constant {constant}\n");
        let (_, ty) = constant.split_once(" : ").expect("a type");
        names.push(format!("%{at}"));
        types.push(ty);
    }
    let (names, types) = (names.join(", "), types.join(", "));
    operations += &format!("return {names} : {types}");
    let text = function("", &types, &operations)
        + "{-# dialect_resources: { builtin: { own: \"0x040000000000803F00000040\" } } #-}";
    snapshot!(core(&text));
}

#[test]
fn a_choice_by_a_truth_value_is_one() {
    snapshot!(core(&function(
        "%p: tensor<i1>, %x: tensor<4xf32>",
        "tensor<4xf32>",
        "%i = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>
         %0 = \"stablehlo.case\"(%i) ({
           %1 = stablehlo.negate %x : tensor<4xf32>
           stablehlo.return %1 : tensor<4xf32>
         }, {
           stablehlo.return %x : tensor<4xf32>
         }) : (tensor<i32>) -> tensor<4xf32>
         return %0 : tensor<4xf32>",
    )));
}

#[test]
fn a_loop_reads_what_is_outside_of_it_as_operands() {
    snapshot!(core(&function(
        "%x: tensor<4xf32>, %n: tensor<i32>",
        "tensor<4xf32>",
        "%zero = stablehlo.constant dense<0> : tensor<i32>
         %one = stablehlo.constant dense<1> : tensor<i32>
         %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
         cond {
           %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %1 : tensor<i1>
         } do {
           %1 = stablehlo.add %i, %one : tensor<i32>
           %2 = stablehlo.multiply %y, %x : tensor<4xf32>
           stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
         }
         return %0#1 : tensor<4xf32>",
    )));
}

#[test]
fn a_reduction_by_another_region_is_a_scan() {
    snapshot!(core(&function(
        "%x: tensor<2x3xf32>",
        "tensor<2xf32>",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>
         %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
          reducer(%a: tensor<f32>, %b: tensor<f32>) {
           %1 = stablehlo.multiply %b, %b : tensor<f32>
           %2 = stablehlo.subtract %a, %1 : tensor<f32>
           stablehlo.return %2 : tensor<f32>
         }
         return %0 : tensor<2xf32>",
    )));
}

#[test]
fn a_text_is_told_by_its_first_line_and_its_ops() {
    assert!(is_module(
        "#loc = loc(unknown)\nmodule @m {\n stablehlo.return"
    ));
    assert!(is_module(
        "// a comment\nfunc.func @main() { stablehlo.return }"
    ));
    for text in [
        "module {\n arith.addf }",
        "modules stablehlo.x",
        "mic@1\n# stablehlo.x",
        "",
    ] {
        assert!(!is_module(text), "{text:?}");
    }
}

#[test]
fn outputs_have_the_names_of_jax() {
    let text = function(
        "%x: tensor<f32>",
        "tensor<f32> {jax.result_info = \"result['y']\"}",
        "return %x : tensor<f32>",
    );
    assert!(core(&text).ends_with("outputs: %0 {name=\"result['y']\"}"));
    let text = function("%x: tensor<f32>", "tensor<f32>", "return %x : tensor<f32>");
    assert!(core(&text).ends_with("outputs: %0"));
}

#[test]
fn all_ops_that_are_read_are_known() {
    snapshot!(op_names().join("\n"));
}
