//! Generated inputs.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::elementwise::{Add, Div};
use mind_core::ops::index::Gather;
use mind_core::ops::shape::Reshape;
use mind_interp::{
    Arrays, BindError, Extents, Random, Values, compare, complete, random_inputs, special_inputs,
};
use mind_ir::Graph;
use mind_ir::tensor::{Tensor, rust_types};
use mind_ir::types::{DType, Dim};

use crate::module::Module;

/// Returns a module with inputs of these names, dtypes and dimensions.
fn of(declared: &[(&str, DType, &[&str])]) -> Graph {
    let mut m = Module::new();
    let values: Vec<_> = declared
        .iter()
        .map(|&(name, ty, dims)| m.arg(name, ty, dims))
        .collect();
    m.yields(&values)
}

fn random(g: &Graph, seed: u64) -> Arrays {
    random_inputs(g, seed, Extents::default()).unwrap()
}

/// The expected bits were computed by an independent program from the documented formula.
#[test]
fn the_bits_are_pinned() {
    let g = of(&[
        ("x", DType::F32, &["4"]),
        ("h", DType::F16, &["4"]),
        ("b", DType::BF16, &["4"]),
        ("d", DType::F64, &["2"]),
        ("i", DType::I64, &["6"]),
        ("u", DType::U8, &["6"]),
        ("t", DType::Bool, &["8"]),
    ]);
    let arrays = random(&g, 42);
    let f32s = arrays["x"].elements::<f32>().iter().map(|x| x.to_bits());
    assert_eq!(f32s.collect::<Vec<_>>(), PINNED_F32);
    let f16s = arrays["h"]
        .elements::<rust_types::F16>()
        .iter()
        .map(|x| x.to_bits());
    assert_eq!(f16s.collect::<Vec<_>>(), PINNED_F16);
    let bf16s = arrays["b"]
        .elements::<rust_types::BF16>()
        .iter()
        .map(|x| x.to_bits());
    assert_eq!(bf16s.collect::<Vec<_>>(), PINNED_BF16);
    let f64s = arrays["d"].elements::<f64>().iter().map(|x| x.to_bits());
    assert_eq!(f64s.collect::<Vec<_>>(), PINNED_F64);
    assert_eq!(arrays["i"].elements::<i64>(), PINNED_I64);
    assert_eq!(arrays["u"].elements::<u8>(), PINNED_U8);
    assert_eq!(arrays["t"].elements::<bool>(), PINNED_BOOL);
}

const PINNED_F32: [u32; 4] = [0xbebac94c, 0x3f59fc0b, 0xbfb8453d, 0x3ede0903];
const PINNED_F16: [u16; 4] = [0x360c, 0xb8be, 0xbb76, 0x382d];
const PINNED_BF16: [u16; 4] = [0x3e3b, 0xbe1a, 0xbfe2, 0xbfac];
const PINNED_F64: [u64; 2] = [0xbffe11d629462426, 0x3ff2b20607bcf60d];
const PINNED_I64: [i64; 6] = [7, -6, -3, -4, 4, -6];
const PINNED_U8: [u8; 6] = [3, 5, 2, 1, 3, 6];
const PINNED_BOOL: [bool; 8] = [true, true, true, false, true, true, true, true];

#[test]
fn an_inputs_values_depend_on_seed_and_name_alone() {
    let alone = random(&of(&[("x", DType::F32, &["9"])]), 7);
    let declared: [(&str, DType, &[&str]); 2] =
        [("y", DType::F32, &["9"]), ("x", DType::F32, &["9"])];
    let both = random(&of(&declared), 7);
    assert!(alone["x"].same_bits(&both["x"]));
    assert!(!both["y"].same_bits(&both["x"]));
    assert!(!random(&of(&declared), 8)["x"].same_bits(&both["x"]));
}

