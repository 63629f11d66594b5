//! Archives: dtypes, byte orders and element orders.

use std::io::{Cursor, Write};

use mind_cli::npz;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Returns an `.npy` array of version 1.0 with this dict and these bytes.
pub fn npy(dict: &str, data: &[u8]) -> Vec<u8> {
    let length = (dict.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], dict.as_bytes(), data].concat()
}

/// Returns an archive of members by file name.
pub fn archive(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn read_one(dict: &str, data: &[u8]) -> Tensor {
    let bytes = archive(&[("x.npy", &npy(dict, data))], CompressionMethod::Stored);
    npz::read(&bytes, u64::MAX).unwrap().remove("x").unwrap()
}

#[test]
fn every_dtype_and_shape_survives() {
    for &dtype in DType::ALL {
        for shape in [vec![], vec![5], vec![2, 3, 2], vec![2, 0]] {
            let count: usize = shape.iter().product();
            let bytes: Vec<u8> = match dtype {
                DType::Bool => (0..count).map(|index| index as u8 % 2).collect(),
                _ => (0..count * dtype.size())
                    .map(|index| (index * 37 + 1) as u8)
                    .collect(),
            };
            let tensor = Tensor::new(shape, Buffer::from_bytes(dtype, &bytes));
            let written = npz::write([("a/b".to_owned(), &tensor)]).unwrap();
            assert_eq!(written, npz::write([("a/b".to_owned(), &tensor)]).unwrap());
            let read = npz::read(&written, u64::MAX)
                .unwrap()
                .remove("a/b")
                .unwrap();
            let stored = if dtype == DType::BF16 {
                DType::U16
            } else {
                dtype
            };
            assert_eq!((read.dtype(), read.shape()), (stored, tensor.shape()));
            assert_eq!(read.buffer().to_bytes(), bytes, "{dtype}");
        }
    }
}

#[test]
fn arrays_start_where_numpy_can_map_them() {
    let tensor = Tensor::of(vec![2], vec![1f32, 2.0]);
    let written = npz::write([("x".to_owned(), &tensor)]).unwrap();
    let at = written
        .windows(6)
        .position(|window| window == b"\x93NUMPY")
        .unwrap();
    let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    assert!(written[at + 10..].starts_with(dict.as_bytes()));
    assert_eq!(written[at + 127], b'\n');
    assert_eq!(
        written[at + 128..at + 136],
        [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]
    );
}

/// Deflated zip64 members in the form of `numpy.savez_compressed`, made by Python's `zipfile`.
#[test]
fn what_python_writes_is_read() {
    let arrays = npz::read(include_bytes!("python.npz"), u64::MAX).unwrap();
    assert_eq!(arrays.len(), 2);
    assert_eq!(arrays["x"].shape(), [2, 3]);
    let expected = Tensor::of(vec![2, 3], vec![1f32, -2.0, 3.0, -4.0, 5.5, -0.0]);
    assert!(arrays["x"].same_bits(&expected));
    assert_eq!(arrays["i"].elements::<i64>(), [7, -9]);
}

#[test]
fn fortran_order_becomes_row_major() {
    let dict = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
    let tensor = read_one(dict, &[1, 4, 2, 5, 3, 6]);
    assert_eq!(
        (tensor.shape(), tensor.elements::<u8>()),
        (&[2, 3][..], &[1, 2, 3, 4, 5, 6][..])
    );
    let dict = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1, 2), }";
    let tensor = read_one(dict, &[0, 1, 0, 3, 0, 2, 0, 4]);
    assert_eq!(tensor.elements::<i16>(), [1, 2, 3, 4]);
}

#[test]
fn big_endian_and_void_pairs_are_read() {
    let tensor = read_one(
        "{'descr': '>f4', 'fortran_order': False, 'shape': ()}",
        &[0x3f, 0xc0, 0, 0],
    );
    assert_eq!(tensor.elements::<f32>(), [1.5]);
    let tensor = read_one(
        "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}",
        &[0xc0, 0x3f],
    );
    assert_eq!(
        (tensor.dtype(), tensor.buffer().to_bytes()),
        (DType::BF16, vec![0xc0, 0x3f])
    );
}
