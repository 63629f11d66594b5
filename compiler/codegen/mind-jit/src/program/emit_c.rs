//! Emission of programs as C.

use std::sync::Arc;

use mind_core::ops::input::Input;
use mind_ir::graph::Graph;
use mind_ir::types::DType;

use super::binding::Binding;
use super::build::{Makers, ProgramBuilder, build};
use super::check::debug_check;
use super::error::ProgramError;
use super::memory::Block;
use super::panels::PanelChoice;
use super::port::Port;
use super::weights::Weights;
use mind_vir::c::{
    Array, Callee, EmitError, Module, SharedFunctions, StaticMemory, Subprogram, Symbol,
    carried_bytes,
};
use mind_vir::program::{Base, Step};
use mind_vir::target::{Isa, TargetInfo};

/// Returns a C file whose function `name` computes a verified module at loops level.
///
/// Inputs and weights are parameters in the module's order. The file needs only the headers of the C standard library.
/// With `has_main` it is a program that reads the inputs from stdin, one after the other, and writes the outputs to
/// stdout.
///
/// # Errors
///
/// An op has no kernel; `name` is not a valid C identifier.
pub fn emit_c(g: &Graph, name: &str, has_main: bool) -> Result<String, ProgramError> {
    let target = TargetInfo::of(Isa::Avx2);
    let builder = checked(g, &target, PanelChoice::Best, Weights::Stay)?;
    let mut inputs = arrays(Base::Input, &builder.layout.inputs).into_iter();
    let mut params = arrays(Base::Param, &builder.layout.params).into_iter();
    let declared = g.ops(g.body()).filter_map(|op| g.view::<Input>(op));
    let declared = declared.filter_map(|input| {
        if input.param(g) {
            params.next()
        } else {
            inputs.next()
        }
    });
    let steps = builder.bind_steps.iter().chain(&builder.steps).collect();
    let outputs = arrays(Base::Output, &builder.layout.outputs);
    let subprograms = subprograms(&builder, name)?;
    let functions = builder.own_functions(name)?;
    let module = builder.module(name, (declared.collect(), outputs), steps, functions)?;
    let module = Module {
        has_main,
        subprograms,
        ..module
    };
    module.write().map_err(refused)
}

/// A module at loops level as C functions.
#[derive(Clone, Debug)]
pub struct CPart {
    /// The text of its functions.
    ///
    /// `int NAME(const void *const *inputs, void *const *outputs)` runs it. The last input is the bound memory.
    pub text: String,
    /// The text of `int NAME_bind(const void *const *weights, void *const *outputs)`, which computes the bound memory,
    /// its only output, from the weights; empty without weights.
    pub bind_text: String,
    /// Size of the bound memory in bytes.
    pub bound_bytes: u64,
    /// The weights, in order.
    pub params: Vec<Port>,
    /// The binding: parts with equal bindings can share bound memory.
    pub binding: Binding,
}

/// Returns a verified module at loops level as C functions, for [`mind_vir::c::written`]. Kernels are added to
/// `shared`. Quantised weights that are right-hand sides of products are read in their format.
///
/// # Errors
///
/// An op has no kernel; `name` is not a valid C identifier.
pub fn c_part(g: &Graph, name: &str, shared: &mut SharedFunctions) -> Result<CPart, ProgramError> {
    let target = TargetInfo::of(Isa::Avx2);
    let builder = checked(g, &target, PanelChoice::Shared, Weights::Copied)?;
    let layout = &builder.layout;
    let bound_bytes = builder.needs().bound;
    let bound = Array {
        base: Base::Bound,
        name: "weights, bound".to_owned(),
        dtype: DType::U8,
        shape: vec![bound_bytes as usize],
    };
    let functions = builder.functions.iter();
    let functions = functions.map(|(function, _)| shared.callee(function));
    let functions: Vec<Callee<'_>> = functions
        .collect::<Result<_, _>>()
        .map_err(|why| refused(why.into()))?;
    let params = arrays(Base::Param, &layout.params);
    let bind_text = if params.is_empty() {
        String::new()
    } else {
        let steps = builder.bind_steps.iter().collect();
        let ports = (params, vec![bound.clone()]);
        let module = builder.module(&format!("{name}_bind"), ports, steps, functions.clone())?;
        module.body().map_err(refused)?
    };
    let mut inputs = arrays(Base::Input, &layout.inputs);
    inputs.push(bound);
    let outputs = arrays(Base::Output, &layout.outputs);
    let subprograms = subprograms(&builder, name)?;
    let steps = builder.steps.iter().collect();
    let module = builder.module(name, (inputs, outputs), steps, functions)?;
    let module = Module {
        subprograms,
        ..module
    };
    let constants = Block::of(&layout.constants).map_err(ProgramError::OutOfMemory)?;
    Ok(CPart {
        text: module.body().map_err(refused)?,
        bind_text,
        bound_bytes,
        params: layout.params.clone(),
        binding: Binding::of(&builder, &Arc::new(constants)),
    })
}

