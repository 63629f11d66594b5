//! Archives that are broken on purpose.

use mind_ir::tensor::Tensor;
use mind_run::npz;
use zip::CompressionMethod::{self, Deflated, Stored};

use crate::npz_files::{archive, npy};

fn problem(bytes: &[u8], limit: u64) -> String {
    npz::read(bytes, limit).unwrap_err().to_string()
}

fn problem_of(member: &[u8], method: CompressionMethod, limit: u64) -> String {
    problem(&archive(&[("x.npy", member)], method), limit)
}

fn dict(shape: &str) -> String {
    format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}")
}

#[test]
fn what_is_not_an_archive_of_arrays_is_named() {
    assert!(problem(b"", 99).starts_with("not an npz archive: "));
    assert!(problem(b"PK\x03\x04 but no more", 99).starts_with("not an npz archive: "));
    let found = problem(&archive(&[("notes.txt", b"hello")], Stored), 99);
    assert_eq!(
        found,
        "member `notes.txt` is not an array: its name does not end in `.npy`"
    );
    assert_eq!(
        problem_of(b"hello, world", Stored, 99),
        "array `x`: not an .npy array"
    );
    assert_eq!(
        problem_of(b"\x93NUM", Stored, 99),
        "array `x`: the header is cut off"
    );
    let later = b"\x93NUMPY\x04\x00\x00\x00";
    assert_eq!(
        problem_of(later, Stored, 99),
        "array `x`: version 4.0 of the format is not supported"
    );
}

#[test]
fn data_must_fill_the_shape_exactly() {
    let short = npy(&dict("(3,)"), &[0; 11]);
    let found = problem_of(&short, Stored, 99);
    assert_eq!(
        found,
        "array `x`: shape [3] of f32 needs 12 bytes, found 11"
    );
    let long = npy(&dict("(3,)"), &[0; 20]);
    let found = problem_of(&long, Deflated, 99);
    assert_eq!(
        found,
        "array `x`: shape [3] of f32 needs 12 bytes, found 13"
    );
}

#[test]
fn shapes_cost_nothing_before_their_data_is_there() {
    let huge = npy(&dict("(4294967296, 4294967296)"), &[0; 4]);
    let found = problem_of(&huge, Stored, u64::MAX);
    assert!(found.contains("needs more than the"), "{found}");
    let large = npy(&dict("(1000000000000,)"), &[0; 4]);
    let found = problem_of(&large, Stored, u64::MAX);
    assert_eq!(
        found,
        "array `x`: shape [1000000000000] of f32 needs 4000000000000 bytes, found 4"
    );
    let deep = npy(&dict(&format!("({})", "1, ".repeat(33))), &[0; 4]);
    assert_eq!(
        problem_of(&deep, Stored, 99),
        "array `x`: rank 33 is above 32"
    );
    let header = [b"\x93NUMPY\x02\x00".as_slice(), &u32::MAX.to_le_bytes()].concat();
    let found = problem_of(&header, Stored, u64::MAX);
    assert_eq!(
        found,
        "array `x`: malformed header: 4294967295 bytes are too many"
    );
}

#[test]
fn the_limit_holds_for_all_arrays_together_and_for_bombs() {
    let one = npy(&dict("(3,)"), &[0; 12]);
    let bytes = archive(&[("x.npy", &one), ("y.npy", &one)], Stored);
    assert!(npz::read(&bytes, 24).is_ok());
    let found = problem(&bytes, 23);
    assert_eq!(
        found,
        "array `y`: shape [3] of f32 needs more than the 11 bytes left of the memory limit"
    );
    let bomb = npy(&dict("(1,)"), &vec![0; 50_000_000]);
    let bytes = archive(&[("x.npy", &bomb)], Deflated);
    assert!(bytes.len() < 100_000);
    let found = problem(&bytes, u64::MAX);
    assert_eq!(found, "array `x`: shape [1] of f32 needs 4 bytes, found 5");
}

/// Every single-byte change and every cut of a small archive ends in arrays or an error.
#[test]
fn mutated_archives_never_panic() {
    let (x, y) = (Tensor::of(vec![2], vec![1f32, 2.0]), Tensor::scalar(true));
    let stored = npz::write([("x".to_owned(), &x), ("y".to_owned(), &y)]).unwrap();
    let member = npy(&dict("(3,)"), &[0; 12]);
    let deflated = archive(&[("x.npy", &member)], Deflated);
    let mut rejected = 0;
    for whole in [stored, deflated, include_bytes!("python.npz").to_vec()] {
        for at in 0..whole.len() {
            rejected += usize::from(npz::read(&whole[..at], 1 << 20).is_err());
            for byte in [0, 1, 0x7f, 0xff, whole[at] ^ 1, whole[at] ^ 0x80] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                rejected += usize::from(npz::read(&bytes, 1 << 20).is_err());
            }
        }
    }
    assert!(rejected > 1000, "{rejected}");
}
