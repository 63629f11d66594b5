//! Reference implementations in AVX2 intrinsics.

use std::arch::x86_64::*;

use mind_ir::scalar::math::{self, Steps};

/// Returns whether this machine supports the instructions used here.
pub fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

pub struct Avx2;

/// These functions are called only if AVX2 and FMA are available, and are inlined into functions that enable them.
macro_rules! avx2 {
    ($($name:ident($($arg:ident),*) -> $result:ident = $call:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: Self::Value),*) -> Self::$result {
            // SAFETY: the machine has the instructions; see `available`.
            unsafe { $call }
        }
    )*};
}

impl Steps for Avx2 {
    type Lane = f32;
    type Value = __m256;
    type Int = __m256i;
    type Mask = __m256;

    avx2! {
        add(a, b) -> Value = _mm256_add_ps(a, b);
        sub(a, b) -> Value = _mm256_sub_ps(a, b);
        neg(a) -> Value = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
        mul(a, b) -> Value = _mm256_mul_ps(a, b);
        div(a, b) -> Value = _mm256_div_ps(a, b);
        sqrt(a) -> Value = _mm256_sqrt_ps(a);
        fma(a, b, c) -> Value = _mm256_fmadd_ps(a, b, c);
        round(a) -> Value = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        lt(a, b) -> Mask = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
        eq(a, b) -> Mask = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
        min(a, b) -> Value = _mm256_min_ps(a, b);
        max(a, b) -> Value = _mm256_max_ps(a, b);
        bits(a) -> Int = _mm256_castps_si256(a);
    }

    #[inline(always)]
    fn unordered(&mut self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b) }
    }
    #[inline(always)]
    fn either(&mut self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_or_ps(a, b) }
    }
    #[inline(always)]
    fn if_any<const N: usize>(
        &mut self,
        mask: __m256,
        otherwise: [__m256; N],
        body: impl FnOnce(&mut Self) -> [__m256; N],
    ) -> [__m256; N] {
        // SAFETY: as above.
        if unsafe { _mm256_testz_ps(mask, mask) } == 1 {
            return otherwise;
        }
        let computed = body(self);
        std::array::from_fn(|at| self.select(mask, computed[at], otherwise[at]))
    }
    #[inline(always)]
    fn value(&mut self, c: f32) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_set1_ps(c) }
    }
    #[inline(always)]
    fn int(&mut self, c: u32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_set1_epi32(c as i32) }
    }
    #[inline(always)]
    fn select(&mut self, mask: __m256, a: __m256, b: __m256) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_blendv_ps(b, a, mask) }
    }
    #[inline(always)]
    fn float(&mut self, a: __m256i) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_castsi256_ps(a) }
    }
    #[inline(always)]
    fn iadd(&mut self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi32(a, b) }
    }
    #[inline(always)]
    fn isub(&mut self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn and(&mut self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    fn or(&mut self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    fn shl(&mut self, a: __m256i, n: u32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_sll_epi32(a, _mm_cvtsi32_si128(n as i32)) }
    }
    #[inline(always)]
    fn shr(&mut self, a: __m256i, n: u32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_srl_epi32(a, _mm_cvtsi32_si128(n as i32)) }
    }
}

/// Defines a function of slices whose body is compiled with AVX2 and FMA.
macro_rules! enabled {
    ($(fn $name:ident($inputs:ident, $output:ident) $body:block)*) => {$(
        pub fn $name(inputs: &[&[f32]], output: &mut [f32]) {
            #[target_feature(enable = "avx2,fma")]
            fn enabled($inputs: &[&[f32]], $output: &mut [f32]) $body
            // SAFETY: only called if the machine has both.
            unsafe { enabled(inputs, output) }
        }
    )*};
}
pub(super) use enabled;

#[inline(always)]
pub fn load(x: &[f32], at: usize) -> __m256 {
    debug_assert!(at + 8 <= x.len());
    // SAFETY: there are eight elements from `at` on, because extents here are multiples of 64.
    unsafe { _mm256_loadu_ps(x.as_ptr().add(at)) }
}

#[inline(always)]
fn store(y: &mut [f32], at: usize, value: __m256) {
    debug_assert!(at + 8 <= y.len());
    // SAFETY: as for `load`.
    unsafe { _mm256_storeu_ps(y.as_mut_ptr().add(at), value) }
}

/// Non-temporal store, for results that do not fit into the caches.
#[inline(always)]
fn stream(y: &mut [f32], at: usize, value: __m256) {
    debug_assert!(at + 8 <= y.len());
    // SAFETY: as for `load`; the buffers are page-aligned.
    unsafe { _mm256_stream_ps(y.as_mut_ptr().add(at), value) }
}

