//! Numbers that expose roundings: ties between two numbers of a narrower dtype, and their neighbours.

use mind_ir::types::DType;

use crate::format::{FloatFormat, bits_of};

/// Returns the bits of numbers of `dtype` that are ties between two numbers of a dtype that it may be cast to, and of
/// their neighbours.
///
/// Two casts in a row round these twice and may differ from one cast. For example, `f64` rounds 2^62 + 2^38 + 1 to a
/// tie of `f32`.
pub(crate) fn halfway(dtype: DType) -> Vec<u64> {
    let mut bits = match FloatFormat::of(dtype) {
        Some(format) => of_float(dtype, format),
        None if dtype == DType::Bool => vec![0, 1],
        None => of_int(dtype),
    };
    bits.sort_unstable();
    bits.dedup();
    bits
}

/// Returns the float formats that a dtype may be cast to.
fn targets() -> impl Iterator<Item = FloatFormat> {
    DType::ALL
        .iter()
        .filter_map(|&dtype| FloatFormat::of(dtype))
}

/// Returns the number of bits of an integer dtype without the sign.
fn magnitude(dtype: DType) -> u32 {
    let signed = dtype.class() == mind_ir::types::DTypeClass::Signed;
    8 * dtype.size() as u32 - u32::from(signed)
}

fn of_int(dtype: DType) -> Vec<u64> {
    let width = magnitude(dtype);
    let signed = !width.is_multiple_of(8);
    let mut found: Vec<i128> = Vec::new();
    for FloatFormat { fraction, .. } in targets() {
        let tops = [
            fraction + 1,
            fraction + 2,
            (fraction + width) / 2,
            width - 2,
            width - 1,
        ];
        for top in tops
            .into_iter()
            .filter(|&top| top > fraction && top < width)
        {
            let unit = 1i128 << (top - fraction);
            // An even and an odd significand, and one whose rounding carries.
            let significands = [1 << fraction, (1 << fraction) + 1, (2 << fraction) - 1];
            for significand in significands {
                let tie = significand * unit + unit / 2;
                found.extend([tie - 1, tie, tie + 1]);
            }
        }
    }
    // Around the limit at which `f16` overflows to infinity.
    found.extend([65504, 65519, 65520, 65521]);
    for bits in [7, 8, 15, 16, 31, 32, 63] {
        found.extend([(1i128 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    }
    let negative: Vec<i128> = found.iter().map(|number| -number).collect();
    if signed {
        found.extend(negative);
    }
    let most = (1i128 << width) - 1;
    found.retain(|&number| number <= most && number >= -most - 1);
    let mask = u64::MAX >> (64 - 8 * dtype.size());
    found
        .into_iter()
        .map(|number| number as u64 & mask)
        .collect()
}

fn of_float(dtype: DType, own: FloatFormat) -> Vec<u64> {
    let mut found = Vec::new();
    let mut around = |number: f64| {
        let bits = bits_of(dtype, number);
        for bits in [bits.saturating_sub(1), bits, bits + 1] {
            let sign = 1 << (own.fraction + own.exponent);
            found.extend([bits, bits ^ sign]);
        }
    };
    for target in targets().filter(|target| target.fraction < own.fraction) {
        let bias = target.bias() as i32;
        let fraction = target.fraction as i32;
        // Numbers near 1, the smallest normal numbers, subnormal ones and the largest.
        for exponent in [0, 1, -1, 1 - bias, bias] {
            let unit = 2f64.powi(exponent - fraction);
            let significands = [1u64 << fraction, (1 << fraction) + 1, (2 << fraction) - 1];
            for significand in significands {
                around((significand as f64 + 0.5) * unit);
            }
        }
        let least = 2f64.powi(1 - bias - fraction);
        for halves in [1.0, 3.0, 5.0] {
            around(halves * 0.5 * least);
        }
    }
    // Numbers on which casts to integers round and saturate.
    for whole in [0, 1, 2, 126, 127, 254, 255, 32766, 32767, 65534, 65535] {
        around(f64::from(whole) + 0.5);
    }
    for bits in [7, 8, 15, 16, 31, 32, 63, 64] {
        around(2f64.powi(bits));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::from_bits;
    use mind_ir::tensor::Element;

    #[test]
    fn an_integer_whose_cast_rounds_twice_is_among_them() {
        let twice = |number: i64| (number as f64) as f32 != number as f32;
        let all = from_bits(DType::I64, &halfway(DType::I64));
        let all = i64::peek(&all).unwrap();
        assert!(all.iter().any(|&number| twice(number)));
        assert!(all.contains(&((1 << 62) + (1 << 38) + 1)));
    }

    #[test]
    fn a_float_whose_cast_rounds_twice_is_among_them() {
        let twice = |number: f64| {
            let narrow = |number: f64| bits_of(DType::F16, number);
            narrow(f64::from(number as f32)) != narrow(number)
        };
        let all = from_bits(DType::F64, &halfway(DType::F64));
        assert!(f64::peek(&all).unwrap().iter().any(|&number| twice(number)));
    }

    #[test]
    fn every_dtype_has_a_list_that_is_not_long() {
        for &dtype in DType::ALL {
            let count = halfway(dtype).len();
            assert!((2..1000).contains(&count), "{dtype}: {count}");
        }
    }
}
