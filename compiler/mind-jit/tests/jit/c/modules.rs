//! Whole modules: their text, what they refuse, and their results as programs under sanitizers.

use std::io::Write;
use std::process::{Command, Stdio};

use mind_ir::tensor::Buffer as Elements;
use mind_ir::types::DType;
use mind_vir::c::{Arg, Buffer, Call, Data, Module, Place, Port, Step, Symbol};
use mind_vir::ir::{Addr, BinaryOp, Function, IndexOp, Lane, Op, Signature};

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

fn ptr(buffer: Buffer, offset: usize) -> Arg {
    Arg::Ptr(Place { buffer, offset })
}

fn port(name: &str, dtype: DType, shape: &[usize]) -> Port {
    Port {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
    }
}

/// `y = (x + c0) * c1` through scratch memory, a row a task, and `q = n / d`.
fn module(functions: &[Function; 4]) -> Module<'_> {
    let data = |x: f32| Data {
        lane: Lane::F32,
        bytes: [x, x + 1.0, x + 2.0, x + 3.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect(),
    };
    let rows = |function: usize, from: Arg, table: usize, to: Arg| {
        let table = ptr(Buffer::Constant(table), 0);
        let call = Call {
            function,
            args: vec![from, table, to, Arg::Task(0)],
        };
        Step::Repeat {
            extent: 3,
            body: vec![Step::Call(call)],
        }
    };
    let quotient = Call {
        function: 3,
        args: vec![
            ptr(Buffer::Input(1), 0),
            ptr(Buffer::Input(1), 16),
            ptr(Buffer::Output(1), 0),
        ],
    };
    Module {
        name: Symbol::new("net").expect("a name"),
        inputs: vec![
            port("x */ y\n", DType::F32, &[3, 4]),
            port("n", DType::I32, &[2, 4]),
        ],
        outputs: vec![port("y", DType::F32, &[3, 4]), port("q", DType::I32, &[4])],
        constants: vec![data(0.5), data(9.0), data(2.0)],
        scratch: 64,
        functions: functions.iter().collect(),
        steps: vec![
            rows(0, ptr(Buffer::Input(0), 0), 0, ptr(Buffer::Scratch, 16)),
            rows(2, ptr(Buffer::Scratch, 16), 2, ptr(Buffer::Output(0), 0)),
            Step::Call(quotient),
        ],
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
    let text = module(&functions).write().expect("it fits");
    for part in [
        "inputs[0]  x * / y\\n: f32[3, 4], 48 bytes",
        "net_constant_0[4]",
        "net_scratch[64]",
        "if (MIND_LACKS_CPU) {\n        return 8;",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(
        !text.contains("net_1_row") && !text.contains("net_constant_1"),
        "unused, in\n{text}"
    );
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
            assert!(found.same_bits(&Elements::F32(y.clone())), "{found:?}");
        }
    }
}

#[test]
fn calls_that_do_not_fit_are_refused_with_what_would() {
    let functions = functions();
    let refused = |change: &dyn Fn(&mut Module<'_>)| {
        let mut module = module(&functions);
        change(&mut module);
        module.write().expect_err("it does not fit").to_string()
    };
    let call = |function: usize, args: Vec<Arg>| vec![Step::Call(Call { function, args })];
    let place = ptr(Buffer::Scratch, 0);
    assert_eq!(
        refused(&|module| module.steps = call(4, Vec::new())),
        "a call of function 4; the module has 4"
    );
    assert_eq!(
        refused(&|module| module.steps = call(3, vec![place])),
        "a call of `quotient` with 1 arguments; expected 3"
    );
    let cases = [
        (Arg::Index(1), "Index(1); expected a place in a buffer"),
        (ptr(Buffer::Input(2), 0), "an input of the module"),
        (ptr(Buffer::Output(0), 49), "an offset of at most 48 bytes"),
        (ptr(Buffer::Constant(7), 0), "a constant of the module"),
    ];
    for (arg, expected) in cases {
        let message = refused(&|module| module.steps = call(3, vec![place, arg, place]));
        assert!(
            message.starts_with("argument 1 of a call of `quotient` is "),
            "{message}"
        );
        assert!(message.ends_with(expected), "{message}");
    }
    let message =
        refused(&|module| module.steps = call(0, vec![place, place, place, Arg::Task(0)]));
    assert!(
        message.ends_with("expected a task coordinate below 0, the number of loops around it"),
        "{message}"
    );
    assert_eq!(
        refused(&|module| module.constants[0].bytes.truncate(6)),
        "constant 0 has 6 bytes; expected a multiple of 4"
    );
}
