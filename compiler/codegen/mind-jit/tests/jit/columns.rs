//! Column reductions against the reference.

use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower::nest::{self, Columns, Nest, Node, Output, Registers, StridedAccess};
use mind_vir::ir::{Function, Signature, Status};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::nests::{apply, constant, extent, one, output, reduce};
use crate::reference;
use crate::samples::{Random, elements};
use mind_vir::guarded::Edge;

fn function(c: &Columns, target: &TargetInfo) -> Function {
    let mut signature = Signature::new("columns", nest::columns_lanes(c, target));
    let inputs: Vec<_> = c.inputs.iter().map(|_| signature.ptr()).collect();
    let outputs: Vec<_> = c.outputs.iter().map(|_| signature.ptr()).collect();
    let rows = (signature.index(), signature.index());
    let mut b = signature.body();
    nest::columns(&mut b, c, &inputs, &outputs, rows);
    b.finish()
}

/// Returns the equivalent nest with a row per column.
fn as_rows(c: &Columns) -> Nest {
    let turned = |access: &StridedAccess| {
        let mut outer = access.outer.clone();
        let inner = outer.pop().expect("a stride along the columns");
        outer.push(access.inner);
        StridedAccess {
            outer,
            inner,
            ..access.clone()
        }
    };
    Nest {
        outer: c.outer.iter().copied().chain([c.inner]).collect(),
        inner: c.depth,
        total: None,
        unroll: None,
        divides_by_products: false,
        registers: Registers::default(),
        inputs: c.inputs.iter().map(turned).collect(),
        nodes: c.nodes.clone(),
        outputs: (c.outputs.iter())
            .map(|output| Output {
                access: turned(&output.access),
                ..output.clone()
            })
            .collect(),
    }
}

fn check(c: &Columns, random: &mut Random) {
    let rows = as_rows(c);
    let inputs: Vec<Buffer> = (rows.inputs.iter())
        .map(|access| elements(access.dtype, extent(&rows, access).max(1), random))
        .collect();
    let rooms: Vec<Input> = (rows.outputs.iter())
        .map(|output| {
            Input::room(
                output.access.dtype,
                c.outer.iter().product::<usize>() * c.inner,
            )
        })
        .collect();
    let starts: Vec<Vec<u8>> = (rooms.iter())
        .map(|room| match room {
            Input::Elements(_, bytes) => bytes.clone(),
            Input::Index(_) => Vec::new(),
        })
        .collect();
    let count = c.outer.first().copied().unwrap_or(1);
    let range = 0..rows.outer[0];
    let expected = reference::run(&rows, &inputs, &starts, range);
    for target in harness::targets() {
        let code = function(c, &target);
        let Some(kernel) = harness::compiled(&code, target.isa) else {
            continue;
        };
        let mut args: Vec<Input> = inputs.iter().map(Input::elements).collect();
        args.extend(rooms.clone());
        args.extend([0, count].map(|row| Input::Index(row as i64)));
        let args = harness::with_scratch(&code, &args);
        let outcomes = [
            harness::interpret(&code, &args),
            harness::execute(&kernel, &args, Edge::Start),
            harness::execute(&kernel, &args, Edge::End),
        ];
        for (status, buffers) in &outcomes {
            assert_eq!(*status, Status::OK);
            let found = &buffers[inputs.len()..][..c.outputs.len()];
            for ((output, expected), found) in c.outputs.iter().zip(&expected).zip(found) {
                let expected = Buffer::from_bytes(output.access.dtype, expected);
                assert!(
                    expected.same_bits(found),
                    "{c:?} on {}\nexpected {expected:?}\nfound {found:?}",
                    target.isa
                );
            }
        }
    }
}

/// Returns the access to dense stacks of matrices with `depth` rows.
fn matrices(dtype: DType, outer: &[usize], depth: usize, inner: usize) -> StridedAccess {
    let mut access = crate::nests::dense(dtype, outer, depth * inner);
    access.outer.push(inner as i64);
    access
}

/// Returns the output of one value per column.
fn results(node: usize, dtype: DType, outer: &[usize], inner: usize) -> Output {
    let mut access = crate::nests::dense(dtype, outer, inner);
    access.outer.push(0);
    output(node, access)
}

#[test]
fn columns_of_every_dtype_have_the_order_of_rows() {
    let mut random = Random::new(30);
    for dtype in DType::ALL
        .iter()
        .copied()
        .filter(|&dtype| dtype != DType::Bool)
    {
        for (depth, inner) in [
            (1, 9),
            (7, 20),
            (64, 33),
            (65, 5),
            (129, 70),
            (200, 16),
            (256, 1),
        ] {
            let c = Columns {
                outer: vec![2],
                depth,
                unroll: None,
                inner,
                inputs: vec![matrices(dtype, &[2], depth, inner)],
                nodes: vec![
                    Node::Input(0),
                    reduce(Reduction::Sum, dtype, 0),
                    reduce(Reduction::Mean, dtype, 0),
                    reduce(Reduction::Max, dtype, 0),
                    reduce(Reduction::Min, dtype, 0),
                    reduce(Reduction::Prod, dtype, 0),
                ],
                outputs: (1..6)
                    .map(|node| results(node, dtype, &[2], inner))
                    .collect(),
            };
            if matches!(depth, 7 | 129) {
                check(&c, &mut random);
            }
            let single = Columns {
                nodes: c.nodes[..2].to_vec(),
                outputs: c.outputs[..1].to_vec(),
                ..c
            };
            check(&single, &mut random);
        }
    }
}

