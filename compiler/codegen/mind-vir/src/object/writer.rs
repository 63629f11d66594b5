//! Builds an object file.

use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Signature, Value, types};
use cranelift_codegen::isa::{CallConv, TargetIsa, lookup_by_name};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use mind_ir::Bytes;
use rustc_hash::FxHashMap;

use crate::c::Symbol;
use crate::ir::Function;
use crate::kernel::{Assembler, check};
use crate::portable;
use crate::program::{Algorithm, RoutineError, Step};
use crate::target::{CodeTarget, Isa};

use super::body::Body;
use super::dispatch::{Choice, Dispatcher};
use super::driver::{Driver, Memory, ProgramItems};
use super::layout::{Layout, OwnBytes};
use super::routine::{self, Helper};
use super::{ALIGN, Container, MOST_CONSTANTS, ObjectError};

/// A program to add to an object file.
#[derive(Debug)]
pub struct ObjectProgram<'p> {
    /// The functions that its steps call.
    pub functions: Vec<&'p Function>,
    /// [`Base::Constants`](crate::program::Base::Constants).
    pub constants: &'p [u8],
    /// Embedded weights, numbered after those passed to `bind`.
    pub literals: &'p [Bytes],
    /// The number of weights passed to `bind`.
    pub params: usize,
    /// The steps of binding.
    pub bind_steps: &'p [Step],
    /// The steps of a run.
    pub steps: &'p [Step],
    /// Bytes of bound memory.
    pub bound: u64,
    /// Bytes of workspace, which is dead after a run.
    pub workspace: u64,
    /// Bytes of the scratch memory of its kernels.
    pub scratch: usize,
    /// The subprograms of its control flow.
    pub regions: Vec<ProgramId>,
}

/// A program of an [`ObjectWriter`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramId(usize);

/// The functions of a program in the file.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    /// `u64 bind(const u8 **weights, u8 *bound, u8 *workspace)`.
    pub(super) bind: FuncId,
    /// `u64 run(const u8 *bound, const u8 **inputs, u8 **outputs, u8 *workspace)`.
    pub(super) run: FuncId,
    /// Its memory.
    pub(super) layout: Layout,
}

/// Collects programs for an object file.
pub struct ObjectWriter {
    name: Symbol,
    max_steps: u64,
    object: ObjectModule,
    assembler: Assembler,
    isa: Arc<dyn TargetIsa>,
    /// Kernels, deduplicated by code.
    kernels: FxHashMap<Vec<u8>, FuncId>,
    /// Routines and their helpers, deduplicated.
    routines: FxHashMap<Algorithm, FuncId>,
    helpers: FxHashMap<Helper, FuncId>,
    /// Constants, deduplicated.
    data: FxHashMap<Bytes, DataId>,
    constant_bytes: usize,
    programs: Vec<Compiled>,
}

/// The numbers of address and size parameters of the functions of a program.
pub(super) const BIND_PARAMS: usize = 3;
pub(super) const RUN_PARAMS: usize = 4;

impl ObjectWriter {
    /// Returns a writer for x86-64, or for the host's processor, whose symbols are prefixed with `name`. Loops with a
    /// data-dependent trip count run at most `max_steps` iterations.
    ///
    /// # Errors
    ///
    /// Errors if Cranelift does not support the processor.
    pub fn new(
        name: &Symbol,
        container: Container,
        max_steps: u64,
    ) -> Result<ObjectWriter, ObjectError> {
        let isa = baseline(container).map_err(ObjectError::Driver)?;
        let builder = ObjectBuilder::new(isa.clone(), name.to_string(), default_libcall_names())?;
        Ok(ObjectWriter {
            name: name.clone(),
            max_steps,
            object: ObjectModule::new(builder),
            assembler: Assembler::default(),
            isa,
            kernels: FxHashMap::default(),
            routines: FxHashMap::default(),
            helpers: FxHashMap::default(),
            data: FxHashMap::default(),
            constant_bytes: 0,
            programs: Vec::new(),
        })
    }

