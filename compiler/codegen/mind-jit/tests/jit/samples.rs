//! Test elements that distinguish implementations.

use mind_ir::random::Rng;
use mind_ir::tensor::{Buffer, FloatNum, Num};
use mind_ir::types::DType;
use mind_ir::with_num;

/// Random numbers and choices.
pub struct Random(Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Rng::new(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *self.0.pick(choices)
    }
}

/// Returns `count` elements of `dtype`: special values, random bits, and values near 1.
pub fn elements(dtype: DType, count: usize, random: &mut Random) -> Buffer {
    let bytes = (0..count).flat_map(|_| {
        let bits = element(dtype, random);
        bits.to_le_bytes()[..dtype.size()].to_vec()
    });
    Buffer::from_bytes(dtype, &bytes.collect::<Vec<u8>>())
}

/// Returns `count` elements of `dtype` for which most chains of sums and products stay finite.
pub fn mild(dtype: DType, count: usize, random: &mut Random) -> Buffer {
    fn of<T: FloatNum>(count: usize, random: &mut Random) -> Buffer {
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e-40, -6e-8];
        let values = (0..count).map(|_| match random.below(100) {
            0 => random.pick(&special),
            _ => (random.bits() as i32 as f64) / 2e9,
        });
        T::wrap(values.map(T::from_f64).collect())
    }
    mind_ir::with_float!(dtype, T => of::<T>(count, random), else elements(dtype, count, random))
}

fn element(dtype: DType, random: &mut Random) -> u64 {
    match dtype {
        DType::Bool => random.bits() & 1,
        _ if dtype.is_float() => float(dtype, random),
        _ => {
            let extremes = [
                0,
                1,
                u64::MAX,
                1 << 7,
                1 << 15,
                1 << 31,
                1 << 63,
                i64::MAX as u64,
                0x7f,
                2,
                0x7fff,
            ];
            match random.below(4) {
                0 => random.pick(&extremes),
                1 => random.bits() & 0xf,
                _ => random.bits(),
            }
        }
    }
}

fn float(dtype: DType, random: &mut Random) -> u64 {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-40,
        -1e-40,
        65504.0,
        65520.0,
        3e38,
        6e-8,
        1e-310,
        0.55,
        0.90625,
        -8.0,
        88.7,
        -103.9,
        14.5,
    ];
    let value = match random.below(4) {
        0 => random.pick(&special),
        1 => return random.bits(),
        2 => (random.bits() as i32 as f64) / 1e8,
        _ => (random.bits() as i32 as f64) / 2e9,
    };
    fn bits<T: FloatNum>(value: f64) -> u64 {
        let mut bytes = T::wrap(vec![T::from_f64(value)]).to_bytes();
        bytes.resize(8, 0);
        u64::from_ne_bytes(bytes.try_into().expect("8 bytes"))
    }
    mind_ir::with_float!(dtype, T => bits::<T>(value), else 0)
}

/// Returns divisors for which no integer division fails.
pub fn divisors(dtype: DType, count: usize) -> Buffer {
    fn of<T: Num>(count: usize) -> Buffer {
        let small = (0..count).map(|at| T::from_count(at % 11 + 2));
        T::wrap(small.collect())
    }
    with_num!(dtype, T => of::<T>(count), else Buffer::zeros(dtype, count))
}