#[test]
fn sums_of_minus_zero_start_from_zero() {
    for depth in [0, 1, 3, 64, 70] {
        let c = Columns {
            outer: vec![],
            depth,
            unroll: None,
            inner: 5,
            inputs: vec![StridedAccess {
                dtype: DType::F32,
                offset: 0,
                outer: vec![0],
                inner: 0,
            }],
            nodes: vec![Node::Input(0), reduce(Reduction::Sum, DType::F32, 0)],
            outputs: vec![results(1, DType::F32, &[], 5)],
        };
        for target in harness::targets() {
            let code = function(&c, &target);
            let Some(kernel) = harness::compiled(&code, target.isa) else {
                continue;
            };
            let args = [
                Input::Elements(DType::F32, (-0f32).to_ne_bytes().to_vec()),
                Input::room(DType::F32, 5),
                Input::Index(0),
                Input::Index(1),
            ];
            let args = harness::with_scratch(&code, &args);
            let (_, buffers) = harness::execute(&kernel, &args, Edge::Start);
            assert_eq!(buffers[1].to_bytes(), [0; 20], "depth {depth}");
        }
    }
}

/// The variance of each column of `exp(x + shift)`, with a shift per column.
#[test]
fn programs_over_columns_reduce_more_than_once() {
    use ScalarFn::*;
    let mut random = Random::new(31);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for (depth, inner) in [(1, 3), (5, 40), (100, 21)] {
            let mut shift = matrices(dtype, &[3], depth, inner);
            shift.outer = vec![0, 0];
            let c = Columns {
                outer: vec![3],
                depth,
                unroll: None,
                inner,
                inputs: vec![matrices(dtype, &[3], depth, inner), shift],
                nodes: vec![
                    Node::Input(0),
                    Node::Input(1),
                    apply(Add, dtype, &[0, 1]),
                    apply(Exp, dtype, &[2]),
                    reduce(Reduction::Mean, dtype, 3),
                    apply(Sub, dtype, &[3, 4]),
                    apply(Mul, dtype, &[5, 5]),
                    reduce(Reduction::Mean, dtype, 6),
                    constant(dtype, one(dtype)),
                    apply(Add, dtype, &[7, 8]),
                    apply(Mul, dtype, &[9, 1]),
                ],
                outputs: vec![results(10, dtype, &[3], inner)],
            };
            check(&c, &mut random);
        }
    }
}

#[test]
fn what_replaces_an_operand_is_computed_once() {
    let dtype = DType::F32;
    let bytes = |elements: Vec<f32>| Input::elements(&Buffer::F32(elements.into()));
    for inner in [5, 16, 24, 40, 200] {
        let addend = results(2, dtype, &[], inner).access;
        let mut output = results(3, dtype, &[], inner);
        output.replaces = Some(1);
        let c = Columns {
            outer: vec![],
            depth: 3,
            unroll: None,
            inner,
            inputs: vec![matrices(dtype, &[], 3, inner), addend],
            nodes: vec![
                Node::Input(0),
                reduce(Reduction::Sum, dtype, 0),
                Node::Input(1),
                apply(ScalarFn::Add, dtype, &[1, 2]),
            ],
            outputs: vec![output],
        };
        for target in harness::targets() {
            let mut signature = Signature::new("columns", nest::columns_lanes(&c, &target));
            let (x, y) = (signature.ptr(), signature.ptr());
            let rows = (signature.index(), signature.index());
            let mut b = signature.body();
            nest::columns(&mut b, &c, &[x, y], &[y], rows);
            let code = b.finish();
            let Some(kernel) = harness::compiled(&code, target.isa) else {
                continue;
            };
            let numbers = (0..inner).map(|column| column as f32);
            let args = [
                bytes(vec![1.0; 3 * inner]),
                bytes(numbers.clone().collect()),
                Input::Index(0),
                Input::Index(1),
            ];
            let args = harness::with_scratch(&code, &args);
            let (status, buffers) = harness::execute(&kernel, &args, Edge::End);
            assert_eq!(status, Status::OK);
            let expected: Vec<f32> = numbers.map(|number| number + 3.0).collect();
            let expected = Buffer::F32(expected.into());
            assert!(
                expected.same_bits(&buffers[1]),
                "{inner} columns: {:?}",
                buffers[1]
            );
        }
    }
}
