//! Generated inputs, which are the same on every platform.

use mind_ir::Graph;
use mind_ir::eval::can_allocate;
use mind_ir::random::{Rng, mix};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::with_dtype;

use crate::bind::check;
use crate::error::{BindError, Unbound};
use crate::extents::Extents;
use crate::fingerprint::{FNV_BASIS, fnv1a};
use crate::inputs::{Arrays, InputSpec, inputs};
use crate::range::{Range, ranges};
use crate::sample::{Domain, Sample, Values};

/// Options for the generation of arrays.
///
/// Element `i` of input `name` is computed from number `i` of the [`Rng`] stream of `mix(seed ^ mix(fnv1a(name)))`,
/// where `fnv1a` is the 64-bit hash. Every input has a stream of its own, so that its values do not depend on the other
/// inputs.
///
/// A weight (`param`) of rank 2 or more with `n` elements per position of its last axis is scaled by the largest power
/// of two that is at most `1 / sqrt(n)`, because the values in deep networks would otherwise overflow. Integers that
/// index an axis are valid indices of it, and integer divisors are neither 0 nor -1.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    /// The seed.
    pub seed: u64,
    /// The kind of values.
    pub values: Values,
    /// The maximum size of all generated arrays in bytes.
    pub memory_limit: u64,
}

/// Returns generated arrays for all inputs of a verified module. Extents that are not in `extents` are chosen as by
/// [`complete`].
///
/// # Errors
///
/// If the arrays take more than 4 GiB.
pub fn random_inputs(g: &Graph, seed: u64, extents: Extents) -> Result<Arrays, Vec<Unbound>> {
    random_values(g, seed, Values::Ordinary, extents)
}

/// Returns arrays as [`random_inputs`] does, with special values among the others, for differential tests.
///
/// # Errors
///
/// If the arrays take more than 4 GiB.
pub fn special_inputs(g: &Graph, seed: u64, extents: Extents) -> Result<Arrays, Vec<Unbound>> {
    random_values(g, seed, Values::Special, extents)
}

fn random_values(
    g: &Graph,
    seed: u64,
    values: Values,
    mut extents: Extents,
) -> Result<Arrays, Vec<Unbound>> {
    let mut arrays = Arrays::new();
    let random = Random {
        seed,
        values,
        memory_limit: 4 << 30,
    };
    complete(g, &mut arrays, &mut extents, &random)?;
    Ok(arrays)
}

/// Generates an array for every input without one. Returns the extents that it chose for their dimensions, with the
/// name of each dimension, or `?` for unnamed ones.
///
/// Symbolic dimensions that are not in `extents` and not determined by an array get a default from
/// [`SYMBOL_EXTENTS`](crate::SYMBOL_EXTENTS). A `?` gets the extent that `extents` has for it, or
/// [`DYNAMIC_EXTENT`](crate::DYNAMIC_EXTENT).
///
/// # Errors
///
/// The errors of [`check`] for the given arrays, and arrays that exceed the memory limit.
pub fn complete(
    g: &Graph,
    arrays: &mut Arrays,
    extents: &mut Extents,
    random: &Random,
) -> Result<Vec<(String, usize)>, Vec<Unbound>> {
    let errors = check(g, arrays, extents);
    if !errors.is_empty() {
        return Err(errors);
    }
    extents.fill(g);
    let chosen = extents.chosen(g, |name| !arrays.contains_key(name));
    let ranges = ranges(g, extents);
    let mut left = random.memory_limit;
    for input in inputs(g) {
        if arrays.contains_key(input.name) {
            continue;
        }
        let shape: Option<Vec<usize>> = input
            .ty
            .shape
            .iter()
            .map(|&dim| extents.random_extent(dim))
            .collect();
        let shape = shape.expect("every symbol has an extent and no fixed one is negative");
        let Some(bytes) = bytes(input.ty.dtype, &shape).filter(|&bytes| bytes <= left) else {
            let name = input.name.to_owned();
            return Err(vec![Unbound::at(
                input.op,
                BindError::TooLarge { name, shape, left },
            )]);
        };
        if !can_allocate(bytes) {
            let name = input.name.to_owned();
            let error = BindError::NoMemory { name, shape, bytes };
            return Err(vec![Unbound::at(input.op, error)]);
        }
        left -= bytes;
        let range = ranges.get(&input.op).copied().unwrap_or(Range::Any);
        let domain = Domain {
            values: random.values,
            range,
            scale: scale(&input, &shape),
        };
        let array = array(random.seed, input.name, input.ty.dtype, shape, &domain);
        arrays.insert(input.name.to_owned(), array);
    }
    Ok(chosen)
}

fn bytes(dtype: DType, shape: &[usize]) -> Option<u64> {
    let size = dtype.size() as u64;
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(size, |bytes, &extent| {
        bytes.checked_mul(u64::try_from(extent).ok()?)
    })
}

/// Returns the exponent of the power of two by which a weight of this shape is divided.
fn scale(input: &InputSpec<'_>, shape: &[usize]) -> u32 {
    match shape {
        [inner @ .., _] if input.param && !inner.is_empty() => {
            let extents = inner.iter().map(|&extent| extent as u64);
            let terms = extents.fold(1u64, u64::saturating_mul);
            terms.min(1 << 62).next_power_of_two().ilog2().div_ceil(2)
        }
        _ => 0,
    }
}

fn array(seed: u64, name: &str, dtype: DType, shape: Vec<usize>, domain: &Domain) -> Tensor {
    fn fill<T: Sample>(count: usize, bits: impl Fn(u64) -> u64, domain: &Domain) -> Buffer {
        T::wrap(
            (0..count as u64)
                .map(|index| T::sample(bits(index), domain))
                .collect(),
        )
    }
    let key = mix(seed ^ mix(fnv1a(FNV_BASIS, name.as_bytes())));
    let bits = |index| Rng::nth(key, index);
    let count = if shape.contains(&0) {
        0
    } else {
        shape.iter().product()
    };
    Tensor::new(
        shape,
        with_dtype!(dtype, T => fill::<T>(count, bits, domain)),
    )
}