/// Minimal number of elements of an output that does not fit into the caches.
const STREAMED: usize = 4 << 20;

/// Computes four vectors per iteration.
#[inline(always)]
pub fn each(output: &mut [f32], f: impl Fn(usize) -> __m256) {
    let streams = output.len() >= STREAMED;
    for at in (0..output.len()).step_by(32) {
        for at in (at..at + 32).step_by(8) {
            if streams {
                stream(output, at, f(at));
            } else {
                store(output, at, f(at));
            }
        }
    }
    if streams {
        // SAFETY: every x86-64 has the instruction.
        unsafe { _mm_sfence() }
    }
}

/// Copies a slice.
pub fn copy(from: &[f32], to: &mut [f32]) {
    if available() {
        copied(&[from], to);
    } else {
        to.copy_from_slice(from);
    }
}

/// Reduces sixty-four partial results in halves.
#[inline(always)]
fn fold(p: [__m256; 8], combine: impl Fn(__m256, __m256) -> __m256 + Copy) -> f32 {
    let q: [__m256; 4] = std::array::from_fn(|at| combine(p[at], p[at + 4]));
    let r = combine(combine(q[0], q[2]), combine(q[1], q[3]));
    let mut lanes = [0f32; 8];
    // SAFETY: the array has eight elements.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), r) };
    let pair = |a: f32, b: f32| {
        // SAFETY: see `available`.
        unsafe { _mm256_cvtss_f32(combine(_mm256_set1_ps(a), _mm256_set1_ps(b))) }
    };
    let four: [f32; 4] = std::array::from_fn(|at| pair(lanes[at], lanes[at + 4]));
    pair(pair(four[0], four[2]), pair(four[1], four[3]))
}

#[inline(always)]
fn reduce(
    row: &[f32],
    identity: f32,
    combine: impl Fn(__m256, __m256) -> __m256 + Copy,
    f: impl Fn(usize, __m256) -> __m256,
) -> f32 {
    // SAFETY: see `available`.
    let mut p = [unsafe { _mm256_set1_ps(identity) }; 8];
    for at in (0..row.len()).step_by(64) {
        for (which, partial) in p.iter_mut().enumerate() {
            let at = at + 8 * which;
            *partial = combine(*partial, f(at, load(row, at)));
        }
    }
    fold(p, combine)
}

#[inline(always)]
fn add(a: __m256, b: __m256) -> __m256 {
    Avx2.add(a, b)
}

/// Returns the maximum; NaN if either operand is NaN, and +0 is larger than -0.
#[inline(always)]
fn maximum(a: __m256, b: __m256) -> __m256 {
    // SAFETY: see `available`.
    unsafe {
        let larger = _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a));
        let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b);
        _mm256_blendv_ps(larger, _mm256_set1_ps(f32::NAN), is_nan)
    }
}

#[inline(always)]
fn splat(x: f32) -> __m256 {
    Avx2.value(x)
}