#[test]
fn ordinary_floats_have_full_fractions_and_moderate_exponents() {
    let arrays = random(
        &of(&[("x", DType::F32, &["10000"]), ("h", DType::F16, &["10000"])]),
        1,
    );
    let values = arrays["x"].elements::<f32>();
    assert!(
        values
            .iter()
            .all(|x| (1.0 / 1024.0..2.0).contains(&x.abs()))
    );
    let spread = |low: f32, high: f32| values.iter().filter(|x| (low..high).contains(x)).count();
    assert!(
        (2250..2750).contains(&spread(1.0, 2.0)),
        "{}",
        spread(1.0, 2.0)
    );
    assert!(
        (2250..2750).contains(&spread(-1.0, 0.0)),
        "{}",
        spread(-1.0, 0.0)
    );
    let odd = values.iter().filter(|x| x.to_bits() & 1 == 1).count();
    assert!((4700..5300).contains(&odd), "{odd}");
    let halves = arrays["h"].elements::<rust_types::F16>();
    assert!(
        halves
            .iter()
            .all(|x| x.is_normal() && x.to_f32().abs() < 2.0)
    );
}

#[test]
fn weights_are_scaled_by_their_terms() {
    let mut m = Module::new();
    let w = m.param("w", DType::F32, &["100", "8"]);
    let bias = m.param("bias", DType::F32, &["100"]);
    let half = m.param("half", DType::F16, &["65536", "2"]);
    let g = m.yields(&[w, bias, half]);
    let arrays = random(&g, 3);
    let largest = |name: &str| {
        let values = arrays[name].elements::<f32>().iter();
        values.fold(0f32, |largest, x| largest.max(x.abs()))
    };
    assert!((0.1..0.125).contains(&largest("w")), "{}", largest("w"));
    assert!(largest("bias") > 1.0);
    let halves = arrays["half"].elements::<rust_types::F16>();
    assert!(halves.iter().all(|x| x.is_normal()));
}

#[test]
fn integers_are_small() {
    let g = of(&[("i", DType::I16, &["1000"]), ("u", DType::U32, &["1000"])]);
    let arrays = random(&g, 5);
    let signed = arrays["i"].elements::<i16>();
    assert_eq!(
        (signed.iter().min(), signed.iter().max()),
        (Some(&-8), Some(&7))
    );
    let unsigned = arrays["u"].elements::<u32>();
    assert_eq!(
        (unsigned.iter().min(), unsigned.iter().max()),
        (Some(&0), Some(&7))
    );
}

#[test]
fn indices_are_valid_for_all_that_they_index() {
    let mut m = Module::new();
    let wide = m.arg("wide", DType::F32, &["50", "B"]);
    let narrow = m.arg("narrow", DType::F32, &["2", "20"]);
    let indices = m.arg("indices", DType::I64, &["400"]);
    let shape = [Dim::Fixed(20), Dim::Fixed(20)];
    let reshaped = m.op::<Reshape>(&[indices], &Reshape::attrs(&shape));
    let first = m.op::<Gather>(&[wide, indices], &Gather::attrs(0, Bounds::Strict));
    let second = m.op::<Gather>(&[narrow, reshaped], &Gather::attrs(-1, Bounds::Strict));
    let g = m.yields(&[first, second]);
    for arrays in [
        random(&g, 11),
        special_inputs(&g, 11, Extents::default()).unwrap(),
    ] {
        let found = arrays["indices"].elements::<i64>();
        assert_eq!(
            (found.iter().min(), found.iter().max()),
            (Some(&0), Some(&19))
        );
    }
    let mut m = Module::new();
    let wide = m.arg("wide", DType::F32, &["50", "B"]);
    let indices = m.arg("indices", DType::I32, &["400"]);
    let columns = m.op::<Gather>(&[wide, indices], &Gather::attrs(1, Bounds::Strict));
    let g = m.yields(&[columns]);
    let extents = Extents::given(&g, [("B", 31)]).unwrap();
    let arrays = random_inputs(&g, 11, extents).unwrap();
    assert_eq!(arrays["indices"].elements::<i32>().iter().max(), Some(&30));
}

#[test]
fn divisors_have_quotients() {
    let mut m = Module::new();
    let x = m.arg("x", DType::I32, &["1000"]);
    let y = m.arg("y", DType::I32, &["1000"]);
    let quotient = m.op::<Div>(&[x, y], &[]);
    let g = m.yields(&[quotient]);
    for arrays in [
        random(&g, 2),
        special_inputs(&g, 2, Extents::default()).unwrap(),
    ] {
        assert!(
            arrays["y"]
                .elements::<i32>()
                .iter()
                .all(|y| ![0, -1].contains(y))
        );
        assert!(arrays["x"].elements::<i32>().contains(&0));
    }
}

