//! What runs a module.

use std::sync::Arc;

use mind_driver::compiled::Compiled;
use mind_driver::engine::Engine;
use mind_driver::executable::{Executable, ExecutionError, Model, View};
use mind_driver::segments::Segments;
use mind_interp::{Arrays, InputSpec};
use mind_ir::tensor::Tensor;
use mind_jit::program::Program;

/// A module as code.
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
    /// # Errors
    ///
    /// Weights for which no memory is left.
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

/// What runs the module.
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

    /// What made the code; `None` of the interpreter.
    pub(super) fn engine(&self) -> Option<&Engine> {
        match self {
            Runner::Interpreter => None,
            Runner::Code(_, _, engine) | Runner::Parts(_, engine) => Some(engine),
        }
    }

    /// Bytes of memory that one run takes besides weights, inputs and outputs, once there was one; `None` unless one
    /// program is all.
    pub(super) fn workspace(&self) -> Option<u64> {
        match self {
            Runner::Interpreter | Runner::Parts(..) => None,
            Runner::Code(compiled, ..) => Some(compiled.program().idle_bytes()),
        }
    }

    /// At which ops the program is cut; what is compiled for extents that a run tells is known after that run.
    pub(super) fn segments(&self) -> Option<Segments> {
        match self {
            Runner::Interpreter => None,
            Runner::Code(_, segments, _) => Some(segments.clone()),
            Runner::Parts(parts, _) => Some(parts.executable.segments()),
        }
    }
}
