//! The order of every reduction: 64 interleaved partial results, then halving.

/// How many partial results a reduction keeps.
const LANES: usize = 64;

/// A reduction in progress: the i-th element it takes goes to partial result `i mod 64`.
pub(crate) struct Lanes<A, F> {
    partial: [A; LANES],
    next: usize,
    combine: F,
}

impl<A: Copy, F: Fn(A, A) -> A> Lanes<A, F> {
    /// A reduction by `combine` whose partial results start from `identity`.
    pub(crate) fn new(identity: A, combine: F) -> Lanes<A, F> {
        Lanes {
            partial: [identity; LANES],
            next: 0,
            combine,
        }
    }

    /// Takes one element.
    pub(crate) fn push(&mut self, x: A) {
        let lane = &mut self.partial[self.next];
        *lane = (self.combine)(*lane, x);
        self.next = (self.next + 1) % LANES;
    }

    /// Takes the elements of `run` in order, each as `load` gives it.
    pub(crate) fn extend<T: Copy>(&mut self, run: &[T], load: impl Fn(T) -> A) {
        let head = run.len().min((LANES - self.next) % LANES);
        let (head, body) = run.split_at(head);
        head.iter().for_each(|&x| self.push(load(x)));
        let rounds = body.chunks_exact(LANES);
        let tail = rounds.remainder();
        for round in rounds {
            for (lane, &x) in self.partial.iter_mut().zip(round) {
                *lane = (self.combine)(*lane, load(x));
            }
        }
        tail.iter().for_each(|&x| self.push(load(x)));
    }

    /// The result: lane j takes lane j + 32 for each j below 32, then likewise 16, 8, 4, 2 and 1.
    pub(crate) fn total(mut self) -> A {
        let mut half = LANES / 2;
        while half > 0 {
            let (low, high) = self.partial.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                *low = (self.combine)(*low, *high);
            }
            half /= 2;
        }
        self.partial[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements whose sum depends on the order.
    fn uneven(count: usize) -> Vec<f32> {
        (0..count)
            .map(|i| ((i * 7919) % 1009) as f32 * 1e-3 + 1e4 * (i % 3) as f32)
            .collect()
    }

    #[test]
    fn runs_of_any_length_give_the_bits_of_single_elements() {
        let elements = uneven(1000);
        let mut single = Lanes::new(0.0, |a: f32, b| a + b);
        elements.iter().for_each(|&x| single.push(x));
        let expected = single.total();
        for length in [1, 3, 63, 64, 65, 200, 1000] {
            let mut lanes = Lanes::new(0.0, |a: f32, b| a + b);
            elements
                .chunks(length)
                .for_each(|run| lanes.extend(run, |x| x));
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
        assert_eq!(Lanes::new(0.0f32, |a, b| a + b).total().to_bits(), 0);
        assert_eq!(Lanes::new(i8::MIN, |a, b| a.max(b)).total(), i8::MIN);
    }
}
