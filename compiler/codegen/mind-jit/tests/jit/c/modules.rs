//! Whole modules: their text, their errors, and their results as programs under sanitizers.

use std::io::Write;
use std::process::{Command, Stdio};

use mind_ir::tensor::Buffer as Elements;
use mind_ir::types::DType;
use mind_vir::c::{Array, Callee, Module, StaticMemory, Symbol};
use mind_vir::ir::{Addr, BinaryOp, Function, IndexOp, Lane, Op, Signature};
use mind_vir::program::{
    Algorithm, Axis, Base, Bounds, Call, Control, Dimension, Evaluate, Flow, IndexType, Region,
    Scattering, Step, Update,
};

use super::toolchain::{compile, compilers, path};

/// `to[row] = from[row] op table`, four columns.
fn row(op: BinaryOp) -> Function {
    let mut signature = Signature::new(&format!("row {op:?}"), 4);
    let (from, table, to, row) = (
        signature.ptr(),
        signature.ptr(),
        signature.ptr(),
        signature.index(),
    );
    let mut b = signature.body();
    let four = b.index(4);
    let start = b.index_op(IndexOp::Mul, row, four);
    let x = b.load(Lane::F32, Addr::element(from, start, Lane::F32), None);
    let y = b.load(Lane::F32, Addr::at(table), None);
    let z = b.binary(op, x, y);
    b.store(z, Addr::element(to, start, Lane::F32), None);
    b.finish()
}

/// `to[0..4] = from[0..4] / by[0..4]`.
fn quotient() -> Function {
    let mut signature = Signature::new("quotient", 4);
    let (from, by, to) = (signature.ptr(), signature.ptr(), signature.ptr());
    let mut b = signature.body();
    let (lhs, rhs) = (
        b.load(Lane::I32, Addr::at(from), None),
        b.load(Lane::I32, Addr::at(by), None),
    );
    let op = Op::IntDiv {
        signed: true,
        lhs,
        rhs,
        count: None,
    };
    let quotient = b.op(op);
    b.store(quotient, Addr::at(to), None);
    b.finish()
}

fn region(base: Base, offset: u64, bytes: usize) -> Region {
    Region {
        base,
        offset,
        bytes,
    }
}

fn array(base: Base, name: &str, dtype: DType, shape: &[usize]) -> Array {
    Array {
        base,
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
    }
}

fn call(kernel: usize, args: &[Region], grid: &[Axis]) -> Step {
    Step::Call(Call {
        kernel,
        args: args.iter().copied().collect(),
        has_scratch: false,
        grid: grid.iter().copied().collect(),
        cost: 0,
        products: 0,
        op: "loops.nest",
    })
}

/// Returns rows of four numbers, alternately from each start value.
fn constants(first: [f32; 3]) -> Vec<u8> {
    let rows = first.iter().flat_map(|x| [*x, x + 1.0, x + 2.0, x + 3.0]);
    rows.flat_map(f32::to_le_bytes).collect()
}

/// `y = (x + c0) * c2` through the workspace with a task per row, and `q = n / d`.
fn steps() -> Vec<Step> {
    let rows = |kernel: usize, from: Region, table: u64, to: Region| {
        let table = region(Base::Constants, 16 * table, 16);
        call(kernel, &[from, table, to], &[Axis::Each(3)])
    };
    let between = region(Base::Workspace, 16, 48);
    let divided = [
        region(Base::Param(0), 0, 16),
        region(Base::Param(0), 16, 16),
        region(Base::Output(1), 0, 16),
    ];
    vec![
        rows(0, region(Base::Input(0), 0, 48), 0, between),
        rows(2, between, 2, region(Base::Output(0), 0, 48)),
        call(3, &divided, &[]),
    ]
}

