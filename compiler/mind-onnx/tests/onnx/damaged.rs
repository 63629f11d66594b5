//! Damaged files.

use mind_ir::random::Rng;
use mind_onnx::{ImportOptions, read};
use prost::Message;

use super::model::{Dim, FLOAT, floats, graph, int, ints, list, model, node, value};

/// A model in which most numbers mean something.
fn bytes() -> Vec<u8> {
    let x = value(
        "x",
        FLOAT,
        &[Dim::Named("n"), Dim::Of(3), Dim::Of(8), Dim::Of(8)],
    );
    let known = vec![
        floats("w", &[4, 3, 3, 3], &[0.5; 108]),
        ints("shape", &[2], &[0, -1]),
        ints("pads", &[4], &[0, 1, 0, 1]),
        ints("start", &[1], &[1]),
        ints("end", &[1], &[9]),
        ints("k", &[1], &[2]),
    ];
    let nodes = vec![
        node(
            "a = Conv(x, w)",
            vec![list("strides", &[2, 2]), list("pads", &[1, 1, 1, 1])],
        ),
        node(
            "b = MaxPool(a)",
            vec![list("kernel_shape", &[2, 2]), int("ceil_mode", 1)],
        ),
        node("c = Reshape(b, shape)", vec![]),
        node("d = Pad(c, pads)", vec![]),
        node("e = Slice(d, start, end, start)", vec![]),
        node("f, g = TopK(e, k)", vec![int("axis", 1)]),
        node("h = Softmax(f)", vec![int("axis", -1)]),
        node("y = Tile(h, k)", vec![]),
    ];
    model(graph(vec![x], known, nodes, &["h", "g"])).encode_to_vec()
}

#[test]
fn a_damaged_model_is_an_error_or_another_model() {
    let whole = bytes();
    let mut rng = Rng::new(1);
    let mut refused = 0;
    for _ in 0..1000 {
        let mut bytes = whole.clone();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len());
            bytes[at] = rng.bits() as u8;
        }
        bytes.truncate(bytes.len() - rng.below(4) * rng.below(20));
        refused += usize::from(read(bytes.into(), &ImportOptions::default()).is_err());
    }
    assert!((1..1000).contains(&refused), "{refused}");
}
