//! Speed of compiled elementwise kernels beside the same loops written in intrinsics.
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=native" cargo run --release -p mind-bench --bin jit_elementwise
//! ```
//!
//! Rounds of both alternate; figures are medians. The intrinsics take the same steps, so results are
//! compared too. Compile time is that of a warm process, from vector IR to runnable pages.

use std::time::Instant;

use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;
use mind_jit::kernel::{Kernel, assemble};
use mind_jit::lower;
use mind_jit::target::{Isa, TargetInfo};
use mind_jit::vir::{BinaryOp, Builder, Function, Lane, Value};

/// A kernel of one input.
struct Row {
    name: &'static str,
    /// Vectors in a round of the loop.
    unroll: u32,
    body: fn(&mut Builder, Value) -> Value,
    #[cfg(all(
        target_arch = "x86_64",
        target_feature = "avx2",
        target_feature = "fma"
    ))]
    intrinsics: fn(&[f32], &mut [f32]),
}

/// Factor and addend of the chain.
const A: f32 = 1.25;
const B: f32 = -0.5;

fn chain(b: &mut Builder, x: Value) -> Value {
    let (factor, addend, zero) = (b.f32(A), b.f32(B), b.f32(0.0));
    let y = b.fma(x, factor, addend);
    let y = b.binary(BinaryOp::Max, y, zero);
    b.binary(BinaryOp::Add, y, x)
}

fn exp(b: &mut Builder, x: Value) -> Value {
    lower::apply(b, ScalarFn::Exp, DType::F32, &[x], None)
}

fn silu(b: &mut Builder, x: Value) -> Value {
    let y = lower::apply(b, ScalarFn::Sigmoid, DType::F32, &[x], None);
    b.binary(BinaryOp::Mul, x, y)
}

fn gelu(b: &mut Builder, x: Value) -> Value {
    lower::apply(b, ScalarFn::Gelu, DType::F32, &[x], None)
}

macro_rules! row {
    ($name:ident, $text:literal, $unroll:literal) => {
        Row {
            name: $text,
            unroll: $unroll,
            body: $name,
            #[cfg(all(
                target_arch = "x86_64",
                target_feature = "avx2",
                target_feature = "fma"
            ))]
            intrinsics: intrinsics::$name,
        }
    };
}

const ROWS: [Row; 4] = [
    row!(chain, "relu(ax+b)+x", 4),
    row!(exp, "exp", 2),
    row!(silu, "x sigmoid(x)", 2),
    row!(gelu, "gelu", 1),
];