fn module<'p>(functions: &'p [Function; 4], constants: &'p [u8], steps: &'p [Step]) -> Module<'p> {
    Module {
        name: Symbol::new("net").expect("a name"),
        inputs: vec![
            array(Base::Input(0), "x */ y\n", DType::F32, &[3, 4]),
            array(Base::Param(0), "n", DType::I32, &[2, 4]),
        ],
        outputs: vec![
            array(Base::Output(0), "y", DType::F32, &[3, 4]),
            array(Base::Output(1), "q", DType::I32, &[4]),
        ],
        constants,
        memory: StaticMemory {
            workspace: 64,
            ..StaticMemory::default()
        },
        functions: Callee::all_of(&Symbol::new("net").expect("a name"), functions),
        steps: steps.iter().collect(),
        subprograms: Vec::new(),
        has_main: true,
    }
}

fn functions() -> [Function; 4] {
    [
        row(BinaryOp::Add),
        row(BinaryOp::Sub),
        row(BinaryOp::Mul),
        quotient(),
    ]
}

#[test]
fn a_module_runs_as_a_program_and_sanitizers_find_nothing() {
    let functions = functions();
    let (constants, steps) = (constants([0.5, 9.0, 2.0]), steps());
    let module = module(&functions, &constants, &steps);
    let text = module.write().expect("it fits");
    for part in [
        "inputs[0]  x * / y\\n: f32[3, 4], 48 bytes",
        "net_constants[12]",
        "net_scratch[64]",
        "if (MIND_LACKS_CPU) {\n        return 8;",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("net_1_row"), "unused, in\n{text}");
    let without = Module {
        steps: module.steps[2..].to_vec(),
        ..module
    };
    let without = without.write().expect("it fits");
    for part in ["net_0_row", "net_constants", "net_scratch"] {
        assert!(!without.contains(part), "{part} is unused, in\n{without}");
    }
    let x: Vec<f32> = (0..12).map(|at| at as f32).collect();
    for (divisors, status) in [([1, -2, 3, 4], 0), ([1, 0, 3, 4], 1), ([1, 0, -1, 4], 3)] {
        let numbers = [7, 7, i32::MIN, -9].into_iter().chain(divisors);
        let mut input: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        input.extend(numbers.flat_map(i32::to_le_bytes));
        let y = (0..12).map(|at| (x[at] + (0.5 + (at % 4) as f32)) * (2.0 + (at % 4) as f32));
        let y: Vec<f32> = y.collect();
        for compiler in compilers() {
            let (source, program) = (
                path(&format!("net_{compiler}.c")),
                path(&format!("net_{compiler}")),
            );
            let checked = [
                "-O1",
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
            ];
            compile(compiler, &text, &source, &program, &checked);
            let mut child = Command::new(&program)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the program starts");
            child
                .stdin
                .take()
                .expect("a pipe")
                .write_all(&input)
                .expect("it reads its inputs");
            let run = child.wait_with_output().expect("it ends");
            assert_eq!(
                run.status.code(),
                Some(status),
                "{}",
                String::from_utf8_lossy(&run.stderr)
            );
            assert_eq!(run.stdout.len(), 48 + 16);
            let found = Elements::from_bytes(DType::F32, &run.stdout[..48]);
            assert!(
                found.same_bits(&Elements::F32(y.clone().into())),
                "{found:?}"
            );
        }
    }
}

#[test]
fn calls_that_do_not_fit_are_refused_with_what_would() {
    let functions = functions();
    let refused = |step: Step| {
        let module = module(&functions, &[0; 16], std::slice::from_ref(&step));
        module.write().expect_err("it does not fit").to_string()
    };
    let place = region(Base::Workspace, 0, 16);
    assert_eq!(
        refused(call(4, &[], &[])),
        "a call of function 4; the module has 4"
    );
    assert_eq!(
        refused(call(3, &[place], &[])),
        "a call of `quotient` with 1 arguments; expected 3"
    );
    assert_eq!(
        refused(call(3, &[place, place], &[Axis::Each(2)])),
        "argument 2 of a call of `quotient` is an index; expected memory"
    );
    assert_eq!(
        refused(call(0, &[place, place, place, place], &[])),
        "argument 3 of a call of `row Add` is memory; expected an index"
    );
    let range = Axis::Range {
        extent: 8,
        grain: 4,
    };
    assert_eq!(
        refused(call(0, &[place, place, place], &[range])),
        "a call of `row Add` with 5 arguments; expected 4"
    );
    let outside = [
        (Base::Input(1), 0, 4, "Input(1), which has 0"),
        (Base::Output(0), 44, 8, "Output(0), which has 48"),
        (Base::Constants, 16, 1, "Constants, which has 16"),
        (Base::Workspace, 60, 8, "Workspace, which has 64"),
        (Base::Bound, 0, 1, "Bound, which has 0"),
    ];
    for (base, offset, bytes, expected) in outside {
        let args = [place, region(base, offset, bytes), place];
        assert_eq!(
            refused(call(3, &args, &[])),
            format!("{bytes} bytes at {offset} of {expected}")
        );
    }
}

