//! Products of dynamically quantised rows by a block-quantised matrix.

use mind_diag::Code;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, QuantFormat, Stored};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::{ValueId, ops};

use crate::eval::blocks::Block;
use crate::extent::agree;

ops! {
    /// A product of quantised rows by a block-quantised matrix, which is given as the bytes of its blocks: exact
    /// integer dot products, then scales.
    ///
    /// `lhs` has 32 integers for each element of `scale`. `blocks` holds the rows of the transposed right side as
    /// `format` stores them. For each 32 terms, `I` is the exact sum of `lhs` times the integers of the block times the
    /// integer scales of its groups, and `J` is the sum of `lhs` times the integer minima; `d` is the scale of the
    /// block and `e` the scale of its minima.
    ///
    /// Shapes: `[.., K]`, `[.., K / 32]` and `[N, bytes]` give `[.., N]`; a row of `K` numbers takes `bytes` bytes in
    /// `format`.
    /// Order: from `sum = +0`, for each 32 terms in ascending order `sum = fma(scale, part, sum)`, where `part` is
    /// `d * I`, and with minima `fma(d, I, e * J)`; see docs/numerics.md.
    /// Errors: E2005 `lhs` not i8, `scale` not f32, or `blocks` not u8, E3002 `lhs` of rank 0, `scale` of another rank,
    /// or `blocks` not of rank 2, E3003 extents that do not fit, or are not known, E4022 `format` is `dense`.
    /// Source: this compiler, after `llama.cpp`.
    BlockMatMul = "core.block_matmul" {
        operands: (lhs: Integer, scale: Float, blocks: Integer),
        attrs: { format "f": Stored },
        traits: [Pure, Extended],
        names: { core: "BlockMatMul", mic1: "block_matmul" },
        infer: infer_block_matmul,
        eval: eval_block_matmul,
    }
}

/// Terms for each element of `scale`.
pub const TERMS: usize = 32;

const NAME: &str = "block_matmul";

fn infer_block_matmul(op: BlockMatMul, g: &Graph) -> InferResult {
    block_product_type(g, op.format(g), [op.lhs(g), op.scale(g), op.blocks(g)])
}

/// Infers the type of the product of integers, scales and blocks in `format`.
///
/// # Errors
///
/// Dtypes, ranks or extents that do not match, or `format` is `dense`.
pub fn block_product_type(
    g: &Graph,
    format: Option<QuantFormat>,
    operands: [ValueId; 3],
) -> InferResult {
    let [lhs, scale, blocks] = operands.map(|value| g.ty(value));
    let dtypes = [
        ("lhs", lhs.dtype, DType::I8, "i8"),
        ("scale", scale.dtype, DType::F32, "f32"),
        ("blocks", blocks.dtype, DType::U8, "u8"),
    ];
    for (operand, found, expected, supported) in dtypes {
        if found != expected {
            return Err(Box::new(VerifyError::DType {
                op: NAME,
                operand,
                found,
                supported,
            }));
        }
    }
    let ranks = [
        ("lhs", lhs.rank() > 0, "1 or more".to_owned(), lhs.rank()),
        (
            "scale",
            scale.rank() == lhs.rank(),
            lhs.rank().to_string(),
            scale.rank(),
        ),
        ("blocks", blocks.rank() == 2, "2".to_owned(), blocks.rank()),
    ];
    for (operand, fits, expected, found) in ranks {
        if !fits {
            return Err(Box::new(VerifyError::Rank {
                op: NAME,
                operand,
                expected,
                found,
            }));
        }
    }
    let Some(format) = format else {
        return Err(Box::new(VerifyError::Dialect {
            code: Code(4022),
            problem: "`block_matmul` takes blocks of quantised numbers, not `dense` ones"
                .to_owned(),
            help: Some("name the format that the bytes are in, as `q8_0`".to_owned()),
        }));
    };
    let rows = lhs.rank() - 1;
    let k = lhs.shape[rows];
    let whole = k.fixed().and_then(|k| usize::try_from(k).ok());
    let bytes = whole
        .and_then(|k| format.row_bytes(k))
        .and_then(|bytes| i64::try_from(bytes).ok());
    let (Some(whole), Some(bytes)) = (whole, bytes) else {
        return Err(Box::new(VerifyError::Extent {
            op: NAME,
            dimension: "the last dimension of `lhs`".to_owned(),
            expected: format!("a multiple of {}", format.elements()),
            found: k.display(g.symbols()).to_string(),
            help: "rows consist of whole blocks of the format",
        }));
    };
    let extents = [
        (
            "the last dimension of `scale`",
            (whole / TERMS) as i64,
            scale.shape[rows],
            "there is a scale for each 32 integers",
        ),
        (
            "the last dimension of `blocks`",
            bytes,
            blocks.shape[1],
            "a row has the bytes of its blocks",
        ),
    ];
    for (dimension, expected, found, help) in extents {
        agree(g, NAME, dimension, Dim::Fixed(expected), found, help)?;
    }
    let mut shape = Vec::with_capacity(lhs.rank());
    for (at, (&own, &other)) in lhs.shape.iter().zip(scale.shape).take(rows).enumerate() {
        let dimension = format!("dimension {at} of `scale`");
        shape.push(agree(
            g,
            NAME,
            dimension,
            own,
            other,
            "each row has its scales",
        )?);
    }
    shape.push(blocks.shape[0]);
    Ok(scale.with_shape(shape).into())
}

