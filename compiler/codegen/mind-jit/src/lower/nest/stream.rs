//! Selection of outputs for non-temporal stores.

use super::plan::{Location, Plan};
use super::program::{Nest, StridedAccess};

/// Size of operands and results from which stores are non-temporal: three quarters of a typical last-level cache, which
/// is shared.
const FOOTPRINT: usize = 24 << 20;
/// Minimum size of an output for non-temporal stores.
const LARGE: usize = 8 << 20;

/// Returns whether operands and results together exceed the cache.
pub(super) fn leaves_caches(n: &Nest) -> bool {
    let outputs = n.outputs.iter().map(|output| &output.access);
    let accesses = n.inputs.iter().chain(outputs);
    accesses.map(|access| bytes(n, access)).sum::<usize>() > FOOTPRINT
}

/// Returns the outputs whose rows would be evicted before the nest has finished.
pub(super) fn streamed(n: &Nest, plan: &Plan) -> Vec<usize> {
    let is_kept = |place: usize| {
        let mut stored = plan.stored.iter().flatten();
        stored.any(|stored| stored.place == Location::Output(place))
    };
    let fits = |&place: &usize| {
        let output = &n.outputs[place];
        let is_new = output.replaces.is_none() && output.access.inner == 1;
        is_new && bytes(n, &output.access) >= LARGE && !is_kept(place)
    };
    if leaves_caches(n) {
        (0..n.outputs.len()).filter(fits).collect()
    } else {
        Vec::new()
    }
}

/// Returns the bytes that an access touches.
fn bytes(n: &Nest, access: &StridedAccess) -> usize {
    let strided = |(&extent, &stride): (&usize, &i64)| if stride == 0 { 1 } else { extent };
    let outer = n.outer.iter().zip(&access.outer).map(strided);
    let inner = strided((&n.inner, &access.inner));
    let count = outer.fold(inner, usize::saturating_mul);
    count.saturating_mul(access.dtype.size())
}

#[cfg(test)]
mod tests {
    use mind_ir::types::DType;

    use super::super::alive::Registers;
    use super::super::program::{Node, Output};
    use super::*;

    fn copy(rows: usize, read: i64, replaces: Option<usize>) -> Nest {
        let access = |stride: i64| StridedAccess {
            dtype: DType::F32,
            offset: 0,
            outer: vec![stride],
            inner: 1,
        };
        Nest {
            outer: vec![rows],
            inner: 1 << 20,
            total: None,
            inputs: vec![access(read)],
            nodes: vec![Node::Input(0)],
            outputs: vec![Output {
                node: 0,
                access: access(1 << 20),
                replaces,
            }],
            unroll: None,
            divides_by_products: false,
            registers: Registers::default(),
        }
    }

    #[test]
    fn only_new_results_of_more_than_a_cache_are_streamed() {
        let of = |n: &Nest| streamed(n, &Plan::of(n));
        assert_eq!(of(&copy(5, 1 << 20, None)), [0]);
        assert!(of(&copy(3, 1 << 20, None)).is_empty());
        assert!(of(&copy(5, 0, None)).is_empty());
        assert!(of(&copy(5, 1 << 20, Some(0))).is_empty());
    }
}
