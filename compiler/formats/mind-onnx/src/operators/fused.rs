//! Imports fused operators of ONNX Runtime's optimisers.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::index::Gather;
use mind_core::ops::reduce::Sum;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::activation::{Activation, swish, tanh_gelu};
use super::convolution::biased;
use super::integers::{convolution, matrix_product};
use super::normalize::{layer_of, rms_of};
use super::product::gemm;
use super::{MICROSOFT, Many, Operator};
use crate::import::emit::One;
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("BiasGelu", &[1], |n| {
        let x = n.apply(ScalarFn::Add)?;
        n.e.apply(ScalarFn::Gelu, &[x])
    })
    .of(MICROSOFT),
    Operator::one("FastGelu", &[1], |n| {
        let (mut x, bias) = (n.input(0)?, n.optional(1)?);
        if let Some(bias) = bias {
            x = n.e.apply(ScalarFn::Add, &[x, bias])?;
        }
        tanh_gelu(&mut n.e, x)
    })
    .of(MICROSOFT),
    Operator::one("QuickGelu", &[1], |n| {
        let alpha = n.float("alpha")?.unwrap_or(f64::from(1.702f32));
        let x = n.input(0)?;
        swish(&mut n.e, x, alpha)
    })
    .of(MICROSOFT),
    Operator::one("FusedMatMul", &[1], fused_product).of(MICROSOFT),
    Operator::one("TransposeMatMul", &[1], fused_product).of(MICROSOFT),
    Operator::one("FusedGemm", &[1], |n| {
        let activation = activation(n, &["activation_alpha", "activation_beta"])?;
        n.ignore("activation_gamma");
        let own = gemm(n)?;
        activated(n, activation, own)
    })
    .of(MICROSOFT),
    Operator::one("FusedConv", &[1], |n| {
        let activation = conv_activation(n)?;
        let (x, filter) = (n.input(0)?, n.input(1)?);
        let own = convolution(n, x, filter)?;
        let mut own = biased(n, own)?;
        if let Some(other) = n.optional(3)? {
            own = n.e.apply(ScalarFn::Add, &[own, other])?;
        }
        activated(n, activation, own)
    })
    .of(MICROSOFT),
    Operator::many("SkipLayerNormalization", &[1], |n| skip(n, Norm::Layer)).of(MICROSOFT),
    Operator::many("SkipSimplifiedLayerNormalization", &[1], |n| {
        skip(n, Norm::Rms)
    })
    .of(MICROSOFT),
    Operator::many("EmbedLayerNormalization", &[1], embedded).of(MICROSOFT),
];

/// Imports a matrix product with optional transposes, times `alpha`.
fn fused_product(n: &mut Node<'_, '_, '_>) -> One {
    let alpha = n.float("alpha")?.unwrap_or(1.0);
    let transposed = [n.flag("transA")?, n.flag("transB")?];
    n.unset(
        &["transBatchA", "transBatchB"],
        "write a `Transpose` before a `MatMul`",
    )?;
    let mut operands = [n.input(0)?, n.input(1)?];
    for (operand, is_transposed) in operands.iter_mut().zip(transposed) {
        let rank = n.e.rank(*operand) as i64;
        if is_transposed && rank >= 2 {
            let mut order: Vec<i64> = (0..rank).collect();
            order.swap(rank as usize - 2, rank as usize - 1);
            *operand = n.e.transpose(*operand, &order)?;
        }
    }
    let own = matrix_product(n, operands[0], operands[1])?;
    match alpha {
        1.0 => Ok(own),
        alpha => n.e.apply_number(ScalarFn::Mul, own, alpha),
    }
}

