//! Chains of fused multiply-adds: the inner loop of every contraction.

use mind_ir::tensor::Num;

use super::checked::Checked;

/// The accumulator type of a chain.
pub(crate) trait Accumulator: Copy {
    /// Returns `self * factor + addend`, rounded once.
    fn multiply_add(self, factor: Self, addend: Self) -> Self;
}

impl<A: Num> Accumulator for A {
    #[inline(always)]
    fn multiply_add(self, factor: A, addend: A) -> A {
        self.fma(factor, addend)
    }
}

impl Accumulator for Checked {
    fn multiply_add(self, factor: Checked, addend: Checked) -> Checked {
        self.mul(factor).add(addend)
    }
}

/// Continues one chain per element of `sums`: `sums[j] = factors[i] * rows[i][j] + sums[j]` for ascending i.
///
/// `rows` holds one row per factor, each as long as `sums`, which is not empty.
pub(crate) fn extend<A: Accumulator>(factors: &[A], rows: &[A], sums: &mut [A]) {
    debug_assert_eq!(rows.len(), factors.len() * sums.len());
    #[cfg(target_arch = "x86_64")]
    if has_fma() {
        // SAFETY: the processor has avx2 and fma, which `extend_fma` requires.
        return unsafe { extend_fma(factors, rows, sums) };
    }
    extend_portable(factors, rows, sums);
}

/// Returns whether the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_fma() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// [`extend_portable`] compiled with the hardware FMA. The bits are the same; without the target features, each fused
/// multiply-add would be a call into libm.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn extend_fma<A: Accumulator>(factors: &[A], rows: &[A], sums: &mut [A]) {
    extend_portable(factors, rows, sums);
}

#[inline(always)]
fn extend_portable<A: Accumulator>(factors: &[A], rows: &[A], sums: &mut [A]) {
    for (&factor, row) in factors.iter().zip(rows.chunks_exact(sums.len())) {
        for (sum, &x) in sums.iter_mut().zip(row) {
            *sum = factor.multiply_add(x, *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variants_agree_bit_for_bit() {
        let factors: Vec<f32> = (0..37).map(|i| 1.0 / (i as f32 + 3.0)).collect();
        let rows: Vec<f32> = (0..37 * 19)
            .map(|i| ((i * 31) % 101) as f32 / 7.0 - 6.5)
            .collect();
        let (mut chosen, mut portable) = (vec![0.0f32; 19], vec![0.0f32; 19]);
        extend(&factors, &rows, &mut chosen);
        extend_portable(&factors, &rows, &mut portable);
        let bits = |sums: &[f32]| sums.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&chosen), bits(&portable));
        let unfused = |j: usize| (0..37).fold(0.0, |sum, i| factors[i] * rows[i * 19 + j] + sum);
        let differs = (0..19).any(|j| unfused(j) != chosen[j]);
        assert!(differs, "the values tell fused from unfused");
    }
}
