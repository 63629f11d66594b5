//! Malformed archives.

use mind_cli::npz::{self, Archive};
use mind_ir::tensor::Tensor;
use mind_snapshot::snapshot;
use zip::CompressionMethod::{self, Deflated, Stored};

use crate::memory_host::{MemoryHost, RunTool};
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
    snapshot!(
        [
            problem(&archive(&[("notes.txt", b"hello")], Stored), 99),
            problem_of(b"hello, world", Stored, 99),
            problem_of(b"\x93NUM", Stored, 99),
            problem_of(b"\x93NUMPY\x04\x00\x00\x00", Stored, 99),
        ]
        .join("\n")
    );
}

#[test]
fn data_must_fill_the_shape_exactly() {
    let [short, long] = [11, 20].map(|bytes| npy(&dict("(3,)"), &vec![0; bytes]));
    snapshot!(
        [
            problem_of(&short, Stored, 99),
            problem_of(&long, Deflated, 99)
        ]
        .join("\n")
    );
}

#[test]
fn shapes_cost_nothing_before_their_data_is_there() {
    let deep = format!("({})", "1, ".repeat(33));
    let shapes = ["(4294967296, 4294967296)", "(1000000000000,)", &deep];
    let members = shapes.map(|shape| npy(&dict(shape), &[0; 4]));
    let header = [b"\x93NUMPY\x02\x00".as_slice(), &u32::MAX.to_le_bytes()].concat();
    let members = members.iter().chain([&header]);
    let found = members.map(|member| problem_of(member, Stored, u64::MAX));
    snapshot!(found.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_limit_holds_for_all_arrays_together_and_for_bombs() {
    let one = npy(&dict("(3,)"), &[0; 12]);
    let both = archive(&[("x.npy", &one), ("y.npy", &one)], Stored);
    assert!(npz::read(&both, 24).is_ok());
    let bomb = npy(&dict("(1,)"), &vec![0; 50_000_000]);
    let bomb = archive(&[("x.npy", &bomb)], Deflated);
    assert!(bomb.len() < 100_000);
    snapshot!([problem(&both, 23), problem(&bomb, u64::MAX)].join("\n"));
}

/// Each single-byte change and each truncation of a small archive results in arrays or an error.
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

/// An array whose elements are cut off is an error once it is unpacked.
#[test]
fn arrays_that_are_not_wanted_are_not_unpacked() {
    let one = npy(&dict("(1,)"), &[0; 4]);
    let cut = npy(&dict("(1000000,)"), &[0; 4]);
    let both = archive(&[("x.npy", &one), ("y.npy", &cut)], Stored);
    let mut opened = Archive::open(both.as_slice()).unwrap();
    assert_eq!(opened.types()["y"].shape, [1_000_000]);
    assert_eq!(opened.arrays(4, |name| name == "x").unwrap().len(), 1);
    assert!(opened.arrays(u64::MAX, |_| true).is_err());
    let mut host = MemoryHost::with("%0 = Input {name=x} : tensor<f32[1]>\noutputs: %0\n");
    host.files.insert("in.npz".into(), both);
    let text = host.rejection("m.core --inputs in.npz");
    assert!(
        text.contains("array `y` is not an input of this module"),
        "{text}"
    );
}
