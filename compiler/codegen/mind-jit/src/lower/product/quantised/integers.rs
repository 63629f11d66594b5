//! The integers of panels, in parts of 32 terms of a vector of columns.

use mind_vir::ir::{BinaryOp, Builder, ConvertOp, Lane, ShiftOp, UnaryOp, Value};

use super::decode::{Context, Here, Region};
use super::format::{Coding, Facts, Groups, Run};
use mind_ir::types::QuantFormat;

/// Terms of a part, which share a scale of the first operand.
pub(in crate::lower::product) const TERMS: usize = 32;

/// Words of a part.
pub(in crate::lower::product) const WORDS: usize = TERMS / 4;

/// Properties of a format that products of its integers depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lower::product) struct Shape {
    /// Bits of an integer after adding `offset`.
    pub bits: u32,
    /// The offset (zero point) that makes integers unsigned.
    pub offset: u32,
    /// Groups of a part with an integer scale each: 2; or 1, whose scale is multiplied into that of the block.
    pub groups: usize,
    /// Whether minima are added.
    pub has_minima: bool,
}

/// The factors of the sums of a part, for a vector of columns.
#[derive(Clone, Debug)]
pub(in crate::lower::product) struct Factors {
    /// `f32`: the scale of the block, times that of the group if there is only one.
    pub scale: Value,
    /// The integer scales of two groups.
    pub scales: Option<[Value; 2]>,
    /// `f32`: the factor of the sum of the first operand, or of minima.
    pub minimum: Option<Value>,
    /// The integer minima of two groups.
    pub minima: Option<[Value; 2]>,
}

impl Factors {
    /// Returns the vectors, [`Shape::factors`] many.
    pub(in crate::lower::product) fn values(&self) -> Vec<Value> {
        let pairs = self.scales.into_iter().chain(self.minima).flatten();
        std::iter::once(self.scale)
            .chain(self.minimum)
            .chain(pairs)
            .collect()
    }

    /// Reads the factors from their vectors in that order, each given by its lane type and its number.
    pub(in crate::lower::product) fn read(
        shape: &Shape,
        mut load: impl FnMut(Lane, usize) -> Value,
    ) -> Factors {
        let scale = load(Lane::F32, 0);
        let minimum = shape.has_minima.then(|| load(Lane::F32, 1));
        let first = 1 + usize::from(shape.has_minima);
        let mut pair = |at: usize| [load(Lane::I32, at), load(Lane::I32, at + 1)];
        let has_pairs = shape.groups == 2;
        Factors {
            scale,
            minimum,
            scales: has_pairs.then(|| pair(first)),
            minima: (has_pairs && shape.has_minima).then(|| pair(first + 2)),
        }
    }
}

/// Parts of panels, or of an unpacked copy.
pub(in crate::lower::product) trait Part {
    /// Returns four unsigned integers per lane, those of word `at`.
    fn word(&self, b: &mut Builder, strip: usize, at: usize) -> Value;

    /// Returns the even and the odd integers of each lane of word `at`, in 16 bits each.
    fn halves(&self, b: &mut Builder, strip: usize, at: usize) -> [Value; 2] {
        let word = self.word(b, strip, at);
        let mask = b.constant(Lane::I32, 0x00ff_00ff);
        let odd = b.shift(ShiftOp::Shr, word, 8);
        [word, odd].map(|word| b.binary(BinaryOp::And, word, mask))
    }

    /// Returns the factors of the sums.
    fn factors(&self, b: &mut Builder, strip: usize) -> Factors;
}

impl Shape {
    pub(in crate::lower::product) const fn of(format: QuantFormat) -> Shape {
        let facts = Facts::of(format);
        Shape {
            bits: facts.bits,
            offset: match facts.coding {
                Coding::Unsigned => 0,
                Coding::Signed => 1 << (facts.bits - 1),
                Coding::Above(by) => by,
            },
            groups: match facts.groups {
                Groups::None | Groups::Sixes(_) => 1,
                Groups::Signed(_) | Groups::SignedSixes(_) | Groups::Nibbles(_) => 2,
            },
            has_minima: facts.minimum.is_some(),
        }
    }

