//! Comparison of modules as graphs, and of their results bit for bit.

use mind_driver::graph_diff::difference;
use mind_interp::{Arrays, Extents, RunConfig, bind, compare, random_inputs, special_inputs};
use mind_ir::tensor::Tensor;

use crate::error::Error;
use crate::module::{Module, session};

impl Module {
    /// Returns the structural diff to `other`; empty if there are no differences. Ids and the order of independent ops
    /// are ignored.
    ///
    /// ```
    /// let one = mind::Module::parse("mic@2\nT0 f32 4\na x T0\nr 0\nO 1")?;
    /// let other = mind::Module::parse("mic@2\nT0 f32 4\na x T0\nth 0\nO 1")?;
    /// assert_eq!(one.diff(&one), "");
    /// assert!(one.diff(&other).contains("+%1 = Tanh (%0)"), "{}", one.diff(&other));
    /// # Ok::<(), mind::Error>(())
    /// ```
    pub fn diff(&self, other: &Module) -> String {
        let difference = difference(&session().formats, &self.graph, &other.graph);
        difference.text(self.source.name(), other.source.name())
    }

    /// Describes how the results of `other` differ from those of this module on random inputs from `seed`; `None` if
    /// they are bit-identical. The modules run in the reference interpreter, once on random values and once on special
    /// values (NaN, infinities, zeros and extremes). All NaNs are equal.
    ///
    /// ```
    /// let double = mind::Module::parse("mic@2\nT0 f32 4\na x T0\n+ 0 0\nO 1")?;
    /// let text = "%0 = Input {name=x} : tensor<f32[4]>\n%1 = ConstF32 {value=2.0} : tensor<f32[]>\n\
    ///             %2 = Mul (%0, %1)\noutputs: %2";
    /// assert_eq!(double.bit_difference(&mind::Module::parse(text)?, 1)?, None);
    /// let square = mind::Module::parse("mic@2\nT0 f32 4\na x T0\n* 0 0\nO 1")?;
    /// assert!(double.bit_difference(&square, 1)?.unwrap().contains("4 of 4 elements differ"));
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the names or types of inputs differ, or if `other` fails on inputs on which this module succeeds.
    pub fn bit_difference(&self, other: &Module, seed: u64) -> Result<Option<String>, Error> {
        let (one, other) = (self.without_states()?, other.without_states()?);
        for is_special in [false, true] {
            let make = if is_special {
                special_inputs
            } else {
                random_inputs
            };
            let arrays = make(&one.graph, seed, Extents::default());
            let arrays = arrays.map_err(|errors| one.unbound(&errors))?;
            let expected = match one.computed(&arrays) {
                Ok(expected) => expected,
                // Special values may be invalid indices or divisors.
                Err(_) if is_special => return Ok(None),
                Err(why) => return Err(why),
            };
            if let Err(mismatch) = compare(&expected, &other.computed(&arrays)?) {
                return Ok(Some(mismatch.to_string()));
            }
        }
        Ok(None)
    }

    fn computed(&self, arrays: &Arrays) -> Result<Vec<Tensor>, Error> {
        let g = &self.graph;
        let bound = bind(g, arrays, Extents::default());
        let bound = bound.map_err(|errors| self.unbound(&errors))?;
        let results = mind_interp::run(g, &bound, &RunConfig::default());
        results.map_err(|error| self.refused(error.diagnostic(g)))
    }

    /// Returns the error for arrays that do not match the module's inputs.
    pub(crate) fn unbound(&self, errors: &[mind_interp::Unbound]) -> Error {
        let mut found = mind_diag::Diagnostics::new();
        let errors = errors.iter().map(|error| error.diagnostic(&self.graph));
        errors.for_each(|error| found.push(error));
        self.refused(found)
    }
}
