//! Engines that run a module.

use std::sync::Arc;

use mind_driver::compiled::Compiled;
use mind_driver::engine::Engine;
use mind_driver::executable::{Executable, ExecutionError, Model, View};
use mind_driver::segments::Segments;
use mind_interp::{Arrays, InputSpec};
use mind_ir::tensor::Tensor;
use mind_jit::program::Program;

/// A compiled module.
pub(super) enum Compilation {
    Program(Arc<Program>, Segments),
    Parts(Executable),
}

/// A module that runs in parts, with its arrays.
pub(super) struct Parts<'a> {
    executable: Executable,
    model: Model<'a>,
    inputs: Vec<View<'a>>,
}

impl<'a> Parts<'a> {
    /// Binds the weights of a module.
    ///
    /// # Errors
    ///
    /// Errors if there is not enough memory.
    pub(super) fn new(
        executable: Executable,
        arrays: &'a Arrays,
    ) -> Result<Parts<'a>, ExecutionError> {
        let views = |specs: Vec<InputSpec<'_>>| -> Vec<View<'a>> {
            specs
                .iter()
                .map(|spec| View::of(&arrays[spec.name]))
                .collect()
        };
        Ok(Parts {
            model: executable.bind(&views(executable.params()))?,
            inputs: views(executable.inputs()),
            executable,
        })
    }

    pub(super) fn run(&self) -> Result<Vec<Tensor>, ExecutionError> {
        self.model.run_new(&self.inputs)
    }
}

/// A module that is ready to run.
pub(super) enum Runner<'a> {
    Interpreter,
    Code(Box<Compiled>, Segments, Arc<Engine>),
    Parts(Parts<'a>, Arc<Engine>),
}

impl Runner<'_> {
    pub(super) fn threads(&self) -> usize {
        self.engine().map_or(1, |engine| engine.pool().threads())
    }

    pub(super) fn name(&self) -> &'static str {
        self.engine()
            .map_or("interp", |engine| engine.target().isa.name())
    }

    /// Returns the engine that compiled the module; `None` for the interpreter.
    pub(super) fn engine(&self) -> Option<&Engine> {
        match self {
            Runner::Interpreter => None,
            Runner::Code(_, _, engine) | Runner::Parts(_, engine) => Some(engine),
        }
    }

    /// Returns the memory of a run in bytes besides weights, inputs and outputs; `None` unless the module is a single
    /// program. Valid after the first run.
    pub(super) fn workspace(&self) -> Option<u64> {
        match self {
            Runner::Interpreter | Runner::Parts(..) => None,
            Runner::Code(compiled, ..) => Some(compiled.program().idle_bytes()),
        }
    }

    /// Returns the cut points; those of parts with data-dependent shapes are known after a run.
    pub(super) fn segments(&self) -> Option<Segments> {
        match self {
            Runner::Interpreter => None,
            Runner::Code(_, segments, _) => Some(segments.clone()),
            Runner::Parts(parts, _) => Some(parts.executable.segments()),
        }
    }
}
