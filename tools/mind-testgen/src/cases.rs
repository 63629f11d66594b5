//! Every op with inputs of interesting shapes.

use mind_core::ops::OPS;
use mind_core::ops::sample::Coordinates;
use mind_ir::attr::AttrKind;
use mind_ir::opdef::AttrDef;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

/// An op with inputs of static shapes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The op as Core text over `%0`, `%1`, …
    pub op: String,
    /// The lines of ops before it, whose results are from `%5` on.
    pub before: &'static str,
    /// The shapes of its inputs.
    pub shapes: Vec<Vec<usize>>,
    /// Number of results.
    pub results: usize,
}

impl Case {
    /// Returns the lines after those of the inputs: the ops, and the results of the last one as outputs.
    pub fn end(&self) -> String {
        let results: Vec<String> = (9..9 + self.results).map(|at| format!("%{at}")).collect();
        let results = results.join(", ");
        let (before, op) = (self.before, &self.op);
        format!("{before}{results} = {op}\noutputs: {results}\n")
    }
}

fn case(op: impl Into<String>, shapes: &[&[usize]]) -> Case {
    Case {
        op: op.into(),
        before: "",
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        results: 1,
    }
}

/// Returns the elementwise ops of this arity with their attributes, as the text before and after the operands.
fn scalar_ops(arity: usize) -> Vec<(&'static str, String)> {
    let takes = |function: ScalarFn| function.arity() == arity;
    let ops = OPS.iter().filter(|op| op.scalar.is_some_and(takes));
    let written = ops.flat_map(|op| {
        let attrs = match op.attrs {
            [
                AttrDef {
                    name,
                    kind: AttrKind::Word(words),
                    ..
                },
            ] => words
                .iter()
                .map(|word| format!(" {{{name}={word}}}"))
                .collect(),
            _ => vec![String::new()],
        };
        let named = |attrs| Some((op.names.core?, attrs));
        attrs.into_iter().filter_map(named)
    });
    written.collect()
}

fn elementwise() -> Vec<Case> {
    let shapes: [&[usize]; 6] = [&[], &[1], &[7], &[1, 1, 1], &[3, 5], &[2, 1, 67]];
    let pairs: [[&[usize]; 2]; 11] = [
        [&[], &[]],
        [&[5], &[]],
        [&[], &[3, 1]],
        [&[1], &[7]],
        [&[1], &[1]],
        [&[7], &[7]],
        [&[2, 3], &[3]],
        [&[2, 1], &[1, 3]],
        [&[7, 1], &[3, 1, 5]],
        [&[2, 2, 2], &[2, 2, 2]],
        [&[1, 5], &[3, 5]],
    ];
    let unary = scalar_ops(1).into_iter();
    let unary = unary.flat_map(|(name, attrs)| {
        shapes.map(|shape| case(format!("{name} (%0){attrs}"), &[shape]))
    });
    let binary = scalar_ops(2).into_iter();
    let binary = binary
        .flat_map(|(name, attrs)| pairs.map(|pair| case(format!("{name} (%0, %1){attrs}"), &pair)));
    let squares = scalar_ops(2)
        .into_iter()
        .map(|(name, attrs)| case(format!("{name} (%0, %0){attrs}"), &[&[3, 2]]));
    unary.chain(binary).chain(squares).collect()
}

fn sorts() -> Vec<Case> {
    let shapes: [&[usize]; 4] = [&[1], &[7], &[3, 5], &[2, 9, 2]];
    let ops = [
        "Sort (%0)",
        "Sort (%0) {axis=0, descending=true}",
        "TopK (%0) {k=1}",
        "TopK (%0) {k=1, axis=0, largest=false}",
    ];
    ops.iter()
        .flat_map(|op| {
            shapes.map(|shape| Case {
                results: 2,
                ..case(*op, &[shape])
            })
        })
        .collect()
}

