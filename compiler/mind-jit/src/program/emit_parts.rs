//! Several programs in one file of C, each with weights that are bound once.

use mind_ir::graph::Graph;

use super::binding::Binding;
use super::build::{Formats, build};
use super::check::debug_check;
use super::emit_c::{ALIGN, c_steps, constants, ports};
use super::error::ProgramError;
use super::layout::{Base, Place};
use super::panels::PanelChoice;
use super::port::Port;
use mind_vir::c::{self, Buffer, Module, Symbol};
use mind_vir::ir::Function;
use mind_vir::target::{Isa, TargetInfo};

/// A module at loops level as functions of C.
#[derive(Clone, Debug)]
pub struct CPart {
    /// The text of its functions.
    ///
    /// `int NAME(const void *const *inputs, void *const *outputs)` runs it; the last input is what was made of
    /// its weights.
    pub text: String,
    /// The text of `int NAME_bind(const void *const *weights, void *const *outputs)`, which makes that of the
    /// weights, in the only output; empty without weights.
    pub bind_text: String,
    /// Bytes of what is made of its weights.
    pub bound_bytes: u64,
    /// The weights, in order.
    pub params: Vec<Port>,
    /// What is made of weights: parts whose bindings are equal may be given what one of them made.
    pub binding: Binding,
}

/// The functions of a verified module at loops level, for [`c_file`], of weights that are stored in `formats`, as
/// for [`Program::compile_with`](super::Program::compile_with).
///
/// # Errors
///
/// An op without a kernel, a name that C cannot have.
pub fn c_part(g: &Graph, name: &str, formats: Formats<'_>) -> Result<CPart, ProgramError> {
    let refused = |why: &dyn std::fmt::Display| ProgramError::C(why.to_string());
    mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
    let target = TargetInfo::of(Isa::Avx2);
    let unit = build(g, &target, (PanelChoice::Shared, formats), true)?;
    debug_check(&unit, true)?;
    let layout = &unit.layout;
    let functions: Vec<&Function> = unit
        .functions
        .values()
        .map(|(function, _)| function)
        .collect();
    let needs = unit.needs();
    let bound = c::Port {
        name: "weights, bound".to_owned(),
        dtype: mind_ir::types::DType::U8,
        shape: vec![needs.bound as usize],
    };
    let scratch = needs.workspace.next_multiple_of(ALIGN);
    let symbol = |name: String| Symbol::new(&name).map_err(|why| refused(&why));
    let bytes = scratch as usize + needs.scratch;
    let place = |bound: Buffer| {
        move |place: Place| {
            let buffer = match place.base {
                Base::Input(index) | Base::Param(index) => Buffer::Input(index as usize),
                Base::Output(index) => Buffer::Output(index as usize),
                Base::Constants => Buffer::Constant(0),
                Base::Workspace => Buffer::Scratch,
                Base::Bound => bound,
            };
            let offset = place.offset as usize;
            c::Place { buffer, offset }
        }
    };
    let mut bind_text = String::new();
    if !layout.params.is_empty() {
        let place = place(Buffer::Output(0));
        let kept = layout.kept.iter().map(|&(param, region)| {
            let from = c::Place {
                buffer: Buffer::Input(param),
                offset: 0,
            };
            let to = c::Place {
                buffer: Buffer::Output(0),
                offset: region.place.offset as usize,
            };
            let bytes = layout.params[param].bytes();
            c::Step::Transfer(c::Transfer { from, to, bytes })
        });
        let steps = unit.bind_steps.iter();
        let module = Module {
            name: symbol(format!("{name}_bind"))?,
            inputs: ports(&mut layout.params.iter()),
            outputs: vec![bound.clone()],
            constants: constants(layout),
            scratch: bytes,
            functions: functions.clone(),
            steps: kept
                .chain(steps.flat_map(|step| c_steps(step, scratch, &place)))
                .collect(),
            has_main: false,
        };
        bind_text = module.body().map_err(|why| refused(&why))?;
    }
    let mut inputs = ports(&mut layout.inputs.iter());
    let place = place(Buffer::Input(inputs.len()));
    inputs.push(bound);
    let module = Module {
        name: symbol(name.to_owned())?,
        inputs,
        outputs: ports(&mut layout.outputs.iter()),
        constants: constants(layout),
        scratch: bytes,
        functions,
        steps: unit
            .steps
            .iter()
            .flat_map(|step| c_steps(step, scratch, &place))
            .collect(),
        has_main: false,
    };
    Ok(CPart {
        text: module.body().map_err(|why| refused(&why))?,
        bind_text,
        bound_bytes: needs.bound,
        params: layout.params.clone(),
        binding: Binding::of(&unit),
    })
}

/// A file of C with these texts behind what they call.
///
/// The file needs nothing but the headers of the C standard.
pub fn c_file(texts: &[String]) -> String {
    c::written(texts)
}
