//! Elementary functions with the same bits everywhere.
//!
//! `exp`, `log`, `tanh`, `erf`, `sigmoid` and `gelu`, each for `f32` and `f64`, within 2 ulp of
//! the exact result for every input. Each function is defined once, as a straight line of
//! IEEE-exact [`Steps`] without branches or tables: [`Scalar`] computes the steps on one number,
//! and a lowering that implements [`Steps`] gets them as operations of its own IR. Whatever
//! carries out the steps, the bits are the same; nothing here calls a mathematical library.
//!
//! Any NaN gives NaN. f32 is computed in f32 throughout, so that vectors keep their full width.
//! The method, its measured error and the special values of each function are in docs/numerics.md.

pub mod constants;
pub mod erf;
pub mod exp;
pub mod gelu;
pub mod log;
pub mod sigmoid;
pub mod tanh;

mod scalar;
mod steps;
#[cfg(test)]
mod testing;

pub use scalar::Scalar;
pub use steps::{Lane, Steps, horner};

/// Declares the functions on single numbers.
macro_rules! functions {
    ($($function:ident: $doc:literal => $f32:ident, $f64:ident;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $f32(x: f32) -> f32 {
            $function::$function(&mut Scalar::<f32>::default(), x)
        }

        #[doc = $doc]
        #[inline]
        pub fn $f64(x: f64) -> f64 {
            $function::$function(&mut Scalar::<f64>::default(), x)
        }
    )*};
}

functions! {
    exp: "e^x." => exp_f32, exp_f64;
    log: "ln(x); -inf at zeros of either sign, NaN below." => log_f32, log_f64;
    tanh: "The hyperbolic tangent of x; odd." => tanh_f32, tanh_f64;
    erf: "The error function of x; odd." => erf_f32, erf_f64;
    sigmoid: "1 / (1 + e^-x)." => sigmoid_f32, sigmoid_f64;
    gelu: "x (1 + erf(x / sqrt(2))) / 2; -0 at negative infinity." => gelu_f32, gelu_f64;
}

#[cfg(test)]
mod tests {
    use super::testing::{sample_f32, sample_f64};
    use super::*;

