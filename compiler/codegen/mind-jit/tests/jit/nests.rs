//! Loop nests against the reference.

use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower::nest::{self, Nest, Node, Output, Registers, StridedAccess};
use mind_vir::ir::{Function, Signature, Status};
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};
use crate::reference;
use crate::samples::{Random, elements};
use mind_vir::guarded::Edge;

/// Returns the function of the operands that are not replaced, and a range of rows.
fn function(n: &Nest, target: &TargetInfo) -> Function {
    let mut signature = Signature::new("nest", nest::lanes(n, target));
    let inputs: Vec<_> = n.inputs.iter().map(|_| signature.ptr()).collect();
    let outputs: Vec<_> = (n.outputs.iter())
        .map(|output| match output.replaces {
            Some(input) => inputs[input],
            None => signature.ptr(),
        })
        .collect();
    let rows = (signature.index(), signature.index());
    let mut b = signature.body();
    nest::nest(&mut b, n, &inputs, &outputs, rows);
    b.finish()
}

/// Returns the number of elements that a buffer needs for `access`.
pub fn extent(n: &Nest, access: &StridedAccess) -> usize {
    let rows = reference::indices(&n.outer);
    let places = rows
        .iter()
        .flat_map(|row| reference::places(access, row, reference::inner(n, row)));
    places.max().map_or(0, |last| last + 1)
}

/// Runs `n` on every target over `rows`, and compares every output with the reference.
fn check_rows(n: &Nest, inputs: &[Buffer], rows: std::ops::Range<usize>) {
    for target in harness::targets() {
        let code = function(n, &target);
        let Some(kernel) = harness::compiled(&code, target.isa) else {
            continue;
        };
        let mut args: Vec<Input> = inputs.iter().map(Input::elements).collect();
        let mut places = Vec::new();
        let mut starts = Vec::new();
        for output in &n.outputs {
            let dtype = output.access.dtype;
            let start = match output.replaces {
                Some(input) => Input::elements(&inputs[input]),
                None => Input::room(dtype, extent(n, &output.access)),
            };
            places.push(output.replaces.unwrap_or(args.len()));
            let Input::Elements(_, bytes) = &start else {
                continue;
            };
            starts.push(bytes.clone());
            if output.replaces.is_none() {
                args.push(start);
            }
        }
        args.extend([rows.start, rows.end].map(|row| Input::Index(row as i64)));
        let args = harness::with_scratch(&code, &args);
        let expected = reference::run(n, inputs, &starts, rows.clone());
        let outcomes = [
            harness::interpret(&code, &args),
            harness::execute(&kernel, &args, Edge::Start),
            harness::execute(&kernel, &args, Edge::End),
        ];
        for (how, (status, buffers)) in outcomes.iter().enumerate() {
            assert_eq!(*status, Status::OK);
            for ((output, &place), expected) in n.outputs.iter().zip(&places).zip(&expected) {
                let expected = Buffer::from_bytes(output.access.dtype, expected);
                assert!(
                    expected.same_bits(&buffers[place]),
                    "outcome {how}: {n:?} on {}\nof {inputs:?}\nexpected {expected:?}\nfound {:?}\nin\n{code}",
                    target.isa,
                    buffers[place]
                );
            }
        }
    }
}

fn check(n: &Nest, random: &mut Random) {
    let inputs: Vec<Buffer> = (n.inputs.iter())
        .map(|access| elements(access.dtype, extent(n, access), random))
        .collect();
    check_rows(n, &inputs, 0..n.outer.first().copied().unwrap_or(1));
}

/// Returns the access to dense rows.
pub fn dense(dtype: DType, outer: &[usize], inner: usize) -> StridedAccess {
    let mut strides = Vec::new();
    let mut stride = inner as i64;
    for &extent in outer.iter().rev() {
        strides.insert(0, stride);
        stride *= extent as i64;
    }
    StridedAccess {
        dtype,
        offset: 0,
        outer: strides,
        inner: 1,
    }
}

/// Returns the access to one element per row, or to one for all rows.
pub fn per_row(dtype: DType, stride: i64) -> StridedAccess {
    StridedAccess {
        dtype,
        offset: 0,
        outer: vec![stride],
        inner: 0,
    }
}