    /// Adds a program whose kernels are compiled for `target`.
    ///
    /// # Errors
    ///
    /// Errors if the instruction set does not support a kernel, if a step has no code, or if there are too many
    /// constants.
    pub fn add(
        &mut self,
        target: CodeTarget,
        program: &ObjectProgram<'_>,
    ) -> Result<ProgramId, ObjectError> {
        let number = self.programs.len();
        let kernels = program.functions.iter();
        let kernels = kernels.map(|function| self.kernel(target, function));
        let kernels = kernels.collect::<Result<Vec<FuncId>, _>>()?;
        let steps = || program.bind_steps.iter().chain(program.steps);
        let mut routines = FxHashMap::default();
        for call in steps().filter_map(Step::as_evaluate) {
            let op = call.op;
            let algorithm = call.checked().map_err(|why| match why {
                RoutineError::Unknown => ObjectError::NoCode { op },
                RoutineError::Arrays { .. } | RoutineError::Outside => {
                    ObjectError::Routine { op, why }
                }
            })?;
            routines.insert(call.routine, self.routine(algorithm)?);
        }
        let constants = self.constant(&Bytes::copy_from_slice(program.constants))?;
        let literals = program.literals.iter();
        let literals = literals.map(|literal| self.constant(literal));
        let literals = literals.collect::<Result<Vec<DataId>, _>>()?;
        let regions: Vec<Compiled> = program
            .regions
            .iter()
            .map(|region| self.programs[region.0].clone())
            .collect();
        let layouts: Vec<&Layout> = regions.iter().map(|region| &region.layout).collect();
        let own = OwnBytes {
            bound: program.bound,
            workspace: program.workspace,
            scratch: (program.scratch as u64).max(routine::memory(steps())),
        };
        let layout = Layout::of(own, program.steps, &layouts);
        let items = ProgramItems {
            kernels,
            routines,
            constants,
            literals,
            params: program.params,
            layout,
            regions,
            max_steps: self.max_steps,
        };
        let name = format!("bind{number}");
        let bind = self.internal::<BIND_PARAMS>(&name, |body, params| {
            let [weights, bound, workspace] = params;
            let memory = Memory {
                params: Some(weights),
                bound,
                workspace,
                inputs: None,
                outputs: None,
            };
            let mut driver = Driver::new(body, memory);
            driver.steps(&items, program.bind_steps)?;
            driver.bind_once(&items, program.steps);
            Ok(driver.finish())
        })?;
        let name = format!("run{number}");
        let run = self.internal::<RUN_PARAMS>(&name, |body, params| {
            let [bound, inputs, outputs, workspace] = params;
            let memory = Memory {
                params: None,
                bound,
                workspace,
                inputs: Some(inputs),
                outputs: Some(outputs),
            };
            let mut driver = Driver::new(body, memory);
            driver.steps(&items, program.steps)?;
            Ok(driver.finish())
        })?;
        self.programs.push(Compiled {
            bind,
            run,
            layout: items.layout,
        });
        Ok(ProgramId(number))
    }

    /// Returns the bytes of the file, whose public functions run the first of `programs` that the processor supports.
    ///
    /// # Errors
    ///
    /// Errors if the code generator rejects a function.
    pub fn finish(mut self, programs: &[(CodeTarget, ProgramId)]) -> Result<Vec<u8>, ObjectError> {
        let choices = programs.iter().map(|&(target, program)| Choice {
            target,
            program: self.programs[program.0].clone(),
        });
        let choices: Vec<Choice> = choices.collect();
        Dispatcher {
            name: &self.name,
            object: &mut self.object,
            choices: &choices,
        }
        .write()?;
        let bytes = self.object.finish().emit();
        bytes.map_err(|why| ObjectError::Driver(why.to_string()))
    }

    /// Returns the kernel with the code of `function`.
    fn kernel(&mut self, target: CodeTarget, function: &Function) -> Result<FuncId, ObjectError> {
        let code = match target.isa {
            Isa::Portable => {
                check(function, target)?;
                portable::compile_for(function, self.isa.as_ref())?
            }
            Isa::Avx2 | Isa::Avx512 => self.assembler.assemble(function, target)?,
        };
        if let Some(&kernel) = self.kernels.get(&code) {
            return Ok(kernel);
        }
        let name = self.name.derived(function.name(), self.kernels.len());
        let signature = signature(&self.object, 1);
        let linkage = Linkage::Local;
        let kernel = self
            .object
            .declare_function(&name.to_string(), linkage, &signature)?;
        self.object
            .define_function_bytes(kernel, ALIGN, &code, &[])?;
        self.kernels.insert(code, kernel);
        Ok(kernel)
    }

    /// Returns the function that computes `algorithm`.
    fn routine(&mut self, algorithm: &Algorithm) -> Result<FuncId, ObjectError> {
        if let Some(&function) = self.routines.get(algorithm) {
            return Ok(function);
        }
        let helper = Helper::of(algorithm).map(|helper| self.helper(helper));
        let helper = helper.transpose()?;
        let name = format!("routine{}", self.routines.len());
        let function = self.internal(&name, |mut body, params| {
            routine::write(&mut body, algorithm, helper, params);
            let done = body.word(0);
            Ok((body, done))
        })?;
        self.routines.insert(algorithm.clone(), function);
        Ok(function)
    }

