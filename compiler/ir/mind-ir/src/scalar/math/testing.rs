//! Shared parts of the functions' tests.

use std::marker::PhantomData;

use super::steps::{Lane, Steps};

/// A function in both formats, which takes a list of `arity` operands.
pub(super) struct Function {
    pub name: &'static str,
    pub arity: usize,
    pub f32: fn(&[f32]) -> f32,
    pub f64: fn(&[f64]) -> f64,
    /// Counts the steps in f32 and in f64.
    pub steps: [fn() -> Counts; 2],
    /// Known results, one per line.
    pub cases: &'static str,
}

/// Returns bit patterns spread over the whole range of f32, of both signs and including subnormals and NaN, and numbers
/// for which no function is saturated.
pub(super) fn sample_f32() -> impl Iterator<Item = f32> {
    let all = (0..=u32::MAX).step_by(262_147).map(f32::from_bits);
    all.chain((-16_384..16_384).map(|n| n as f32 * 0.001_234_5))
}

/// Returns samples of f64, as [`sample_f32`] does of f32.
pub(super) fn sample_f64() -> impl Iterator<Item = f64> {
    let all = (0..=u64::MAX)
        .step_by(1_125_899_906_842_679)
        .map(f64::from_bits);
    all.chain((-16_384..16_384).map(|n| f64::from(n) * 0.001_234_5))
}

/// The numbers of arithmetic steps, of divisions and square roots, of comparisons and selections, of integer steps, and
/// of all steps that only few elements need.
pub(super) type Counts = [u32; 5];

/// Counts steps by kind, as a lowering would emit them; constants are free.
pub(super) struct Counter<T> {
    float: u32,
    divide: u32,
    select: u32,
    integer: u32,
    rare: u32,
    lane: PhantomData<T>,
}

impl<T> Default for Counter<T> {
    fn default() -> Counter<T> {
        Counter {
            float: 0,
            divide: 0,
            select: 0,
            integer: 0,
            rare: 0,
            lane: PhantomData,
        }
    }
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
    fn round(&mut self, (): ()) {
        self.float += 1;
    }
    fn div(&mut self, (): (), (): ()) {
        self.divide += 1;
    }
    fn sqrt(&mut self, (): ()) {
        self.divide += 1;
    }
    fn lt(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn eq(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn unordered(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn either(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn if_any<const N: usize>(
        &mut self,
        (): (),
        _: [(); N],
        body: impl FnOnce(&mut Self) -> [(); N],
    ) -> [(); N] {
        let mut rare = Counter::default();
        body(&mut rare);
        let choices = N as u32;
        self.rare += rare.float + rare.divide + rare.select + rare.integer + rare.rare + choices;
        self.select += 1;
        [(); N]
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

/// Returns the step counts of a function in a format.
pub(super) fn count<T: Lane>(function: impl Fn(&mut Counter<T>)) -> Counts {
    let mut counter = Counter::default();
    function(&mut counter);
    [
        counter.float,
        counter.divide,
        counter.select,
        counter.integer,
        counter.rare,
    ]
}
