//! Checks the steps of a module against its functions and memory.

use crate::ir::{Function, Type};
use crate::program::{Axis, Base, Call, Region, Step};

use super::control::{carried_by, regions, runs};
use super::module::{Array, EmitError, Module};

/// The functions and memory that the steps of a module use.
pub(super) struct Used {
    pub(super) functions: Vec<bool>,
    pub(super) subprograms: Vec<bool>,
    pub(super) constants: bool,
    pub(super) inputs: bool,
    pub(super) outputs: bool,
    pub(super) memory: bool,
}

/// The C storage of a buffer of the program.
#[derive(Clone, Copy)]
pub(super) enum Storage {
    /// An input array of the caller.
    Input(usize),
    /// An output array of the caller.
    Output(usize),
    Constants,
    /// Static memory at this offset.
    Static(usize),
}

impl Used {
    /// Returns the union of both.
    pub(super) fn or(&self, other: &Used) -> Used {
        let either = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| a | b).collect();
        Used {
            functions: either(&self.functions, &other.functions),
            subprograms: either(&self.subprograms, &other.subprograms),
            constants: self.constants | other.constants,
            inputs: self.inputs | other.inputs,
            outputs: self.outputs | other.outputs,
            memory: self.memory | other.memory,
        }
    }
}

impl Module<'_> {
    /// Returns the storage and the size of `base`; the size is 0 if the caller does not pass the array.
    pub(super) fn storage(&self, base: Base) -> (Storage, usize) {
        let found = |arrays: &[Array]| {
            let number = arrays.iter().position(|array| array.base == base)?;
            Some((number, arrays[number].bytes()))
        };
        if let Some((input, bytes)) = found(&self.inputs) {
            return (Storage::Input(input), bytes);
        }
        if let Some((output, bytes)) = found(&self.outputs) {
            return (Storage::Output(output), bytes);
        }
        let memory = self.memory;
        match base {
            Base::Constants => (Storage::Constants, self.constants.len()),
            Base::Bound => (Storage::Static(memory.bound_start()), memory.bound),
            Base::Workspace => (Storage::Static(0), memory.workspace),
            Base::Input(_) | Base::Output(_) | Base::Param(_) => (Storage::Static(0), 0),
        }
    }

    /// Checks `steps`, and returns the functions and memory that they use.
    pub(super) fn check(&self, steps: &[&Step]) -> Result<Used, EmitError> {
        let mut used = Used {
            functions: vec![false; self.functions.len()],
            subprograms: vec![false; self.subprograms.len()],
            constants: false,
            inputs: false,
            outputs: false,
            memory: false,
        };
        for step in steps {
            let regions = match step.as_control() {
                Some(control) => regions(control),
                None => step.regions().into_vec(),
            };
            for region in regions {
                self.region(region, &mut used)?;
            }
            let call = match step {
                Step::Call(call) => call,
                Step::Evaluate(call) => {
                    self.check_routine(call)?;
                    continue;
                }
                Step::Control(control) => {
                    self.check_control(control)?;
                    used.memory |= carried_by(control) > 0;
                    for &program in control.programs.iter().filter(|_| runs(control)) {
                        used.subprograms[program] = true;
                    }
                    continue;
                }
                Step::Gather(_) | Step::Transfer(_) => continue,
            };
            let Some(callee) = self.functions.get(call.kernel) else {
                let (found, count) = (call.kernel, self.functions.len());
                return Err(EmitError::NoFunction { found, count });
            };
            used.functions[call.kernel] = true;
            used.memory |= call.has_scratch;
            check_call(callee.function, call)?;
        }
        Ok(used)
    }

    fn region(&self, region: Region, used: &mut Used) -> Result<(), EmitError> {
        let (storage, size) = self.storage(region.base);
        match storage {
            Storage::Input(_) => used.inputs = true,
            Storage::Output(_) => used.outputs = true,
            Storage::Constants => used.constants = true,
            Storage::Static(_) => used.memory = true,
        }
        if region.end() <= size as u64 {
            return Ok(());
        }
        Err(EmitError::Memory {
            base: region.base,
            offset: region.offset,
            bytes: region.bytes,
            size,
        })
    }
}

/// Checks the arguments of `call` against the parameters of `function`.
fn check_call(function: &Function, call: &Call) -> Result<(), EmitError> {
    let mut args = vec![Type::Ptr; call.args.len()];
    for axis in &call.grid {
        let indices = match axis {
            Axis::Each(_) => 1,
            Axis::Range { .. } => 2,
        };
        args.extend([Type::Index; 2].into_iter().take(indices));
    }
    args.extend(call.has_scratch.then_some(Type::Ptr));
    let (found, expected) = (args.len(), function.params().len());
    if found != expected {
        let function = function.name().to_owned();
        return Err(EmitError::Arguments {
            function,
            found,
            expected,
        });
    }
    let kind = |ty: Type| {
        if ty == Type::Ptr {
            "memory"
        } else {
            "an index"
        }
    };
    for (position, (&param, arg)) in function.params().iter().zip(args).enumerate() {
        let (found, expected) = (kind(arg), kind(function.ty(param)));
        if found != expected {
            return Err(EmitError::Argument {
                function: function.name().to_owned(),
                position,
                found,
                expected,
            });
        }
    }
    Ok(())
}