fn eval_block_matmul(
    op: BlockMatMul,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let format = op.format(cx.graph).expect("a verified format");
    block_product(cx, format, operands)
}

/// Evaluates the product of integers, scales and blocks in `format`.
///
/// # Errors
///
/// Extents that do not match, E6004 too large.
pub fn block_product(
    cx: &EvalCx<'_>,
    format: QuantFormat,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (lhs, scale, blocks) = (operands[0], operands[1], operands[2]);
    let (rows, k) = lhs
        .shape()
        .split_last()
        .map_or((1, 0), |(&k, rows)| (rows.iter().product(), k));
    let lead = &lhs.shape()[..lhs.rank() - 1];
    if lead != &scale.shape()[..scale.rank() - 1] {
        let (lhs, scale) = (lhs.shape(), scale.shape());
        return Err(EvalError::Shape(format!(
            "scales of shape {scale:?} for integers of shape {lhs:?} in `{NAME}`"
        )));
    }
    let columns = blocks.shape()[0];
    let shape = [lead, &[columns]].concat();
    let count = cx.count(DType::F32, &shape)?;
    let (x, scales) = (lhs.elements::<i8>(), scale.elements::<f32>());
    let row_bytes = format.bytes(k);
    let mut sums = vec![0.0f32; count];
    for column in 0..columns {
        let stored = &blocks.elements::<u8>()[column * row_bytes..][..row_bytes];
        for (at, bytes) in stored.chunks_exact(format.block_bytes()).enumerate() {
            let block = Block::of(format, bytes);
            let first = at * format.elements();
            for row in 0..rows {
                let x = &x[row * k + first..][..format.elements()];
                let scales = &scales[(row * k + first) / TERMS..];
                let sum = &mut sums[row * columns + column];
                add_block(&block, x, scales, sum);
            }
        }
    }
    Ok(Tensor::of(shape, sums))
}

/// Accumulates the terms of one block to `sum`, 32 at a time.
fn add_block(block: &Block, x: &[i8], scales: &[f32], sum: &mut f32) {
    for (part, x) in x.chunks_exact(TERMS).enumerate() {
        let (mut product, mut minima) = (0, 0);
        for (at, &x) in (part * TERMS..).zip(x) {
            let (x, group) = (i32::from(x), at / 16);
            product += block.scales[group] * block.integers[at] * x;
            minima += block.minima[group] * x;
        }
        let product = product as f32;
        let part_sum = match block.minimum {
            Some(minimum) => block.scale.mul_add(product, minimum * minima as f32),
            None => block.scale * product,
        };
        *sum = scales[part].mul_add(part_sum, *sum);
    }
}
