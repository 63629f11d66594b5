//! Values on which both sides of a rule are evaluated.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;

use crate::format::{FloatFormat, bits_of, from_bits};
use crate::halfway::halfway;
use mind_ir::random::Rng;

/// The distribution of the values of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Zeros, infinities, NaN, subnormals, extremes and small numbers.
    Special,
    /// Full fractions with exponents in a window somewhere in the range, so that sums round.
    Window,
    /// Any bits.
    Bits,
    /// As [`Window`](Mode::Window), with one special value in eight.
    Sprinkled,
    /// A few magnitudes, both signs of each and their neighbours, so that sums cancel.
    Cancelling,
    /// As [`Special`](Mode::Special), but without values that are infinite or NaN, or become so after a few ops.
    /// Integers are neither 0 nor -1, so that every number can be divided by them.
    Finite,
    /// Full fractions with exponents near that of 1; small integers.
    Moderate,
    /// As [`Moderate`](Mode::Moderate), above 0.
    Positive,
    /// Ties between numbers of narrower dtypes, and their neighbours, for rules with casts.
    Halfway,
}

/// The modes in which every rule is tried, in this order.
pub(crate) const MODES: [Mode; 8] = [
    Mode::Special,
    Mode::Window,
    Mode::Finite,
    Mode::Sprinkled,
    Mode::Moderate,
    Mode::Positive,
    Mode::Cancelling,
    Mode::Bits,
];

/// Returns the special values of a dtype, as bits.
pub(crate) fn specials(dtype: DType) -> Vec<u64> {
    let numbers = |list: &[f64]| -> Vec<u64> { list.iter().map(|&n| bits_of(dtype, n)).collect() };
    let Some(format) = FloatFormat::of(dtype) else {
        if dtype == DType::Bool {
            return vec![0, 1];
        }
        let top = 1u64 << (8 * dtype.size() - 1);
        let mut all = numbers(&[0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 5.0]);
        all.extend([top, top - 1, top + 1, u64::MAX, u64::MAX - 1]);
        return all;
    };
    let (top, bias) = (format.top(), format.bias());
    let mut all = Vec::new();
    for negative in [false, true] {
        all.extend([
            format.bits(negative, 0, 0),
            format.bits(negative, 0, 1),
            format.bits(negative, 1, 0),
            format.bits(negative, bias, 0),
            format.bits(negative, bias + 1, 0),
            format.bits(negative, top - 1, u64::MAX),
            format.bits(negative, top, 0),
        ]);
    }
    all.extend(numbers(&[
        0.5, 3.0, 0.1, 1.5, 65504.0, 16777216.0, 16777217.0,
    ]));
    all.push(format.bits(false, top, 1 << (format.fraction - 1)));
    if dtype.size() > 2 {
        all.extend(numbers(&[1e20, -1e-20]));
    }
    all
}

/// Returns `count` random elements of `dtype`. If `below` is given, they are indices less than it.
pub(crate) fn draw(
    rng: &mut Rng,
    dtype: DType,
    count: usize,
    mode: Mode,
    below: Option<i64>,
) -> Buffer {
    if let Some(below) = below {
        let bits: Vec<u64> = (0..count)
            .map(|_| rng.below(below as usize) as u64)
            .collect();
        return from_bits(dtype, &bits);
    }
    let bits: Vec<u64> = match FloatFormat::of(dtype) {
        _ if mode == Mode::Halfway => {
            let all = halfway(dtype);
            (0..count).map(|_| *rng.pick(&all)).collect()
        }
        Some(format) => floats(rng, dtype, format, count, mode),
        None => {
            let all = specials(dtype);
            (0..count).map(|_| integer(rng, &all, mode)).collect()
        }
    };
    from_bits(dtype, &bits)
}

fn integer(rng: &mut Rng, specials: &[u64], mode: Mode) -> u64 {
    match mode {
        Mode::Special | Mode::Halfway => *rng.pick(specials),
        Mode::Bits | Mode::Window => rng.bits(),
        Mode::Sprinkled if rng.chance(12) => *rng.pick(specials),
        Mode::Sprinkled | Mode::Cancelling => rng.within(-3, 3) as u64,
        // Even and not 0, hence neither 0 nor -1.
        Mode::Finite => (rng.bits() | 2) & !1,
        Mode::Moderate | Mode::Positive => rng.within(1, 9) as u64,
    }
}

