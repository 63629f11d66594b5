//! Circular functions and their inverses.
//!
//! The steps of [`mind_mil`]'s own evaluation, in `f64`, so that both give the same bits; zeros lose their sign, and
//! angles past 2^20 digits, which the evaluation reduces as integers.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use mind_ir::ValueId;
use mind_ir::types::DType;
use mind_mil::MilOp;
use mind_mil::coefficients::{FRAC_PI_2_PARTS, SMALL_ATANH};
use mind_mil::ops::unary;

use crate::comparison::step;
use crate::doubles::{below_in_size, chosen, complement, in_doubles, signed};
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
    (&unary::ATAN, |op, e| in_doubles(op, e, arctangent)),
    (&unary::ASIN, |op, e| in_doubles(op, e, arcsine)),
    (&unary::ACOS, |op, e| in_doubles(op, e, arccosine)),
    (&unary::ATANH, |op, e| {
        in_doubles(op, e, hyperbolic_arctangent)
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

fn arctangent(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let size = e.abs(x)?;
    let one = e.number(DType::F64, 1.0);
    let inverse = e.div(one, size)?;
    let low = e.min(size, inverse)?;
    let half = halved(e, low)?;
    let small = halved(e, half)?;
    let square = e.mul(small, small)?;
    let negative = e.mul_n(square, -1.0)?;
    let (mut power, mut sum) = (small, small);
    for step in 1..16 {
        power = e.mul(power, negative)?;
        let term = e.div_n(power, f64::from(2 * step + 1))?;
        sum = e.add(sum, term)?;
    }
    let angle = e.mul_n(sum, 4.0)?;
    let right = e.number(DType::F64, FRAC_PI_2);
    let rest = e.sub(right, angle)?;
    let over = e.sub_n(size, 1.0)?;
    let is_big = step(e, over)?;
    let angle = chosen(e, is_big, rest, angle)?;
    let minus = e.mul_n(x, -1.0)?;
    let negative = step(e, minus)?;
    signed(e, angle, negative)
}

/// The tangent of half the angle whose tangent is `x`.
fn halved(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let square = e.mul(x, x)?;
    let root = e.add_n(square, 1.0)?;
    let root = e.sqrt(root)?;
    let below = e.add_n(root, 1.0)?;
    e.div(x, below)
}

fn arcsine(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let square = e.mul(x, x)?;
    let rest = complement(e, square)?;
    let root = e.sqrt(rest)?;
    let tangent = e.div(x, root)?;
    arctangent(e, tangent)
}

fn arccosine(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let over = e.sub_n(x, 0.5)?;
    let is_near = step(e, over)?;
    let rest = complement(e, x)?;
    let half = e.div_n(rest, 2.0)?;
    let root = e.sqrt(half)?;
    let sine = chosen(e, is_near, root, x)?;
    let angle = arcsine(e, sine)?;
    let twice = e.mul_n(angle, 2.0)?;
    let right = e.number(DType::F64, 2.0 * FRAC_PI_4);
    let other = e.sub(right, angle)?;
    chosen(e, is_near, twice, other)
}

fn hyperbolic_arctangent(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let (above, below) = (e.add_n(x, 1.0)?, complement(e, x)?);
    let ratio = e.div(above, below)?;
    let log = e.log(ratio)?;
    let large = e.div_n(log, 2.0)?;
    let square = e.mul(x, x)?;
    let cube = e.mul(x, square)?;
    let (third, fifth) = (e.div_n(cube, 3.0)?, e.mul(cube, square)?);
    let fifth = e.div_n(fifth, 5.0)?;
    let small = e.add(x, third)?;
    let small = e.add(small, fifth)?;
    let is_small = below_in_size(e, x, SMALL_ATANH)?;
    chosen(e, is_small, small, large)
}