fn casts() -> Vec<Case> {
    let shapes: [&[usize]; 3] = [&[], &[3, 5], &[2, 1, 67]];
    let dtypes = DType::ALL.iter();
    let cast = |dtype| shapes.map(|shape| case(format!("Cast (%0) {{dtype={dtype}}}"), &[shape]));
    dtypes.flat_map(cast).collect()
}

/// Returns bitcasts to narrower, equally wide and wider dtypes; those that do not fit an operand's dtype are skipped.
fn bits() -> Vec<Case> {
    let shapes: [&[usize]; 6] = [&[], &[3, 5], &[67], &[3, 2], &[5, 4], &[3, 8]];
    let dtypes = DType::ALL.iter();
    let bits =
        |dtype| shapes.map(|shape| case(format!("Bitcast (%0) {{dtype={dtype}}}"), &[shape]));
    dtypes.flat_map(bits).collect()
}

fn reductions() -> Vec<Case> {
    let mut all = Vec::new();
    for name in ["Sum", "Mean", "Max", "Min", "Prod"] {
        let mut add = |shape: &[usize], axes: &str, keepdims: bool| {
            let op = format!("{name} (%0) {{axes={axes}, keepdims={keepdims}}}");
            all.push(case(op, &[shape]));
        };
        for keepdims in [false, true] {
            add(&[], "[]", keepdims);
            add(&[130], "[]", keepdims);
            add(&[1, 1], "[1]", keepdims);
            add(&[3, 67, 2], "[1]", keepdims);
            add(&[66, 256], "[0]", keepdims);
            add(&[3, 7, 2], "[-1, 0]", keepdims);
            add(&[2, 3, 5], "[2, 1, 0]", keepdims);
            add(&[2, 5, 2, 3], "[0, 2]", keepdims);
            add(&[4, 3, 4], "[0, -1]", keepdims);
            add(&[4, 3, 5], "[0, -1]", keepdims);
        }
    }
    for name in ["ArgMax", "ArgMin"] {
        for (axis, keepdims, last) in [(0, false, false), (-1, true, false), (1, false, true)] {
            let op = format!("{name} (%0) {{axis={axis}, keepdims={keepdims}, last={last}}}");
            all.push(case(op.clone(), &[&[3, 67]]));
            all.push(case(op, &[&[5, 2, 3]]));
        }
    }
    for kind in ["sum", "prod", "max", "min"] {
        for (axis, exclusive, reverse) in [(0, false, false), (-1, true, false), (1, false, true)] {
            let op = format!(
                "Cumulative (%0) {{axis={axis}, exclusive={exclusive}, kind={kind}, reverse={reverse}}}"
            );
            all.push(case(op.clone(), &[&[3, 67]]));
            all.push(case(op, &[&[5, 2, 3]]));
        }
    }
    all
}

fn products() -> Vec<Case> {
    let dot: [[&[usize]; 2]; 5] = [
        [&[1], &[1]],
        [&[13], &[13]],
        [&[3, 5], &[5]],
        [&[5], &[5, 2]],
        [&[2, 7], &[7, 3]],
    ];
    let matmul: [[&[usize]; 2]; 8] = [
        [&[1, 1], &[1, 1]],
        [&[3, 7], &[7, 5]],
        [&[2, 3, 5], &[5, 2]],
        [&[3, 5], &[2, 5, 3]],
        [&[2, 3, 5], &[2, 5, 7]],
        [&[1, 3, 5], &[2, 5, 7]],
        [&[3, 1, 2, 2], &[2, 2, 3]],
        [&[2, 1, 1, 3], &[1, 5, 3, 1]],
    ];
    let dot = dot.map(|pair| case("Dot (%0, %1)", &pair));
    let matmul = matmul.map(|pair| case("MatMul (%0, %1)", &pair));
    let paddings = ["valid", "same", "[[1, 0], [2, 1]]"];
    let conv = paddings.into_iter().flat_map(|padding| {
        ["[1, 1]", "[2, 1]"].map(|strides| {
            let op = format!("Conv2d (%0, %1) {{padding={padding}, strides={strides}}}");
            case(op, &[&[2, 5, 4, 3], &[3, 2, 3, 2]])
        })
    });
    dot.into_iter()
        .chain(matmul)
        .chain(dot_general())
        .chain(conv)
        .collect()
}

