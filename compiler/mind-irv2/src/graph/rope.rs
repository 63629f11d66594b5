//! Rotary embeddings: the cosines and sines of positions.
//!
//! All computations are `f64` steps whose results IEEE 754 defines exactly, so the values have the same bits on every
//! machine.

use std::f64::consts::{FRAC_2_PI, TAU};

use mind_ir::scalar::math::{exp_f64, log_f64};

use crate::attributes::Attribute;
use crate::config::{Config, RotaryStyle};
use crate::{FrequencyFactors, Rope, RopeScaling, Yarn};

/// The rotation of the pairs of a head.
#[derive(Clone, PartialEq, Debug)]
pub struct Frequencies {
    /// The angle of each pair per position.
    pub each: Vec<f32>,
    /// The factor of cosines and sines.
    pub scale: f32,
}

/// Returns the angle per position of the pairs of a head, in sequences of at most `positions`.
///
/// For pair `i` of `n` it is `theta^(-i / n)`, rounded to `f32`, scaled, and divided by the factor of the pair.
pub fn frequencies(rope: &Rope, positions: usize) -> Vec<f32> {
    let pairs = rope.rotary_dims / 2;
    let ln_theta = log_f64(rope.theta);
    let factors = rope.factors.as_ref().map(FrequencyFactors::as_slice);
    let frequency = |pair: usize| {
        let share = pair as f64 / pairs as f64;
        let frequency = exp_f64(-share * ln_theta) as f32;
        let wavelength = exp_f64(share * ln_theta) as f32;
        let stretched = match rope.scaling {
            RopeScaling::Yarn(own) => blended(wavelength, pair, (own, rope)),
            RopeScaling::LongRope {
                short,
                long,
                original_context,
                ..
            } => {
                let own = if positions > original_context {
                    long
                } else {
                    short
                };
                // A checked configuration has a factor for each pair.
                let divisor = own.as_slice().get(pair).copied().unwrap_or(1.0);
                1.0 / (divisor * wavelength)
            }
            scaling => stretched(frequency, scaling),
        };
        let divisor = factors.and_then(|factors| factors.get(pair));
        divisor.map_or(stretched, |divisor| stretched / divisor)
    };
    (0..pairs).map(frequency).collect()
}

/// Returns the frequencies of heads with the rotation `style`, in sequences of at most `positions`; empty if the
/// model has no rotation.
pub fn frequencies_of(config: &Config, style: RotaryStyle, positions: usize) -> Frequencies {
    let Some(rope) = &config.rope else {
        return Frequencies {
            each: Vec::new(),
            scale: 1.0,
        };
    };
    match style {
        RotaryStyle::Global => Frequencies {
            each: frequencies(rope, positions),
            scale: rope.scaling.attention_factor() as f32,
        },
        RotaryStyle::Local => Frequencies {
            each: frequencies(
                &Rope {
                    theta: config.attributes.get(Attribute::LocalRopeTheta),
                    scaling: RopeScaling::None,
                    factors: None,
                    rotary_dims: rope.rotary_dims,
                },
                positions,
            ),
            scale: 1.0,
        },
        RotaryStyle::None => Frequencies {
            each: vec![0.0; rope.rotary_dims / 2],
            scale: 1.0,
        },
    }
}

/// Returns the frequency of a pair by YaRN: an interpolation between the original frequency, for pairs with many
/// rotations in the original context, and that divided by the factor, for pairs with few.
fn blended(wavelength: f32, pair: usize, (own, rope): (Yarn, &Rope)) -> f32 {
    let dims = rope.rotary_dims as f64;
    let ln_theta = log_f64(rope.theta);
    // The pair with this number of rotations in the original context.
    let pair_of =
        |often: f64| dims * log_f64(own.original_context as f64 / (often * TAU)) / (2.0 * ln_theta);
    let (mut low, mut high) = (pair_of(own.beta_fast), pair_of(own.beta_slow));
    if own.truncate {
        (low, high) = (low.floor(), high.ceil());
    }
    let (low, mut high) = (low.max(0.0), high.min(dims - 1.0));
    if low == high {
        high += 0.001;
    }
    let ramp = ((pair as f32 - low as f32) / (high - low) as f32).clamp(0.0, 1.0);
    let kept = 1.0 - ramp;
    let (whole, divided) = (1.0 / wavelength, 1.0 / (own.factor as f32 * wavelength));
    divided * (1.0 - kept) + whole * kept
}

