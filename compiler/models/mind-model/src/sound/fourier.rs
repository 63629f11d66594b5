//! Discrete Fourier transform of any length.

use mind_ir::scalar::math::{cos_f64, sin_f64};

/// A complex number.
pub(super) type Complex = [f64; 2];

/// A mixed-radix transform of a fixed length.
///
/// The roots of unity are computed with the crate's own scalar functions, and sums have a fixed order, so that results
/// have the same bits everywhere.
pub(super) struct Fourier {
    roots: Vec<Complex>,
}

impl Fourier {
    pub(super) fn new(count: usize) -> Fourier {
        let root = |at: usize| {
            let angle = std::f64::consts::TAU * at as f64 / count as f64;
            [cos_f64(angle), -sin_f64(angle)]
        };
        Fourier {
            roots: (0..count).map(root).collect(),
        }
    }

    /// Returns the transform of `elements`, whose number is the length of the transform.
    pub(super) fn run(&self, elements: &[f64]) -> Vec<Complex> {
        let mut out = vec![[0.0; 2]; self.roots.len()];
        let mut scratch = Vec::new();
        self.part(elements, (0, 1), &mut out, &mut scratch);
        out
    }

    /// Transforms every `step`-th element from `first` on.
    fn part(
        &self,
        elements: &[f64],
        (first, step): (usize, usize),
        out: &mut [Complex],
        scratch: &mut Vec<Complex>,
    ) {
        let count = out.len();
        if count == 1 {
            out[0] = [elements[first], 0.0];
            return;
        }
        let parts = smallest_factor(count);
        let length = count / parts;
        for (at, own) in out.chunks_exact_mut(length).enumerate() {
            self.part(elements, (first + at * step, step * parts), own, scratch);
        }
        for at in 0..length {
            scratch.clear();
            scratch.extend((0..parts).map(|part| out[part * length + at]));
            for piece in 0..parts {
                let place = piece * length + at;
                let terms = scratch.iter().enumerate();
                out[place] = terms.fold([0.0; 2], |[re, im], (part, [x, y])| {
                    let [cos, sin] = self.roots[part * place % count * step];
                    [re + (x * cos - y * sin), im + (x * sin + y * cos)]
                });
            }
        }
    }
}

/// Returns the smallest prime factor of a number above 1.
fn smallest_factor(count: usize) -> usize {
    let mut factors = (2..).take_while(|own| own * own <= count);
    factors
        .find(|own| count.is_multiple_of(*own))
        .unwrap_or(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_sums_of_turned_elements() {
        for count in [1, 2, 3, 7, 12, 25, 40] {
            let elements: Vec<f64> = (0..count)
                .map(|at| ((at * at * 7 + 3) % 11) as f64)
                .collect();
            let found = Fourier::new(count).run(&elements);
            for (at, [re, im]) in found.into_iter().enumerate() {
                let angle = |own: usize| -std::f64::consts::TAU * (own * at) as f64 / count as f64;
                let sum = |of: fn(f64) -> f64| -> f64 {
                    let terms = elements.iter().enumerate();
                    terms.map(|(own, x)| x * of(angle(own))).sum()
                };
                assert!((re - sum(f64::cos)).abs() < 1e-11, "{count} {at}");
                assert!((im - sum(f64::sin)).abs() < 1e-11, "{count} {at}");
            }
        }
    }
}