enabled! {
    fn chain(inputs, output) {
        let [x, a, b] = [inputs[0], inputs[1], inputs[2]];
        each(output, |at| {
            let x = load(x, at);
            let y = Avx2.mul(x, load(a, at));
            let y = Avx2.add(y, load(b, at));
            let y = Avx2.max(y, splat(0.0));
            Avx2.add(y, x)
        });
    }

    fn gelu(inputs, output) {
        each(output, |at| math::gelu::gelu(&mut Avx2, load(inputs[0], at)));
    }

    fn gelu_tanh(inputs, output) {
        each(output, |at| {
            let (mut s, x) = (Avx2, load(inputs[0], at));
            let cube = s.mul(x, x);
            let cube = s.mul(cube, x);
            let scaled = s.mul(cube, splat(0.044715));
            let inner = s.add(x, scaled);
            let inner = s.mul(inner, splat(0.797_884_6));
            let t = math::tanh::tanh(&mut s, inner);
            let t = s.add(t, splat(1.0));
            let half = s.mul(x, splat(0.5));
            s.mul(half, t)
        });
    }

    fn gate(inputs, output) {
        each(output, |at| {
            let (mut s, x) = (Avx2, load(inputs[0], at));
            let y = math::sigmoid::sigmoid(&mut s, x);
            let y = s.mul(x, y);
            s.mul(y, load(inputs[1], at))
        });
    }

    fn copied(inputs, output) {
        each(output, |at| load(inputs[0], at));
    }

    fn row_sums(inputs, output) {
        for (row, y) in inputs[0].chunks_exact(1024).zip(output) {
            *y = reduce(row, 0.0, add, |_, x| x);
        }
    }

    fn softmax(inputs, output) {
        for (row, out) in inputs[0].chunks_exact(1024).zip(output.chunks_exact_mut(1024)) {
            let max = splat(reduce(row, f32::NEG_INFINITY, maximum, |_, x| x));
            let mut p = [splat(0.0); 8];
            for at in (0..row.len()).step_by(64) {
                for (which, partial) in p.iter_mut().enumerate() {
                    let at = at + 8 * which;
                    let x = Avx2.sub(load(row, at), max);
                    let e = math::exp::exp(&mut Avx2, x);
                    store(out, at, e);
                    *partial = add(*partial, e);
                }
            }
            let sum = splat(fold(p, add));
            for at in (0..row.len()).step_by(8) {
                let e = load(out, at);
                store(out, at, Avx2.div(e, sum));
            }
        }
    }

    fn layer_norm(inputs, output) {
        for (row, out) in inputs[0].chunks_exact(1024).zip(output.chunks_exact_mut(1024)) {
            let mean = splat(reduce(row, 0.0, add, |_, x| x) / 1024.0);
            let squares = reduce(row, 0.0, add, |_, x| {
                let d = Avx2.sub(x, mean);
                Avx2.mul(d, d)
            });
            let root = splat((squares / 1024.0 + 1e-5).sqrt());
            for at in (0..row.len()).step_by(8) {
                let d = Avx2.sub(load(row, at), mean);
                store(out, at, Avx2.div(d, root));
            }
        }
    }

    fn column_sums(inputs, output) {
        let (x, n) = (inputs[0], output.len());
        let mut partials = vec![0f32; 64 * 64];
        for at in (0..n).step_by(64) {
            for (partial, sums) in partials.chunks_exact_mut(64).enumerate() {
                let mut p = [splat(0.0); 8];
                for row in (partial..x.len() / n).step_by(64) {
                    for (which, p) in p.iter_mut().enumerate() {
                        *p = add(*p, load(x, row * n + at + 8 * which));
                    }
                }
                for (which, p) in p.into_iter().enumerate() {
                    store(sums, 8 * which, p);
                }
            }
            for half in [32, 16, 8, 4, 2, 1] {
                for to in (0..64 * half).step_by(8) {
                    let sum = add(load(&partials, to), load(&partials, to + 64 * half));
                    store(&mut partials, to, sum);
                }
            }
            output[at..at + 64].copy_from_slice(&partials[..64]);
        }
    }

    fn transposed(inputs, output) {
        let (x, n) = (inputs[0], 1024);
        for to in (0..n).step_by(16) {
            for from in (0..n).step_by(16) {
                for (to, from) in [(to, from), (to, from + 8), (to + 8, from), (to + 8, from + 8)] {
                    let rows = std::array::from_fn(|row| load(x, (from + row) * n + to));
                    for (row, vector) in turned(rows).into_iter().enumerate() {
                        store(output, (to + row) * n + from, vector);
                    }
                }
            }
        }
    }
}

/// Transposes eight vectors.
#[inline(always)]
fn turned(r: [__m256; 8]) -> [__m256; 8] {
    // SAFETY: see `available`.
    unsafe {
        let low = |a: usize| _mm256_unpacklo_ps(r[a], r[a + 1]);
        let high = |a: usize| _mm256_unpackhi_ps(r[a], r[a + 1]);
        let t = [
            low(0),
            high(0),
            low(2),
            high(2),
            low(4),
            high(4),
            low(6),
            high(6),
        ];
        let near = |a: usize, b: usize| _mm256_shuffle_ps::<0x44>(t[a], t[b]);
        let far = |a: usize, b: usize| _mm256_shuffle_ps::<0xee>(t[a], t[b]);
        let u = [
            near(0, 2),
            far(0, 2),
            near(1, 3),
            far(1, 3),
            near(4, 6),
            far(4, 6),
            near(5, 7),
            far(5, 7),
        ];
        let first = |a: usize| _mm256_permute2f128_ps::<0x20>(u[a], u[a + 4]);
        let second = |a: usize| _mm256_permute2f128_ps::<0x31>(u[a], u[a + 4]);
        [
            first(0),
            first(1),
            first(2),
            first(3),
            second(0),
            second(1),
            second(2),
            second(3),
        ]
    }
}
