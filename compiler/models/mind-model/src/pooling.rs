//! Pooling of a text's hidden states to one vector.

use crate::encoder::Encoded;

/// How the hidden states of a text are reduced to one vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pooling {
    /// The mean of the hidden states.
    Mean,
    /// The hidden state of the first token.
    Cls,
    /// The pooler's output for the first token.
    Pooler,
}

impl Pooling {
    /// All values.
    pub const ALL: [Pooling; 3] = [Pooling::Mean, Pooling::Cls, Pooling::Pooler];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
            Pooling::Pooler => "pooler",
        }
    }

    /// Returns the pooling called `name`.
    pub fn parse(name: &str) -> Option<Pooling> {
        Pooling::ALL.into_iter().find(|own| own.name() == name)
    }

    /// Returns the pooled vector of `width` elements; `None` if the model has no pooler.
    ///
    /// A mean is summed in `f64` in token order, divided, and rounded once.
    pub fn apply(self, encoded: &Encoded, width: usize) -> Option<Vec<f32>> {
        let rows = || encoded.hidden.chunks_exact(width);
        match self {
            Pooling::Mean => {
                let count = rows().len() as f64;
                let sum = |at: usize| rows().fold(0.0, |sum, row| sum + f64::from(row[at]));
                Some((0..width).map(|at| (sum(at) / count) as f32).collect())
            }
            Pooling::Cls => rows().next().map(<[f32]>::to_vec),
            Pooling::Pooler => encoded.pooled.clone(),
        }
    }
}

/// The lower bound of the divisor, which avoids a division by 0.
const SHORTEST: f64 = 1e-12;

/// Scales a vector to length 1: divides it by the root of the sum of its squares, which is computed in `f64` and in
/// order.
pub fn normalize(vector: &mut [f32]) {
    let square = |x: &f32| f64::from(*x) * f64::from(*x);
    let sum = vector.iter().fold(0.0, |sum, x| sum + square(x));
    let length = f64::sqrt(sum).max(SHORTEST);
    vector
        .iter_mut()
        .for_each(|x| *x = (f64::from(*x) / length) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_one() {
        let encoded = Encoded {
            hidden: vec![1.0, 2.0, 3.0, 6.0],
            pooled: None,
            scores: None,
        };
        assert_eq!(Pooling::Mean.apply(&encoded, 2), Some(vec![2.0, 4.0]));
        assert_eq!(Pooling::Cls.apply(&encoded, 2), Some(vec![1.0, 2.0]));
        assert_eq!(Pooling::Pooler.apply(&encoded, 2), None);
        for pooling in Pooling::ALL {
            assert_eq!(Pooling::parse(pooling.name()), Some(pooling));
        }
    }

    #[test]
    fn lengths_become_one() {
        let mut vector = [3.0, -4.0];
        normalize(&mut vector);
        assert_eq!(vector, [0.6, -0.8]);
        let mut nothing = [0.0, 0.0];
        normalize(&mut nothing);
        assert_eq!(nothing, [0.0, 0.0]);
    }
}