#[test]
fn routines_that_do_not_fit_are_refused() {
    let functions = functions();
    let refused = |algorithm: Option<Algorithm>, operand: Region| {
        let output = region(Base::Output(1), 0, 16);
        let step = Step::Evaluate(Evaluate {
            routine: 0,
            operands: vec![
                region(Base::Param(0), 0, 16),
                operand,
                region(Base::Param(0), 0, 8),
            ],
            results: vec![output],
            op: "core.scatter_nd",
            algorithm,
        });
        let module = module(&functions, &[], std::slice::from_ref(&step));
        module.write().err().map(|why| why.to_string())
    };
    let scatter = |stride: usize| {
        let axis = Dimension { extent: 2, stride };
        let tuples = Dimension {
            extent: 1,
            stride: 0,
        };
        Some(Algorithm::Scatter(Scattering {
            dtype: DType::I32,
            index: IndexType::I64,
            update: Update::Add,
            bounds: Bounds::Strict,
            elements: 4,
            tuples: vec![tuples],
            axes: vec![axis],
            width: 2,
        }))
    };
    let index = region(Base::Param(0), 0, 8);
    assert_eq!(refused(scatter(2), index), None);
    assert_eq!(
        refused(None, index).unwrap_or_default(),
        "`core.scatter_nd` has no kernel: only the compiler itself evaluates it"
    );
    assert_eq!(
        refused(scatter(3), index).unwrap_or_default(),
        "`core.scatter_nd` reads or writes beyond its arrays"
    );
    assert_eq!(
        refused(scatter(2), region(Base::Param(0), 0, 4)).unwrap_or_default(),
        "`core.scatter_nd` hands arrays of [16, 4, 8, 16] bytes to its code; expected [16, 8, 8, 16]"
    );
}

#[test]
fn control_flow_without_its_subprograms_is_refused() {
    let functions = functions();
    let row = |base| region(base, 0, 16);
    let control = |programs: [usize; 2], operand: Region| {
        Step::Control(Control {
            flow: Flow::If,
            programs: programs.into_iter().collect(),
            operands: vec![region(Base::Param(0), 0, 1), operand],
            fixed: Vec::new(),
            is_bound_once: true,
            results: vec![row(Base::Output(1))],
            op: "core.if",
        })
    };
    let copy = [Step::Transfer(mind_vir::program::Transfer {
        from: row(Base::Input(0)),
        to: row(Base::Output(0)),
    })];
    let branch = Module {
        name: Symbol::new("net_region0").expect("a name"),
        inputs: vec![array(Base::Input(0), "x", DType::F32, &[4])],
        outputs: vec![array(Base::Output(0), "y", DType::F32, &[4])],
        ..module(&functions, &[], &copy)
    };
    let branch = branch.subprogram(&[]).expect("it fits");
    let written = |step: Step| {
        let module = Module {
            subprograms: vec![branch.clone()],
            ..module(&functions, &[], std::slice::from_ref(&step))
        };
        module.write().map_err(|why| why.to_string())
    };
    let text = written(control([0, 0], row(Base::Input(0)))).expect("it fits");
    assert!(text.contains("static int net_region0("), "{text}");
    assert_eq!(
        written(control([0, 1], row(Base::Input(0)))),
        Err("`core.if` runs subprogram 1; the module has 1".to_owned())
    );
    assert_eq!(
        written(control([0, 0], region(Base::Input(0), 0, 12))),
        Err("`core.if` hands arrays of [12] bytes to `net_region0`; expected [16]".to_owned())
    );
}
