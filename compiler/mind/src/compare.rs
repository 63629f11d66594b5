//! Comparing modules: as graphs, and by the bits of their results.

use mind_driver::graph_diff::difference;
use mind_interp::{Arrays, Extents, RunConfig, bind, compare, random_inputs, special_inputs};
use mind_ir::tensor::Tensor;

use crate::error::Error;
use crate::module::{Module, session};

impl Module {
    /// How `other` differs as a graph, as the lines of a diff; empty if it does not. Ids and the order of independent ops
    /// are no difference.
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

    /// How the results of `other` differ from those of this module on arrays that are made up from `seed`, ordinary ones
    /// and such with special values (NaN, infinities, zeros, extremes); `None` if every bit is the same. Any NaN equals any
    /// NaN. Both run in the reference interpreter.
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
    /// Inputs of other names or types; a module that cannot be run on the arrays where this one can.
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
                // Special values may be indices out of bounds, or divisors without result.
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

    /// Why arrays are not those of the module.
    pub(crate) fn unbound(&self, errors: &[mind_interp::Unbound]) -> Error {
        let mut found = mind_diag::Diagnostics::new();
        let errors = errors.iter().map(|error| error.diagnostic(&self.graph));
        errors.for_each(|error| found.push(error));
        self.refused(found)
    }
}
