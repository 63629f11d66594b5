//! Programs as C.

use mind_core::ops::input::Input;
use mind_ir::graph::Graph;
use mind_ir::types::DType;

use super::build::build;
use super::check::debug_check;
use super::error::ProgramError;
use super::layout::{Base, Layout, Place};
use super::panels::PanelChoice;
use super::port::Port;
use super::step::{Axis, Call, IndexType, Step};
use mind_vir::c::{self, Arg, Buffer, Module, Symbol};
use mind_vir::ir::{Function, Lane};
use mind_vir::target::{Isa, TargetInfo};

/// Bytes that every region of the scratch memory begins at a multiple of.
pub(super) const ALIGN: u64 = 64;

/// The text of one C file whose function `name` does what a verified module at loops level does.
///
/// Inputs and weights are one list, in the order in which the module declares them. The file needs nothing
/// but the headers of the C standard. With `has_main` it is a program that reads the inputs from stdin, one
/// after the other, and writes the outputs to stdout.
///
/// # Errors
///
/// An op without a kernel, a name that C cannot have.
pub fn emit_c(g: &Graph, name: &str, has_main: bool) -> Result<String, ProgramError> {
    let refused = |why: &dyn std::fmt::Display| ProgramError::C(why.to_string());
    mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
    let target = TargetInfo::of(Isa::Avx2);
    let unit = build(g, &target, (PanelChoice::Best, &|_| None), false)?;
    debug_check(&unit, false)?;
    let layout = &unit.layout;
    let needs = unit.needs();
    let memory = Memory::new(g, needs.workspace, needs.bound);
    let functions: Vec<&Function> = unit
        .functions
        .values()
        .map(|(function, _)| function)
        .collect();
    let steps = unit.bind_steps.iter().chain(&unit.steps);
    let (mut inputs, mut params) = (layout.inputs.iter(), layout.params.iter());
    let mut declared = memory.is_param.iter().filter_map(|&is_param| {
        if is_param {
            params.next()
        } else {
            inputs.next()
        }
    });
    let module = Module {
        name: Symbol::new(name).map_err(|why| refused(&why))?,
        inputs: ports(&mut declared),
        outputs: ports(&mut layout.outputs.iter()),
        constants: constants(layout),
        scratch: (memory.kernel_scratch as usize) + needs.scratch,
        functions,
        steps: steps.flat_map(|step| memory.steps(step)).collect(),
        has_main,
    };
    module.write().map_err(|why| refused(&why))
}

pub(super) fn ports(ports: &mut dyn Iterator<Item = &Port>) -> Vec<c::Port> {
    let ports = ports.map(|port| {
        let (dtype, shape) = match port.format {
            Some(_) => (DType::U8, vec![port.bytes()]),
            None => (port.dtype, port.shape.clone()),
        };
        c::Port {
            name: port.name.clone(),
            dtype,
            shape,
        }
    });
    ports.collect()
}

/// The constants of a module, as whole words.
pub(super) fn constants(layout: &Layout) -> Vec<c::Data> {
    let mut bytes = layout.constants.clone();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    vec![c::Data {
        lane: Lane::I32,
        bytes,
    }]
}

/// Where memory is in the arrays of a C function.
struct Memory {
    /// Of each input that the module declares, whether it is a weight.
    is_param: Vec<bool>,
    /// Where what is made of weights begins in the scratch memory, behind the workspace.
    bound: u64,
    /// Where the scratch memory of kernels begins.
    kernel_scratch: u64,
}

impl Memory {
    fn new(g: &Graph, workspace: u64, bound: u64) -> Memory {
        let inputs = g.ops(g.body()).filter_map(|op| g.view::<Input>(op));
        let start = workspace.next_multiple_of(ALIGN);
        Memory {
            is_param: inputs.map(|input| input.param(g)).collect(),
            bound: start,
            kernel_scratch: (start + bound).next_multiple_of(ALIGN),
        }
    }

    fn place(&self, place: Place) -> c::Place {
        let (buffer, start) = match place.base {
            Base::Input(index) => (Buffer::Input(self.declared(index, false)), 0),
            Base::Param(index) => (Buffer::Input(self.declared(index, true)), 0),
            Base::Output(index) => (Buffer::Output(index as usize), 0),
            Base::Constants => (Buffer::Constant(0), 0),
            Base::Workspace => (Buffer::Scratch, 0),
            Base::Bound => (Buffer::Scratch, self.bound),
        };
        c::Place {
            buffer,
            offset: (start + place.offset) as usize,
        }
    }

    /// The number among all inputs of input or weight `index`.
    fn declared(&self, index: u32, is_param: bool) -> usize {
        let own = self.is_param.iter().enumerate();
        let mut own = own.filter(|&(_, &kind)| kind == is_param);
        own.nth(index as usize).map_or(0, |(number, _)| number)
    }

    fn steps(&self, step: &Step) -> Vec<c::Step> {
        c_steps(step, self.kernel_scratch, &|place| self.place(place))
    }
}

/// The steps of C that do a step: `place` says where memory is, and the scratch memory of kernels begins at `scratch`.
pub(super) fn c_steps(
    step: &Step,
    scratch: u64,
    place: &dyn Fn(Place) -> c::Place,
) -> Vec<c::Step> {
    match step {
        Step::Call(call) => vec![c_call(call, scratch, place)],
        Step::Gather(gather) => vec![c::Step::Gather(c::Gather {
            data: place(gather.data.place),
            indices: place(gather.indices.place),
            result: place(gather.result.place),
            index: match gather.index_dtype {
                IndexType::I32 => Lane::I32,
                IndexType::I64 => Lane::I64,
            },
            groups: gather.outer,
            extent: gather.extent,
            count: gather.count,
            slice: gather.slice,
        })],
        Step::Repeat(repeat) => {
            let copies = repeat.targets().map(|target| {
                c::Step::Transfer(c::Transfer {
                    from: place(repeat.from.place),
                    to: place(target.place),
                    bytes: target.bytes,
                })
            });
            copies.collect()
        }
    }
}

/// A call in a loop for each dimension of the grid that gives an index; ranges are whole.
fn c_call(call: &Call, scratch: u64, place: &dyn Fn(Place) -> c::Place) -> c::Step {
    let places = call.args.iter().map(|region| Arg::Ptr(place(region.place)));
    let mut args: Vec<Arg> = places.collect();
    let mut extents = Vec::new();
    for axis in &call.grid {
        match *axis {
            Axis::Each(extent) => {
                args.push(Arg::Task(extents.len()));
                extents.push(extent as u64);
            }
            Axis::Range { extent, .. } => {
                args.extend([Arg::Index(0), Arg::Index(extent as i64)]);
            }
        }
    }
    if call.has_scratch {
        args.push(Arg::Ptr(c::Place {
            buffer: Buffer::Scratch,
            offset: scratch as usize,
        }));
    }
    let call = c::Step::Call(c::Call {
        function: call.kernel,
        args,
    });
    extents.into_iter().rev().fold(call, |body, extent| {
        let body = vec![body];
        c::Step::Repeat { extent, body }
    })
}