/// Returns products with lists of dimensions, in their sum dtypes.
fn dot_general() -> Vec<Case> {
    let products: [(&str, [&[usize]; 2]); 13] = [
        ("", [&[3], &[5]]),
        ("lhs_contract=[0], rhs_contract=[0]", [&[13], &[13]]),
        ("lhs_contract=[1], rhs_contract=[0]", [&[3, 7], &[7, 5]]),
        ("lhs_contract=[1], rhs_contract=[1]", [&[5, 67], &[19, 67]]),
        ("lhs_contract=[1], rhs_contract=[0]", [&[0, 17], &[17, 16]]),
        ("lhs_contract=[1], rhs_contract=[0]", [&[1, 18], &[18, 17]]),
        ("lhs_contract=[1], rhs_contract=[0]", [&[4, 0], &[0, 16]]),
        ("lhs_contract=[1], rhs_contract=[0]", [&[4, 1], &[1, 16]]),
        (
            "lhs_contract=[1, 2], rhs_contract=[2, 0]",
            [&[2, 3, 4], &[4, 5, 3]],
        ),
        (
            "lhs_batch=[0], lhs_contract=[2], rhs_batch=[2], rhs_contract=[1]",
            [&[2, 3, 5], &[4, 5, 2]],
        ),
        (
            "lhs_batch=[0, 2], lhs_contract=[3], rhs_batch=[0, 2], rhs_contract=[1]",
            [&[1, 3, 2, 4], &[1, 4, 2, 5]],
        ),
        ("lhs_batch=[1], rhs_batch=[0]", [&[2, 3], &[3, 2]]),
        (
            "lhs_batch=[0], lhs_contract=[1], rhs_batch=[2], rhs_contract=[0]",
            [&[2, 67, 5], &[67, 33, 2]],
        ),
    ];
    let dtypes = ["", "i32", "i64", "f32", "f64"];
    let written = |(lists, shapes): (&str, [&[usize]; 2])| {
        dtypes.map(|dtype| {
            let dtype = match dtype {
                "" => String::new(),
                dtype => format!("dtype={dtype}"),
            };
            let attrs = [&dtype, lists].map(str::to_owned);
            let attrs: Vec<String> = attrs.into_iter().filter(|text| !text.is_empty()).collect();
            let attrs = attrs.join(", ");
            case(format!("DotGeneral (%0, %1) {{{attrs}}}"), &shapes)
        })
    };
    products.into_iter().flat_map(written).collect()
}

/// Returns quantisations of every granularity.
fn scales() -> Vec<Case> {
    let shapes: [(i64, [&[usize]; 2]); 6] = [
        (-1, [&[67], &[]]),
        (0, [&[3, 5], &[3]]),
        (1, [&[2, 5, 3], &[5]]),
        (-1, [&[3, 8], &[1, 2]]),
        (-1, [&[4, 7], &[2, 3]]),
        (-1, [&[], &[]]),
    ];
    let dtypes = [
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::I32,
        DType::U32,
    ];
    let quantize = |dtype| {
        shapes.map(|(axis, shapes)| {
            let op = format!("Quantize (%0, %1) {{axis={axis}, dtype={dtype}}}");
            case(op, &shapes)
        })
    };
    dtypes.into_iter().flat_map(quantize).collect()
}