pub fn output(node: usize, access: StridedAccess) -> Output {
    Output {
        node,
        access,
        replaces: None,
    }
}

pub fn apply(function: ScalarFn, dtype: DType, args: &[usize]) -> Node {
    Node::Apply {
        function,
        dtype,
        args: args.to_vec(),
    }
}

pub fn reduce(kind: Reduction, dtype: DType, arg: usize) -> Node {
    Node::Reduce { kind, dtype, arg }
}

fn sum(dtype: DType, arg: usize) -> Node {
    reduce(Reduction::Sum, dtype, arg)
}

/// Returns a nest over rows of `inner` positions that accesses nothing.
fn rows(outer: &[usize], inner: usize) -> Nest {
    Nest {
        outer: outer.to_vec(),
        inner,
        total: None,
        unroll: None,
        divides_by_products: true,
        registers: Registers::default(),
        inputs: Vec::new(),
        nodes: Vec::new(),
        outputs: Vec::new(),
    }
}

pub fn constant(dtype: DType, bits: u64) -> Node {
    Node::Constant { dtype, bits }
}

/// Returns the bits of 1 in `dtype`.
pub fn one(dtype: DType) -> u64 {
    match dtype {
        DType::F16 => 0x3c00,
        DType::BF16 => 0x3f80,
        DType::F32 => 0x3f80_0000,
        DType::F64 => 0x3ff0_0000_0000_0000,
        _ => 1,
    }
}

/// Returns `Softmax` as in docs/numerics.md.
fn softmax(dtype: DType, outer: &[usize], inner: usize) -> Nest {
    use ScalarFn::*;
    let access = dense(dtype, outer, inner);
    Nest {
        inputs: vec![access.clone()],
        nodes: vec![
            Node::Input(0),
            reduce(Reduction::Max, dtype, 0),
            apply(Sub, dtype, &[0, 1]),
            apply(Exp, dtype, &[2]),
            sum(dtype, 3),
            apply(Div, dtype, &[3, 4]),
        ],
        outputs: vec![output(5, access)],
        ..rows(outer, inner)
    }
}