    /// Returns the number of vectors of [`Factors`].
    pub(in crate::lower::product) const fn factors(&self) -> usize {
        let each = if self.groups == 2 { 3 } else { 1 };
        if self.has_minima { 2 * each } else { each }
    }
}

/// Appends code for a part, and returns updated sums.
pub(in crate::lower::product) type Each<'e> =
    dyn FnMut(&mut Builder, &dyn Part, Vec<Value>) -> Vec<Value> + 'e;

/// Appends `each` for every part of a region at `from`, in order; returns the updated `sums`.
pub(in crate::lower::product) fn parts(
    b: &mut Builder,
    region: Region,
    from: Value,
    sums: Vec<Value>,
    each: &mut Each<'_>,
) -> Vec<Value> {
    // Scales stay in registers here.
    let cx = Context::new(b, region, from);
    cx.blocks(b, from, sums, &mut |b, runs, here, mut sums| {
        let mut rest = runs;
        while let Some(first) = rest.first() {
            let is_own = |run: &&Run| run.term < first.term + TERMS;
            let count = rest.iter().take_while(is_own).count();
            let (own, remaining) = rest.split_at(count);
            let part = Packed {
                cx: &cx,
                here,
                runs: own,
            };
            sums = each(b, &part, sums);
            rest = remaining;
        }
        sums
    })
}

/// A part of panels.
struct Packed<'c> {
    cx: &'c Context,
    here: Here,
    runs: &'c [Run],
}

impl Part for Packed<'_> {
    fn word(&self, b: &mut Builder, strip: usize, at: usize) -> Value {
        let (cx, term) = (self.cx, self.runs[0].term + 4 * at);
        let run = self.runs.iter().rev().find(|run| run.term <= term);
        let run = run.expect("runs hold every term");
        let word = cx.word(b, run, self.here, strip, (term - run.term) / 4);
        let Facts { bits, coding, .. } = cx.facts;
        let word = cx.bytes(b, run, word, 0);
        match coding {
            Coding::Unsigned | Coding::Above(_) => word,
            Coding::Signed => {
                let sign = b.constant(Lane::I32, 0x0101_0101 << (bits - 1));
                b.binary(BinaryOp::Xor, word, sign)
            }
        }
    }

    fn factors(&self, b: &mut Builder, strip: usize) -> Factors {
        let (cx, here) = (self.cx, self.here);
        let [first, last] = [self.runs[0].group, self.runs[self.runs.len() - 1].group];
        if Shape::of(cx.region.panels.format).groups == 1 {
            let (scale, minimum) = cx.steps_of(b, here, strip, first);
            return Factors {
                scale,
                scales: None,
                minimum,
                minima: None,
            };
        }
        let (scale, minimum) = cx.block_steps(b, here, strip);
        let minimum = minimum.map(|minimum| b.unary(UnaryOp::Neg, minimum));
        let groups = [first, last].map(|group| cx.group(b, here, strip, group));
        let both = |of: [Option<Value>; 2]| match of {
            [Some(first), Some(last)] => Some([first, last]),
            _ => None,
        };
        Factors {
            scale,
            scales: both(groups.map(|(scale, _)| scale)),
            minimum,
            minima: both(groups.map(|(_, minimum)| minimum)),
        }
    }
}

/// Converts `sums` of unsigned products to `f32` and multiplies them by `factors`; `of_lhs` returns the factor of
/// minima.
pub(in crate::lower::product) fn scaled(
    b: &mut Builder,
    factors: &Factors,
    sum: Value,
    minima: Option<Value>,
) -> Value {
    let sum = b.convert(ConvertOp::IntToFloat, Lane::F32, sum);
    match (factors.minimum, minima) {
        (Some(minimum), Some(minima)) => {
            let minima = b.binary(BinaryOp::Mul, minimum, minima);
            b.fma(factors.scale, sum, minima)
        }
        _ => b.binary(BinaryOp::Mul, factors.scale, sum),
    }
}