/// Returns dequantisations. Operand `%1` has the scales, and operand `%2` the zero points.
pub fn scaled() -> Vec<Case> {
    let shapes: [(i64, [&[usize]; 3]); 6] = [
        (-1, [&[67], &[], &[]]),
        (0, [&[3, 5], &[3], &[3]]),
        (1, [&[2, 5, 3], &[5], &[5]]),
        (-1, [&[3, 8], &[1, 2], &[1, 2]]),
        (-1, [&[4, 7], &[2, 3], &[2, 3]]),
        (-1, [&[], &[], &[]]),
    ];
    let dequantize = |(axis, shapes): (i64, [&[usize]; 3])| {
        let without = format!("Dequantize (%0, %1) {{axis={axis}}}");
        let with = format!("Dequantize (%0, %1, %2) {{axis={axis}}}");
        [case(without, &shapes[..2]), case(with, &shapes)]
    };
    shapes.into_iter().flat_map(dequantize).collect()
}

fn windows() -> Vec<Case> {
    let kinds = ["max", "min", "sum", "prod", "mean"];
    let mut all: Vec<Case> = Vec::new();
    for kind in kinds {
        let mut reduce = |attrs: &str, shape: &[usize]| {
            let op = format!("ReduceWindow (%0) {{{attrs}, kind={kind}}}");
            all.push(case(op, &[shape]));
        };
        reduce("window=[]", &[]);
        reduce("window=[3]", &[70]);
        reduce(
            "window=[3], strides=[2], count_padding=true, low=[1], high=[2]",
            &[7],
        );
        reduce("window=[1, 2, 3, 1], strides=[1, 2, 1, 1]", &[2, 5, 4, 19]);
        reduce(
            "window=[1, 1, 3, 3], dilations=[1, 1, 2, 1], low=[0, 0, 2, 1], high=[0, 0, 2, 1], count_padding=true",
            &[2, 2, 6, 21],
        );
        reduce("window=[2, 19], high=[1, 0], count_padding=true", &[3, 20]);
    }
    all
}

/// Returns resizes with every coordinate transformation, and linear and cubic interpolation.
fn resized() -> Vec<Case> {
    let resize = |attrs: &str, shape: &[usize]| case(format!("Resize (%0) {{{attrs}}}"), &[shape]);
    let mut all = vec![
        resize("axes=[1, 2], sizes=[5, 19]", &[2, 3, 7]),
        resize(
            "axes=[0], sizes=[5], coordinates=asymmetric, nearest=floor",
            &[3, 7],
        ),
        resize(
            "axes=[1], sizes=[3], mode=linear, coordinates=asymmetric",
            &[2, 3, 5],
        ),
        resize("axes=[1], sizes=[0], mode=cubic", &[2, 3, 5]),
        resize(
            "axes=[1, 0], sizes=[5, 2], mode=cubic, antialias=true, exclude_outside=true",
            &[5, 3],
        ),
        resize(
            "axes=[1], sizes=[3], mode=linear, antialias=true",
            &[2, 7, 2],
        ),
        resize(
            "axes=[0], sizes=[7], mode=cubic, exclude_outside=true, cubic_a=-0.5",
            &[4, 3],
        ),
    ];
    for (at, coordinates) in Coordinates::ALL.iter().enumerate() {
        let (mode, other) = if at % 2 == 0 {
            ("linear", "cubic")
        } else {
            ("cubic", "linear")
        };
        let word = coordinates.name();
        all.push(resize(
            &format!("axes=[0, 1], sizes=[5, 19], mode={mode}, coordinates={word}"),
            &[3, 7],
        ));
        all.push(resize(
            &format!("axes=[1], sizes=[1], mode={other}, coordinates={word}"),
            &[2, 4, 3],
        ));
    }
    all
}

fn largest_places() -> Vec<Case> {
    let place =
        |attrs: &str, shape: &[usize]| case(format!("ArgMaxWindow (%0) {{{attrs}}}"), &[shape]);
    vec![
        place("window=[]", &[]),
        place("window=[3], strides=[2], low=[1], high=[2]", &[7]),
        place("window=[1], low=[2]", &[3]),
        place(
            "window=[1, 2, 3, 1], dilations=[1, 2, 1, 1], low=[0, 3, 0, 0]",
            &[2, 5, 4, 3],
        ),
        place(
            "window=[1, 3, 3, 1], strides=[1, 2, 2, 1], low=[0, 1, 1, 0]",
            &[1, 6, 7, 19],
        ),
    ]
}

