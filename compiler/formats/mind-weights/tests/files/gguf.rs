//! GGUF files.

use mind_weights::{Container, WeightFile, WeightType};

use crate::writers::{Meta, Tensor, gguf};

const NO_META: &[(&str, Meta)] = &[];

fn example() -> Vec<u8> {
    let a = Tensor::f32("a", &[2, 3], &[0., 1., 2., 3., 4., 5.]);
    let q = Tensor {
        name: "q".to_owned(),
        dtype: WeightType::Q8_0,
        shape: vec![1, 32],
        bytes: [&[0x00, 0x3c][..], &[1; 32]].concat(),
    };
    let meta = [
        ("general.architecture", Meta::Text("llama".to_owned())),
        ("tokens", Meta::Texts(vec!["a".to_owned(), "b".to_owned()])),
        ("llama.block_count", Meta::U32(7)),
        ("llama.eps", Meta::F32(0.5)),
    ];
    gguf(&meta, &[q, a])
}

#[test]
fn keys_and_tensors_are_found_by_name() {
    let bytes = example();
    let file = WeightFile::parse(&bytes).unwrap();
    assert_eq!(file.container(), Container::Gguf);
    assert_eq!(
        file.meta("general.architecture").unwrap().text(),
        Some("llama")
    );
    assert_eq!(file.meta("llama.block_count").unwrap().natural(), Some(7));
    assert_eq!(file.meta("llama.eps").unwrap().real(), Some(0.5));
    let view = file.view(file.info("a").unwrap()).unwrap();
    let mut out = [0.0; 6];
    view.decode_f32(&mut out).unwrap();
    assert_eq!(
        (view.shape.as_slice(), out),
        (&[2, 3][..], [0., 1., 2., 3., 4., 5.])
    );
    let view = file.view(file.info("q").unwrap()).unwrap();
    let mut out = [0.0; 32];
    view.decode_f32(&mut out).unwrap();
    assert_eq!(out, [1.0; 32]);
}

fn error(bytes: &[u8]) -> String {
    WeightFile::parse(bytes).unwrap_err().to_string()
}

#[test]
fn headers_are_checked() {
    let bytes = example();
    let with = |at: usize, value: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        error(&bytes)
    };
    assert_eq!(
        with(4, &1u32.to_le_bytes()),
        "the version is 1, expected 2 or 3, little endian"
    );
    assert_eq!(
        with(4, &3u32.to_be_bytes()),
        "the version is big endian, expected 2 or 3, little endian"
    );
    // The bytes after the entries of tensors are not valid entries.
    assert!(!with(8, &u64::MAX.to_le_bytes()).is_empty());
    assert!(with(16, &u64::MAX.to_le_bytes()).contains("key"));
    let key = |name: &str| {
        let at = bytes
            .windows(name.len())
            .position(|own| own == name.as_bytes());
        at.unwrap() + name.len()
    };
    let count = key("llama.block_count");
    assert_eq!(
        with(count, &13u32.to_le_bytes()),
        "the type of a value is 13, expected 0 to 12"
    );
    let texts = key("tokens") + 8;
    assert!(with(texts, &u64::MAX.to_le_bytes()).starts_with("the file ends within an array"));
    // The extents of `q`, innermost first, its type and its offset.
    let q = key("q\x02\x00\x00\x00");
    assert_eq!(
        with(q, &31u64.to_le_bytes()),
        "tensor \"q\": rows of 31 elements are not whole blocks of q8_0"
    );
    assert_eq!(
        with(q + 8, &(u64::MAX / 2).to_le_bytes()),
        "tensor \"q\": its extents overflow"
    );
    assert!(with(q + 8, &1000u64.to_le_bytes()).contains("end past the file"));
    assert!(with(q + 20, &u64::MAX.to_le_bytes()).contains("end past the file"));
}

#[test]
fn tensors_lie_apart_and_have_names_of_their_own() {
    let a = Tensor::f32("a", &[8], &[0.0; 8]);
    let twice = gguf(NO_META, &[a.clone(), a.clone()]);
    assert_eq!(error(&twice), "tensor \"a\" appears twice");
    let b = Tensor {
        name: "b".to_owned(),
        ..a.clone()
    };
    let mut bytes = gguf(NO_META, &[a, b]);
    let at = bytes
        .windows(8)
        .position(|own| own == 32u64.to_le_bytes())
        .unwrap();
    bytes[at..at + 8].copy_from_slice(&16u64.to_le_bytes());
    assert_eq!(
        error(&bytes),
        "tensor \"b\": its bytes overlap those of tensor \"a\""
    );
}

#[test]
fn a_file_cut_anywhere_is_refused_or_whole() {
    let bytes = example();
    for end in 0..bytes.len() {
        assert!(WeightFile::parse(&bytes[..end]).is_err(), "{end}");
    }
}

#[test]
fn types_that_cannot_be_decoded_have_their_names() {
    let stored = |code: u8| {
        let mut bytes = example();
        let name = bytes
            .windows(9)
            .rposition(|own| own == b"\x01\0\0\0\0\0\0\0a")
            .expect("the tensor");
        // The name, the rank and two extents precede the type.
        bytes[name + 9 + 4 + 16] = code;
        let file = WeightFile::parse(&bytes).expect("a header");
        file.info("a").expect("the tensor").stored.to_string()
    };
    assert_eq!(stored(16), "IQ2_XXS");
    assert_eq!(stored(23), "IQ4_XS");
    assert_eq!(stored(40), "NVFP4");
    assert_eq!(stored(99), "type 99");
    let retired = [4, 5, 31, 32, 33, 36, 37, 38, 42, 43, 44];
    for code in (0..45).filter(|&code| WeightType::of_gguf(code).is_none()) {
        let is_numbered = stored(code as u8) == format!("type {code}");
        assert_eq!(is_numbered, retired.contains(&code), "{code}");
    }
}

#[test]
fn values_are_shown_as_they_are_written() {
    let meta = [
        ("flag", Meta::Bool(true)),
        ("real", Meta::F32(2.0)),
        ("text", Meta::Text("a".to_owned())),
        ("texts", Meta::Texts(vec!["a".to_owned(), "b".to_owned()])),
    ];
    let bytes = gguf(&meta, &[]);
    let file = WeightFile::parse(&bytes).expect("a header");
    let shown = file.metadata().iter();
    let shown: Vec<String> = shown.map(|(key, value)| format!("{key} {value}")).collect();
    let expected = [
        "flag true",
        "real 2.0",
        "text \"a\"",
        "texts an array of 2 elements",
    ];
    assert_eq!(shown, expected);
    assert_eq!(file.meta("flag").and_then(|flag| flag.truth()), Some(true));
}
