//! Routines without a kernel, as functions of the object file.
//!
//! A function takes the addresses of the arrays that it reads and writes, and temporary memory. It implements the same
//! algorithm as [`c`](crate::c); the instruction sets of a file share it.

mod element;
mod extents;
mod mirror;
mod sample;
mod scatter;
mod search;
mod sort;

use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::FuncId;

use crate::program::{Algorithm, Beyond, Sampling, Step};

use super::body::{Body, anywhere};

pub(super) use element::index;

/// The number of parameters of such a function: the list of addresses, and memory.
pub(super) const PARAMS: usize = 2;

/// A helper that several algorithms call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Helper {
    /// Sorts keys, and with them their indices.
    Sort,
    /// Reflects a coordinate at the ends of an axis.
    Mirror,
}

impl Helper {
    /// Returns the helper that `algorithm` calls; `None` if it calls none.
    pub(super) fn of(algorithm: &Algorithm) -> Option<Helper> {
        match algorithm {
            Algorithm::Sort(_) => Some(Helper::Sort),
            Algorithm::Sample(Sampling { beyond, .. }) => match beyond {
                Beyond::MirrorCentres | Beyond::MirrorEdges => Some(Helper::Mirror),
                Beyond::Fill(_) | Beyond::Border => None,
            },
            Algorithm::Scatter(_) | Algorithm::Search(_) | Algorithm::Extents(_) => None,
        }
    }

    /// The suffix of its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Helper::Sort => "sort",
            Helper::Mirror => "mirror",
        }
    }

    /// The number of its parameters.
    pub(super) const PARAMS: usize = 3;

    /// Generates its code and returns its result.
    pub(super) fn write(self, body: &mut Body<'_>, params: [Value; Helper::PARAMS]) -> Value {
        match self {
            Helper::Sort => {
                sort::merge(body, params);
                body.word(0)
            }
            Helper::Mirror => mirror::write(body, params),
        }
    }
}

/// Generates the function of an algorithm, which calls `helper`.
pub(super) fn write(
    body: &mut Body<'_>,
    algorithm: &Algorithm,
    helper: Option<FuncId>,
    [list, memory]: [Value; PARAMS],
) {
    let arrays = algorithm.bytes().len();
    let arrays: Vec<Value> = (0..arrays)
        .map(|at| {
            let offset = 8 * at as i32;
            body.ins().load(types::I64, anywhere(), list, offset)
        })
        .collect();
    match algorithm {
        Algorithm::Sort(sorting) => {
            let helper = helper.expect("the function that sorts");
            sort::write(body, *sorting, helper, (&arrays, memory));
        }
        Algorithm::Scatter(scattering) => scatter::write(body, scattering, &arrays),
        Algorithm::Sample(sampling) => sample::write(body, sampling, helper, &arrays),
        Algorithm::Search(search) => search::write(body, search, &arrays),
        Algorithm::Extents(extents) => extents::write(body, extents, &arrays),
    }
}

/// Returns the maximum temporary memory in bytes of the algorithms of `steps`.
pub(super) fn memory<'s>(steps: impl Iterator<Item = &'s Step>) -> u64 {
    let algorithms = steps
        .filter_map(Step::as_evaluate)
        .filter_map(|call| call.algorithm.as_ref());
    let sorts = algorithms.filter_map(Algorithm::as_sort);
    sorts.map(sort::memory).max().unwrap_or(0)
}

/// Returns the sum of indices, each times its stride; strides of 0 are skipped.
fn sum(body: &mut Body<'_>, terms: impl IntoIterator<Item = (Value, usize)>) -> Value {
    let mut sum = body.word(0);
    for (index, factor) in terms {
        if factor != 0 {
            sum = body.scaled(sum, index, factor as i64);
        }
    }
    sum
}