/// Returns samplings of images, which have no kernel.
pub fn samples() -> Vec<Case> {
    let op = |op: &str, attrs: &str, shapes: &[&[usize]]| {
        let operands: Vec<String> = (0..shapes.len()).map(|at| format!("%{at}")).collect();
        case(
            format!("{op} ({}) {{{attrs}}}", operands.join(", ")),
            shapes,
        )
    };
    vec![
        op("GridSample", "mode=linear", &[&[2, 4, 3, 2], &[2, 3, 5, 2]]),
        op(
            "GridSample",
            "layout=nchw, mode=cubic, coordinates=pixel, padding=reflect",
            &[&[1, 2, 5], &[1, 4, 1]],
        ),
        op(
            "GridSample",
            "layout=nchw, mode=cubic, padding=reflect",
            &[&[2, 2, 3, 4], &[2, 3, 5, 2]],
        ),
        op(
            "GridSample",
            "mode=cubic, coordinates=align_corners, padding=symmetric",
            &[&[1, 3, 2, 4, 2], &[1, 2, 3, 2, 3]],
        ),
        op(
            "GridSample",
            "layout=nchw, mode=nearest, padding=reflect",
            &[&[1, 2, 3, 4], &[1, 3, 5, 2]],
        ),
        op(
            "GridSample",
            "mode=cubic, padding=border, coordinates=align_corners",
            &[&[1, 3, 4, 2], &[1, 3, 5, 2]],
        ),
    ]
}

fn convolutions() -> Vec<Case> {
    let conv = |attrs: &str, input: &[usize], filter: &[usize]| {
        case(format!("Conv (%0, %1) {{{attrs}}}"), &[input, filter])
    };
    let back = |attrs: &str, input: &[usize], filter: &[usize]| {
        let op = format!("ConvTranspose (%0, %1) {{{attrs}}}");
        case(op, &[input, filter])
    };
    vec![
        conv("layout=nhwc", &[2, 7, 3], &[3, 3, 5]),
        conv("layout=nchw, strides=[2]", &[2, 3, 7], &[5, 3, 3]),
        conv(
            "dilations=[2, 1], pads=[1, 1, 0, 1]",
            &[1, 6, 5, 3],
            &[2, 3, 3, 19],
        ),
        conv(
            "groups=19, pads=[1, 1, 1, 1]",
            &[1, 5, 4, 19],
            &[3, 3, 1, 19],
        ),
        conv(
            "groups=70, pads=[1, 1, 1, 1]",
            &[1, 3, 12, 70],
            &[3, 3, 1, 70],
        ),
        conv("groups=35, pads=[3, 0]", &[1, 23, 35], &[4, 1, 35]),
        conv(
            "groups=2, pads=[0, 1, 0, 1]",
            &[1, 2, 21, 6],
            &[2, 3, 3, 34],
        ),
        back("strides=[2, 1]", &[1, 12, 9, 2], &[2, 3, 20, 2]),
        conv("groups=3, strides=[2, 1]", &[2, 5, 4, 3], &[3, 2, 1, 6]),
        conv(
            "groups=2, layout=nchw, pads=[1, 1, 1, 1]",
            &[1, 4, 5, 23],
            &[6, 2, 3, 3],
        ),
        conv(
            "dilations=[2, 2], groups=4, layout=nchw",
            &[1, 4, 6, 6],
            &[4, 1, 3, 3],
        ),
        conv(
            "layout=nchw, pads=[0, 1, 1, 1, 0, 1]",
            &[1, 2, 3, 4, 3],
            &[3, 2, 2, 2, 3],
        ),
        back("layout=nhwc", &[2, 4, 3], &[3, 5, 3]),
        back(
            "pads=[1, 0, 1, 1], strides=[2, 2]",
            &[1, 3, 4, 3],
            &[3, 3, 18, 3],
        ),
        back(
            "groups=2, layout=nchw, output_padding=[1, 0], strides=[3, 2]",
            &[1, 4, 3, 2],
            &[4, 3, 2, 3],
        ),
        back("dilations=[2], groups=5", &[2, 4, 5], &[3, 1, 5]),
        back(
            "layout=nchw, strides=[1, 2, 1]",
            &[1, 2, 2, 3, 2],
            &[2, 3, 2, 2, 2],
        ),
    ]
}