    /// FNV-1a over the bits of results, any NaN counting as the same.
    fn digest(bits: impl Iterator<Item = u64>) -> u64 {
        bits.fold(0xcbf2_9ce4_8422_2325, |hash, bits| {
            (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    fn digest_f32(function: fn(f32) -> f32) -> u64 {
        let results = sample_f32().map(function);
        digest(results.map(|y| {
            if y.is_nan() {
                u64::MAX
            } else {
                u64::from(y.to_bits())
            }
        }))
    }

    fn digest_f64(function: fn(f64) -> f64) -> u64 {
        let results = sample_f64().map(function);
        digest(results.map(|y| if y.is_nan() { u64::MAX } else { y.to_bits() }))
    }

    /// Results are part of what a module means, so no build, target or rewrite may change a bit.
    #[test]
    fn bits_never_change() {
        let found = [
            ("exp", digest_f32(exp_f32), digest_f64(exp_f64)),
            ("log", digest_f32(log_f32), digest_f64(log_f64)),
            ("tanh", digest_f32(tanh_f32), digest_f64(tanh_f64)),
            ("erf", digest_f32(erf_f32), digest_f64(erf_f64)),
            ("sigmoid", digest_f32(sigmoid_f32), digest_f64(sigmoid_f64)),
            ("gelu", digest_f32(gelu_f32), digest_f64(gelu_f64)),
        ];
        let expected = [
            ("exp", 0xa35a_68a5_cc4c_83e0, 0xa0a8_ec17_c672_14da),
            ("log", 0xbc05_6d52_0088_b3a6, 0xbeb9_fc53_49cb_044b),
            ("tanh", 0x058a_7db3_7a12_6f9a, 0xe03b_6ebb_5cc6_aa64),
            ("erf", 0x20a7_f5bc_6cca_bc9f, 0x0421_14b7_caee_9ed3),
            ("sigmoid", 0xd066_d08f_3cc4_8492, 0x9578_f01c_c99f_81c1),
            ("gelu", 0x0057_b971_d75f_0bd8, 0xcb7d_d02a_4bee_a667),
        ];
        assert_eq!(found, expected);
    }

    /// Counts steps by kind, as a lowering would see them; constants are free.
    #[derive(Default)]
    struct Counter<T> {
        float: u32,
        divide: u32,
        select: u32,
        integer: u32,
        lane: std::marker::PhantomData<T>,
    }

    impl<T: Lane> Steps for Counter<T> {
        type Lane = T;
        type Value = ();
        type Int = ();
        type Mask = ();

        fn value(&mut self, _: T) {}
        fn int(&mut self, _: T::Bits) {}
        fn neg(&mut self, (): ()) {}
        fn bits(&mut self, (): ()) {}
        fn float(&mut self, (): ()) {}

        fn add(&mut self, (): (), (): ()) {
            self.float += 1;
        }
        fn sub(&mut self, (): (), (): ()) {
            self.float += 1;
        }
        fn mul(&mut self, (): (), (): ()) {
            self.float += 1;
        }
        fn fma(&mut self, (): (), (): (), (): ()) {
            self.float += 1;
        }
        fn div(&mut self, (): (), (): ()) {
            self.divide += 1;
        }
        fn lt(&mut self, (): (), (): ()) {
            self.select += 1;
        }
        fn eq(&mut self, (): (), (): ()) {
            self.select += 1;
        }
        fn select(&mut self, (): (), (): (), (): ()) {
            self.select += 1;
        }
        fn min(&mut self, (): (), (): ()) {
            self.select += 1;
        }
        fn max(&mut self, (): (), (): ()) {
            self.select += 1;
        }
        fn iadd(&mut self, (): (), (): ()) {
            self.integer += 1;
        }
        fn isub(&mut self, (): (), (): ()) {
            self.integer += 1;
        }
        fn and(&mut self, (): (), (): ()) {
            self.integer += 1;
        }
        fn or(&mut self, (): (), (): ()) {
            self.integer += 1;
        }
        fn shl(&mut self, (): (), _: u32) {
            self.integer += 1;
        }
        fn shr(&mut self, (): (), _: u32) {
            self.integer += 1;
        }
    }

    fn count<T: Lane>(function: fn(&mut Counter<T>, ())) -> [u32; 4] {
        let mut counter = Counter {
            float: 0,
            divide: 0,
            select: 0,
            integer: 0,
            lane: std::marker::PhantomData,
        };
        function(&mut counter, ());
        [
            counter.float,
            counter.divide,
            counter.select,
            counter.integer,
        ]
    }

    /// The cost of a vector kernel: arithmetic, divisions, compares with selects, integer steps.
    #[test]
    fn step_counts() {
        let found = [
            ("exp", count::<f32>(exp::exp), count::<f64>(exp::exp)),
            ("log", count::<f32>(log::log), count::<f64>(log::log)),
            ("tanh", count::<f32>(tanh::tanh), count::<f64>(tanh::tanh)),
            ("erf", count::<f32>(erf::erf), count::<f64>(erf::erf)),
            (
                "sigmoid",
                count::<f32>(sigmoid::sigmoid),
                count::<f64>(sigmoid::sigmoid),
            ),
            ("gelu", count::<f32>(gelu::gelu), count::<f64>(gelu::gelu)),
        ];
        let expected = [
            ("exp", [12, 0, 2, 4], [17, 0, 2, 4]),
            ("log", [13, 0, 9, 5], [25, 0, 9, 5]),
            ("tanh", [19, 1, 3, 4], [30, 1, 3, 4]),
            ("erf", [23, 0, 3, 4], [46, 0, 3, 4]),
            ("sigmoid", [13, 1, 5, 5], [18, 1, 5, 5]),
            ("gelu", [44, 1, 2, 6], [63, 1, 2, 6]),
        ];
        assert_eq!(found, expected);
    }
}
