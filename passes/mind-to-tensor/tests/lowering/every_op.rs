//! Every op, dtype and shape, with known extents, symbols and `?`.

use std::collections::BTreeMap;

use mind_interp::{Arrays, Extents, random_inputs, special_inputs};
use mind_ir::types::DType;

use mind_to_tensor::Options;

use crate::module::{assert_same, lowered_for, read};
use mind_testgen::cases::{Case, all, choices, gathers, placed_windows, scaled};

/// The declaration of the extents of inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Declared {
    /// As numbers.
    Known,
    /// A symbol for every extent above 1.
    Symbols,
    /// `?` for every extent above 1.
    Open,
    /// `?` for every extent.
    AllOpen,
    /// `?` for every other extent.
    SomeOpen,
}

const DECLARED: [Declared; 5] = [
    Declared::Known,
    Declared::Symbols,
    Declared::Open,
    Declared::AllOpen,
    Declared::SomeOpen,
];

/// Ops that reject a declaration: `GatherNd` requires a known length of the tuples.
const REFUSED: [(&str, Declared); 1] = [("GatherNd", Declared::AllOpen)];

fn dims(shape: &[usize], declared: Declared, input: usize) -> String {
    let dim = |(at, &extent): (usize, &usize)| match declared {
        Declared::Symbols if extent > 1 => format!("S{extent}"),
        Declared::Open if extent > 1 => "?".to_owned(),
        Declared::AllOpen => "?".to_owned(),
        Declared::SomeOpen if (at + input).is_multiple_of(2) => "?".to_owned(),
        _ => extent.to_string(),
    };
    let dims: Vec<String> = shape.iter().enumerate().map(dim).collect();
    dims.join(", ")
}

/// Returns the module with one op. `indices` is the dtype of `%1` if it differs.
fn text(case: &Case, dtype: DType, indices: DType, declared: Declared) -> String {
    let mut text = String::new();
    for (at, shape) in case.shapes.iter().enumerate() {
        let dtype = if at == 1 { indices } else { dtype };
        let dims = dims(shape, declared, at);
        text += &format!("%{at} = Input {{name=x{at}}} : tensor<{dtype}[{dims}]>\n");
    }
    text + &format!("%9 = {}\noutputs: %9\n", case.op)
}

/// Returns arrays for the module, with special values for odd seeds.
fn arrays(text: &str, seed: u64) -> Arrays {
    let g = read(text).expect("a module that was read before");
    let make = match seed % 2 {
        0 => random_inputs,
        _ => special_inputs,
    };
    make(&g, seed, Extents::default()).expect("small arrays")
}

/// Lowers and runs one op, for each valid declaration of its extents. Returns how often each was run.
fn check(case: &Case, dtype: DType, indices: DType) -> BTreeMap<Declared, usize> {
    let mut ran = BTreeMap::new();
    let known = text(case, dtype, indices, Declared::Known);
    if read(&known).is_err() {
        return ran;
    }
    let sets: Vec<Arrays> = (0..4).map(|seed| arrays(&known, seed)).collect();
    for declared in DECLARED {
        let text = text(case, dtype, indices, declared);
        let Ok(g) = read(&text) else { continue };
        for dots_bytes in [false, true] {
            let low = lowered_for(&g, &text, &Options { dots_bytes });
            sets.iter()
                .for_each(|set| assert_same(&g, &low, set, &text));
        }
        *ran.entry(declared).or_default() += 1;
    }
    ran
}

#[test]
fn every_op_keeps_its_bits() {
    let mut ran: BTreeMap<(String, Declared), usize> = BTreeMap::new();
    let mut count = |case: &Case, dtype: DType, indices: DType| {
        let name = case.op.split(' ').next().unwrap_or_default();
        for (declared, times) in check(case, dtype, indices) {
            *ran.entry((name.to_owned(), declared)).or_default() += times;
        }
    };
    for &dtype in DType::ALL {
        all().iter().for_each(|case| count(case, dtype, dtype));
        for case in gathers().into_iter().chain(placed_windows()) {
            count(&case, dtype, DType::I32);
            count(&case, dtype, DType::I64);
        }
        for case in choices() {
            count(&case, dtype, DType::Bool);
        }
        for case in scaled() {
            count(&case, dtype, DType::F16);
            count(&case, dtype, DType::F64);
        }
    }
    let names: Vec<&String> = ran.keys().map(|(name, _)| name).collect();
    for op in crate::coverage::computing() {
        let name = op.names.core.unwrap_or(op.name).to_owned();
        assert!(names.contains(&&name), "{name} never ran");
        for declared in DECLARED {
            let expected = ran.contains_key(&(name.clone(), declared));
            let refused = REFUSED.contains(&(name.as_str(), declared));
            assert!(
                expected != refused,
                "{name} never ran with extents {declared:?}"
            );
        }
    }
}