fn shapes() -> Vec<Case> {
    vec![
        case("Reshape (%0) {new_shape=[3, 2]}", &[&[2, 3]]),
        case("Reshape (%0) {new_shape=[-1]}", &[&[2, 3, 5]]),
        case("Reshape (%0) {new_shape=[1, 1]}", &[&[]]),
        case("Reshape (%0) {new_shape=[]}", &[&[1, 1]]),
        case("Reshape (%0) {new_shape=[2, -1]}", &[&[2, 3]]),
        case("Transpose (%0)", &[&[]]),
        case("Transpose (%0)", &[&[2, 3, 5]]),
        case("Transpose (%0) {permutation=[0, 2, 1]}", &[&[2, 3, 5]]),
        case("Transpose (%0) {permutation=[0, 1]}", &[&[2, 3]]),
        case("ExpandDims (%0) {axes=[0]}", &[&[]]),
        case("ExpandDims (%0) {axes=[2, 0]}", &[&[2, 3]]),
        case("Squeeze (%0) {axes=[1]}", &[&[2, 1, 3]]),
        case("Squeeze (%0) {axes=[2, 0]}", &[&[1, 5, 1]]),
        case("Squeeze (%0) {axes=[]}", &[&[1, 5]]),
        case("Reverse (%0) {axes=[]}", &[&[3]]),
        case("Reverse (%0) {axes=[1]}", &[&[2, 5, 3]]),
        case("Reverse (%0) {axes=[-1, 0]}", &[&[2, 1, 3]]),
        case("Pad (%0) {high=[1], low=[2]}", &[&[3]]),
        case("Pad (%0) {high=[], low=[]}", &[&[]]),
        case("Pad (%0, %1) {high=[0, 3], low=[1, 0]}", &[&[2, 5], &[]]),
        case(
            "Pad (%0, %1) {high=[2, -1], interior=[2, 1], low=[-2, 1]}",
            &[&[3, 4], &[]],
        ),
        case("Pad (%0, %1) {high=[-4], low=[3]}", &[&[3], &[]]),
        case("Pad (%0) {high=[0, -6], low=[1, 3]}", &[&[2, 3]]),
        case("Pad (%0) {high=[2, 1], low=[0, 3], mode=edge}", &[&[2, 3]]),
        case("Pad (%0) {high=[7], low=[4], mode=reflect}", &[&[4]]),
        case("Pad (%0) {high=[7, 0], low=[4, 1], mode=wrap}", &[&[4, 2]]),
        case("BroadcastTo (%0) {shape=[3]}", &[&[]]),
        case("BroadcastTo (%0) {shape=[2, 3, 5]}", &[&[3, 1]]),
        case("BroadcastTo (%0) {shape=[2, 5]}", &[&[2, 5]]),
        case("BroadcastTo (%0) {shape=[4, ?]}", &[&[1, 5]]),
        case("Iota {dtype=f32, shape=[7]}", &[&[]]),
        case("Iota {axis=1, dtype=i32, shape=[2, 3, 4]}", &[&[]]),
        case("Dim (%0) {axis=-1}", &[&[2, 5]]),
    ]
}

