//! Products of dequantised tensors.

use mind_interp::{Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_onnx::proto::{ModelProto, NodeProto, TensorProto};
use mind_onnx::{ImportOptions, read};
use prost::Message;

use super::model::{
    Dim, FLOAT, floats, graph, imported, int, list, model, node, printed, text, value,
};

const U8: i32 = 2;
const I8: i32 = 3;

fn bytes(name: &str, element: i32, dims: &[i64], elements: &[i32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: element,
        dims: dims.to_vec(),
        int32_data: elements.to_vec(),
        ..TensorProto::default()
    }
}

/// Returns an image or rows `x`, quantised with zero point `zero`, and a weight `w` dequantised along `axis`.
fn quantised(
    zero: i32,
    weight: Vec<TensorProto>,
    axis: i64,
    last: NodeProto,
) -> (Vec<TensorProto>, Vec<NodeProto>) {
    let mut known = vec![floats("xs", &[], &[0.5]), bytes("xz", U8, &[], &[zero])];
    known.extend(weight);
    let nodes = vec![
        node("xq = QuantizeLinear(x, xs, xz)", vec![]),
        node("xr = DequantizeLinear(xq, xs, xz)", vec![]),
        node("wr = DequantizeLinear(w, ws, wz)", vec![int("axis", axis)]),
        last,
    ];
    (known, nodes)
}

/// Returns a weight of these bytes with a single scale and zero point.
fn weight(element: i32, dims: &[i64], own: &[i32], zero: i32) -> Vec<TensorProto> {
    vec![
        bytes("w", element, dims, own),
        floats("ws", &[], &[0.25]),
        bytes("wz", element, &[], &[zero]),
    ]
}

fn of(x: &[i64], (known, nodes): (Vec<TensorProto>, Vec<NodeProto>)) -> ModelProto {
    let dims: Vec<Dim> = x.iter().map(|&extent| Dim::Of(extent)).collect();
    model(graph(vec![value("x", FLOAT, &dims)], known, nodes, &["y"]))
}

fn product(zero: i32, weight: Vec<TensorProto>) -> ModelProto {
    let last = node("y = MatMul(xr, wr)", vec![]);
    of(&[2, 3], quantised(zero, weight, 1, last))
}

fn count(text: &str, op: &str) -> usize {
    text.matches(op).count()
}

fn result(model: &ModelProto, options: &ImportOptions, x: &Tensor) -> Tensor {
    let g = read(model.encode_to_vec().into(), options).expect("a model");
    let arrays = [("x".to_owned(), x.clone())].into_iter().collect();
    let bound = bind(&g, &arrays, Extents::default()).expect("its input");
    run(&g, &bound, &RunConfig::default())
        .expect("it runs")
        .remove(0)
}

#[test]
fn products_of_dequantised_bytes_are_those_of_the_bytes() {
    let text = text(&product(7, weight(I8, &[3, 2], &[1, 2, -3, 4, -5, 6], 0)));
    assert_eq!(
        (count(&text, "DotGeneral ("), count(&text, "MatMul (")),
        (1, 0),
        "{text}"
    );
    // The zero point of the rows is multiplied by the sums of the columns.
    assert_eq!(count(&text, "Sum ("), 1, "{text}");
    let text = super::model::text(&product(0, weight(I8, &[3, 2], &[1, 2, -3, 4, -5, 6], 0)));
    assert_eq!(count(&text, "Sum ("), 0, "{text}");
}

#[test]
fn constant_weights_lose_a_zero_point_that_leaves_bytes() {
    let centred = text(&product(
        7,
        weight(U8, &[3, 2], &[127, 130, 0, 255, 128, 1], 128),
    ));
    assert!(centred.contains("i8[3, 2]"), "{centred}");
    assert_eq!(count(&centred, "Sum ("), 1, "{centred}");
    let wide = text(&product(
        7,
        weight(U8, &[3, 2], &[127, 130, 0, 255, 128, 1], 100),
    ));
    assert!(wide.contains("i8[3, 2]"), "{wide}");
    assert_eq!(count(&wide, "Sum ("), 2, "{wide}");
}

#[test]
fn weights_have_a_scale_for_each_column_also_where_they_are_transposed() {
    let weight = || {
        vec![
            bytes("w", I8, &[2, 3], &[1, -3, -5, 2, 4, 6]),
            floats("ws", &[2], &[0.25, 0.5]),
            bytes("wz", I8, &[2], &[0, 1]),
        ]
    };
    let gemm = node("y = Gemm(xr, wr)", vec![int("transB", 1)]);
    let whole = of(&[2, 3], quantised(7, weight(), 0, gemm));
    assert_eq!(count(&text(&whole), "DotGeneral ("), 1);
    let x = Tensor::of(vec![2, 3], vec![0.5f32, 1.0, -1.5, 2.0, 2.5, 60.0]);
    // The rows (1, 2, -3) and (4, 5, 120) times the columns (1, -3, -5) / 4 and (1, 3, 5) / 2, halved.
    let expected = [1.25, -2.0, -76.375, 154.75];
    let found = result(&whole, &ImportOptions::default(), &x);
    assert_eq!(found.elements::<f32>(), expected);
    let keeps = ImportOptions {
        keeps_dequantized: true,
        ..ImportOptions::default()
    };
    assert_eq!(result(&whole, &keeps, &x).elements::<f32>(), expected);
    // A scale for each term cannot be factored out of the sum.
    let product = node("y = MatMul(xr, wr)", vec![]);
    let weight = vec![
        bytes("w", I8, &[3, 2], &[1, 2, -3, 4, -5, 6]),
        floats("ws", &[3], &[0.25, 0.5, 1.0]),
        bytes("wz", I8, &[3], &[0, 0, 0]),
    ];
    let by_terms = text(&of(&[2, 3], quantised(7, weight, 0, product)));
    assert_eq!(
        (
            count(&by_terms, "DotGeneral ("),
            count(&by_terms, "MatMul (")
        ),
        (0, 1)
    );
}

#[test]
fn convolutions_of_dequantised_bytes_pad_with_the_zero_point() {
    let image = |groups: i64| {
        let attributes = vec![list("pads", &[1, 1]), int("group", groups)];
        let last = node("y = Conv(xr, wr)", attributes);
        let own = weight(
            I8,
            &[2, 2 / groups, 2],
            &[1, 2, -3, 4, -5, 6, 7, -8][..8 / groups as usize],
            0,
        );
        of(&[1, 2, 3], quantised(7, own, 0, last))
    };
    let found = text(&image(1));
    assert_eq!(count(&found, "Pad ("), 1, "{found}");
    assert!(found.contains("dtype=i32, groups=1"), "{found}");
    let apart = text(&image(2));
    assert_eq!(
        (count(&apart, "Pad ("), count(&apart, "dtype=i32")),
        (0, 0),
        "{apart}"
    );
    let x = Tensor::of(vec![1, 2, 3], vec![0.5f32, 1.0, -1.5, 2.0, 2.5, 60.0]);
    let keeps = ImportOptions {
        keeps_dequantized: true,
        ..ImportOptions::default()
    };
    // All sums are exact in `f32` as well.
    let found = result(&image(1), &ImportOptions::default(), &x);
    assert_eq!(
        found.elements::<f32>(),
        result(&image(1), &keeps, &x).elements::<f32>()
    );
}

#[test]
fn products_stay_those_of_floats_where_sums_or_scales_are_not_exact() {
    let is_float = |model: &ModelProto| count(&text(model), "DotGeneral (") == 0;
    let mut tiny = weight(I8, &[3, 2], &[1; 6], 0);
    tiny[1] = floats("ws", &[], &[1e-38]);
    assert!(is_float(&product(7, tiny)));
    let long = |terms: i64| {
        let own = weight(I8, &[terms, 1], &vec![1; terms as usize], 0);
        let last = node("y = MatMul(xr, wr)", vec![]);
        of(&[1, terms], quantised(7, own, 1, last))
    };
    assert!(!is_float(&long(33025)));
    assert!(is_float(&long(33026)));
    // Data-dependent scales.
    let (known, nodes) = quantised(
        7,
        weight(I8, &[3, 2], &[1; 6], 0),
        1,
        node("y = MatMul(xr, wr)", vec![]),
    );
    let known = known.into_iter().filter(|own| own.name != "xs").collect();
    let inputs = vec![
        value("x", FLOAT, &[Dim::Of(2), Dim::Of(3)]),
        value("xs", FLOAT, &[]),
    ];
    assert!(is_float(&model(graph(inputs, known, nodes, &["y"]))));
}

#[test]
fn integers_less_their_zero_points_are_multiplied_exactly() {
    let inputs = || {
        vec![
            value("a", U8, &[2, 2, 3].map(Dim::Of)),
            value("b", I8, &[2, 3, 2].map(Dim::Of)),
        ]
    };
    let zeros = || {
        vec![
            bytes("az", U8, &[], &[200]),
            bytes("bz", I8, &[2], &[-7, 5]),
        ]
    };
    let nodes = || vec![node("y = MatMulInteger(a, b, az, bz)", vec![])];
    let g = imported(&model(graph(inputs(), zeros(), nodes(), &["y"]))).expect("a model");
    assert_eq!(count(&printed(&g), "DotGeneral ("), 1);
    let a: Vec<u8> = (0..12).map(|at| (at * 53 % 256) as u8).collect();
    let b: Vec<i8> = (0..12).map(|at| (at * 91 % 256) as u8 as i8).collect();
    let mut expected = Vec::new();
    for stack in 0..2 {
        for row in 0..2 {
            for column in 0..2 {
                let term = |k: usize| {
                    let x = i32::from(a[stack * 6 + row * 3 + k]) - 200;
                    x * (i32::from(b[stack * 6 + k * 2 + column]) - [-7, 5][column])
                };
                expected.push((0..3).map(term).sum::<i32>());
            }
        }
    }
    let arrays = [
        ("a".to_owned(), Tensor::of(vec![2, 2, 3], a)),
        ("b".to_owned(), Tensor::of(vec![2, 3, 2], b)),
    ];
    let arrays = arrays.into_iter().collect();
    let bound = bind(&g, &arrays, Extents::default()).expect("its inputs");
    let found = run(&g, &bound, &RunConfig::default()).expect("it runs");
    assert_eq!(found[0].elements::<i32>(), expected);
}

/// Returns the convolution of `x` minus 3 with filters minus their zero points, with every attribute that affects
/// windows.
fn convolved(element: i32, zeros: TensorProto, groups: i64) -> (Graph, Vec<i32>) {
    let filters: Vec<i32> = (0..2 * 2 * 3 * 2 / groups as i32)
        .map(|at| at * 37 % 251)
        .collect();
    let filters: Vec<i32> = match element {
        I8 => filters.iter().map(|own| own - 125).collect(),
        _ => filters,
    };
    let dims = [2, 2 / groups, 3, 2];
    let list_of_zeros = zeros.int32_data.clone();
    let known = vec![
        bytes("w", element, &dims, &filters),
        bytes("xz", U8, &[], &[3]),
        zeros,
    ];
    let attributes = vec![
        list("pads", &[1, 0, 2, 1]),
        list("strides", &[2, 1]),
        list("dilations", &[1, 2]),
        int("group", groups),
    ];
    let nodes = vec![node("y = ConvInteger(x, w, xz, wz)", attributes)];
    let inputs = vec![value("x", U8, &[1, 2, 4, 3].map(Dim::Of))];
    let g = imported(&model(graph(inputs, known, nodes, &["y"]))).expect("a model");
    let (each, x) = (2 / groups as usize, image());
    let mut expected = Vec::new();
    for filter in 0..2 {
        let zero = list_of_zeros[filter % list_of_zeros.len()];
        let first = filter / (2 / groups as usize) * each;
        for (row, column) in (0..3).flat_map(|row| (0..2).map(move |column| (row, column))) {
            let mut sum = 0;
            for (channel, tap) in (0..each).flat_map(|own| (0..6).map(move |tap| (own, tap))) {
                let (y, z) = (2 * row + tap / 2, column + 2 * (tap % 2));
                let pixel = match (1..5).contains(&y) && z < 3 {
                    true => i32::from(x[(first + channel) * 12 + (y - 1) * 3 + z]) - 3,
                    false => 0,
                };
                sum += pixel * (filters[(filter * each + channel) * 6 + tap] - zero);
            }
            expected.push(sum);
        }
    }
    (g, expected)
}

/// Returns the bytes of an image with two channels.
fn image() -> Vec<u8> {
    (0..24).map(|at| (at * 67 % 256) as u8).collect()
}

#[test]
fn convolutions_of_integers_take_zero_points_from_sums() {
    let check = |element: i32, zeros: TensorProto, groups: i64| {
        let (g, expected) = convolved(element, zeros, groups);
        let x = Tensor::of(vec![1, 2, 4, 3], image());
        let arrays = [("x".to_owned(), x)].into_iter().collect();
        let bound = bind(&g, &arrays, Extents::default()).expect("its input");
        let found = run(&g, &bound, &RunConfig::default()).expect("it runs");
        assert_eq!(found[0].elements::<i32>(), expected);
        printed(&g)
    };
    let is_of_bytes = |text: &str| text.contains("i8[2, 2, 3, 2]") && text.contains("dtype=i32");
    // Differences that fit in `i8` do not need sums of windows.
    let near = check(U8, bytes("wz", U8, &[], &[125]), 1);
    assert!(is_of_bytes(&near), "{near}");
    assert_eq!(count(&near, "ReduceWindow ("), 0, "{near}");
    for zeros in [bytes("wz", U8, &[], &[7]), bytes("wz", U8, &[2], &[7, 250])] {
        let far = check(U8, zeros, 1);
        assert!(is_of_bytes(&far), "{far}");
        assert_eq!(count(&far, "ReduceWindow ("), 1, "{far}");
    }
    let signed = check(I8, bytes("wz", I8, &[2], &[-7, 100]), 1);
    assert_eq!(count(&signed, "ReduceWindow ("), 1, "{signed}");
    // A separate sum for each group would not pay.
    check(U8, bytes("wz", U8, &[], &[7]), 2);
}
