//! A dialect for tests, with one op of each shape: input, unary, binary, variadic, with a body.

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Inferred, Op};
use mind_ir::types::{DType, TensorType};
use mind_ir::verify::{InferManyResult, InferResult};
use mind_ir::{OpId, ValueId, ops};

mind_ir::words! {
    /// Where a vector turns.
    pub enum Way {
        /// To the left.
        Left = "left",
        /// To the right.
        Right = "right",
    }
}

ops! {
    /// An input.
    Source = "toy.source" {
        attrs: { name: Str },
        traits: [Interface, DeclaresType],
        names: { core: "Source" },
        infer: |_, _| Ok(Inferred::Declared),
    }

    /// Constant bytes.
    Datum = "toy.datum" {
        attrs: { data: LiteralData },
        traits: [Pure, DeclaresType],
        names: {},
        infer: |_, _| Ok(Inferred::Declared),
    }

    /// Negation.
    Flip = "toy.flip" {
        operands: (input: Signed),
        traits: [Pure, Elementwise],
        names: { core: "Flip" },
        scalar: Neg,
    }

    /// Addition, scaled.
    Blend = "toy.blend" {
        operands: (lhs: Num, rhs: Num),
        attrs: { scale: Int = 1, axes "ax": Ints },
        traits: [Pure, Commutative, SameDType, Elementwise],
        names: { core: "Blend", mic1: "blend" },
        infer: infer_blend,
    }

    /// Any number of operands.
    Pack = "toy.pack" {
        variadic: (inputs: Any),
        traits: [Pure],
        names: {},
        infer: |op, g| Ok(Inferred::Known(g.type_id(op.inputs(g)[0]).expect("typed"))),
    }

    /// Two results, and an optional second operand.
    Turn = "toy.turn" {
        operands: (input: Num),
        optional: (by: Index),
        attrs: { dtype: ElementType, way: Way = Way::Left },
        results: [turned, steps],
        traits: [Pure],
        names: {},
        infer_many: infer_turn,
    }

    /// A body over its operands.
    Group = "toy.group" {
        variadic: (inputs: Any),
        results: Many,
        regions: 1,
        traits: [Pure, BodyOverOperands],
        names: {},
        infer_many: infer_group,
    }
}

fn infer_blend(op: Blend, g: &Graph) -> InferResult {
    Ok(g.ty(op.lhs(g)).to_owned().into())
}

fn infer_turn(op: Turn, g: &Graph) -> InferManyResult {
    let input = g.ty(op.input(g));
    let steps = TensorType::new(op.dtype(g), input.shape.iter().copied());
    Ok([input.to_owned().into(), steps.into()]
        .into_iter()
        .collect())
}

fn infer_group(op: Group, g: &Graph) -> InferManyResult {
    let Some(end) = g.terminator(g.block(g.regions(op.id())[0])) else {
        return Ok(Default::default());
    };
    let types = g
        .operands(end)
        .iter()
        .map(|&value| g.type_id(value).map(Inferred::Known));
    Ok(types.map(|ty| ty.unwrap_or(Inferred::Declared)).collect())
}

/// Adds an input of type `f32[extent]`.
pub fn source(g: &mut Graph, extent: i64) -> ValueId {
    let name = g.intern("x");
    let ty = g.intern_type(TensorType::fixed(DType::F32, &[extent]).view());
    let body = g.body();
    let mut b = Builder::new(g, InsertPoint::End(body), Span::FILE);
    let op = b.create_typed(Source::DEF, &[], &[Attr::Str(name)], &[ty]);
    g.result(op)
}

/// Appends an unchecked op with one result to the module.
pub fn push(g: &mut Graph, def: &'static mind_ir::opdef::OpDef, operands: &[ValueId]) -> OpId {
    let attrs: &[Attr<'_>] = match def.attrs.len() {
        0 => &[],
        _ => &[Attr::Int(1), Attr::Ints(&[])],
    };
    let new = NewOp {
        def,
        operands,
        attrs,
        results: 1,
        span: Span::new(5, 9),
    };
    let body = g.body();
    g.insert(InsertPoint::End(body), new)
}

/// Ends a block and yields these values.
pub fn end(g: &mut Graph, block: mind_ir::BlockId, values: &[ValueId]) {
    let new = NewOp {
        def: Yield::DEF,
        operands: values,
        attrs: &[],
        results: 0,
        span: Span::FILE,
    };
    g.insert(InsertPoint::End(block), new);
}