fn movement() -> Vec<Case> {
    let slice = |ranges: [&str; 3], shape: &[usize]| {
        let [starts, ends, steps] = ranges;
        let op = format!("Slice (%0) {{ends={ends}, starts={starts}, steps={steps}}}");
        case(op, &[shape])
    };
    let mut all = vec![
        slice(["[]", "[]", "[]"], &[]),
        slice(["[0, 1]", "[_, 3]", "[1, 1]"], &[2, 5]),
        slice(["[1, 0]", "[_, 5]", "[2, 3]"], &[7, 5]),
        slice(["[0, 2]", "[2, 2]", "[1, 1]"], &[2, 3]),
        case("Index (%0) {indices=[]}", &[&[]]),
        case("Index (%0) {indices=[1, 2]}", &[&[2, 3]]),
        case("Index (%0) {indices=[2, 0]}", &[&[2, 3]]),
        case("Index (%0) {indices=[-1]}", &[&[3]]),
        case("Concat (%0) {axis=0}", &[&[3]]),
        case("Concat (%0, %1) {axis=-1}", &[&[2, 3], &[2, 5]]),
        case("Concat (%0, %1, %0) {axis=0}", &[&[1, 3], &[2, 3]]),
    ];
    for (axis, count, part) in [(0, 1, 0), (0, 2, 1), (-1, 3, 2), (1, 3, 0)] {
        let op = format!("Split (%0) {{axis={axis}, count={count}, part={part}}}");
        all.push(case(op, &[&[4, 6, 3]]));
    }
    all
}

/// Returns gathers, whose operand `%1` has indices.
pub fn gathers() -> Vec<Case> {
    vec![
        case("Gather (%0, %1)", &[&[5], &[]]),
        case("Gather (%0, %1) {axis=1}", &[&[2, 3, 2], &[2, 3]]),
        case("Gather (%0, %1) {axis=-1}", &[&[3, 7], &[1]]),
        case(
            "Gather (%0, %1) {axis=1, bounds=from_end}",
            &[&[2, 3, 2], &[5]],
        ),
        case("Gather (%0, %1) {bounds=clamp}", &[&[5, 2], &[2, 3]]),
        case("Gather (%0, %1) {axis=1, bounds=skip}", &[&[2, 3, 2], &[5]]),
        case("Gather (%0, %1) {bounds=skip}", &[&[3], &[]]),
        case("GatherElements (%0, %1)", &[&[5], &[7]]),
        case(
            "GatherElements (%0, %1) {axis=-1, bounds=from_end}",
            &[&[2, 5, 3], &[2, 4, 2]],
        ),
        case(
            "GatherElements (%0, %1) {bounds=clamp}",
            &[&[5, 2], &[3, 2]],
        ),
        case(
            "GatherElements (%0, %1) {axis=1, bounds=skip}",
            &[&[2, 3], &[2, 4]],
        ),
        case("GatherNd (%0, %1)", &[&[3, 3, 4], &[5, 2]]),
        case("GatherNd (%0, %1) {bounds=from_end}", &[&[4], &[2, 3, 1]]),
        case("GatherNd (%0, %1) {bounds=skip}", &[&[3, 2, 2], &[4, 2]]),
        case("GatherElements (%0, %1)", &[&[3], &[0]]),
        case(
            "GatherNd (%0, %1) {batch_dims=1, bounds=clamp}",
            &[&[2, 3, 5], &[2, 4, 1]],
        ),
    ]
}

/// Returns windows with data-dependent positions: operand `%1` is a start, which is clamped.
pub fn placed_windows() -> Vec<Case> {
    vec![
        case("DynamicSlice (%0, %1) {sizes=[3]}", &[&[5], &[]]),
        case("DynamicSlice (%0, %1, %1) {sizes=[2, 4]}", &[&[3, 4], &[]]),
        case("DynamicSlice (%0, %1) {sizes=[0]}", &[&[3], &[]]),
        case("DynamicUpdateSlice (%0, %2, %1)", &[&[5], &[], &[2]]),
        case("DynamicUpdateSlice (%0, %2, %1)", &[&[3], &[], &[3]]),
        case("DynamicUpdateSlice (%0, %2, %1)", &[&[3], &[], &[0]]),
        case(
            "DynamicUpdateSlice (%0, %2, %1, %1)",
            &[&[3, 67], &[], &[2, 5]],
        ),
    ]
}

