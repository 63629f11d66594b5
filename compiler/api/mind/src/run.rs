//! Inputs and outputs of runs.

use std::ops::Index;

pub use mind_ir::tensor::{Buffer, Element, Tensor};

/// The outputs of a run, by position or name.
///
/// ```
/// use mind::{Module, Tensor};
///
/// let module = Module::parse("%0 = Input {name=x} : tensor<f32[2]>\n%1 = Neg (%0)\noutputs: %1, %0")?;
/// let outputs = module.interpret([("x", Tensor::of(vec![2], vec![1.0f32, -2.0]))])?;
/// assert_eq!(outputs[0].elements::<f32>(), [-1.0, 2.0]);
/// assert_eq!(outputs.get("%0").unwrap().elements::<f32>(), [1.0, -2.0]);
/// assert_eq!(outputs.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["%1", "%0"]);
/// # Ok::<(), mind::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Outputs {
    named: Vec<(String, Tensor)>,
}

impl Outputs {
    pub(crate) fn new(names: impl Iterator<Item = String>, tensors: Vec<Tensor>) -> Outputs {
        Outputs {
            named: names.zip(tensors).collect(),
        }
    }

    /// Returns the number of outputs.
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// Returns whether the module has no outputs.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns the output called `name`.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        let found = self.named.iter().find(|(own, _)| own == name);
        found.map(|(_, tensor)| tensor)
    }

    /// Returns the names and outputs, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.named
            .iter()
            .map(|(name, tensor)| (name.as_str(), tensor))
    }
}

/// # Panics
///
/// Panics if the index is out of range.
impl Index<usize> for Outputs {
    type Output = Tensor;

    fn index(&self, index: usize) -> &Tensor {
        &self.named[index].1
    }
}

impl IntoIterator for Outputs {
    type Item = (String, Tensor);
    type IntoIter = std::vec::IntoIter<(String, Tensor)>;

    fn into_iter(self) -> Self::IntoIter {
        self.named.into_iter()
    }
}
