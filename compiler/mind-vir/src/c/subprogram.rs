//! Programs that control flow runs, as static functions of C.

use crate::program::Step;

use super::check::{Storage, Used};
use super::file::Writing;
use super::module::{Array, EmitError, Module};
use super::symbol::Symbol;

/// A program that control flow runs.
#[derive(Clone, Debug)]
pub struct Subprogram {
    /// The function that runs it: first come the arrays that it is bound to, then its inputs.
    pub(super) name: Symbol,
    /// The function that binds it, which takes the arrays that it is bound to; `None` if there is nothing to do.
    pub(super) bind: Option<Symbol>,
    /// The functions, with all that they call but helpers.
    pub(super) text: String,
    /// Bytes of the arrays that it is bound to, and of its inputs.
    pub(super) inputs: Vec<usize>,
    /// Whether an array of extents may stop it.
    pub(super) checks_extents: bool,
    /// Bytes of its outputs.
    pub(super) outputs: Vec<usize>,
}

impl Module<'_> {
    /// The module as static functions, one that does `bind_steps`, which read weights alone, and one that runs. The first
    /// [`inputs`](Module::inputs) are the weights.
    ///
    /// # Errors
    ///
    /// As [`write`](Module::write).
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

    /// The function that does what depends on weights alone. What it returns is kept until the program runs: a program that
    /// does not run has no errors.
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
