//! safetensors files.

use mind_weights::{Container, FileError, StoredType, WeightFile, WeightType};

use crate::writers::{Tensor, safetensors, with_header};

#[test]
fn tensors_are_found_by_name() {
    let a = Tensor::f32("a", &[2, 3], &[0., 1., 2., 3., 4., 5.]);
    let b = Tensor {
        name: "b".to_owned(),
        dtype: WeightType::Bf16,
        shape: vec![2],
        bytes: vec![0x80, 0x3f, 0x00, 0x40],
    };
    let bytes = safetensors(&[b, a]);
    let file = WeightFile::parse(&bytes).unwrap();
    assert_eq!(file.container(), Container::Safetensors);
    let names: Vec<&str> = file.tensors().iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(file.meta("format").unwrap().text(), Some("pt"));
    let view = file.view(file.info("a").unwrap()).unwrap();
    let mut out = [0.0; 6];
    view.decode_f32(&mut out).unwrap();
    assert_eq!(
        (view.shape.as_slice(), out),
        (&[2, 3][..], [0., 1., 2., 3., 4., 5.])
    );
    let view = file.view(file.info("b").unwrap()).unwrap();
    let mut out = [0.0; 2];
    view.decode_f32(&mut out).unwrap();
    assert_eq!(out, [1.0, 2.0]);
    assert!(file.info("c").is_none());
}

fn error(header: &str, data: usize) -> String {
    let bytes = with_header(header, vec![0; data]);
    WeightFile::parse(&bytes).unwrap_err().to_string()
}

#[test]
fn headers_are_checked() {
    let row = |name: &str, dtype: &str, shape: &str, place: &str| {
        format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{place}}}")
    };
    let one =
        |dtype: &str, shape: &str, place: &str| format!("{{{}}}", row("a", dtype, shape, place));
    let cases = [
        (
            one("F32", "[2]", "[0,8]"),
            4,
            "its bytes end at 8, the data at 4",
        ),
        (one("F32", "[3]", "[0,8]"), 8, "fp32 of its shape takes 12"),
        (one("F32", "[2]", "[8,0]"), 8, "bytes 8 to 0"),
        (one("F4", "[2]", "[0,1]"), 8, "dtype \"F4\" is not known"),
        (
            one("F32", "[-2]", "[0,8]"),
            8,
            "`shape` is not a list of extents",
        ),
        (
            one("F32", "[4294967296,4294967296]", "[0,8]"),
            8,
            "its extents overflow",
        ),
        (
            one("F32", "[2]", "[0]"),
            8,
            "`data_offsets` are not two numbers",
        ),
        (
            one("F32", "[1]", "[4,8]"),
            8,
            "bytes 0 to 4 of the data do not belong to a tensor",
        ),
        (
            one("F32", "[1]", "[0,4]"),
            8,
            "bytes 4 to 8 of the data do not belong to a tensor",
        ),
        (
            "{\"a\":{\"dtype\":\"F32\"}}".to_owned(),
            0,
            "`shape` is missing",
        ),
        ("{\"a\":1}".to_owned(), 0, "`dtype` is missing"),
        ("{\"a\":".to_owned(), 0, "of the header: expected a value"),
        (
            "{\"__metadata__\":{\"a\":1}}".to_owned(),
            0,
            "__metadata__ is 1, expected an object with string values",
        ),
        (
            format!(
                "{{{},{}}}",
                row("a", "F32", "[2]", "[0,8]"),
                row("b", "F32", "[2]", "[4,12]")
            ),
            12,
            "tensor \"b\": its bytes overlap those of tensor \"a\"",
        ),
        (
            format!("{{{0},{0}}}", row("a", "F32", "[2]", "[0,8]")),
            8,
            "the key \"a\" twice",
        ),
    ];
    for (header, data, expected) in cases {
        let found = error(&header, data);
        assert!(found.contains(expected), "{header}: {found}");
    }
}

#[test]
fn lengths_are_checked_before_anything_is_read() {
    let mut bytes = with_header("{}", []);
    bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let found = WeightFile::parse(&bytes).unwrap_err();
    assert!(matches!(found, FileError::HeaderLength { .. }));
    bytes[..8].copy_from_slice(&1000u64.to_le_bytes());
    let found = WeightFile::parse(&bytes).unwrap_err();
    assert!(matches!(found, FileError::Truncated { .. }));
    for bytes in [&b""[..], b"{}", b"PK\x03\x04aaaaaaa"] {
        assert_eq!(WeightFile::parse(bytes).unwrap_err(), FileError::Unknown);
    }
}

#[test]
fn other_types_are_listed_but_not_decoded() {
    let header = "{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
    let bytes = with_header(header, vec![0; 8]);
    let file = WeightFile::parse(&bytes).unwrap();
    let info = file.info("a").unwrap();
    assert_eq!(info.stored, StoredType::Other("I64".to_owned()));
    assert!(file.view(info).is_none());
}
