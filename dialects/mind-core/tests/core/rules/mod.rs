//! Shape rules: for every op a table of operand types and attributes with the type of the result or the code of the
//! error, as the verifier reports them.

mod arithmetic;
mod dynamic;
mod movement;
mod pad;
mod places;
mod products;
mod runtime_shape;
mod sample;
mod surroundings;
mod windows;

use mind_ir::attr::Attr;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::verify::{Profile, VerifyConfig, verify};
use mind_ir::{OpId, ValueId};

use crate::module::{empty, examples, input, ty};

/// A module with one op, and the expected outcome of verification.
pub struct Case {
    /// The op.
    pub def: &'static OpDef,
    operands: Vec<String>,
    attrs: Vec<Attr<'static>>,
    declared: Option<&'static str>,
    profile: Profile,
    /// The types of the results, separated by semicolons, or the code of the only error.
    pub expected: String,
}

impl Case {
    fn declared(self, ty: &'static str) -> Case {
        Case {
            declared: Some(ty),
            ..self
        }
    }

    fn core_v1(self) -> Case {
        Case {
            profile: Profile::CoreV1,
            ..self
        }
    }
}

/// Creates a case from its operand types, separated by semicolons.
fn case(def: &'static OpDef, operands: &str, attrs: Vec<Attr<'static>>, expected: &str) -> Case {
    let operands = operands
        .split("; ")
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect();
    Case {
        def,
        operands,
        attrs,
        declared: None,
        profile: Profile::Extended,
        expected: expected.to_owned(),
    }
}

fn insert(g: &mut Graph, def: &'static OpDef, operands: &[ValueId], attrs: &[Attr<'_>]) -> OpId {
    let at = InsertPoint::End(g.body());
    let results = def.results.count().unwrap_or(1);
    g.insert(
        at,
        NewOp {
            def,
            operands,
            attrs,
            results,
            span: Default::default(),
        },
    )
}

/// Returns the type of the result, or the codes of the errors that the verifier reports.
fn outcome(case: &Case) -> String {
    let mut g = empty();
    let mut operands = Vec::new();
    for text in &case.operands {
        let ty = ty(&mut g, text);
        operands.push(input(&mut g, ty));
    }
    let op = insert(&mut g, case.def, &operands, &case.attrs);
    let results: Vec<ValueId> = g.results(op).into_iter().collect();
    let result = results[0];
    if let Some(text) = case.declared {
        let ty = ty(&mut g, text);
        g.declare(result, ty);
    }
    insert(&mut g, Yield::DEF, &[result], &[]);
    let found = verify(
        &mut g,
        &VerifyConfig {
            profile: case.profile,
        },
    );
    if found.has_errors() {
        let codes = found
            .iter()
            .map(|error| error.code.map_or("none".into(), |code| code.to_string()));
        return codes.collect::<Vec<String>>().join(" ");
    }
    let types = results.iter().map(|&result| g.type_text(result));
    types.collect::<Vec<String>>().join("; ")
}

#[track_caller]
fn check(cases: Vec<Case>) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| outcome(case) != case.expected)
        .map(|case| {
            let (name, operands, attrs) = (case.def.name, &case.operands, &case.attrs);
            format!(
                "{name} {operands:?} {attrs:?}: {}, expected {}",
                outcome(case),
                case.expected
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

macro_rules! families {
    ($($family:path => $test:ident;)*) => {$(
        #[test]
        fn $test() {
            check($family());
        }
    )*

    /// Every case.
    pub fn all() -> Vec<Case> {
        [$($family()),*].into_iter().flatten().collect()
    }
    };
}

families! {
    surroundings::inputs_and_constants => the_rules_of_inputs_and_constants;
    arithmetic::elementwise => the_rules_of_elementwise_ops;
    arithmetic::broadcasts => the_rules_of_broadcasting;
    arithmetic::reductions => the_rules_of_reductions;
    arithmetic::places => the_rules_of_argmax_and_argmin;
    windows::reductions => the_rules_of_reduce_window;
    windows::places => the_rules_of_argmax_window;
    sample::resized => the_rules_of_resize;
    sample::grids => the_rules_of_grid_sample;
    windows::convolutions => the_rules_of_conv_and_conv_transpose;
    products::pairs => the_rules_of_dot_general;
    products::blocks => the_rules_of_block_matmul;
    products::systems => the_rules_of_cholesky_and_triangular_solve;
    products::scales => the_rules_of_quantize_and_dequantize;
    arithmetic::bits => the_rules_of_bitcast;
    arithmetic::prefixes => the_rules_of_cumulative;
    movement::reshapes => the_rules_of_reshape;
    pad::pads => the_rules_of_pad;
    movement::reorderings => the_rules_of_transpose_expand_dims_and_squeeze;
    movement::extents => the_rules_of_broadcast_to_iota_and_dim;
    movement::parts => the_rules_of_index_slice_and_gather;
    dynamic::windows => the_rules_of_dynamic_slices;
    runtime_shape::shaped => the_rules_of_shapes_that_an_operand_gives;
    places::gathers => the_rules_of_gathers_at_places;
    places::scatters => the_rules_of_scatters;
    places::sorts => the_rules_of_sort_and_top_k;
    places::data => the_rules_of_nonzero_unique_and_suppression;
    movement::joins => the_rules_of_concat_and_split;
    arithmetic::contractions => the_rules_of_dot_and_matmul;
    arithmetic::batches => the_rules_of_matmul_batches;
    arithmetic::convolutions => the_rules_of_conv2d;
    arithmetic::normalisations => the_rules_of_softmax_and_layernorm;
    surroundings::arities => the_rules_of_operand_counts;
    surroundings::profiles => the_rules_of_the_profiles;
    surroundings::declarations => the_rules_of_declared_types;
}

#[test]
fn the_examples_have_the_types_they_say() {
    let cases = examples().into_iter().map(|example| {
        let case = case(
            example.def,
            &example.operands.join("; "),
            example.attrs,
            example.result,
        );
        if example.def.has(Trait::DeclaresType) {
            case.declared(example.result)
        } else {
            case
        }
    });
    check(cases.collect());
}