/// Returns the activation of a node, with parameters from the attributes of these names.
fn activation(
    n: &mut Node<'_, '_, '_>,
    [alpha, beta]: &[&'static str; 2],
) -> Result<Option<Activation>, Refusal> {
    let (alpha, beta) = (n.float(alpha)?, n.float(beta)?);
    named(n, alpha.map(|own| own as f32), beta.map(|own| own as f32))
}

fn conv_activation(n: &mut Node<'_, '_, '_>) -> Result<Option<Activation>, Refusal> {
    let numbers = n.floats("activation_params")?.unwrap_or(&[]);
    named(n, numbers.first().copied(), numbers.get(1).copied())
}

fn named(
    n: &mut Node<'_, '_, '_>,
    alpha: Option<f32>,
    beta: Option<f32>,
) -> Result<Option<Activation>, Refusal> {
    let Some(name) = n.word("activation")?.filter(|own| !own.is_empty()) else {
        return Ok(None);
    };
    let list = Activation::list(n, &[name], Some(alpha.as_slice()), Some(beta.as_slice()))?;
    Ok(list.first().copied())
}

fn activated(n: &mut Node<'_, '_, '_>, activation: Option<Activation>, own: ValueId) -> One {
    match activation {
        Some(activation) => activation.apply(&mut n.e, own),
        None => Ok(own),
    }
}

/// A normalisation along the last axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Norm {
    Layer,
    Rms,
}

/// Returns the normalised sum of two tensors and a bias, and the sum itself.
fn skip(n: &mut Node<'_, '_, '_>, norm: Norm) -> Many {
    let epsilon = n.float("epsilon")?.unwrap_or(f64::from(1e-12f32));
    let (x, other, scale) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let (shift, bias) = match norm {
        Norm::Layer => (n.optional(3)?, n.optional(4)?),
        Norm::Rms => (None, n.optional(3)?),
    };
    let e = &mut n.e;
    let mut sum = e.apply(ScalarFn::Add, &[x, other])?;
    if let Some(bias) = bias {
        sum = e.apply(ScalarFn::Add, &[sum, bias])?;
    }
    let axes = [e.rank(sum) as i64 - 1];
    let [own, mean, factor] = match norm {
        Norm::Layer => layer_of(e, sum, &axes, (scale, shift), (DType::F32, epsilon))?,
        Norm::Rms => {
            let [own, factor] = rms_of(e, sum, &axes, scale, (DType::F32, epsilon))?;
            [own, factor, factor]
        }
    };
    Ok(vec![own, mean, factor, sum])
}

/// Returns the normalised sum of word, position and segment embeddings, the number of words of each text, and the sum
/// itself.
fn embedded(n: &mut Node<'_, '_, '_>) -> Many {
    let mask_type = n.int("mask_index_type")?.unwrap_or(0);
    if mask_type != 0 {
        return Err(Refusal::value("mask_index_type", mask_type, 0));
    }
    let epsilon = n.float("epsilon")?.unwrap_or(f64::from(1e-12f32));
    let (words, segments) = (n.input(0)?, n.optional(1)?);
    let (word, position, segment) = (n.input(2)?, n.input(3)?, n.optional(4)?);
    let (scale, shift) = (n.input(5)?, n.input(6)?);
    let (mask, places) = (n.optional(7)?, n.optional(8)?);
    let e = &mut n.e;
    let mut sum = Gather::with().build(e, word, words)?;
    let places = match places {
        Some(places) => Gather::with().build(e, position, places)?,
        None => {
            let count = e.extent(words, 1)?;
            e.part(position, 0, 0, count)?
        }
    };
    sum = e.apply(ScalarFn::Add, &[sum, places])?;
    if let (Some(segments), Some(segment)) = (segments, segment) {
        let own = Gather::with().build(e, segment, segments)?;
        sum = e.apply(ScalarFn::Add, &[sum, own])?;
    }
    let lists = (scale, Some(shift));
    let [own, ..] = layer_of(e, sum, &[2], lists, (DType::F32, epsilon))?;
    let lengths = match mask {
        Some(mask) => {
            let wide = e.convert(mask, DType::I32)?;
            Sum::with().axes(&[1]).build(e, wide)?
        }
        None => {
            let zero = e.number(DType::I32, 0.0);
            let batch = e.extent_at(words, 0);
            e.broadcast_extents(zero, &[batch])?
        }
    };
    Ok(vec![own, lengths, sum])
}