/// Returns `LayerNorm` followed by a scale and a shift along the row.
fn layer_norm(dtype: DType, outer: &[usize], inner: usize) -> Nest {
    use ScalarFn::*;
    let access = dense(dtype, outer, inner);
    let along = StridedAccess {
        outer: vec![0; outer.len()],
        ..access.clone()
    };
    let mean = |arg| reduce(Reduction::Mean, dtype, arg);
    Nest {
        inputs: vec![access.clone(), along.clone(), along],
        nodes: vec![
            Node::Input(0),
            mean(0),
            apply(Sub, dtype, &[0, 1]),
            apply(Mul, dtype, &[2, 2]),
            mean(3),
            constant(dtype, one(dtype)),
            apply(Add, dtype, &[4, 5]),
            apply(Sqrt, dtype, &[6]),
            apply(Div, dtype, &[2, 7]),
            Node::Input(1),
            Node::Input(2),
            apply(Mul, dtype, &[8, 9]),
            apply(Add, dtype, &[11, 10]),
        ],
        outputs: vec![output(12, access)],
        ..rows(outer, inner)
    }
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
const INNER: [usize; 11] = [0, 1, 3, 8, 31, 63, 64, 65, 131, 512, 1031];

/// Returns the code of `n` for an arbitrary target, as text.
fn text(n: &Nest) -> String {
    let target = TargetInfo::of(Isa::Portable);
    function(n, &target).to_string()
}

#[test]
fn what_takes_long_is_computed_apart_from_its_sum() {
    // Softmax has four inner loops (maximum, exponential, sum, quotient), and variance has three.
    let loops = |n: &Nest| text(n).matches("whole").count();
    assert_eq!(loops(&softmax(DType::F32, &[3], 1024)), 4);
    assert_eq!(loops(&layer_norm(DType::F32, &[3], 1024)), 3);
}

#[test]
fn a_single_pass_prefetches_beyond_the_caches() {
    let asks = |rows: usize| text(&chain(DType::F32, &[rows], 4096)).contains("prefetch");
    assert!(!asks(64));
    assert!(asks(4096));
}

#[test]
fn row_programs_give_the_bits_of_their_ops() {
    let mut random = Random::new(10);
    for dtype in FLOATS {
        for inner in INNER {
            check(&softmax(dtype, &[2], inner), &mut random);
            check(&layer_norm(dtype, &[2], inner), &mut random);
        }
    }
}

#[test]
fn reductions_of_every_dtype_give_the_bits_of_their_definition() {
    let mut random = Random::new(11);
    let dtypes = DType::ALL
        .iter()
        .copied()
        .filter(|&dtype| dtype != DType::Bool);
    for dtype in dtypes {
        for inner in [1, 7, 64, 127, 128, 200, 255, 256, 1031] {
            let n = Nest {
                inputs: vec![dense(dtype, &[3], inner)],
                nodes: vec![
                    Node::Input(0),
                    reduce(Reduction::Sum, dtype, 0),
                    reduce(Reduction::Mean, dtype, 0),
                    reduce(Reduction::Max, dtype, 0),
                    reduce(Reduction::Min, dtype, 0),
                    reduce(Reduction::Prod, dtype, 0),
                ],
                outputs: (1..6).map(|node| output(node, per_row(dtype, 1))).collect(),
                ..rows(&[3], inner)
            };
            check(&n, &mut random);
        }
    }
}

#[test]
fn rows_longer_than_any_cache_line_of_partials_keep_their_order() {
    let mut random = Random::new(12);
    check(&softmax(DType::F32, &[1], 4099), &mut random);
    check(&layer_norm(DType::BF16, &[1], 9000), &mut random);
}

/// Returns `x * y + z` over two rows of 37 elements, with these inner strides of the operands.
fn mixed(dtype: DType, inners: [i64; 3]) -> Nest {
    use ScalarFn::*;
    let inner = 37;
    let access = |stride: i64| StridedAccess {
        dtype,
        offset: if stride < 0 { -stride * 36 + 2 } else { 3 },
        outer: vec![if stride < 0 { 5 } else { 41 }],
        inner: stride,
    };
    Nest {
        inputs: inners.map(access).to_vec(),
        nodes: vec![
            Node::Input(0),
            Node::Input(1),
            Node::Input(2),
            apply(Mul, dtype, &[0, 1]),
            apply(Add, dtype, &[3, 2]),
        ],
        outputs: vec![output(4, dense(dtype, &[2], inner))],
        ..rows(&[2], inner)
    }
}

#[test]
fn operands_are_read_at_any_stride() {
    let mut random = Random::new(13);
    let dtypes = DType::ALL
        .iter()
        .copied()
        .filter(|&dtype| dtype != DType::Bool);
    for dtype in dtypes {
        for strides in [[1, 1, 0], [0, 2, 1], [-1, 3, 40], [0, 0, 0], [1, -7, 1]] {
            check(&mixed(dtype, strides), &mut random);
        }
    }
}

#[test]
fn outputs_are_written_at_any_stride() {
    let mut random = Random::new(14);
    for dtype in [DType::Bool, DType::F16, DType::F32, DType::I64] {
        for stride in [2, -1, 3] {
            let n = Nest {
                inputs: vec![dense(dtype, &[2, 3], 21)],
                nodes: vec![Node::Input(0)],
                outputs: vec![output(
                    0,
                    StridedAccess {
                        dtype,
                        offset: if stride < 0 { 40 } else { 1 },
                        outer: vec![300, 70],
                        inner: stride,
                    },
                )],
                ..rows(&[2, 3], 21)
            };
            check(&n, &mut random);
        }
    }
}

#[test]
fn numbers_convert_from_any_dtype_to_any() {
    let mut random = Random::new(15);
    for &from in DType::ALL {
        for &to in DType::ALL {
            let n = Nest {
                inputs: vec![dense(from, &[], 2005)],
                nodes: vec![Node::Input(0), Node::Convert { from, to, arg: 0 }],
                outputs: vec![output(1, dense(to, &[], 2005))],
                ..rows(&[], 2005)
            };
            check(&n, &mut random);
        }
    }
}

/// Booleans are lane masks of several widths, bytes in memory, and both at once.
#[test]
fn truth_values_meet_at_any_width() {
    use ScalarFn::*;
    let mut random = Random::new(23);
    for (narrow, wide) in [
        (DType::F32, DType::F64),
        (DType::I8, DType::BF16),
        (DType::U64, DType::I16),
        (DType::F16, DType::F16),
    ] {
        for inner in [1, 5, 203] {
            let inputs = [narrow, narrow, wide, wide, DType::Bool];
            let n = Nest {
                outer: vec![3],
                inner,
                total: None,
                unroll: None,
                divides_by_products: false,
                registers: Registers::default(),
                inputs: inputs.map(|dtype| dense(dtype, &[3], inner)).into(),
                nodes: vec![
                    Node::Input(0),
                    Node::Input(1),
                    Node::Input(2),
                    Node::Input(3),
                    Node::Input(4),
                    apply(Less, narrow, &[0, 1]),
                    apply(GreaterEqual, wide, &[2, 3]),
                    apply(And, DType::Bool, &[5, 6]),
                    apply(Xor, DType::Bool, &[7, 4]),
                    apply(Select, wide, &[8, 2, 3]),
                    apply(Select, narrow, &[6, 0, 1]),
                    apply(Not, DType::Bool, &[8]),
                    apply(Select, DType::Bool, &[5, 4, 11]),
                ],
                outputs: vec![
                    output(7, dense(DType::Bool, &[3], inner)),
                    output(9, dense(wide, &[3], inner)),
                    output(10, dense(narrow, &[3], inner)),
                    output(12, dense(DType::Bool, &[3], inner)),
                ],
            };
            check(&n, &mut random);
        }
    }
}

/// Returns `relu(x * a + b) + x` with the rounding of separate ops, where the result replaces `x`.
fn chain(dtype: DType, outer: &[usize], inner: usize) -> Nest {
    use ScalarFn::*;
    let access = dense(dtype, outer, inner);
    Nest {
        inputs: vec![access.clone(); 3],
        nodes: vec![
            Node::Input(0),
            Node::Input(1),
            Node::Input(2),
            apply(Mul, dtype, &[0, 1]),
            apply(Add, dtype, &[3, 2]),
            apply(Relu, dtype, &[4]),
            apply(Add, dtype, &[5, 0]),
        ],
        outputs: vec![Output {
            node: 6,
            access,
            replaces: Some(0),
        }],
        ..rows(outer, inner)
    }
}

#[test]
fn flat_ranges_cut_into_rows_end_where_they_should() {
    let mut random = Random::new(16);
    for dtype in [DType::F16, DType::F32] {
        for total in [1, 100, 101, 199, 200, 260] {
            let n = Nest {
                total: Some(total),
                unroll: None,
                divides_by_products: false,
                registers: Registers::default(),
                ..chain(dtype, &[total.div_ceil(100)], 100)
            };
            check(&n, &mut random);
        }
    }
}

#[test]
fn a_range_of_rows_leaves_the_others_alone() {
    let mut random = Random::new(17);
    let n = softmax(DType::F32, &[5, 2], 70);
    let inputs = [elements(DType::F32, 700, &mut random)];
    for rows in [0..0, 1..4, 4..5] {
        check_rows(&n, &inputs, rows);
    }
}

#[test]
fn results_may_replace_operands() {
    let mut random = Random::new(18);
    for inner in INNER {
        check(&chain(DType::F32, &[2], inner), &mut random);
        let mut n = softmax(DType::F32, &[2], inner);
        n.outputs[0].replaces = Some(0);
        check(&n, &mut random);
        let mut n = layer_norm(DType::F16, &[2], inner);
        n.outputs[0].replaces = Some(0);
        check(&n, &mut random);
    }
}

/// An output that is computed early replaces an input that later passes read, and one value per row replaces another.
#[test]
fn what_is_written_early_waits_for_the_last_read() {
    use ScalarFn::*;
    let mut random = Random::new(19);
    let dtype = DType::F32;
    for inner in [5, 64, 300] {
        let access = dense(dtype, &[3], inner);
        let in_place = |node, access: &StridedAccess, input| Output {
            node,
            access: access.clone(),
            replaces: Some(input),
        };
        let n = Nest {
            inputs: vec![access.clone(), per_row(dtype, 1), access.clone()],
            nodes: vec![
                Node::Input(0),
                Node::Input(1),
                Node::Input(2),
                apply(Exp, dtype, &[0]),
                sum(dtype, 3),
                apply(Add, dtype, &[4, 1]),
                apply(Mul, dtype, &[0, 5]),
                sum(dtype, 6),
                apply(Sub, dtype, &[3, 2]),
                apply(Add, dtype, &[8, 7]),
            ],
            outputs: vec![
                in_place(3, &access, 0),
                in_place(4, &per_row(dtype, 1), 1),
                in_place(6, &access, 2),
                output(9, access.clone()),
            ],
            ..rows(&[3], inner)
        };
        check(&n, &mut random);
    }
}

#[test]
fn values_of_a_row_can_be_spread_over_it() {
    let mut random = Random::new(20);
    let dtype = DType::F16;
    let access = dense(dtype, &[2, 2], 45);
    let n = Nest {
        inputs: vec![access.clone()],
        nodes: vec![Node::Input(0), sum(dtype, 0), constant(dtype, one(dtype))],
        outputs: vec![output(1, access.clone()), output(2, access)],
        ..rows(&[2, 2], 45)
    };
    check(&n, &mut random);
}

#[test]
fn integer_quotients_without_result_are_reported() {
    let dtype = DType::I32;
    let n = Nest {
        inputs: vec![dense(dtype, &[1], 21), per_row(dtype, 1)],
        nodes: vec![
            Node::Input(0),
            Node::Input(1),
            apply(ScalarFn::Div, dtype, &[0, 1]),
        ],
        outputs: vec![output(2, dense(dtype, &[1], 21))],
        ..rows(&[1], 21)
    };
    for target in harness::targets() {
        let code = function(&n, &target);
        let Some(kernel) = harness::compiled(&code, target.isa) else {
            continue;
        };
        let bytes = |x: i32| x.to_ne_bytes();
        for (divisor, expected) in [
            (0, Status::ZERO_DIVISOR),
            (-1, Status::QUOTIENT_OVERFLOW),
            (3, Status::OK),
        ] {
            let args = [
                Input::Elements(dtype, bytes(i32::MIN).repeat(21)),
                Input::Elements(dtype, bytes(divisor).to_vec()),
                Input::room(dtype, 21),
                Input::Index(0),
                Input::Index(1),
            ];
            let (status, _) = harness::check(&code, &kernel, &args);
            assert_eq!(status, expected);
        }
    }
}

/// Returns `x + y + z` with `x` transposed: its elements are contiguous along dimension `axis` of two.
fn crossed(dtype: DType, axis: usize, outer: [usize; 2], inner: usize) -> Nest {
    let mut strides = vec![0; 2];
    strides[axis] = 1;
    strides[1 - axis] = (outer[axis] * inner) as i64;
    let across = StridedAccess {
        dtype,
        offset: 3,
        outer: strides,
        inner: outer[axis] as i64,
    };
    let along = dense(dtype, &outer, inner);
    let once = StridedAccess {
        dtype,
        offset: 1,
        outer: vec![2, 1],
        inner: 0,
    };
    let nodes = match dtype {
        DType::Bool => vec![Node::Input(0)],
        _ => vec![
            Node::Input(0),
            Node::Input(1),
            Node::Input(2),
            apply(ScalarFn::Add, dtype, &[0, 1]),
            apply(ScalarFn::Add, dtype, &[3, 2]),
        ],
    };
    Nest {
        inputs: vec![across, along.clone(), once],
        outputs: vec![output(nodes.len() - 1, along)],
        nodes,
        ..rows(&outer, inner)
    }
}

#[test]
fn operands_across_rows_are_turned_in_squares() {
    let mut random = Random::new(21);
    for &dtype in DType::ALL {
        for axis in [0, 1] {
            for (outer, inner) in [
                ([37, 2], 50),
                ([2, 40], 33),
                ([5, 4], 5),
                ([1, 9], 16),
                ([70, 35], 3),
            ] {
                check(&crossed(dtype, axis, outer, inner), &mut random);
            }
        }
    }
    check(&crossed(DType::I8, 0, [18, 1], 1900), &mut random);
    let n = crossed(DType::F32, 0, [50, 1], 20);
    let inputs: Vec<Buffer> = (n.inputs.iter())
        .map(|access| elements(access.dtype, extent(&n, access), &mut random))
        .collect();
    for rows in [0..0, 3..4, 7..29, 40..50] {
        check_rows(&n, &inputs, rows);
    }
}

/// Returns the 32-bit or 64-bit float with this sign, exponent and mantissa.
fn float(dtype: DType, is_negative: bool, exponent: i64, mantissa: u64) -> u64 {
    let (bias, bits, width) = match dtype {
        DType::F64 => (1023, 52, 64),
        _ => (127, 23, 32),
    };
    let exponent = (bias + exponent) as u64;
    (u64::from(is_negative) << (width - 1)) | (exponent << bits) | (mantissa & ((1 << bits) - 1))
}

/// Returns the bytes of the number of `dtype` nearest to a product of two numbers, or of one of its neighbours.
fn near_product(dtype: DType, a: u64, b: u64, random: &mut Random) -> Vec<u8> {
    let step = random.pick(&[-1i64, 0, 0, 1]);
    match dtype {
        DType::F64 => {
            let product = f64::from_bits(a) * f64::from_bits(b);
            let bits = product.to_bits().wrapping_add_signed(step);
            bits.to_le_bytes().to_vec()
        }
        _ => {
            let product = f32::from_bits(a as u32) * f32::from_bits(b as u32);
            let bits = product.to_bits().wrapping_add_signed(step as i32);
            bits.to_le_bytes().to_vec()
        }
    }
}

/// Divisors and quotients on both sides of the limits for division by multiplication, and dividends close to products,
/// whose quotients are almost exact.
#[test]
fn quotients_of_rows_by_one_number() {
    let mut random = Random::new(29);
    let (count, inner) = (40, 131);
    for dtype in [DType::F32, DType::F64] {
        let limits: [&[i64]; 2] = match dtype {
            DType::F64 => [&[-101, -100, 0, 3, 199, 200], &[-801, -800, 0, 1, 799, 800]],
            _ => [
                &[-126, -21, -20, 0, 3, 59, 60],
                &[-105, -81, -80, 0, 1, 59, 60],
            ],
        };
        let n = Nest {
            inputs: vec![dense(dtype, &[count], inner), per_row(dtype, 1)],
            nodes: vec![
                Node::Input(0),
                Node::Input(1),
                apply(ScalarFn::Div, dtype, &[0, 1]),
            ],
            outputs: vec![output(2, dense(dtype, &[count], inner))],
            ..rows(&[count], inner)
        };
        for _ in 0..20 {
            let mut draw = |exponents: &[i64]| {
                let exponent = random.pick(exponents);
                let any = random.bits();
                let mantissa = random.pick(&[0, 1, u64::MAX, any, any]);
                float(dtype, random.below(4) == 0, exponent, mantissa)
            };
            let divisors: Vec<u64> = (0..count).map(|_| draw(limits[0])).collect();
            let quotients: Vec<u64> = (0..count * inner).map(|_| draw(limits[1])).collect();
            let dividends = quotients.iter().enumerate();
            let dividends: Vec<u8> = dividends
                .flat_map(|(at, &quotient)| {
                    near_product(dtype, quotient, divisors[at / inner], &mut random)
                })
                .collect();
            let divisors: Vec<u8> = (divisors.iter())
                .flat_map(|bits| bits.to_le_bytes()[..dtype.size()].to_vec())
                .collect();
            let inputs = [dividends, divisors].map(|bytes| Buffer::from_bytes(dtype, &bytes));
            check_rows(&n, &inputs, 0..count);
            // Numbers of all kinds.
            check(&n, &mut random);
        }
    }
}