#[test]
fn special_values_are_all_there() {
    let g = of(&[
        ("x", DType::F32, &["2000"]),
        ("h", DType::F16, &["2000"]),
        ("i", DType::I8, &["2000"]),
    ]);
    let arrays = special_inputs(&g, 9, Extents::default()).unwrap();
    let bits: Vec<u32> = arrays["x"]
        .elements::<f32>()
        .iter()
        .map(|x| x.to_bits())
        .collect();
    let edges = [
        0.0,
        f32::from_bits(1),
        f32::from_bits(0x007f_ffff),
        f32::MIN_POSITIVE,
        1.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    for edge in edges {
        assert!(
            bits.contains(&edge.to_bits()) && bits.contains(&(-edge).to_bits()),
            "{edge}"
        );
    }
    assert!(
        arrays["h"]
            .elements::<rust_types::F16>()
            .contains(&rust_types::F16::MAX)
    );
    let extremes = [i8::MIN, i8::MAX, 0, 1, -8, 7];
    assert!(
        extremes
            .iter()
            .all(|x| arrays["i"].elements::<i8>().contains(x))
    );
    let ordinary = random(&g, 9);
    assert!(
        ordinary["x"]
            .elements::<f32>()
            .iter()
            .all(|x| x.is_normal())
    );
}

#[test]
fn symbols_without_extent_get_distinct_primes_in_alphabetical_order() {
    let g = of(&[
        ("x", DType::F32, &["Z", "A", "?"]),
        ("y", DType::F32, &["M", "Z"]),
    ]);
    let arrays = random(&g, 0);
    assert_eq!(arrays["x"].shape(), [7, 3, 2]);
    assert_eq!(arrays["y"].shape(), [5, 7]);
    let extents = Extents::given(&g, [("A", 6), ("?", 4)]).unwrap();
    let arrays = random_inputs(&g, 0, extents).unwrap();
    assert_eq!(arrays["x"].shape(), [7, 6, 4]);
}

fn completing(limit: u64) -> Result<Arrays, BindError> {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["B"]);
    let y = m.arg("y", DType::F32, &["B"]);
    let sum = m.op::<Add>(&[x, y], &[]);
    let g = m.yields(&[sum]);
    let given = Tensor::of(vec![4], vec![1f32, 2.0, 3.0, 4.0]);
    let mut arrays = Arrays::from([("x".to_owned(), given)]);
    let random = Random {
        seed: 1,
        values: Values::Ordinary,
        memory_limit: limit,
    };
    match complete(&g, &mut arrays, &mut Extents::default(), &random) {
        // `B` is determined by the array.
        Ok(chosen) if chosen.is_empty() => Ok(arrays),
        Ok(chosen) => panic!("{chosen:?}"),
        Err(errors) => Err(errors[0].error.clone()),
    }
}

#[test]
fn extents_that_nobody_gives_are_told() {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["B", "?", "S", "B"]);
    let g = m.yields(&[x]);
    let random = Random {
        seed: 1,
        values: Values::Ordinary,
        memory_limit: 1 << 20,
    };
    let chosen = |given: &[(&str, usize)]| {
        let mut extents = Extents::given(&g, given.iter().copied()).unwrap();
        let chosen = complete(&g, &mut Arrays::new(), &mut extents, &random).unwrap();
        let pairs = chosen
            .iter()
            .map(|(name, extent)| format!("{name}={extent}"));
        pairs.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(chosen(&[]), "B=3 ?=2 S=5");
    assert_eq!(chosen(&[("S", 9)]), "B=3 ?=2");
    assert_eq!(chosen(&[("S", 9), ("B", 3), ("?", 2)]), "");
}

#[test]
fn arrays_that_are_given_stay_and_fix_the_extents() {
    let arrays = completing(16).unwrap();
    assert_eq!(arrays["x"].elements::<f32>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(arrays["y"].shape(), [4]);
    assert!(compare(&[arrays["x"].clone()], &[arrays["y"].clone()]).is_err());
}

#[test]
fn arrays_beyond_the_limit_are_refused() {
    let name = "y".to_owned();
    let expected = BindError::TooLarge {
        name,
        shape: vec![4],
        left: 15,
    };
    assert_eq!(completing(15).unwrap_err(), expected);
}
