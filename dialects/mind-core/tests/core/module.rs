//! Builds modules with a single op.

use mind_ir::attr::{Attr, AttrKind};
use mind_ir::builder::Builder;
use mind_ir::graph::InsertPoint;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::{DType, Dim, QuantFormat, TensorType};
use mind_ir::{Graph, Sym, Ty, ValueId};

use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::input::Input;

/// Returns the symbol `B` of the modules of these tests.
pub fn b() -> Dim {
    Dim::Symbol(Sym::new(0))
}

/// Returns the symbol `C` of the modules of these tests.
pub fn c() -> Dim {
    Dim::Symbol(Sym::new(1))
}

/// Returns an empty module with the symbols `B` and `C`.
pub fn empty() -> Graph {
    let mut g = Graph::new();
    assert_eq!([g.intern("B"), g.intern("C")], [Sym::new(0), Sym::new(1)]);
    g
}

/// Parses a type, for example `f32[2, B, ?]`.
pub fn ty(g: &mut Graph, text: &str) -> Ty {
    let (dtype, dims) = text.split_once('[').expect("a type has a shape");
    let dims = dims.strip_suffix(']').expect("a shape is closed");
    let shape: Vec<Dim> = match dims {
        "" => Vec::new(),
        dims => dims.split(", ").map(|text| dim(g, text)).collect(),
    };
    let dtype = DType::parse(dtype).expect("a known dtype");
    g.intern_type(TensorType::new(dtype, shape).view())
}

fn dim(g: &mut Graph, text: &str) -> Dim {
    match text.parse() {
        Ok(extent) => Dim::Fixed(extent),
        Err(_) if text == "?" => Dim::Dynamic,
        Err(_) => Dim::Symbol(g.intern(text)),
    }
}

/// Returns a builder at the end of the module.
pub fn build(g: &mut Graph) -> Builder<'_> {
    let body = g.body();
    Builder::new(g, InsertPoint::End(body), Default::default())
}

/// Creates an input of a type.
pub fn input(g: &mut Graph, ty: Ty) -> ValueId {
    let name = g.intern("x");
    let op = build(g).create_typed(Input::DEF, &[], &Input::attrs(name, false, None), &[ty]);
    g.result(op)
}

/// A valid example of an op: operand types, attributes and the result's type.
pub struct Example {
    /// The op.
    pub def: &'static OpDef,
    /// Operand types.
    pub operands: &'static [&'static str],
    /// Attributes.
    pub attrs: Vec<Attr<'static>>,
    /// The result's type.
    pub result: &'static str,
}

