//! Circular functions.
//!
//! The steps of [`mind_mil`]'s own evaluation, in `f64`, so that both give the same bits; zeros lose their sign, and
//! angles past 2^20 digits, which the evaluation reduces as integers.

use std::f64::consts::FRAC_PI_2;

use mind_ir::ValueId;
use mind_ir::types::DType;
use mind_mil::MilOp;
use mind_mil::coefficients::FRAC_PI_2_PARTS;
use mind_mil::ops::unary;

use crate::doubles::{chosen, in_doubles, signed};
use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&unary::SIN, |op, e| {
        in_doubles(op, e, |e, x| Turned::of(e, x)?.sine(e))
    }),
    (&unary::COS, |op, e| {
        in_doubles(op, e, |e, x| Turned::of(e, x)?.cosine(e))
    }),
    (&unary::TAN, |op, e| {
        in_doubles(op, e, |e, x| {
            let turned = Turned::of(e, x)?;
            let (sine, cosine) = (turned.sine(e)?, turned.cosine(e)?);
            e.div(sine, cosine)
        })
    }),
];

/// To the nearest integer, ties to even, below 2^51: a double has no fractions from 2^52 on.
fn whole(e: &mut Emit<'_>, x: ValueId) -> Imported {
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let lifted = e.add_n(x, WHOLE)?;
    e.sub_n(lifted, WHOLE)
}

/// An angle as quarter turns and a rest, with the sine and the cosine of the rest.
struct Turned {
    sine: ValueId,
    cosine: ValueId,
    /// 1 after one or three quarters.
    odd: ValueId,
    /// 1 after two or three quarters.
    high: ValueId,
}

impl Turned {
    fn of(e: &mut Emit<'_>, x: ValueId) -> Result<Turned, Box<Refused>> {
        let quarters = e.div_n(x, FRAC_PI_2)?;
        let quarters = whole(e, quarters)?;
        let mut rest = x;
        for part in FRAC_PI_2_PARTS {
            let turned = e.mul_n(quarters, part)?;
            rest = e.sub(rest, turned)?;
        }
        let square = e.mul(rest, rest)?;
        let negative = e.mul_n(square, -1.0)?;
        let one = e.number(DType::F64, 1.0);
        let (sine, cosine) = (
            series(e, rest, negative, 2.0)?,
            series(e, one, negative, 1.0)?,
        );
        let turns = e.div_n(quarters, 4.0)?;
        let turns = e.sub_n(turns, 0.375)?;
        let turns = whole(e, turns)?;
        let past = e.mul_n(turns, 4.0)?;
        let quarter = e.sub(quarters, past)?;
        let halves = e.div_n(quarter, 2.0)?;
        let halves = e.sub_n(halves, 0.25)?;
        let high = whole(e, halves)?;
        let past = e.mul_n(high, 2.0)?;
        let odd = e.sub(quarter, past)?;
        Ok(Turned {
            sine,
            cosine,
            odd,
            high,
        })
    }

    fn sine(&self, e: &mut Emit<'_>) -> Imported {
        let size = chosen(e, self.odd, self.cosine, self.sine)?;
        signed(e, size, self.high)
    }

    fn cosine(&self, e: &mut Emit<'_>) -> Imported {
        let size = chosen(e, self.odd, self.sine, self.cosine)?;
        let apart = e.sub(self.odd, self.high)?;
        let differ = e.abs(apart)?;
        signed(e, size, differ)
    }
}

/// `start` and the terms after it, each the last times `negative` over two following integers.
fn series(e: &mut Emit<'_>, start: ValueId, negative: ValueId, first: f64) -> Imported {
    let (mut term, mut sum) = (start, start);
    for step in 0..9 {
        let at = first + 2.0 * f64::from(step);
        let factor = e.div_n(negative, at * (at + 1.0))?;
        term = e.mul(term, factor)?;
        sum = e.add(sum, term)?;
    }
    Ok(sum)
}