/// Returns scatters, whose operand `%1` has indices.
pub fn scatters() -> Vec<Case> {
    vec![
        case(
            "ScatterElements (%0, %1, %2) {kind=add}",
            &[&[5], &[7], &[7]],
        ),
        case(
            "ScatterElements (%0, %1, %2) {axis=1, kind=max}",
            &[&[3, 4], &[2, 4], &[2, 4]],
        ),
        case(
            "ScatterNd (%0, %1, %2) {kind=add}",
            &[&[3, 4], &[2, 1], &[2, 4]],
        ),
        case(
            "ScatterNd (%0, %1, %2) {kind=min}",
            &[&[3, 3], &[4, 2], &[4]],
        ),
    ]
}

/// Returns selects, whose operand `%1` has booleans.
pub fn choices() -> Vec<Case> {
    let shapes: [[&[usize]; 3]; 5] = [
        [&[], &[], &[]],
        [&[7], &[7], &[7]],
        [&[3, 5], &[], &[5]],
        [&[1, 5], &[3, 1], &[]],
        [&[2, 1, 67], &[1, 67], &[2, 1, 1]],
    ];
    shapes
        .map(|shapes| case("Select (%1, %0, %2)", &shapes))
        .into()
}

fn normalisations() -> Vec<Case> {
    vec![
        case("Softmax (%0) {axis=-1}", &[&[3, 67]]),
        case("Softmax (%0) {axis=0}", &[&[5, 2, 3]]),
        case("Softmax (%0) {axis=1}", &[&[2, 130]]),
        case("Softmax (%0) {axis=0}", &[&[1]]),
        case("LayerNorm (%0)", &[&[1]]),
        case("LayerNorm (%0)", &[&[3, 67]]),
        case("LayerNorm (%0)", &[&[2, 3, 5]]),
    ]
}

/// Returns factorizations of products of matrices with their transposes, most of which are positive definite, and triangular
/// systems.
pub fn systems() -> Vec<Case> {
    const PRODUCT: &str = "%7 = Transpose (%0) {permutation=[0, 2, 1]}\n%8 = MatMul (%0, %7)\n";
    let shapes: [&[usize]; 5] = [&[1, 1, 1], &[2, 3, 5], &[1, 7, 9], &[1, 18, 33], &[2, 0, 3]];
    let factors = shapes.into_iter().flat_map(|shape| {
        ["true", "false"].map(|lower| Case {
            before: PRODUCT,
            ..case(format!("Cholesky (%8) {{lower={lower}}}"), &[shape])
        })
    });
    let mut all: Vec<Case> = factors.collect();
    all.push(case("Cholesky (%0) {lower=true}", &[&[3, 3]]));
    let flags = (0..16).map(|bits| [8, 4, 2, 1].map(|bit| bits & bit != 0));
    for [left, lower, transposed, unit] in flags {
        let attrs = format!(
            "lower={lower}, left_side={left}, unit_diagonal={unit}, transpose_a={transposed}"
        );
        for (batch, order, columns) in [(2, 3, 2), (1, 1, 1), (1, 18, 17), (1, 2, 0)] {
            let b = if left {
                [batch, order, columns]
            } else {
                [batch, columns, order]
            };
            let op = format!("TriangularSolve (%0, %1) {{{attrs}}}");
            all.push(case(op, &[&[batch, order, order], &b]));
        }
    }
    all
}

/// Returns every op except gathers and systems, with interesting shapes.
pub fn all() -> Vec<Case> {
    let families = [
        elementwise(),
        casts(),
        bits(),
        reductions(),
        products(),
        scales(),
        windows(),
        resized(),
        largest_places(),
        convolutions(),
        shapes(),
        movement(),
        normalisations(),
        sorts(),
    ];
    families.into_iter().flatten().collect()
}
