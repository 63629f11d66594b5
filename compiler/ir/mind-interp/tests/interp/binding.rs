//! Binding of arrays to inputs.

use mind_core::ops::elementwise::Add;
use mind_interp::{Arrays, BindError, Extents, Origin, bind, inputs};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

use crate::module::Module;

/// A module with the inputs `x: f32[B, 4]`, `w: f32[4]` (a weight) and `y: f32[B, ?]`.
fn module() -> Graph {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["B", "4"]);
    let w = m.param("w", DType::F32, &["4"]);
    m.arg("y", DType::F32, &["B", "?"]);
    let sum = m.op::<Add>(&[x, w], &[]);
    m.yields(&[sum])
}

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::of(shape.to_vec(), vec![0f32; shape.iter().product()])
}

fn arrays(shapes: &[(&str, &[usize])]) -> Arrays {
    shapes
        .iter()
        .map(|&(name, shape)| (name.to_owned(), zeros(shape)))
        .collect()
}

fn errors(arrays: &Arrays, extents: &[(&str, usize)]) -> Vec<BindError> {
    let g = module();
    let extents = Extents::given(&g, extents.iter().copied()).unwrap();
    match bind(&g, arrays, extents) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|unbound| unbound.error).collect(),
    }
}

fn messages(arrays: &Arrays, extents: &[(&str, usize)]) -> Vec<String> {
    errors(arrays, extents)
        .iter()
        .map(BindError::to_string)
        .collect()
}

#[test]
fn inputs_are_listed_in_order_with_their_role() {
    let g = module();
    let listed: Vec<(&str, String, bool)> = inputs(&g)
        .iter()
        .map(|i| (i.name, i.ty.text(g.symbols()), i.param))
        .collect();
    let expected = [
        ("x", "f32[B, 4]", false),
        ("w", "f32[4]", true),
        ("y", "f32[B, ?]", false),
    ];
    assert_eq!(
        listed,
        expected.map(|(name, ty, param)| (name, ty.to_owned(), param))
    );
}

#[test]
fn arrays_that_fit_give_the_symbols_their_extents() {
    let g = module();
    let given = arrays(&[("x", &[6, 4]), ("w", &[4]), ("y", &[6, 9])]);
    let bound = bind(&g, &given, Extents::default()).unwrap();
    let batch = inputs(&g)[0].ty.shape[0];
    let mind_ir::types::Dim::Symbol(batch) = batch else {
        panic!("{batch:?}")
    };
    assert_eq!(bound.dims().get(batch), Some(6));
    assert_eq!(bound.tensor(inputs(&g)[2].op).unwrap().shape(), [6, 9]);
}

#[test]
fn a_missing_array_is_named_with_its_type() {
    let given = arrays(&[("x", &[6, 4]), ("y", &[6, 9])]);
    assert_eq!(
        messages(&given, &[]),
        ["no array is given for input `w` of type f32[4]"]
    );
}

#[test]
fn an_extra_array_is_named_beside_the_input_it_resembles() {
    let given = arrays(&[("x", &[6, 4]), ("W", &[4]), ("y", &[6, 9]), ("other", &[1])]);
    let found = errors(&given, &[]);
    let extra = |name: &str, nearest: Option<&str>| BindError::Extra {
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    };
    assert_eq!(found[..2], [extra("W", Some("w")), extra("other", None)]);
    assert!(matches!(&found[2], BindError::Missing { name, .. } if name == "w"));
}

#[test]
fn wrong_dtype_rank_and_extent_say_expected_and_found() {
    let mut given = arrays(&[("w", &[5]), ("y", &[6])]);
    given.insert("x".to_owned(), Tensor::of(vec![6, 4], vec![0f64; 24]));
    assert_eq!(
        messages(&given, &[]),
        [
            "array `x` is f64, input `x` expects f32",
            "array `w` has extent 5 at dimension 0, input `w` expects 4, f32[4]",
            "array `y` of shape [6] has rank 1, input `y` expects rank 2, f32[B, ?]",
        ]
    );
}

#[test]
fn a_symbol_with_two_extents_names_both_places() {
    let given = arrays(&[("x", &[6, 4]), ("w", &[4]), ("y", &[7, 9])]);
    let expected =
        "dimension B is 6 at dimension 0 of array `x`, but 7 at dimension 0 of array `y`";
    assert_eq!(messages(&given, &[]), [expected]);
    let given = arrays(&[("x", &[6, 4]), ("w", &[4]), ("y", &[6, 9])]);
    let found = errors(&given, &[("B", 5)]);
    let BindError::Symbol {
        first: 5,
        first_origin: Origin::Given,
        second: 6,
        ..
    } = found[0]
    else {
        panic!("{found:?}")
    };
}

#[test]
fn dimensions_may_be_empty() {
    let given = arrays(&[("x", &[0, 4]), ("w", &[4]), ("y", &[0, 0])]);
    let bound = bind(&module(), &given, Extents::default());
    assert!(bound.is_ok(), "{bound:?}");
}

#[test]
fn given_extents_are_checked_against_the_module() {
    let g = module();
    let given = |pairs: &[(&str, usize)]| {
        Extents::given(&g, pairs.iter().copied())
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(given(&[("C", 2)]), "the module has no dimension `C`");
    assert_eq!(given(&[("x", 2)]), "the module has no dimension `x`");
    assert_eq!(
        given(&[("B", 0), ("B", 2)]),
        "dimension B is 0 as given, but 2 as given"
    );
    assert_eq!(
        given(&[("?", 1), ("?", 2)]),
        "dimension ? is 1 as given, but 2 as given"
    );
}

#[test]
fn the_diagnostic_stands_at_the_declaration() {
    let g = module();
    let found = bind(
        &g,
        &arrays(&[("x", &[6, 4]), ("y", &[6, 9])]),
        Extents::default(),
    )
    .unwrap_err();
    let diagnostic = found[0].diagnostic(&g);
    assert_eq!((diagnostic.span.start, diagnostic.span.end), (1, 2));
}
