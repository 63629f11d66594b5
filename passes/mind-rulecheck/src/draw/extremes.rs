//! Attributes at the ends of their ranges.

use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::attr::{AttrKind, OPEN_END};
use mind_ir::opdef::Op;
use mind_ir::types::Dim;
use mind_rules::AttrValue;

use super::Chooser;
use super::attrs::{Request, int_of};
use crate::plan::is_any;
use crate::strata::{End, Stratum};

impl Chooser<'_, '_> {
    /// Returns the value at the end of the attribute's range that the stratum requires. Returns `None` if the stratum
    /// concerns another attribute, or the range has no such end.
    pub(super) fn extreme(&self, request: &Request<'_>, shape: &[i64]) -> Option<AttrValue> {
        let Some(Stratum::Attr { op, attr, end }) = self.stratum else {
            return None;
        };
        let own = &self.plan.ops[op];
        if own.result != request.result || attr != request.before.len() {
            return None;
        }
        let is_high = end == End::High;
        match request.row.kind {
            AttrKind::Bool => Some(AttrValue::Bool(is_high)),
            AttrKind::Int => extreme_int(request, shape, end).map(AttrValue::Int),
            AttrKind::Float => {
                let number: f64 = if is_high { 1e30 } else { 0.0 };
                Some(AttrValue::Float(number.to_bits()))
            }
            AttrKind::Ints => {
                extreme_ints(request, shape, end).map(|list| AttrValue::Ints(list.into()))
            }
            AttrKind::Dims => {
                let dims = extreme_dims(request, shape, end)?;
                Some(AttrValue::Dims(dims.into_iter().map(Dim::Fixed).collect()))
            }
            AttrKind::Pad => Some(match end {
                End::Low => AttrValue::Valid,
                End::High => AttrValue::Pads([2; 4]),
                End::Empty => AttrValue::Pads([0; 4]),
            }),
            AttrKind::Word(words) => {
                let word = if is_high { words.last() } else { words.first() };
                word.copied().map(AttrValue::Word)
            }
            AttrKind::ElementType | AttrKind::Str | AttrKind::LiteralData => None,
        }
    }
}

fn extreme_int(request: &Request<'_>, shape: &[i64], end: End) -> Option<i64> {
    let rank = shape.len() as i64;
    match (request.row.name, end) {
        (_, End::Empty) => None,
        ("axis", End::Low) => Some(-rank),
        ("axis", End::High) => Some((rank - 1).max(0)),
        ("count", End::Low) => Some(1),
        ("count", End::High) => request.axis(shape).filter(|&extent| extent > 0),
        ("part", End::Low) => Some(0),
        ("part", End::High) => {
            let count = request.before.iter().rev().find_map(int_of);
            Some((count.unwrap_or(1) - 1).max(0))
        }
        ("groups", _) => None,
        (_, End::Low) => Some(0),
        (_, End::High) => Some(rank),
    }
}

fn extreme_ints(request: &Request<'_>, shape: &[i64], end: End) -> Option<Vec<i64>> {
    let rank = shape.len();
    let all = || 0..rank as i64;
    let each = |entry: i64| Some(vec![entry; rank]);
    // The lists of convolutions have an entry per spatial dimension. They are drawn at random.
    if is_any(request.def, &[Conv2d::DEF, Conv::DEF, ConvTranspose::DEF]) {
        return None;
    }
    match (request.row.name, end) {
        ("permutation", End::Low) => Some(all().collect()),
        ("permutation", End::High) => Some(all().rev().collect()),
        ("permutation", End::Empty) => Some(Vec::new()),
        ("axes", End::Empty) => Some(Vec::new()),
        ("axes", End::Low) if is_any(request.def, &[ExpandDims::DEF]) => Some(vec![0]),
        ("axes", End::High) if is_any(request.def, &[ExpandDims::DEF]) => Some(vec![rank as i64]),
        ("axes", _) if is_any(request.def, &[Squeeze::DEF]) => {
            let of_one = all().filter(|&axis| shape[axis as usize] == 1);
            Some(
                of_one
                    .take(if end == End::Low { 1 } else { rank })
                    .collect(),
            )
        }
        ("axes", End::Low) => Some(all().take(1).collect()),
        ("axes", End::High) => Some(all().collect()),
        ("starts", End::Low) => each(0),
        ("starts", End::High | End::Empty) => Some(shape.to_vec()),
        ("ends", End::Low | End::Empty) => each(0),
        ("ends", End::High) => each(OPEN_END),
        ("window", End::Low) => each(1),
        ("window", End::High) => Some(shape.iter().map(|&extent| extent.max(1)).collect()),
        ("steps" | "strides" | "dilations", End::Low) => each(1),
        ("steps" | "strides" | "dilations", End::High) => each(3),
        ("indices", End::Low) => each(0),
        ("indices", End::High) => Some(shape.iter().map(|&extent| (extent - 1).max(0)).collect()),
        ("sizes", End::Empty) => each(0),
        ("sizes", End::Low) => each(1),
        ("sizes", End::High) => Some(shape.to_vec()),
        ("low" | "high", End::Low) => each(-1),
        ("low" | "high" | "interior", End::High) => each(2),
        ("low" | "high" | "interior", End::Empty) => each(0),
        _ => None,
    }
}

fn extreme_dims(request: &Request<'_>, shape: &[i64], end: End) -> Option<Vec<i64>> {
    let Some(_) = request.operands.first() else {
        // The op has no operands: any shape is legal.
        return Some(match end {
            End::Empty => vec![0],
            End::Low => Vec::new(),
            End::High => vec![1, 17, 3],
        });
    };
    if is_any(request.def, &[BroadcastTo::DEF]) {
        let stretched = |to: i64| {
            let stretch = |&extent: &i64| if extent == 1 { to } else { extent };
            shape.iter().map(stretch).collect::<Vec<i64>>()
        };
        return Some(match end {
            End::Empty => [&[0][..], &stretched(0)].concat(),
            End::Low => shape.to_vec(),
            End::High => [&[3][..], &stretched(8)].concat(),
        });
    }
    let count: i64 = shape.iter().product();
    Some(match end {
        End::Empty => return None,
        End::Low => vec![count],
        End::High => [&[1][..], shape, &[1]].concat(),
    })
}
