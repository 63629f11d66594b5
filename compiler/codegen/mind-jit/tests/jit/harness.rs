//! Runs a function in the interpreter and as machine code.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_vir::ir::interp::{self, Arg, Memory};
use mind_vir::ir::{Function, Status};
use mind_vir::kernel::{CompiledKernel, assemble};
use mind_vir::target::{CodeTarget, Isa, TargetInfo};

use mind_vir::guarded::{Edge, Guarded};

/// An argument of a test call.
#[derive(Clone, Debug)]
pub enum Input {
    /// Elements, which the function may also write.
    Elements(DType, Vec<u8>),
    Index(i64),
}

impl Input {
    pub fn elements(buffer: &Buffer) -> Input {
        Input::Elements(buffer.dtype(), buffer.to_bytes())
    }

    /// Returns a zeroed buffer for results.
    pub fn room(dtype: DType, count: usize) -> Input {
        Input::Elements(dtype, vec![0xa5; count * dtype.size()])
    }
}

/// Returns the arguments, followed by the scratch memory of the function if it has any.
pub fn with_scratch(function: &Function, inputs: &[Input]) -> Vec<Input> {
    let scratch = function.scratch().into_iter();
    let room = scratch.map(|scratch| Input::room(DType::U8, scratch.bytes));
    inputs.iter().cloned().chain(room).collect()
}

/// The outcome of a call: its status, and the contents of all buffers.
pub type Outcome = (Status, Vec<Buffer>);

/// Interprets the function.
pub fn interpret(function: &Function, inputs: &[Input]) -> Outcome {
    let mut buffers: Vec<(DType, Vec<u8>)> = Vec::new();
    for input in inputs {
        if let Input::Elements(dtype, bytes) = input {
            buffers.push((*dtype, bytes.clone()));
        }
    }
    let mut memory = Memory::default();
    let mut pointers = buffers
        .iter_mut()
        .map(|(_, bytes)| memory.add(bytes))
        .collect::<Vec<_>>()
        .into_iter();
    let args: Vec<Arg> = (inputs.iter())
        .map(|input| match input {
            Input::Elements(..) => Arg::Ptr(pointers.next().expect("a pointer for each")),
            Input::Index(index) => Arg::Index(*index),
        })
        .collect();
    let status = interp::run(function, &args, &mut memory)
        .unwrap_or_else(|fault| panic!("{fault} in\n{function}"));
    let left = buffers
        .iter()
        .map(|(dtype, bytes)| Buffer::from_bytes(*dtype, bytes));
    (status, left.collect())
}

/// Runs the machine code with the elements at `edge` of their pages.
pub fn execute(kernel: &CompiledKernel, inputs: &[Input], edge: Edge) -> Outcome {
    let mut buffers = Vec::new();
    let args: Vec<u64> = (inputs.iter())
        .map(|input| match input {
            Input::Elements(dtype, bytes) => {
                buffers.push((*dtype, Guarded::of(bytes, edge).expect("memory for a test")));
                buffers.last().map_or(0, |(_, bytes)| bytes.start() as u64)
            }
            Input::Index(index) => *index as u64,
        })
        .collect();
    // SAFETY: the interpreter has checked that the function stays inside its buffers; guard pages around them catch
    // code that does not.
    let status = unsafe { kernel.call(&args) };
    let left = buffers
        .iter()
        .map(|(dtype, bytes)| Buffer::from_bytes(*dtype, bytes.bytes()));
    (status, left.collect())
}

/// Returns whether two outcomes are equal, where all NaNs are equal.
pub fn same(a: &Outcome, b: &Outcome) -> bool {
    a.0 == b.0 && a.1.iter().zip(&b.1).all(|(a, b)| a.same_bits(b))
}

/// Returns all targets without extensions. Those that this machine cannot run are counted on stderr.
pub fn targets() -> Vec<TargetInfo> {
    noted(Isa::ALL.map(TargetInfo::of).to_vec())
}

/// Returns all targets with VNNI.
pub fn targets_with_vnni() -> Vec<TargetInfo> {
    let targets = [Isa::Avx2, Isa::Avx512].map(|isa| TargetInfo {
        has_vnni: true,
        ..TargetInfo::of(isa)
    });
    noted(targets.to_vec())
}

/// Returns all targets with AMX, with the extensions that machines with AMX have.
pub fn targets_with_amx() -> Vec<TargetInfo> {
    noted(vec![TargetInfo {
        has_vnni: true,
        has_amx: true,
        ..TargetInfo::of(Isa::Avx512)
    }])
}

fn noted(targets: Vec<TargetInfo>) -> Vec<TargetInfo> {
    let codes = targets.iter().map(CodeTarget::from);
    for code in codes.filter(|code| !code.is_available()) {
        eprintln!("note: {code} code is encoded and decoded, not run: this machine lacks it");
    }
    targets
}

/// Returns the compiled function; `None` if this machine cannot run it, in which case it is only assembled.
pub fn compiled(function: &Function, target: impl Into<CodeTarget>) -> Option<CompiledKernel> {
    let target: CodeTarget = target.into();
    if target.is_available() {
        let kernel = CompiledKernel::compile(function, target);
        return Some(kernel.unwrap_or_else(|error| panic!("{error} in\n{function}")));
    }
    let code = assemble(function, target);
    assert!(
        !code
            .unwrap_or_else(|error| panic!("{error} in\n{function}"))
            .is_empty()
    );
    None
}

/// Checks that machine code and interpreter agree, with the elements at both edges of their pages.
pub fn check(function: &Function, kernel: &CompiledKernel, inputs: &[Input]) -> Outcome {
    let inputs = &with_scratch(function, inputs);
    let expected = interpret(function, inputs);
    for edge in [Edge::Start, Edge::End] {
        let found = execute(kernel, inputs, edge);
        assert!(
            same(&expected, &found),
            "expected {expected:?}\nfound {found:?}\n{}\nwith {edge:?}, {inputs:?}\nin\n{function}",
            repeated(&found, &execute(kernel, inputs, edge))
        );
    }
    expected
}

/// Tells whether the same code gave the same result twice; otherwise it read uninitialised memory, or the processor
/// erred.
pub fn repeated(found: &Outcome, again: &Outcome) -> &'static str {
    match same(found, again) {
        true => "as when run once more",
        false => "not as when run once more",
    }
}

/// Returns a result of `count` elements, computed by the code in separate parts from two operands.
pub fn in_parts(
    (function, kernel): (&Function, &CompiledKernel),
    operands: [Input; 2],
    (dtype, count): (DType, usize),
    parts: impl IntoIterator<Item = [usize; 4]>,
) -> Buffer {
    let mut out = Input::room(dtype, count);
    for bounds in parts {
        let mut inputs = [&operands[..], &[out]].concat();
        inputs.extend(bounds.map(|bound| Input::Index(bound as i64)));
        let (_, buffers) = check(function, kernel, &inputs);
        out = Input::elements(&buffers[2]);
    }
    let Input::Elements(_, found) = out else {
        unreachable!("elements");
    };
    Buffer::from_bytes(dtype, &found)
}