fn function(row: &Row, unroll: u32, isa: Isa) -> Function {
    let mut b = Builder::new("kernel", TargetInfo::of(isa).lanes(32));
    let (input, output, extent) = (b.ptr_param(), b.ptr_param(), b.index_param());
    lower::for_each(&mut b, extent, unroll, |b, at| {
        let x = b.load(Lane::F32, at.addr(input, Lane::F32), at.count);
        let y = (row.body)(b, x);
        b.store(y, at.addr(output, Lane::F32), at.count);
    });
    b.finish()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Seconds of one call, in batches long enough for the clock.
fn time(calls: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64() / calls as f64
}

fn main() {
    let isa = Isa::detect();
    println!("{isa}; Gelem/s of the compiled kernel, of intrinsics, and their ratio");
    for row in &ROWS {
        for unroll in [1, 2, 4] {
            let function = function(row, unroll, isa);
            let mut times: Vec<f64> = (0..400)
                .map(|_| time(1, || drop(Kernel::compile(&function, isa))))
                .collect();
            let mut assembling: Vec<f64> = (0..400)
                .map(|_| time(1, || drop(assemble(&function, isa))))
                .collect();
            let size = assemble(&function, isa).map_or(0, |code| code.len());
            let kernel = Kernel::compile(&function, isa).expect("the kernel compiles");
            let mark = if unroll == row.unroll { '*' } else { ' ' };
            println!(
                "{:14} x{unroll}{mark} compile {:6.1} us, of which code {:6.1} us, {size} bytes",
                row.name,
                1e6 * median(&mut times),
                1e6 * median(&mut assembling),
            );
            for size in [4 << 10, 16 << 10, 1 << 20, 16 << 20] {
                run(row, &kernel, size);
            }
        }
    }
}

fn run(row: &Row, kernel: &Kernel, size: usize) {
    let input: Vec<f32> = (0..size)
        .map(|at| (at % 4001) as f32 * 0.004 - 8.0)
        .collect();
    let (mut output, mut other) = (vec![0f32; size], vec![0f32; size]);
    // SAFETY: the kernel reads and writes `size` elements of each.
    let mut compiled = || unsafe {
        kernel.call(&[
            input.as_ptr() as u64,
            output.as_mut_ptr() as u64,
            size as u64,
        ]);
    };
    let calls = (4_000_000 / size).max(1);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        ours.push(time(calls, &mut compiled));
        theirs.push(time(calls, || peer(row, &input, &mut other)));
    }
    let rate = |times: &mut Vec<f64>| size as f64 / median(times) / 1e9;
    let (ours, theirs) = (rate(&mut ours), rate(&mut theirs));
    let same = output
        .iter()
        .zip(&other)
        .all(|(x, y)| x.to_bits() == y.to_bits());
    let note = if same {
        ""
    } else {
        "  no intrinsics to compare with"
    };
    println!(
        "{size:>12} {ours:8.2} {theirs:8.2} {:6.2}{note}",
        ours / theirs
    );
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx2",
    target_feature = "fma"
))]
fn peer(row: &Row, input: &[f32], output: &mut [f32]) {
    (row.intrinsics)(input, output);
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx2",
    target_feature = "fma"
)))]
fn peer(_: &Row, _: &[f32], _: &mut [f32]) {}

/// The same steps in AVX2 intrinsics.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx2",
    target_feature = "fma"
))]
mod intrinsics {
    use std::arch::x86_64::*;

    use mind_ir::scalar::math::{self, Steps};

    struct Avx2;

    /// The crate is compiled for processors that have all of these.
    macro_rules! avx2 {
        ($($name:ident($($arg:ident),*) -> $result:ident = $call:expr;)*) => {$(
            #[inline(always)]
            fn $name(&mut self, $($arg: Self::Value),*) -> Self::$result {
                // SAFETY: the module is there only where AVX2 and FMA are enabled throughout.
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
            fma(a, b, c) -> Value = _mm256_fmadd_ps(a, b, c);
            lt(a, b) -> Mask = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
            eq(a, b) -> Mask = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
            min(a, b) -> Value = _mm256_min_ps(a, b);
            max(a, b) -> Value = _mm256_max_ps(a, b);
            bits(a) -> Int = _mm256_castps_si256(a);
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

    /// Four vectors in a round; extents here are multiples of 32.
    #[inline(always)]
    fn each(input: &[f32], output: &mut [f32], f: impl Fn(__m256) -> __m256) {
        for (x, y) in input.chunks_exact(32).zip(output.chunks_exact_mut(32)) {
            for vector in (0..32).step_by(8) {
                // SAFETY: eight elements of a chunk of 32.
                unsafe {
                    let value = f(_mm256_loadu_ps(x[vector..].as_ptr()));
                    _mm256_storeu_ps(y[vector..].as_mut_ptr(), value);
                }
            }
        }
    }

    pub fn chain(input: &[f32], output: &mut [f32]) {
        let s = |x| {
            let mut s = Avx2;
            let (a, b, zero) = (s.value(super::A), s.value(super::B), s.value(0.0));
            let y = s.fma(x, a, b);
            let y = s.max(y, zero);
            s.add(y, x)
        };
        each(input, output, s);
    }

    pub fn exp(input: &[f32], output: &mut [f32]) {
        each(input, output, |x| math::exp::exp(&mut Avx2, x));
    }

    pub fn silu(input: &[f32], output: &mut [f32]) {
        each(input, output, |x| {
            let y = math::sigmoid::sigmoid(&mut Avx2, x);
            Avx2.mul(x, y)
        });
    }

    pub fn gelu(input: &[f32], output: &mut [f32]) {
        each(input, output, |x| math::gelu::gelu(&mut Avx2, x));
    }
}
