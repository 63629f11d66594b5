//! Emission of programs as object files.

use mind_ir::eval::EvalCx;
use mind_ir::graph::Graph;

use super::build::{Makers, ProgramBuilder, build};
use super::check::debug_check;
use super::emit_c::arrays;
use super::error::ProgramError;
use super::panels::PanelChoice;
use super::weights::Weights;
use mind_vir::c::Symbol;
use mind_vir::object::{
    Container, ObjectError, ObjectProgram, ObjectWriter, Ports, ProgramId, header,
};
use mind_vir::program::Base;
use mind_vir::target::{CodeTarget, Isa, TargetInfo};

/// Options of an object file.
#[derive(Clone, Debug)]
pub struct ObjectConfig<'c> {
    /// The prefix of its functions.
    pub name: &'c str,
    /// The instruction sets that it has code for; the first one that the processor supports is used.
    pub isas: &'c [Isa],
    /// The file format.
    pub container: Container,
    /// The maximal trip count of a loop whose trip count is data-dependent.
    pub max_steps: u64,
}

impl ObjectConfig<'_> {
    /// The instruction sets of this processor's family, widest first.
    pub const ISAS: &'static [Isa] = if cfg!(target_arch = "x86_64") {
        &[Isa::Avx512, Isa::Avx2, Isa::Portable]
    } else {
        &[Isa::Portable]
    };
}

impl Default for ObjectConfig<'_> {
    fn default() -> Self {
        ObjectConfig {
            name: "module",
            isas: ObjectConfig::ISAS,
            container: Container::HOST,
            max_steps: EvalCx::MAX_STEPS,
        }
    }
}

/// A module at loops level as an object file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectFile {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// C and C++ declarations of its functions.
    pub header: String,
}

/// Emits a verified module at loops level. As with a [`BoundProgram`](super::BoundProgram), weights are bound before
/// runs; constants are in the file.
///
/// `dotted` is the module lowered for targets with VNNI, if it may have byte products. The file then also has code for
/// such processors, which have an instruction for them.
///
/// # Errors
///
/// Only the compiler can evaluate an op; the name is not a valid C identifier; an instruction set is not one of this
/// processor's family; too many constants.
pub fn emit_object(
    g: &Graph,
    dotted: Option<&Graph>,
    config: &ObjectConfig<'_>,
) -> Result<ObjectFile, ProgramError> {
    for g in [Some(g), dotted].into_iter().flatten() {
        mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
    }
    let name = Symbol::new(config.name).map_err(|why| ProgramError::Object(why.to_string()))?;
    let writer = ObjectWriter::new(&name, config.container, config.max_steps);
    let mut writer = writer.map_err(|why| refused(&why))?;
    if let Some(other) = config
        .isas
        .iter()
        .find(|isa| !ObjectConfig::ISAS.contains(isa))
    {
        let why = format!("this build has no code generator for {other}");
        return Err(ProgramError::Object(why));
    }
    let mut programs = Vec::with_capacity(config.isas.len());
    for &isa in config.isas {
        let target = TargetInfo::of(isa);
        let with_vnni = TargetInfo {
            has_vnni: true,
            ..target
        };
        if let Some(dotted) = dotted.filter(|_| isa.may_have_vnni())
            && sums_bytes(dotted, &with_vnni)?
        {
            let program = add(&mut writer, &with_vnni, dotted)?;
            programs.push((CodeTarget::from(&with_vnni), program));
        }
        programs.push((isa.into(), add(&mut writer, &target, g)?));
    }
    let ports = {
        let target = TargetInfo::of(Isa::Portable);
        let builder = checked(g, &target)?;
        Ports {
            weights: arrays(Base::Param, &builder.layout.params),
            inputs: arrays(Base::Input, &builder.layout.inputs),
            outputs: arrays(Base::Output, &builder.layout.outputs),
        }
    };
    let targets: Vec<CodeTarget> = programs.iter().map(|&(target, _)| target).collect();
    Ok(ObjectFile {
        bytes: writer.finish(&programs).map_err(|why| refused(&why))?,
        header: header(&name, &ports, &targets),
    })
}

/// Returns whether a kernel of a module or of its regions sums byte products.
///
/// # Errors
///
/// Only the compiler can evaluate an op.
fn sums_bytes(g: &Graph, target: &TargetInfo) -> Result<bool, ProgramError> {
    let builder = checked(g, target)?;
    let mut functions = builder.functions.iter();
    if functions.any(|(function, _)| function.sums_bytes()) {
        return Ok(true);
    }
    for region in &builder.regions {
        if sums_bytes(region, target)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds the program of a module and those of its regions, with kernels for `target`.
fn add(
    writer: &mut ObjectWriter,
    target: &TargetInfo,
    g: &Graph,
) -> Result<ProgramId, ProgramError> {
    let builder = checked(g, target)?;
    let regions = builder.regions.iter();
    let regions = regions.map(|region| add(writer, target, region));
    let regions = regions.collect::<Result<Vec<ProgramId>, _>>()?;
    let (layout, needs) = (&builder.layout, builder.needs());
    let functions = builder.functions.iter();
    let program = ObjectProgram {
        functions: functions.map(|(function, _)| function).collect(),
        constants: &layout.constants,
        literals: &layout.literals,
        params: layout.params.len(),
        bind_steps: &builder.bind_steps,
        steps: &builder.steps,
        bound: needs.bound,
        workspace: needs.workspace,
        scratch: needs.scratch,
        regions,
    };
    writer
        .add(target.into(), &program)
        .map_err(|why| refused(&why))
}

/// Builds the program of a module after checking its buffer assignment.
///
/// # Errors
///
/// Only the compiler can evaluate an op.
fn checked<'g>(g: &'g Graph, target: &'g TargetInfo) -> Result<ProgramBuilder<'g>, ProgramError> {
    let builder = build(
        g,
        target,
        PanelChoice::Best,
        Weights::Embedded,
        Makers::Caller,
    )?;
    let mut steps = builder.bind_steps.iter().chain(&builder.steps);
    let evaluated = steps.find_map(|step| {
        let call = step.as_evaluate()?;
        let routine = &builder.routines[call.routine];
        call.algorithm.is_none().then_some(routine)
    });
    if let Some(routine) = evaluated {
        let (op, span) = (routine.name, routine.span);
        return Err(ProgramError::NoCode { op, span });
    }
    debug_check(&builder, Weights::Embedded)?;
    Ok(builder)
}

fn refused(why: &ObjectError) -> ProgramError {
    ProgramError::Object(why.to_string())
}
