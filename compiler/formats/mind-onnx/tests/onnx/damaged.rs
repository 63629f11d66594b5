//! Fuzz tests with damaged files.

use mind_ir::random::Rng;
use mind_onnx::{ImportOptions, read};
use prost::Message;

use super::model::{
    Dim, FLOAT, INT32, UINT8, floats, graph, graph_of, int, ints, list, model, node, value, word,
};

/// Returns a model whose numbers mostly have a meaning.
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

/// Returns a model of operators that compute with sizes from attributes and small inputs.
fn bytes_of_sizes() -> Vec<u8> {
    let fixed = |name, extents: &[i64]| {
        let dims: Vec<Dim> = extents.iter().copied().map(Dim::Of).collect();
        value(name, FLOAT, &dims)
    };
    let inputs = vec![
        fixed("x", &[2, 6, 8]),
        fixed("image", &[1, 4, 5, 5]),
        fixed("w", &[4, 4, 3, 3]),
        fixed("offset", &[1, 18, 3, 3]),
        fixed("theta", &[1, 2, 3]),
        fixed("columns", &[1, 4, 9]),
        fixed("regions", &[2, 4]),
        fixed("square", &[2, 3, 3]),
        fixed("signal", &[1, 16, 1]),
    ];
    let known = vec![
        ints("size", &[4], &[1, 1, 2, 3]),
        ints("area", &[2], &[4, 4]),
        ints("block", &[2], &[2, 2]),
        ints("images", &[2], &[0, 0]),
        ints("lengths", &[6], &[1, 2, 3, 4, 5, 6]),
        ints("four", &[1], &[4]),
        ints("shape", &[3], &[2, 4, 10]),
    ];
    let heads = || vec![int("q_num_heads", 2), int("kv_num_heads", 2)];
    let nodes = vec![
        node(
            "a, s = LinearAttention(x, x, x)",
            [heads(), vec![word("update_rule", "linear")]].concat(),
        ),
        node("b = DeformConv(image, w, offset)", vec![]),
        node("c = AffineGrid(theta, size)", vec![]),
        node("d = Col2Im(columns, area, block)", vec![]),
        node(
            "e = RoiAlign(image, regions, images)",
            vec![int("sampling_ratio", 2)],
        ),
        node("f = Det(square)", vec![]),
        node("g = DFT(signal, four)", vec![int("onesided", 1)]),
        node("h = STFT(signal, four, , four)", vec![]),
        node("i = HannWindow(four)", vec![]),
        node("j = ReverseSequence(x, lengths)", vec![]),
        node("k = CenterCropPad(x, shape)", vec![]),
        node("l = TensorScatter(x, x)", vec![int("axis", 1)]),
    ];
    let outputs = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let mut model = model(graph(inputs, known, nodes, &outputs));
    model.opset_import[0].version = 28;
    model.encode_to_vec()
}

/// Returns a model with operators of ONNX Runtime's own domain, and a scan of opset 8.
fn bytes_of_decoders() -> Vec<u8> {
    let fixed = |name, element, extents: &[i64]| {
        let dims: Vec<Dim> = extents.iter().copied().map(Dim::Of).collect();
        value(name, element, &dims)
    };
    let inputs = vec![
        fixed("q", FLOAT, &[2, 1, 16]),
        fixed("k", FLOAT, &[2, 1, 8]),
        fixed("past", FLOAT, &[2, 1, 3, 8]),
        fixed("last", INT32, &[2]),
        fixed("angles", FLOAT, &[9, 4]),
        fixed("bytes", UINT8, &[2, 4, 8]),
        fixed("w", UINT8, &[8, 24]),
        fixed("x", FLOAT, &[6, 1, 5]),
        fixed("ih", UINT8, &[1, 5, 16]),
        fixed("hh", UINT8, &[1, 4, 16]),
        fixed("sequence", FLOAT, &[2, 4, 3]),
        fixed("start", FLOAT, &[2, 3]),
    ];
    let known = vec![
        ints("total", &[1], &[4]),
        floats("scale", &[1], &[0.01]),
        ints("lengths", &[2], &[4, 2]),
    ];
    let step = graph(
        vec![fixed("s", FLOAT, &[3]), fixed("e", FLOAT, &[3])],
        vec![],
        vec![node("t = Add(s, e)", vec![]), node("u = Mul(s, e)", vec![])],
        &["t", "u"],
    );
    let heads = vec![
        int("num_heads", 2),
        int("kv_num_heads", 1),
        int("do_rotary", 1),
    ];
    let scan = vec![int("num_scan_inputs", 1), graph_of("body", step)];
    let mut nodes = vec![
        node(
            "a, b, c = GroupQueryAttention(q, k, k, past, past, last, total, angles, angles)",
            heads,
        ),
        node(
            "d = QAttention(bytes, w, , scale, scale)",
            vec![int("num_heads", 2)],
        ),
        node(
            "e, f, g = DynamicQuantizeLSTM(x, ih, hh, , , , , , scale, , scale)",
            vec![int("hidden_size", 4)],
        ),
        node("h, i = Scan(lengths, start, sequence)", scan),
    ];
    for own in &mut nodes[..3] {
        own.domain = "com.microsoft".to_owned();
    }
    let mut model = model(graph(inputs, known, nodes, &["a", "b", "d", "e", "h", "i"]));
    model.opset_import[0].version = 8;
    model.opset_import[1].domain = "com.microsoft".to_owned();
    model.encode_to_vec()
}

#[test]
fn a_damaged_model_is_an_error_or_another_model() {
    for whole in [bytes(), bytes_of_sizes(), bytes_of_decoders()] {
        let read = read(whole.clone().into(), &ImportOptions::default());
        read.map(drop)
            .unwrap_or_else(|found| panic!("{:?}", found.first_error()));
        damage(&whole);
    }
}

/// Reads damaged copies of a model, a thousand or as many as `MIND_MODULES` says, drawn from the seed `MIND_SEED`.
fn damage(whole: &[u8]) {
    let asked = |name: &str, default: usize| {
        let given = std::env::var(name).ok();
        given.and_then(|own| own.parse().ok()).unwrap_or(default)
    };
    let count = asked("MIND_MODULES", 1000);
    let mut rng = Rng::new(asked("MIND_SEED", 1) as u64);
    let mut refused = 0;
    for _ in 0..count {
        let mut bytes = whole.to_vec();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len());
            bytes[at] = rng.bits() as u8;
        }
        bytes.truncate(bytes.len() - rng.below(4) * rng.below(20));
        let Err(found) = read(bytes.into(), &ImportOptions::default()) else {
            continue;
        };
        refused += 1;
        for error in found.iter() {
            assert!(
                error.code.is_some() && error.way_out().is_some(),
                "{error:?}"
            );
        }
    }
    assert!((1..count).contains(&refused), "{refused}");
}
