//! Whether the calls of a module fit what is there.

use crate::ir::{Function, Type, Value};

use super::module::{Arg, Buffer, EmitError, Module, Place, Port, Step};

/// What the steps of a module use.
pub(super) struct Used {
    pub(super) functions: Vec<bool>,
    pub(super) constants: Vec<bool>,
    pub(super) inputs: bool,
    pub(super) outputs: bool,
    pub(super) scratch: bool,
}

impl Used {
    /// The parameters of the public function that its steps name; the rest is to be found.
    pub(super) fn of(module: &Module<'_>) -> Used {
        let mut used = Used {
            functions: vec![false; module.functions.len()],
            constants: vec![false; module.constants.len()],
            inputs: false,
            outputs: false,
            scratch: false,
        };
        let mut steps: Vec<&Step> = module.steps.iter().collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Repeat { body, .. } => steps.extend(body),
                Step::Gather(gather) => {
                    for place in [gather.data, gather.indices, gather.result] {
                        used.inputs |= matches!(place.buffer, Buffer::Input(_));
                        used.outputs |= matches!(place.buffer, Buffer::Output(_));
                    }
                }
                Step::Transfer(copy) => {
                    for place in [copy.from, copy.to] {
                        used.inputs |= matches!(place.buffer, Buffer::Input(_));
                        used.outputs |= matches!(place.buffer, Buffer::Output(_));
                    }
                }
                Step::Call(call) => {
                    for arg in &call.args {
                        let Arg::Ptr(place) = arg else { continue };
                        used.inputs |= matches!(place.buffer, Buffer::Input(_));
                        used.outputs |= matches!(place.buffer, Buffer::Output(_));
                    }
                }
            }
        }
        used
    }
}

impl Module<'_> {
    /// Checks that every call fits, and notes what is used.
    pub(super) fn check(
        &self,
        steps: &[Step],
        depth: usize,
        used: &mut Used,
    ) -> Result<(), EmitError> {
        for step in steps {
            let call = match step {
                Step::Repeat { body, .. } => {
                    self.check(body, depth + 1, used)?;
                    continue;
                }
                Step::Gather(gather) => {
                    for place in [gather.data, gather.indices, gather.result] {
                        if let Some(expected) = self.outside(place, used) {
                            return Err(EmitError::Gather { expected });
                        }
                    }
                    continue;
                }
                Step::Transfer(copy) => {
                    for place in [copy.from, copy.to] {
                        if let Some(expected) = self.outside(place, used) {
                            return Err(EmitError::Gather { expected });
                        }
                    }
                    continue;
                }
                Step::Call(call) => call,
            };
            let Some(function) = self.functions.get(call.function) else {
                let (found, count) = (call.function, self.functions.len());
                return Err(EmitError::NoFunction { found, count });
            };
            used.functions[call.function] = true;
            let (found, expected) = (call.args.len(), function.params().len());
            if found != expected {
                let function = function.name().to_owned();
                return Err(EmitError::Arguments {
                    function,
                    found,
                    expected,
                });
            }
            let params = function.params().iter().zip(&call.args);
            for (position, (&param, &arg)) in params.enumerate() {
                if let Some(expected) = self.mismatch(function, param, arg, depth, used) {
                    let function = function.name().to_owned();
                    return Err(EmitError::Argument {
                        function,
                        position,
                        found: arg,
                        expected,
                    });
                }
            }
        }
        Ok(())
    }

    /// What was expected for `param` if `arg` is not it.
    fn mismatch(
        &self,
        function: &Function,
        param: Value,
        arg: Arg,
        depth: usize,
        used: &mut Used,
    ) -> Option<String> {
        let place = match (function.ty(param), arg) {
            (Type::Ptr, Arg::Ptr(place)) => place,
            (Type::Ptr, _) => return Some("a place in a buffer".to_owned()),
            (_, Arg::Ptr(_)) => return Some("an index".to_owned()),
            (_, Arg::Task(task)) if task >= depth => {
                return Some(format!(
                    "a task coordinate below {depth}, the number of loops around it"
                ));
            }
            _ => return None,
        };
        self.outside(place, used)
    }

    /// What was expected of `place` if it does not lie in memory that is there.
    fn outside(&self, place: Place, used: &mut Used) -> Option<String> {
        let (size, what) = match place.buffer {
            Buffer::Input(number) => (self.inputs.get(number).map(Port::bytes), "an input"),
            Buffer::Output(number) => (self.outputs.get(number).map(Port::bytes), "an output"),
            Buffer::Constant(number) => {
                if let Some(used) = used.constants.get_mut(number) {
                    *used = true;
                }
                (
                    self.constants.get(number).map(|data| data.bytes.len()),
                    "a constant",
                )
            }
            Buffer::Scratch => {
                used.scratch = true;
                (Some(self.scratch), "scratch memory")
            }
        };
        match size {
            None => Some(format!("{what} of the module")),
            Some(size) if place.offset > size => Some(format!("an offset of at most {size} bytes")),
            Some(_) => None,
        }
    }
}
