//! Order of every reduction: 64 interleaved partial results, which are combined by halving.

/// The number of partial results of a reduction.
pub(crate) const LANES: usize = 64;

/// Combines each element of the first slice with the element of the second at the same index.
pub(crate) type Combine<A> = fn(&mut [A], &[A]);

/// A reduction in progress: element i goes to partial result `i mod 64`.
pub(crate) struct Lanes<A> {
    partial: [A; LANES],
    next: usize,
    combine: Combine<A>,
}

impl<A: Copy> Lanes<A> {
    /// Creates a reduction by `combine` whose partial results are `identity`.
    pub(crate) fn new(identity: A, combine: Combine<A>) -> Lanes<A> {
        Lanes {
            partial: [identity; LANES],
            next: 0,
            combine,
        }
    }

    /// Adds the elements of `run` in order.
    pub(crate) fn extend(&mut self, mut run: &[A]) {
        while !run.is_empty() {
            let taken = run.len().min(LANES - self.next);
            let (now, later) = run.split_at(taken);
            (self.combine)(&mut self.partial[self.next..][..taken], now);
            self.next = (self.next + taken) % LANES;
            run = later;
        }
    }

    /// Returns the result: lane j is combined with lane j + 32 for each j below 32, then likewise with 16, 8, 4, 2 and
    /// 1.
    pub(crate) fn total(mut self) -> A {
        let mut half = LANES / 2;
        while half > 0 {
            let (low, high) = self.partial.split_at_mut(half);
            (self.combine)(low, &high[..half]);
            half /= 2;
        }
        self.partial[0]
    }
}

/// Lifts a function of two elements to slices.
macro_rules! each {
    ($combine:expr) => {
        |into: &mut [_], from: &[_]| {
            for (x, &y) in into.iter_mut().zip(from) {
                *x = $combine(*x, y);
            }
        }
    };
}
pub(crate) use each;

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements whose sum depends on the order of summation.
    fn uneven(count: usize) -> Vec<f32> {
        (0..count)
            .map(|i| ((i * 7919) % 1009) as f32 * 1e-3 + 1e4 * (i % 3) as f32)
            .collect()
    }

    #[test]
    fn runs_of_any_length_give_the_bits_of_single_elements() {
        let elements = uneven(1000);
        let mut single = Lanes::new(0.0, each!(|a: f32, b: f32| a + b));
        elements.chunks(1).for_each(|x| single.extend(x));
        let expected = single.total();
        for length in [1, 3, 63, 64, 65, 200, 1000] {
            let mut lanes = Lanes::new(0.0, each!(|a: f32, b: f32| a + b));
            elements.chunks(length).for_each(|run| lanes.extend(run));
            assert_eq!(
                lanes.total().to_bits(),
                expected.to_bits(),
                "runs of {length}"
            );
        }
        let sequential: f32 = elements.iter().sum();
        assert_ne!(
            sequential.to_bits(),
            expected.to_bits(),
            "the elements tell orders apart"
        );
    }

    #[test]
    fn no_element_gives_the_identity() {
        assert_eq!(
            Lanes::new(0.0, each!(|a: f32, b: f32| a + b))
                .total()
                .to_bits(),
            0
        );
        assert_eq!(Lanes::new(i8::MIN, each!(i8::max)).total(), i8::MIN);
    }
}