/// Returns the control-flow regions as static functions, whose names begin with `name`.
fn subprograms(builder: &ProgramBuilder<'_>, name: &str) -> Result<Vec<Subprogram>, ProgramError> {
    let subprogram = |(number, region): (usize, &Graph)| {
        let name = format!("{name}_region{number}");
        let region = checked(region, builder.target, builder.choice, Weights::Stay)?;
        let layout = &region.layout;
        let mut inputs = arrays(Base::Param, &layout.params);
        inputs.extend(arrays(Base::Input, &layout.inputs));
        let outputs = arrays(Base::Output, &layout.outputs);
        let functions = region.own_functions(&name)?;
        let steps = region.steps.iter().collect();
        let module = region.module(&name, (inputs, outputs), steps, functions)?;
        let module = Module {
            subprograms: subprograms(&region, &name)?,
            ..module
        };
        let bind_steps: Vec<&Step> = region.bind_steps.iter().collect();
        module.subprogram(&bind_steps).map_err(refused)
    };
    builder.regions.iter().enumerate().map(subprogram).collect()
}

/// Builds the program of a module after checking its buffer assignment.
fn checked<'g>(
    g: &'g Graph,
    target: &'g TargetInfo,
    choice: PanelChoice,
    weights: Weights,
) -> Result<ProgramBuilder<'g>, ProgramError> {
    mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
    let builder = build(g, target, choice, weights, Makers::Caller)?;
    let mut steps = builder.bind_steps.iter().chain(&builder.steps);
    let evaluated = steps.find_map(|step| match step {
        Step::Evaluate(call) if call.algorithm.is_none() => Some(&builder.routines[call.routine]),
        Step::Evaluate(_)
        | Step::Call(_)
        | Step::Gather(_)
        | Step::Transfer(_)
        | Step::Control(_) => None,
    });
    if let Some(routine) = evaluated {
        let (op, span) = (routine.name, routine.span);
        return Err(ProgramError::Evaluated { op, span });
    }
    debug_check(&builder, weights)?;
    Ok(builder)
}

impl ProgramBuilder<'_> {
    /// Returns its kernels as functions that are private to the module `name`.
    fn own_functions(&self, name: &str) -> Result<Vec<Callee<'_>>, ProgramError> {
        let name = Symbol::new(name).map_err(|why| ProgramError::C(why.to_string()))?;
        let functions = self.functions.iter().map(|(function, _)| function);
        Ok(Callee::all_of(&name, functions))
    }

    /// Returns the C function `name` that runs `steps`, which call `functions`.
    fn module<'u>(
        &'u self,
        name: &str,
        (inputs, outputs): (Vec<Array>, Vec<Array>),
        steps: Vec<&'u Step>,
        functions: Vec<Callee<'u>>,
    ) -> Result<Module<'u>, ProgramError> {
        let needs = self.needs();
        let mut arrays = inputs.iter().chain(&outputs);
        let is_given = arrays.any(|array| array.base == Base::Bound);
        Ok(Module {
            name: Symbol::new(name).map_err(|why| ProgramError::C(why.to_string()))?,
            inputs,
            outputs,
            constants: &self.layout.constants,
            memory: StaticMemory {
                workspace: needs.workspace as usize,
                bound: if is_given { 0 } else { needs.bound as usize },
                scratch: needs.scratch,
                carried: carried_bytes(&self.steps),
            },
            functions,
            steps,
            subprograms: Vec::new(),
            has_main: false,
        })
    }
}

/// Returns the arrays that a caller passes for `ports`; bytes for quantised ones.
pub(super) fn arrays(base: impl Fn(u32) -> Base, ports: &[Port]) -> Vec<Array> {
    let array = |(number, port): (u32, &Port)| {
        let (dtype, shape) = match port.format {
            Some(_) => (DType::U8, vec![port.bytes()]),
            None => (port.dtype, port.shape.clone()),
        };
        Array {
            base: base(number),
            name: port.name.clone(),
            dtype,
            shape,
        }
    };
    (0..).zip(ports).map(array).collect()
}

fn refused(why: EmitError) -> ProgramError {
    ProgramError::C(why.to_string())
}
