//! Programs as object files.

use mind_ir::eval::EvalCx;
use mind_ir::graph::Graph;

use super::build::{ProgramBuilder, build};
use super::check::debug_check;
use super::emit_c::arrays;
use super::error::ProgramError;
use super::panels::PanelChoice;
use super::weights::Weights;
use mind_vir::c::Symbol;
use mind_vir::object::{
    Container, ObjectError, ObjectProgram, ObjectWriter, Ports, ProgramId, header,
};
use mind_vir::program::{Base, Step};
use mind_vir::target::{Isa, TargetInfo};

/// What an object file is made for.
#[derive(Clone, Debug)]
pub struct ObjectConfig<'c> {
    /// What its functions begin with.
    pub name: &'c str,
    /// The instruction sets that it has code for; the first one that the processor has is run.
    pub isas: &'c [Isa],
    /// Its format.
    pub container: Container,
    /// The most steps of a loop whose end only running tells.
    pub max_steps: u64,
}

impl ObjectConfig<'_> {
    /// The instruction sets of this processor's family, the widest first.
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
    /// The declarations of its functions, for C and C++.
    pub header: String,
}

/// The object file of a verified module at loops level. Weights are bound and then run, as those of a
/// [`BoundProgram`](super::BoundProgram); constants are in the file.
///
/// # Errors
///
/// An op without a kernel, a name that C cannot have, an instruction set without code for this processor's family, too many
/// constants.
pub fn emit_object(g: &Graph, config: &ObjectConfig<'_>) -> Result<ObjectFile, ProgramError> {
    mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
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
        programs.push((isa, add(&mut writer, isa, g)?));
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
    Ok(ObjectFile {
        bytes: writer.finish(&programs).map_err(|why| refused(&why))?,
        header: header(&name, &ports, config.isas),
    })
}

/// Adds the program of a module, and those of its regions, with kernels for `isa`.
fn add(writer: &mut ObjectWriter, isa: Isa, g: &Graph) -> Result<ProgramId, ProgramError> {
    let target = TargetInfo::of(isa);
    let builder = checked(g, &target)?;
    let regions = builder.regions.iter();
    let regions = regions.map(|region| add(writer, isa, region));
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
    writer.add(isa, &program).map_err(|why| refused(&why))
}

/// The program of a module whose places were checked.
///
/// # Errors
///
/// An op without a kernel.
fn checked<'g>(g: &'g Graph, target: &'g TargetInfo) -> Result<ProgramBuilder<'g>, ProgramError> {
    let builder = build(g, target, PanelChoice::Best, Weights::Embedded, None)?;
    let mut steps = builder.bind_steps.iter().chain(&builder.steps);
    let evaluated = steps.find_map(|step| match step {
        Step::Evaluate(call) => Some(&builder.routines[call.routine]),
        Step::Call(_) | Step::Gather(_) | Step::Transfer(_) | Step::Control(_) => None,
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