    /// Returns a helper of routines.
    fn helper(&mut self, helper: Helper) -> Result<FuncId, ObjectError> {
        if let Some(&function) = self.helpers.get(&helper) {
            return Ok(function);
        }
        let function = self.internal(helper.name(), |mut body, params| {
            let result = helper.write(&mut body, params);
            Ok((body, result))
        })?;
        self.helpers.insert(helper, function);
        Ok(function)
    }

    /// Constants with these bytes.
    fn constant(&mut self, bytes: &Bytes) -> Result<DataId, ObjectError> {
        if let Some(&data) = self.data.get(bytes) {
            return Ok(data);
        }
        self.constant_bytes = self.constant_bytes.saturating_add(bytes.len());
        if self.constant_bytes > MOST_CONSTANTS {
            let found = self.constant_bytes;
            return Err(ObjectError::Constants { found });
        }
        let name = self.name.suffixed(&format!("data{}", self.data.len()));
        let name = name.to_string();
        let data = self
            .object
            .declare_data(&name, Linkage::Local, false, false)?;
        let mut description = DataDescription::new();
        description.set_align(ALIGN);
        // An array in an object file is not empty.
        let contents = if bytes.is_empty() { &[0][..] } else { bytes };
        description.define(contents.into());
        self.object.define_data(data, &description)?;
        self.data.insert(bytes.clone(), data);
        Ok(data)
    }

    /// Defines a local function and returns the result of `write`.
    ///
    /// # Errors
    ///
    /// Errors if `write` errors, or if the code generator rejects the function.
    fn internal<const PARAMS: usize>(
        &mut self,
        name: &str,
        write: impl for<'w> FnOnce(Body<'w>, [Value; PARAMS]) -> Result<(Body<'w>, Value), ObjectError>,
    ) -> Result<FuncId, ObjectError> {
        let name = self.name.suffixed(name).to_string();
        let signature = signature(&self.object, PARAMS);
        let id = self
            .object
            .declare_function(&name, Linkage::Local, &signature)?;
        define(&mut self.object, id, signature, |builder, object| {
            let body = Body::new(builder, object);
            let params = body.params();
            let (body, result) = write(body, params)?;
            body.finish(result);
            Ok(())
        })?;
        Ok(id)
    }
}

/// The signature of local functions: address parameters, one word as result.
pub(super) fn signature(object: &ObjectModule, params: usize) -> Signature {
    let mut signature = object.make_signature();
    if cfg!(target_arch = "x86_64") {
        signature.call_conv = CallConv::SystemV;
    }
    signature
        .params
        .extend((0..params).map(|_| AbiParam::new(types::I64)));
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// Defines the function `id` with the body that `write` generates.
///
/// # Errors
///
/// Errors if `write` errors, or if the code generator rejects the function.
pub(super) fn define(
    object: &mut ObjectModule,
    id: FuncId,
    signature: Signature,
    write: impl FnOnce(FunctionBuilder<'_>, &mut ObjectModule) -> Result<(), ObjectError>,
) -> Result<(), ObjectError> {
    let mut context = Context::new();
    context.func.signature = signature;
    let mut frontend = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut frontend);
    write(builder, object)?;
    object.define_function(id, &mut context)?;
    Ok(())
}

/// The features that a file requires: x86-64 with fused multiply-add, or the host's processor.
fn baseline(container: Container) -> Result<Arc<dyn TargetIsa>, String> {
    let mut flags = settings::builder();
    let verifies = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    // Position-independent code uses no GOT on Windows, where code is relocated by other means.
    let is_pic = if container == Container::Coff {
        "false"
    } else {
        "true"
    };
    let values = [
        ("opt_level", "speed"),
        ("enable_verifier", verifies),
        ("is_pic", is_pic),
        // Windows requires that the pages of a growing stack are touched in order.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("unwind_info", "false"),
    ];
    for (name, value) in values {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let architecture = std::env::consts::ARCH;
    let triple = format!("{architecture}-{}", container.system());
    let mut builder = lookup_by_name(&triple).map_err(|error| error.to_string())?;
    if cfg!(target_arch = "x86_64") {
        let extensions = [
            "has_sse3",
            "has_ssse3",
            "has_sse41",
            "has_sse42",
            "has_avx",
            "has_fma",
        ];
        for name in extensions {
            builder.enable(name).map_err(|error| error.to_string())?;
        }
    }
    let isa = builder.finish(settings::Flags::new(flags));
    isa.map_err(|error| error.to_string())
}