/// Returns a valid example of every op except `Input`, `Fused` and control flow, which need a declared type, a body or
/// regions.
pub fn examples() -> Vec<Example> {
    use mind_core::eval::bounds::Bounds;
    use mind_core::ops::{
        OPS, argmax::*, broadcast::*, constant::*, contract::*, conv::*, convert::*,
        convolution::*, cumulative::*, data::*, dot_general::*, dynamic::*, extents::*, gather::*,
        index::*, join::*, normalize::*, pad::*, quantize::*, reduce::*, runtime_shape::*,
        sample::*, scatter::*, shape::*, solve::*, sort::*, window::*,
    };
    use mind_ir::attr::{Literal, Padding};
    use mind_ir::scalar::Reduction;
    static SPLAT: Literal<'_> = Literal {
        dtype: DType::I8,
        count: None,
        bytes: &[7],
    };
    let row = |def, operands, attrs, result| Example {
        def,
        operands,
        attrs,
        result,
    };
    let mut examples = vec![
        row(ConstI64::DEF, &[], ConstI64::attrs(7), "i64[]"),
        row(ConstF32::DEF, &[], ConstF32::attrs(1.5), "f32[]"),
        row(ConstF64::DEF, &[], ConstF64::attrs(1.5), "f64[]"),
        row(
            ConstTensor::DEF,
            &[],
            ConstTensor::attrs(&SPLAT),
            "i8[2, 3]",
        ),
        row(
            Cast::DEF,
            &["f32[2, 3]"],
            Cast::attrs(DType::I8),
            "i8[2, 3]",
        ),
        row(
            Bitcast::DEF,
            &["f32[2, 3]"],
            Bitcast::attrs(DType::I8),
            "i8[2, 3, 4]",
        ),
        row(Sum::DEF, &["f32[2, 3]"], Sum::attrs(&[1], false), "f32[2]"),
        row(
            Mean::DEF,
            &["f32[2, 3]"],
            Mean::attrs(&[1], false),
            "f32[2]",
        ),
        row(Max::DEF, &["f32[2, 3]"], Max::attrs(&[1], false), "f32[2]"),
        row(Min::DEF, &["f32[2, 3]"], Min::attrs(&[1], false), "f32[2]"),
        row(
            Prod::DEF,
            &["f32[2, 3]"],
            Prod::attrs(&[1], false),
            "f32[2]",
        ),
        row(
            ArgMax::DEF,
            &["f32[2, 3]"],
            ArgMax::attrs(1, false, false),
            "i64[2]",
        ),
        row(
            ArgMin::DEF,
            &["f32[2, 3]"],
            ArgMin::attrs(0, true, true),
            "i64[1, 3]",
        ),
        row(
            ReduceWindow::DEF,
            &["f32[2, 3]"],
            ReduceWindow::attrs(&[1, 2], &[], &[], &[], &[], Reduction::Max, false),
            "f32[2, 2]",
        ),
        row(
            ArgMaxWindow::DEF,
            &["f32[2, 3]"],
            ArgMaxWindow::attrs(&[1, 2], &[], &[], &[], &[]),
            "i64[2, 2]",
        ),
        row(
            Resize::DEF,
            &["f32[1, 2, 3]"],
            Resize::attrs(
                &[1, 2],
                &[4, 5],
                Interpolation::Linear,
                Coordinates::HalfPixel,
                Rounding::PreferFloor,
                -0.75,
                false,
                false,
                0.0,
            ),
            "f32[1, 4, 5]",
        ),
        row(
            GridSample::DEF,
            &["f32[1, 4, 5, 2]", "f32[1, 3, 3, 2]"],
            GridSample::attrs(
                Layout::Nhwc,
                Interpolation::Linear,
                GridCoordinates::HalfPixel,
                GridPadding::Constant,
                0.0,
            ),
            "f32[1, 3, 3, 2]",
        ),
        row(
            Conv::DEF,
            &["f32[1, 5, 4]", "f32[3, 2, 6]"],
            Conv::attrs(Layout::Nhwc, &[], &[], &[], 2, SumType::Same),
            "f32[1, 3, 6]",
        ),
        row(
            ConvTranspose::DEF,
            &["f32[1, 4, 5]", "f32[4, 3, 3]"],
            ConvTranspose::attrs(Layout::Nchw, &[2], &[], &[], &[], 2, SumType::Same),
            "f32[1, 6, 11]",
        ),
        row(
            DotGeneral::DEF,
            &["f32[2, 3, 5]", "f32[4, 5, 2]"],
            DotGeneral::attrs(&[0], &[2], &[2], &[1], SumType::Same),
            "f32[2, 3, 4]",
        ),
        row(
            BlockMatMul::DEF,
            &["i8[2, 64]", "f32[2, 2]", "u8[3, 68]"],
            BlockMatMul::attrs(Some(QuantFormat::Q8_0)),
            "f32[2, 3]",
        ),
        row(
            Cholesky::DEF,
            &["f32[2, 3, 3]"],
            Cholesky::attrs(true),
            "f32[2, 3, 3]",
        ),
        row(
            TriangularSolve::DEF,
            &["f32[2, 3, 3]", "f32[2, 3, 4]"],
            TriangularSolve::attrs(true, true, false, false),
            "f32[2, 3, 4]",
        ),
        row(
            Quantize::DEF,
            &["f32[2, 6]", "f32[1, 3]", "i32[1, 3]"],
            Quantize::attrs(DType::I32, 1),
            "i32[2, 6]",
        ),
        row(
            Dequantize::DEF,
            &["i32[2, 6]", "f32[6]"],
            Dequantize::attrs(1),
            "f32[2, 6]",
        ),
        row(
            Sort::DEF,
            &["f32[2, 3]"],
            Sort::attrs(1, true),
            "f32[2, 3]; i64[2, 3]",
        ),
        row(NonZero::DEF, &["bool[2, 3]"], NonZero::attrs(), "i64[2, ?]"),
        row(
            Unique::DEF,
            &["f32[2, 3]"],
            Unique::attrs(true, 0, true),
            "f32[?]; i64[?]; i64[6]; i64[?]",
        ),
        row(
            NonMaxSuppression::DEF,
            &["f32[1, 5, 4]", "f32[1, 2, 5]", "i64[]", "f32[]", "f32[]"],
            NonMaxSuppression::attrs(false),
            "i64[?, 3]",
        ),
        row(
            TopK::DEF,
            &["f32[2, 3]"],
            TopK::attrs(2, 1, true),
            "f32[2, 2]; i64[2, 2]",
        ),
        row(
            Cumulative::DEF,
            &["f32[2, 3]"],
            Cumulative::attrs(1, Accumulation::Sum, false, true),
            "f32[2, 3]",
        ),
        row(
            Reshape::DEF,
            &["f32[2, 3]"],
            Reshape::attrs(&[Dim::Fixed(6)]),
            "f32[6]",
        ),
        row(
            Transpose::DEF,
            &["f32[2, 3]"],
            Transpose::attrs(&[]),
            "f32[3, 2]",
        ),
        row(
            ExpandDims::DEF,
            &["f32[2]"],
            ExpandDims::attrs(&[0]),
            "f32[1, 2]",
        ),
        row(Squeeze::DEF, &["f32[1, 2]"], Squeeze::attrs(&[0]), "f32[2]"),
        row(
            Reverse::DEF,
            &["f32[2, 3]"],
            Reverse::attrs(&[1]),
            "f32[2, 3]",
        ),
        row(
            PadOp::DEF,
            &["f32[2, 3]"],
            PadOp::attrs(&[1, 0], &[0, -1], &[0, 2], PadMode::Constant),
            "f32[3, 6]",
        ),
        row(
            BroadcastTo::DEF,
            &["f32[3, 1]"],
            BroadcastTo::attrs(&[Dim::Fixed(2), Dim::Fixed(3), Dim::Fixed(4)]),
            "f32[2, 3, 4]",
        ),
        row(
            Iota::DEF,
            &[],
            Iota::attrs(DType::I8, &[Dim::Fixed(2), Dim::Fixed(3)], 1),
            "i8[2, 3]",
        ),
        row(ExtentOf::DEF, &["f32[2, 3]"], ExtentOf::attrs(1), "i64[]"),
        row(Index::DEF, &["f32[2, 3]"], Index::attrs(&[1, 2]), "f32[]"),
        row(
            Slice::DEF,
            &["f32[5]"],
            Slice::attrs(&[0], &[5], &[2]),
            "f32[3]",
        ),
        row(
            Gather::DEF,
            &["f32[5]", "i64[2]"],
            Gather::attrs(0, Bounds::Strict),
            "f32[2]",
        ),
        row(
            DynamicSlice::DEF,
            &["f32[5, 4]", "i64[]", "i32[]"],
            DynamicSlice::attrs(&[2, 3], Bounds::Clamp),
            "f32[2, 3]",
        ),
        row(
            DynamicUpdateSlice::DEF,
            &["f32[5]", "f32[2]", "i64[]"],
            DynamicUpdateSlice::attrs(Bounds::Clamp),
            "f32[5]",
        ),
        row(
            DynamicReshape::DEF,
            &["f32[1, 1]", "i64[0]"],
            DynamicReshape::attrs(&[], false),
            "f32[]",
        ),
        row(
            DynamicBroadcastTo::DEF,
            &["f32[]", "i32[0]"],
            DynamicBroadcastTo::attrs(&[]),
            "f32[]",
        ),
        row(
            DynamicIota::DEF,
            &["i64[2]"],
            DynamicIota::attrs(DType::I32, &[Dim::Dynamic, Dim::Fixed(3)], 1),
            "i32[?, 3]",
        ),
        row(
            GatherElements::DEF,
            &["f32[5]", "i64[2]"],
            GatherElements::attrs(0, Bounds::Strict),
            "f32[2]",
        ),
        row(
            GatherNd::DEF,
            &["f32[2, 3]", "i64[4, 1]"],
            GatherNd::attrs(0, Bounds::Strict),
            "f32[4, 3]",
        ),
        row(
            ScatterElements::DEF,
            &["f32[5]", "i64[2]", "f32[2]"],
            ScatterElements::attrs(0, Update::Add, Bounds::Strict),
            "f32[5]",
        ),
        row(
            ScatterNd::DEF,
            &["f32[4, 3]", "i64[2, 1]", "f32[2, 3]"],
            ScatterNd::attrs(Update::Add, Bounds::Strict),
            "f32[4, 3]",
        ),
        row(
            Concat::DEF,
            &["f32[2]", "f32[3]"],
            Concat::attrs(0),
            "f32[5]",
        ),
        row(Split::DEF, &["f32[6]"], Split::attrs(0, 3, 1), "f32[2]"),
        row(Dot::DEF, &["f32[3]", "f32[3]"], Dot::attrs(), "f32[]"),
        row(
            MatMul::DEF,
            &["f32[2, 3]", "f32[3, 4]"],
            MatMul::attrs(),
            "f32[2, 4]",
        ),
        row(
            Conv2d::DEF,
            &["f32[1, 4, 4, 2]", "f32[3, 3, 2, 5]"],
            Conv2d::attrs(&[1, 1], Padding::Valid),
            "f32[1, 2, 2, 5]",
        ),
        row(
            Softmax::DEF,
            &["f32[2, 3]"],
            Softmax::attrs(-1),
            "f32[2, 3]",
        ),
        row(
            LayerNorm::DEF,
            &["f32[2, 3]"],
            LayerNorm::attrs(),
            "f32[2, 3]",
        ),
    ];
    for def in OPS {
        let Some(function) = def.scalar else { continue };
        let is_float = function.domain().admits(DType::F32);
        let (operands, result): (&'static [&'static str], _) = match (function.arity(), is_float) {
            (1, true) => (&["f32[2, 3]"], "f32[2, 3]"),
            (1, false) => (&["i32[2, 3]"], "i32[2, 3]"),
            (2, true) => (&["f32[2, 1]", "f32[3]"], "f32[2, 3]"),
            (2, false) => (&["i32[2, 1]", "i32[3]"], "i32[2, 3]"),
            _ => (&["bool[2, 1]", "f32[2, 1]", "f32[3]"], "f32[2, 3]"),
        };
        let result = match function.result(DType::F32) {
            DType::Bool => "bool[2, 3]",
            _ => result,
        };
        examples.push(row(def, operands, any_attrs(def), result));
    }
    examples
}

/// Returns for each attribute of an elementwise op its default, or the first of its words.
pub fn any_attrs(def: &OpDef) -> Vec<Attr<'static>> {
    let attrs = def
        .attrs
        .iter()
        .map(|attr| match (attr.default, attr.kind) {
            (Some(default), _) => default,
            (None, AttrKind::Word(words)) => Attr::Word(words[0]),
            (None, kind) => panic!("`{}` of {}: no value of {kind:?}", attr.name, def.name),
        });
    attrs.collect()
}