fn floats(rng: &mut Rng, dtype: DType, format: FloatFormat, count: usize, mode: Mode) -> Vec<u64> {
    let (top, bias) = (format.top(), format.bias());
    let all = specials(dtype);
    // Products of a few factors whose exponents are this close to that of 1 do not overflow.
    let near = (format.bias() / 8).max(1);
    let centre = if rng.chance(50) {
        rng.within(4, top as i64 - 4) as u64
    } else {
        bias
    };
    let windowed = |centre: u64, rng: &mut Rng| {
        let exponent = (centre + rng.below(7) as u64).saturating_sub(3);
        format.bits(rng.chance(50), exponent.min(top - 1), rng.bits())
    };
    let base = [
        windowed(centre, rng),
        windowed(centre, rng),
        windowed(centre, rng),
    ];
    let sign = 1 << (format.fraction + format.exponent);
    let small = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0].map(|number| bits_of(dtype, number));
    let one = |rng: &mut Rng| match mode {
        Mode::Special | Mode::Halfway => *rng.pick(&all),
        Mode::Bits => rng.bits(),
        Mode::Sprinkled if rng.chance(12) => *rng.pick(&all),
        Mode::Window | Mode::Sprinkled => windowed(centre, rng),
        Mode::Cancelling => {
            let bits = *rng.pick(&base) + rng.below(2) as u64;
            if rng.chance(50) { bits ^ sign } else { bits }
        }
        Mode::Finite => match rng.chance(40) {
            true => *rng.pick(&small),
            false => {
                let exponent = rng.within((bias - near) as i64, (bias + near) as i64);
                format.bits(rng.chance(50), exponent as u64, rng.bits())
            }
        },
        Mode::Moderate => windowed(bias, rng),
        Mode::Positive => windowed(bias, rng) & !sign,
    };
    (0..count).map(|_| one(rng)).collect()
}

/// Values whose combinations are all tried on the inputs of elementwise ops.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    values: Vec<u64>,
    inputs: usize,
}

impl Grid {
    /// Returns the grids for `inputs` inputs of `dtype`: all combinations of special values for up to three floats, all
    /// values of one 16-bit float, and all of up to two 8-bit integers.
    pub(crate) fn all(dtype: DType, inputs: usize) -> Vec<Grid> {
        let every = |bits: u32| Grid {
            values: (0..1u64 << bits).collect(),
            inputs,
        };
        let mut grids = Vec::new();
        if dtype.is_float() && (1..=3).contains(&inputs) {
            grids.push(Grid {
                values: specials(dtype),
                inputs,
            });
        }
        match (dtype.size(), inputs) {
            (1, 1 | 2) if dtype != DType::Bool => grids.push(every(8)),
            (2, 1) if dtype.is_float() => grids.push(every(16)),
            _ => {}
        }
        grids
    }

    /// Returns the grid of special values for one or two inputs, for one input also of the ties on which casts of
    /// `dtype` round; `None` for other numbers of inputs.
    pub(crate) fn of_casts(dtype: DType, inputs: usize) -> Option<Grid> {
        let values = match inputs {
            1 => [halfway(dtype), specials(dtype)].concat(),
            2 => specials(dtype),
            _ => return None,
        };
        Some(Grid { values, inputs })
    }

    /// Returns the number of combinations.
    pub(crate) fn count(&self) -> usize {
        self.values.len().pow(self.inputs as u32)
    }

    /// Returns the values of one input, one per combination. Booleans alternate.
    pub(crate) fn input(&self, dtype: DType, input: usize) -> Buffer {
        let every = self.values.len().pow(input as u32);
        let bits = |at: usize| match (at / every % self.values.len(), dtype) {
            (value, DType::Bool) => value as u64 & 1,
            (value, _) => self.values[value],
        };
        from_bits(dtype, &(0..self.count()).map(bits).collect::<Vec<u64>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::to_f64;

    #[test]
    fn specials_hold_both_zeros_nan_and_infinities_of_every_float() {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            let all = to_f64(&from_bits(dtype, &specials(dtype)));
            assert!(all.iter().any(|x| x.is_nan()));
            assert!(all.contains(&f64::INFINITY) && all.contains(&f64::NEG_INFINITY));
            let zero = |sign: bool| move |x: &f64| *x == 0.0 && x.is_sign_negative() == sign;
            assert!(all.iter().any(zero(true)) && all.iter().any(zero(false)));
        }
    }

    #[test]
    fn a_grid_holds_every_pair_once() {
        let [grid] = Grid::all(DType::I8, 2).try_into().expect("one grid");
        let (a, b) = (grid.input(DType::I8, 0), grid.input(DType::I8, 1));
        let mut pairs: Vec<(u8, u8)> = a.to_bytes().into_iter().zip(b.to_bytes()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 1 << 16);
    }

    #[test]
    fn finite_integers_divide_everything() {
        let mut rng = Rng::of_words(1, &[]);
        let values = to_f64(&draw(&mut rng, DType::U8, 500, Mode::Finite, None));
        assert!(!values.contains(&0.0));
    }
}
