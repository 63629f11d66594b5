//! Subprograms of control flow, as static C functions.

use crate::program::Step;

use super::check::{Storage, Used};
use super::file::Writing;
use super::module::{Array, EmitError, Module};
use super::symbol::Symbol;

/// A program that control flow runs.
#[derive(Clone, Debug)]
pub struct Subprogram {
    /// The function that runs it; its parameters are the bound arrays, followed by the inputs.
    pub(super) name: Symbol,
    /// The function that binds it, whose parameters are the bound arrays; `None` if there is nothing to bind.
    pub(super) bind: Option<Symbol>,
    /// The text of both functions, and of all that they call except helpers.
    pub(super) text: String,
    /// Sizes in bytes of the bound arrays and of the inputs.
    pub(super) inputs: Vec<usize>,
    /// Whether a run may stop at a check of extents.
    pub(super) checks_extents: bool,
    /// Sizes in bytes of the outputs.
    pub(super) outputs: Vec<usize>,
}

impl Module<'_> {
    /// Returns the module as static functions: one that runs `bind_steps`, which depend only on weights, and one that
    /// runs the rest. The first [`inputs`](Module::inputs) are the weights.
    ///
    /// # Errors
    ///
    /// Errors as [`write`](Module::write) does.
    pub fn subprogram(&self, bind_steps: &[&Step]) -> Result<Subprogram, EmitError> {
        let (bound, used) = (self.check(bind_steps)?, self.check(&self.steps)?);
        let is_bound = !bind_steps.is_empty() || self.bound_once().next().is_some();
        let bind = is_bound.then(|| self.name.suffixed("bind"));
        let mut text = self.code(&bound.or(&used))?;
        if let Some(bind) = &bind {
            self.bind_function(bind, bind_steps, &bound, &mut text);
        }
        self.run_function(bind.as_ref(), &used, &mut text);
        let bytes = |arrays: &[Array]| arrays.iter().map(Array::bytes).collect();
        Ok(Subprogram {
            name: self.name.clone(),
            bind,
            text,
            checks_extents: self.checks_extents(bind_steps) || self.checks_extents(&self.steps),
            inputs: bytes(&self.inputs),
            outputs: bytes(&self.outputs),
        })
    }

    /// Writes the function that computes weight-only values. Its status is reported only when the subprogram runs,
    /// because a subprogram that does not run has no errors.
    fn bind_function(&self, bind: &Symbol, steps: &[&Step], used: &Used, out: &mut String) {
        *out += &format!(
            "\nstatic uint64_t {bind}_status;\n\nstatic int {bind}(const void *const *inputs)\n{{\n    \
             uint64_t status = 0;\n"
        );
        let fixed = self.bound_once().flat_map(|(control, _)| &control.fixed);
        let mut bases = fixed.map(|region| self.storage(region.base).0);
        let is_read = used.inputs || bases.any(|storage| matches!(storage, Storage::Input(_)));
        if !is_read {
            *out += "    (void)inputs;\n";
        }
        self.statements(steps, Writing::Subprogram, out);
        for (control, program) in self.bound_once() {
            for line in self.bind(control, program) {
                *out += &format!("    {line}\n");
            }
        }
        *out += "    return (int)status;\n}\n";
    }

    fn run_function(&self, bind: Option<&Symbol>, used: &Used, out: &mut String) {
        let name = &self.name;
        *out +=
            &format!("\nstatic int {name}(const void *const *inputs, void *const *outputs)\n{{\n");
        match bind {
            Some(bind) => {
                *out += &format!(
                    "    uint64_t status = {bind}_status;\n    if (status != 0) {{\n        \
                     return (int)status;\n    }}\n"
                );
            }
            None => *out += "    uint64_t status = 0;\n",
        }
        self.body_of(&self.steps, used, Writing::Subprogram, out);
    }
}
