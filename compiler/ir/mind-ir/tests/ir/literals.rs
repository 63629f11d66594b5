//! Sharing of literals between graphs.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use mind_diag::Span;
use mind_ir::attr::{Attr, Literal};
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::Op;
use mind_ir::types::{DType, TensorType};
use mind_ir::{Bytes, OpId};

use crate::toy::Datum;

fn literal(bytes: &[u8]) -> Literal<'_> {
    Literal {
        dtype: DType::U8,
        count: Some(bytes.len()),
        bytes,
    }
}

/// Adds a constant with these bytes.
fn datum(g: &mut Graph, bytes: &[u8]) -> OpId {
    let ty = TensorType::fixed(DType::U8, &[bytes.len() as i64]);
    let ty = g.intern_type(ty.view());
    let body = g.body();
    let mut b = Builder::new(g, InsertPoint::End(body), Span::FILE);
    b.create_typed(Datum::DEF, &[], &[Attr::Literal(&literal(bytes))], &[ty])
}

fn bytes_of(g: &Graph, op: OpId) -> &[u8] {
    let datum = g.view::<Datum>(op).expect("a datum");
    datum.data(g).bytes
}

#[test]
fn copies_of_a_graph_share_large_literals_and_outlive_it() {
    let owned = Bytes::from(vec![7; 4096]);
    let place = owned.as_ptr();
    let mut g = Graph::new();
    g.share(owned.clone());
    let op = datum(&mut g, &owned);
    drop(owned);
    assert_eq!(bytes_of(&g, op).as_ptr(), place);

    let body = g.body();
    let second = g.copy(InsertPoint::End(body), op, &[]);
    assert_eq!(bytes_of(&g, second).as_ptr(), place);

    let copy = g.clone();
    let mut other = copy.empty_like();
    let body = other.body();
    let third = other.copy_from(&copy, InsertPoint::End(body), op, &[]);
    let taken = copy.shared_bytes(&literal(bytes_of(&copy, op)));
    drop(g);
    assert_eq!(bytes_of(&copy, op).as_ptr(), place);
    drop(copy);
    assert_eq!(bytes_of(&other, third).as_ptr(), place);
    drop(other);
    assert_eq!(taken.as_ptr(), place);
    assert_eq!(taken, vec![7; 4096]);
}

#[test]
fn literals_of_other_owners_are_copied() {
    for count in [0, 1, 1023, 1024, 5000] {
        let elements: Vec<u8> = (0..count).map(|at| at as u8).collect();
        let mut g = Graph::new();
        let op = datum(&mut g, &elements);
        let place = elements.as_ptr();
        assert_eq!(bytes_of(&g, op), elements);
        assert!(count == 0 || bytes_of(&g, op).as_ptr() != place);
        drop(elements);
        let copy = g.clone();
        let own = bytes_of(&g, op).to_vec();
        drop(g);
        assert_eq!(bytes_of(&copy, op), own);
    }
}

#[test]
fn a_part_of_shared_bytes_is_stored_without_a_copy_only_from_their_start() {
    let owned = Bytes::from(vec![3; 8192]);
    let mut g = Graph::new();
    g.share(owned.clone());
    let first = datum(&mut g, &owned[..4096]);
    let last = datum(&mut g, &owned[4096..]);
    assert_eq!(bytes_of(&g, first).as_ptr(), owned.as_ptr());
    assert_ne!(bytes_of(&g, last).as_ptr(), owned[4096..].as_ptr());
    // A longer owner replaces a shorter one at the same address.
    let mut g = Graph::new();
    g.share(owned.slice(..2048));
    let short = datum(&mut g, &owned[..2048]);
    g.share(owned.clone());
    let long = datum(&mut g, &owned);
    drop(owned);
    assert_eq!(bytes_of(&g, short), [3; 2048]);
    assert_eq!(bytes_of(&g, long), [3; 8192]);
    assert_eq!(bytes_of(&g, long).as_ptr(), bytes_of(&g, short).as_ptr());
}

#[test]
fn literals_are_equal_by_contents() {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let (a, b) = (vec![5; 10_000], vec![5; 10_000]);
    assert_eq!(literal(&a), literal(&b));
    assert_eq!(hasher.hash_one(literal(&a)), hasher.hash_one(literal(&b)));
    for at in [0, 5000, 9999] {
        let mut other = b.clone();
        other[at] = 6;
        assert_ne!(literal(&a), literal(&other));
    }
    assert_ne!(literal(&a), literal(&a[1..]));
    let signed = Literal {
        dtype: DType::I8,
        ..literal(&a)
    };
    assert_ne!(literal(&a), signed);
}
