//! Corrupted files must be rejected, or read without a panic.

use std::path::Path;

use mind_ir::random::Rng;
use mind_weights::{WeightFile, WeightType};

use crate::writers::{Meta, Tensor, corrupt, gguf, safetensors};

/// Decodes all tensors of a file. Returns whether its header is valid.
fn read_all(bytes: &[u8]) -> bool {
    let Ok(file) = WeightFile::parse(bytes) else {
        return false;
    };
    for info in file.tensors() {
        let Some(view) = file.view(info) else {
            continue;
        };
        assert!(view.bytes.len() <= bytes.len());
        let mut out = vec![0.0; view.elements()];
        view.decode_f32(&mut out).unwrap();
    }
    true
}

fn tensors() -> Vec<Tensor> {
    let mut random = Rng::new(7);
    let mut all = Vec::new();
    for (at, rows) in [3, 1, 4, 8].into_iter().enumerate() {
        let values: Vec<f32> = (0..rows * 5)
            .map(|_| 2.0 * random.fraction() as f32 - 1.0)
            .collect();
        all.push(Tensor::f32(&format!("blk.{at}.w"), &[rows, 5], &values));
    }
    all
}

/// Corrupts a file a thousand times. docs/models.md has the numbers of files that are rejected and read.
fn survive(what: &str, valid: &[u8], seed: u64) {
    let mut random = Rng::new(seed);
    assert!(read_all(valid));
    let fine = (0..1000)
        .filter(|_| read_all(&corrupt(valid, &mut random)))
        .count();
    let row = format!("| {what} | 1000 | {} | {fine} |\n", 1000 - fine);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/models.md");
    let docs = std::fs::read_to_string(docs).expect("docs/models.md");
    assert!(
        docs.contains(&row),
        "docs/models.md has another row than\n{row}"
    );
}

#[test]
fn corrupted_safetensors() {
    survive("safetensors", &safetensors(&tensors()), 1);
}

#[test]
fn corrupted_gguf() {
    let mut all = tensors();
    let mut random = Rng::new(3);
    for (at, dtype) in WeightType::all().enumerate() {
        let rows = 2;
        let bytes = dtype.row_bytes(256).unwrap() * rows;
        all.push(Tensor {
            name: format!("blk.{at}.{dtype}"),
            dtype,
            shape: vec![rows, 256],
            bytes: (0..bytes).map(|_| random.bits() as u8).collect(),
        });
    }
    let meta = [
        ("general.architecture", Meta::Text("llama".to_owned())),
        ("tokens", Meta::Texts(vec!["a".to_owned(), "b".to_owned()])),
        ("llama.block_count", Meta::U32(7)),
    ];
    survive("GGUF", &gguf(&meta, &all), 2);
}