fn stretched(frequency: f32, scaling: RopeScaling) -> f32 {
    let inv = f64::from(frequency);
    match scaling {
        // YaRN and LongRoPE are computed per pair, by the caller.
        RopeScaling::None
        | RopeScaling::Dynamic { .. }
        | RopeScaling::Yarn(_)
        | RopeScaling::LongRope { .. } => frequency,
        RopeScaling::Linear { factor } => (inv / factor) as f32,
        RopeScaling::Llama3 {
            factor,
            low_freq_factor: low,
            high_freq_factor: high,
            original_context,
        } => {
            let context = original_context as f64;
            let wavelength = TAU / inv;
            if wavelength > context / low {
                (inv / factor) as f32
            } else if wavelength < context / high {
                frequency
            } else {
                let share = (context / wavelength - low) / (high - low);
                (inv * ((1.0 - share) / factor + share)) as f32
            }
        }
    }
}

/// Appends the cosines and the sines of one position, one for each pair.
///
/// The angle is `position * frequency`, rounded to `f32`. Its cosine and sine are rounded to `f32`, and then scaled.
pub fn append_row(position: usize, own: &Frequencies, cos: &mut Vec<f32>, sin: &mut Vec<f32>) {
    for &frequency in &own.each {
        let angle = position as f32 * frequency;
        let (sine, cosine) = sin_cos(f64::from(angle));
        cos.push(cosine as f32 * own.scale);
        sin.push(sine as f32 * own.scale);
    }
}

/// Pi / 2 as a sum of three parts. Products of the first two with integers below 2^24 are exact.
const FRAC_PI_2: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5400_0000),
    f64::from_bits(0x3e11_0b46_1100_0000),
    f64::from_bits(0x3c44_c4c6_628b_80dc),
];

/// The Taylor coefficients of the sine after its first term, in powers of the square.
const SIN: [f64; 7] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];

/// The Taylor coefficients of the cosine after its first term, in powers of the square.
const COS: [f64; 8] = [
    -0.5,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
];

