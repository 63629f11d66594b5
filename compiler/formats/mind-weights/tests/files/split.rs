//! Models that are split into several GGUF files.

use mind_weights::WeightFile;

use crate::writers::{Meta, Tensor, gguf};

/// Returns a shard with the tensor `name`, whose numbers are all `value`.
fn part(keys: &[(&str, u32)], name: &str, value: f32) -> Vec<u8> {
    let mut meta: Vec<(&str, Meta)> = keys
        .iter()
        .map(|&(key, own)| (key, Meta::U32(own)))
        .collect();
    meta.push(("of", Meta::Text(name.to_owned())));
    gguf(&meta, &[Tensor::f32(name, &[2], &[value; 2])])
}

/// Returns the keys of shard `no` of `count`, for a model of `tensors` tensors.
fn keys(no: u32, count: u32, tensors: u32) -> [(&'static str, u32); 3] {
    [
        ("split.no", no),
        ("split.count", count),
        ("split.tensors.count", tensors),
    ]
}

fn joined(parts: &[Vec<u8>]) -> Result<WeightFile<'_>, String> {
    let parts = parts.iter().enumerate().map(|(at, bytes)| {
        let file = WeightFile::parse(bytes).expect("a header");
        (format!("m{at}"), file)
    });
    WeightFile::join(parts.collect()).map_err(|(name, error)| format!("{name}: {error}"))
}

#[test]
fn parts_are_one_file_with_the_keys_of_the_first() {
    let parts = [
        part(&keys(0, 3, 3), "b", 1.0),
        part(&keys(1, 3, 3), "a", 2.0),
        part(&keys(2, 3, 3), "c", 3.0),
    ];
    let whole = joined(&parts).expect("a model");
    let names: Vec<&str> = whole
        .tensors()
        .iter()
        .map(|info| info.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    for (name, value) in [("a", 2.0), ("b", 1.0), ("c", 3.0)] {
        let view = whole
            .view(whole.info(name).expect("a tensor"))
            .expect("its bytes");
        let mut out = [0.0; 2];
        view.decode_f32(&mut out).expect("numbers");
        assert_eq!(out, [value; 2], "{name}");
    }
    let keys: Vec<&str> = whole
        .metadata()
        .iter()
        .map(|(key, _)| key.as_str())
        .collect();
    assert_eq!(keys, ["of"]);
    assert_eq!(whole.meta("of").and_then(|of| of.text()), Some("b"));
}

#[test]
fn a_whole_file_stays_as_it_is() {
    for said in [
        &[][..],
        &[("split.count", 0)],
        &[("split.count", 1), ("split.no", 0)],
    ] {
        let file = [part(said, "a", 1.0)];
        assert_eq!(
            joined(&file).expect("a file").tensors().len(),
            1,
            "{said:?}"
        );
    }
}

#[test]
fn a_part_in_another_place_is_named() {
    let refused = |parts: &[Vec<u8>]| joined(parts).expect_err("no model");
    let rest = "the shards of a model are called `NAME-00001-of-00003.gguf` and so on";
    let first = || part(&keys(0, 2, 2), "a", 1.0);
    assert_eq!(
        refused(&[first()]),
        format!("m0: `split.count` is 2, expected 1: {rest}")
    );
    assert_eq!(
        refused(&[first(), first()]),
        format!("m1: `split.no` is 0, expected 1: {rest}")
    );
    assert_eq!(
        refused(&[first(), part(&keys(1, 3, 2), "b", 1.0)]),
        format!("m1: `split.count` is 3, expected 2: {rest}")
    );
    assert_eq!(
        refused(&[first(), part(&[], "b", 1.0)]),
        format!("m1: `split.count` is missing, expected 2: {rest}")
    );
    assert_eq!(
        refused(&[first(), part(&keys(1, 2, 9), "b", 1.0)]),
        format!("m1: `split.tensors.count` is 9, expected 2: {rest}")
    );
    assert_eq!(
        refused(&[first(), part(&keys(1, 2, 2), "a", 1.0)]),
        "m1: tensor \"a\" appears twice"
    );
}