/// Returns sine and cosine of an angle from 0 to 2^24, with an error below 2^-45.
fn sin_cos(angle: f64) -> (f64, f64) {
    let turns = (angle * FRAC_2_PI + 0.5).trunc();
    let [high, middle, low] = FRAC_PI_2;
    let r = ((angle - turns * high) - turns * middle) - turns * low;
    let square = r * r;
    let horner = |terms: &[f64]| {
        let mut terms = terms.iter().rev();
        let last = terms.next().copied().unwrap_or(0.0);
        terms.fold(last, |sum, term| sum * square + term)
    };
    let sine = r + r * (square * horner(&SIN));
    let cosine = 1.0 + square * horner(&COS);
    match turns as u64 % 4 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_pi_is_whole() {
        let [high, middle, low] = FRAC_PI_2;
        assert_eq!(high + (middle + low), std::f64::consts::FRAC_PI_2);
        let rest = std::f64::consts::FRAC_PI_2 - high - middle;
        let below_the_last_bit = 6.123_233_995_736_766e-17;
        assert!((low - rest - below_the_last_bit).abs() < 1e-32, "{low:e}");
    }

    #[test]
    fn angles_of_all_sizes_are_reduced() {
        let mut angle = 1e-6f32;
        while angle < 1.6e7 {
            let (sine, cosine) = sin_cos(f64::from(angle));
            let (s, c) = f64::from(angle).sin_cos();
            assert!((sine - s).abs() < 3e-14, "sin {angle}: {sine} {s}");
            assert!((cosine - c).abs() < 3e-14, "cos {angle}: {cosine} {c}");
            angle = angle * 1.0007 + 1e-4;
        }
    }

    fn rope(scaling: RopeScaling) -> Rope {
        Rope {
            theta: 500_000.0,
            scaling,
            factors: None,
            rotary_dims: 64,
        }
    }

    #[test]
    fn frequencies_fall_from_one() {
        let plain = frequencies(&rope(RopeScaling::None), 1);
        assert_eq!(plain.len(), 32);
        for (pair, &found) in plain.iter().enumerate() {
            let expected = 500_000f64.powf(-(pair as f64) / 32.0);
            assert!((f64::from(found) / expected - 1.0).abs() < 1e-7, "{pair}");
        }
        let linear = frequencies(&rope(RopeScaling::Linear { factor: 4.0 }), 1);
        assert_eq!(linear[3], plain[3] / 4.0);
    }

    #[test]
    fn each_pair_has_its_factor() {
        let own = rope(RopeScaling::Linear { factor: 4.0 });
        let plain = frequencies(&own, 1);
        let divisors: Vec<f32> = (0..32).map(|pair| 1.0 + pair as f32).collect();
        let factors = FrequencyFactors::new(&divisors);
        let divided = frequencies(&Rope { factors, ..own }, 1);
        for pair in 0..32 {
            assert_eq!(divided[pair], plain[pair] / divisors[pair]);
        }
    }

    #[test]
    fn low_frequencies_alone_are_divided() {
        let plain = frequencies(&rope(RopeScaling::None), 1);
        let scaling = RopeScaling::Llama3 {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_context: 8192,
        };
        let scaled = frequencies(&rope(scaling), 1);
        let wavelength = |pair: usize| TAU / f64::from(plain[pair]);
        for pair in 0..32 {
            match wavelength(pair) {
                long if long > 8192.0 => assert_eq!(scaled[pair], plain[pair] / 8.0),
                short if short < 2048.0 => assert_eq!(scaled[pair], plain[pair]),
                _ => assert!(scaled[pair] < plain[pair] && scaled[pair] > plain[pair] / 8.0),
            }
        }
    }

    #[test]
    fn yarn_keeps_fast_pairs_and_divides_slow_ones() {
        let plain = frequencies(&rope(RopeScaling::None), 1);
        let own = Yarn {
            factor: 4.0,
            attention_factor: 1.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            original_context: 2048,
            truncate: true,
        };
        let scaled = frequencies(&rope(RopeScaling::Yarn(own)), 1);
        assert!((scaled[0] / plain[0] - 1.0).abs() < 1e-6);
        assert!((scaled[31] / plain[31] - 0.25).abs() < 1e-6);
        let shares: Vec<f32> = scaled.iter().zip(&plain).map(|(x, y)| x / y).collect();
        assert!(shares.windows(2).all(|pair| pair[0] >= pair[1] - 1e-6));
        assert!(shares.iter().any(|share| (0.3..0.9).contains(share)));
    }

    #[test]
    fn long_sequences_have_factors_of_their_own() {
        let factors = |of: f32| {
            let all: Vec<f32> = (0..32).map(|pair| 1.0 + of * pair as f32).collect();
            FrequencyFactors::new(&all).expect("factors")
        };
        let own = rope(RopeScaling::LongRope {
            short: factors(0.0),
            long: factors(1.0),
            attention_factor: 1.2,
            original_context: 100,
        });
        let plain = frequencies(&rope(RopeScaling::None), 1);
        let near = |found: f32, expected: f32| (found / expected - 1.0).abs() < 1e-6;
        let (short, long) = (frequencies(&own, 100), frequencies(&own, 101));
        for (pair, &plain) in plain.iter().enumerate() {
            assert!(near(short[pair], plain));
            assert!(near(long[pair], plain / (1.0 + pair as f32)));
        }
    }
}
