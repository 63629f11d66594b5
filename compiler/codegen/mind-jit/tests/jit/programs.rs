//! Random functions of vector IR, on every target, against the interpreter of vector IR.

use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::disassemble;
use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, Function, IndexOp, Lane, LoopKind, MaskOp, Op, Predicate,
    ShiftOp, Signature, Type, UnaryOp, Value,
};
use mind_vir::kernel::assemble;
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};
use crate::samples::{Random, elements};

/// Stride of strided loads in elements.
const STRIDE: usize = 3;
/// Elements of the table that gathers read.
const TABLE: usize = 50;
/// Number of results of a program.
const RESULTS: usize = 6;

fn dtype(lane: Lane) -> DType {
    match lane {
        Lane::I8 => DType::U8,
        Lane::I16 => DType::U16,
        Lane::I32 => DType::U32,
        Lane::I64 => DType::U64,
        Lane::F32 => DType::F32,
        Lane::F64 => DType::F64,
    }
}

/// The parameters of a random program.
#[derive(Clone, Copy)]
pub struct Recipe {
    seed: u64,
    /// Bits of the widest lane.
    pub widest: u32,
    steps: usize,
    unroll: u32,
}

impl Recipe {
    pub fn new(seed: u64) -> Recipe {
        let mut random = Random::new(seed);
        Recipe {
            seed,
            widest: random.pick(&[8, 16, 32, 32, 64, 64]),
            steps: random.pick(&[3, 10, 25, 60]),
            unroll: random.pick(&[1, 1, 3]),
        }
    }

    fn lanes(&self) -> Vec<Lane> {
        Lane::ALL
            .into_iter()
            .filter(|lane| lane.bits() <= self.widest)
            .collect()
    }
}

/// A function, and the types of its results.
pub struct Program {
    pub function: Function,
    pub results: Vec<Lane>,
    /// Whether it has cross-lane operations, so that results depend on the number of lanes.
    mixes_lanes: bool,
}

/// The values that the next step can use.
struct Steps<'b> {
    b: &'b mut Builder,
    random: Random,
    lanes: Vec<Lane>,
    values: Vec<Value>,
    count: Option<Value>,
    mixes_lanes: bool,
    /// Whether the steps are in a body, which may only compute.
    is_nested: bool,
}

impl Steps<'_> {
    fn pick(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let fitting: Vec<Value> = self
            .values
            .iter()
            .copied()
            .filter(|&value| fits(self.b.ty(value)))
            .collect();
        // Recent values are preferred, so that chains grow.
        let recent = fitting.len().saturating_sub(self.random.pick(&[3, 8, 100]));
        (!fitting.is_empty()).then(|| fitting[recent + self.random.below(fitting.len() - recent)])
    }

    fn vector(&mut self, lane: Lane) -> Value {
        self.pick(|ty| ty == Type::Vector(lane))
            .unwrap_or_else(|| self.constant(lane))
    }

    fn constant(&mut self, lane: Lane) -> Value {
        let bits = match (lane, self.random.below(2)) {
            (Lane::F32, 0) => 0x3fc0_0000,
            (Lane::F64, 0) => 0x3ff8_0000_0000_0000,
            (Lane::F32 | Lane::F64, _) => lane.sign(),
            _ => self.random.bits(),
        };
        self.b.constant(lane, bits)
    }

    /// Replaces NaN lanes by 0, because their bits may differ from those of the interpreter.
    fn clean(&mut self, x: Value) -> Value {
        let lane = self.b.lane(x);
        if !lane.is_float() {
            return x;
        }
        let is_nan = self.b.compare(Predicate::Unordered, x, x);
        let other = self.b.constant(lane, 0);
        self.b.select(is_nan, other, x)
    }

    fn step(&mut self) {
        let lanes = self.lanes.clone();
        let lane = self.random.pick(&lanes);
        let value = match self.random.below(13) {
            0..=2 => self.binary(lane),
            3 => self.unary(lane),
            4 => self.compare(lane),
            5 => self.select(lane),
            6 => self.shift(lane),
            7 | 8 => self.convert(lane),
            9 => self.divide(lane),
            10 => self.mask(),
            11 => self.if_any(lane),
            _ => Some(self.constant(lane)),
        };
        self.values.extend(value);
    }

    /// Returns a vector that is scaled as in functions: numbers up to 1/2, by powers of two with exponents up to 200.
    fn scaled(&mut self, op: BinaryOp, lane: Lane, x: Value, y: Value) -> Value {
        use mind_ir::scalar::math::Lane as Float;
        let (half, limit, round) = match lane {
            Lane::F64 => (
                0.5f64.to_bits(),
                200f64.to_bits(),
                <f64 as Float>::EXP.round_twice.to_bits(),
            ),
            _ => {
                let bits = |x: f32| u64::from(x.to_bits());
                (
                    bits(0.5),
                    bits(200.0),
                    bits(<f32 as Float>::EXP.round_twice),
                )
            }
        };
        let [x, y] = [(x, half), (y, limit)].map(|(value, most)| {
            let most = self.b.constant(lane, most);
            let least = self.b.unary(UnaryOp::Neg, most);
            let value = self.b.binary(BinaryOp::Max, value, least);
            self.b.binary(BinaryOp::Min, value, most)
        });
        let round = self.b.constant(lane, round);
        let k = self.b.binary(BinaryOp::Add, y, round);
        let one = self.b.constant(
            lane,
            if lane == Lane::F64 {
                1f64.to_bits()
            } else {
                1f32.to_bits().into()
            },
        );
        let x = match op {
            BinaryOp::Scale => self.b.binary(BinaryOp::Add, x, one),
            _ => x,
        };
        self.b.binary(op, x, k)
    }

    fn binary(&mut self, lane: Lane) -> Option<Value> {
        use BinaryOp::*;
        let ops = [
            Add,
            Sub,
            Mul,
            MulHalves,
            MulBytes,
            AddHalves,
            Div,
            Min,
            Max,
            Maximum,
            Scale,
            ScaleSum,
            UMin,
            UMax,
            And,
            Or,
            Xor,
            Shift(ShiftOp::Shl),
            Shift(ShiftOp::Shr),
            Shift(ShiftOp::Sra),
        ]
        .into_iter();
        let ops: Vec<BinaryOp> = ops.filter(|op| op.takes(lane)).collect();
        let op = self.random.pick(&ops);
        let (mut x, mut y) = (self.vector(lane), self.vector(lane));
        if matches!(op, And | Or | Xor) {
            (x, y) = (self.clean(x), self.clean(y));
        }
        if matches!(op, Scale | ScaleSum) {
            return Some(self.scaled(op, lane, x, y));
        }
        if lane.is_float() && self.random.below(3) == 0 {
            let mut z = self.vector(lane);
            if self.random.below(2) == 0 {
                z = self.b.unary(UnaryOp::Neg, z);
            }
            if self.random.below(2) == 0 {
                x = self.b.unary(UnaryOp::Neg, x);
            }
            return Some(self.b.fma(x, y, z));
        }
        if lane == Lane::I32 && self.random.below(4) == 0 {
            let z = self.vector(lane);
            return Some(self.b.dot_bytes(x, y, z));
        }
        Some(self.b.binary(op, x, y))
    }

    fn unary(&mut self, lane: Lane) -> Option<Value> {
        let x = self.vector(lane);
        if lane.is_float() {
            let op = self.random.pick(&[
                UnaryOp::Neg,
                UnaryOp::Abs,
                UnaryOp::Sqrt,
                UnaryOp::Floor,
                UnaryOp::Ceil,
                UnaryOp::Trunc,
                UnaryOp::Round,
            ]);
            return Some(self.b.unary(op, x));
        }
        if self.random.below(3) == 0 && self.b.lanes() > 1 {
            self.mixes_lanes = true;
            if self.random.below(3) == 0 {
                return Some(self.b.splat(x));
            }
            let distance = 1 << self.random.below(self.b.lanes().ilog2() as usize);
            if self.random.below(2) == 0 {
                return Some(self.b.op(Op::LanesDown(x, distance)));
            }
            let (odd, y) = (self.random.below(2) == 0, self.vector(lane));
            return Some(self.b.transpose(odd, distance, x, y));
        }
        None
    }

    fn compare(&mut self, lane: Lane) -> Option<Value> {
        use Predicate::*;
        let predicates = [Eq, Lt, Le, ULt, Unordered].into_iter();
        let predicates: Vec<Predicate> = predicates.filter(|how| how.takes(lane)).collect();
        let how = self.random.pick(&predicates);
        let (x, y) = (self.vector(lane), self.vector(lane));
        Some(self.b.compare(how, x, y))
    }

    fn mask(&mut self) -> Option<Value> {
        let a = self.pick(|ty| matches!(ty, Type::Mask(_)))?;
        let ty = self.b.ty(a);
        let b = self.pick(|other| other == ty)?;
        let op = self.random.pick(&[MaskOp::And, MaskOp::Or, MaskOp::AndNot]);
        Some(self.b.mask_op(op, a, b))
    }

    fn select(&mut self, lane: Lane) -> Option<Value> {
        let mask = self.pick(|ty| ty == Type::Mask(lane.int()))?;
        let (x, y) = (self.vector(lane), self.vector(lane));
        Some(self.b.select(mask, x, y))
    }

    fn shift(&mut self, lane: Lane) -> Option<Value> {
        let x = self.vector(lane.int());
        let op = self
            .random
            .pick(&[ShiftOp::Shl, ShiftOp::Shr, ShiftOp::Sra]);
        let n = self.random.below(lane.bits() as usize) as u32;
        Some(self.b.shift(op, x, n))
    }

    fn convert(&mut self, from: Lane) -> Option<Value> {
        use ConvertOp::*;
        let ops = [
            Bits, HalfToF32, F32ToHalf, Float, SignExtend, ZeroExtend, Truncate, IntToFloat,
            FloatToInt,
        ];
        let mut choices = Vec::new();
        for op in ops {
            let targets = self
                .lanes
                .iter()
                .filter(|&&to| op.takes(from, to) && to != from);
            choices.extend(targets.map(|&to| (op, to)));
        }
        if choices.is_empty() {
            return None;
        }
        let (op, to) = self.random.pick(&choices);
        let x = self.vector(from);
        let x = if matches!(op, Bits | F32ToHalf) {
            self.clean(x)
        } else {
            x
        };
        Some(self.b.convert(op, to, x))
    }

    /// Returns up to three results of steps that few lanes need, or all, or none.
    fn if_any(&mut self, lane: Lane) -> Option<Value> {
        let mask = self.pick(|ty| ty == Type::Mask(lane.int()))?;
        let count = 1 + self.random.below(3);
        let otherwise: Vec<Value> = (0..count).map(|_| self.vector(lane)).collect();
        let steps = self.random.below(12);
        let seed = self.random.bits();
        let (lanes, values, count) = (&self.lanes, &self.values, self.count);
        let mut mixes_lanes = false;
        let results = self.b.if_any(mask, &otherwise, |b| {
            let mut inner = Steps {
                b,
                random: Random::new(seed),
                lanes: lanes.clone(),
                values: values.clone(),
                count,
                mixes_lanes: false,
                is_nested: true,
            };
            for _ in 0..steps {
                inner.step();
            }
            mixes_lanes = inner.mixes_lanes;
            otherwise.iter().map(|_| inner.vector(lane)).collect()
        });
        self.mixes_lanes |= mixes_lanes;
        self.values.extend(&results);
        None
    }

    fn divide(&mut self, lane: Lane) -> Option<Value> {
        if self.is_nested {
            return None;
        }
        let (lhs, rhs) = (self.vector(lane.int()), self.vector(lane.int()));
        let signed = self.random.below(2) == 0;
        let count = self.count;
        Some(self.b.op(Op::IntDiv {
            signed,
            lhs,
            rhs,
            count,
        }))
    }
}

/// The pointers of a program, in the order of its parameters.
struct Params {
    /// One input per lane type.
    inputs: Vec<(Lane, Value)>,
    /// An input that is read with a stride.
    strided: Value,
    stride: Value,
    table: Value,
    places: Value,
    outputs: Vec<Value>,
    extent: Value,
}

fn params(signature: &mut Signature, recipe: &Recipe) -> Params {
    Params {
        inputs: recipe
            .lanes()
            .into_iter()
            .map(|lane| (lane, signature.ptr()))
            .collect(),
        strided: signature.ptr(),
        stride: signature.index(),
        table: signature.ptr(),
        places: signature.ptr(),
        outputs: (0..RESULTS).map(|_| signature.ptr()).collect(),
        extent: signature.index(),
    }
}

/// `outputs[k][i] = f_k(inputs[..][i])` for random `f_k`, the same for every number of lanes.
pub fn program(recipe: Recipe, lanes: u32) -> Program {
    let mut signature = Signature::new("random", lanes);
    let params = params(&mut signature, &recipe);
    let mut b = signature.body();
    let (mut results, mut mixes_lanes) = (Vec::new(), false);
    lower::for_each(&mut b, params.extent, recipe.unroll, |b, at| {
        let mut values: Vec<Value> = (params.inputs.iter())
            .map(|&(lane, base)| b.load(lane, at.addr(base, lane), at.count))
            .collect();
        values.extend(placed(b, &recipe, &params, at));
        let mut steps = Steps {
            b,
            random: Random::new(recipe.seed ^ 0x5eed),
            lanes: recipe.lanes(),
            values,
            count: at.count,
            mixes_lanes: false,
            is_nested: false,
        };
        for _ in 0..recipe.steps {
            steps.step();
        }
        mixes_lanes |= steps.mixes_lanes;
        results.clear();
        for &output in &params.outputs {
            let value = steps
                .pick(|ty| matches!(ty, Type::Vector(_)))
                .expect("the inputs at least");
            let lane = steps.b.lane(value);
            steps.b.store(value, at.addr(output, lane), at.count);
            results.push(lane);
        }
    });
    Program {
        function: b.finish(),
        results,
        mixes_lanes,
    }
}

/// Returns a broadcast, a strided load and a gather.
fn placed(b: &mut Builder, recipe: &Recipe, params: &Params, at: lower::At) -> Vec<Value> {
    let lane = recipe.lanes().pop().expect("a lane");
    let mut values = vec![b.load_splat(lane, Addr::at(params.table))];
    let ahead = b.index(at.ahead.into());
    let index = b.index_op(IndexOp::Add, at.index, ahead);
    let index = b.index_op(IndexOp::Mul, index, params.stride);
    values.push(b.op(Op::LoadStrided {
        lane,
        addr: Addr::element(params.strided, index, lane),
        stride: params.stride,
        count: at.count,
    }));
    if recipe.widest >= 32 {
        let places = b.load(Lane::I32, at.addr(params.places, Lane::I32), at.count);
        values.push(b.op(Op::Gather {
            lane,
            base: params.table,
            places,
            count: at.count,
        }));
    }
    values
}

pub fn inputs(recipe: &Recipe, results: &[Lane], count: usize, random: &mut Random) -> Vec<Input> {
    let lane = recipe.lanes().pop().expect("a lane");
    let buffer = |lane: Lane, count: usize, random: &mut Random| {
        Input::elements(&elements(dtype(lane), count, random))
    };
    let mut inputs: Vec<Input> = recipe
        .lanes()
        .into_iter()
        .map(|lane| buffer(lane, count, random))
        .collect();
    let places = (0..count)
        .flat_map(|_| (random.below(TABLE) as i32).to_le_bytes())
        .collect();
    inputs.push(buffer(lane, count * STRIDE, random));
    inputs.push(Input::Index(STRIDE as i64));
    inputs.push(buffer(lane, TABLE, random));
    inputs.push(Input::Elements(DType::I32, places));
    inputs.extend(results.iter().map(|&lane| Input::room(dtype(lane), count)));
    inputs.push(Input::Index(count as i64));
    inputs
}

#[test]
fn random_programs_give_the_same_bits_on_every_target_and_stay_in_their_buffers() {
    let targets = [harness::targets(), harness::targets_with_vnni()].concat();
    for seed in 0..100 {
        let recipe = Recipe::new(seed);
        let mut outcomes = Vec::new();
        for target in &targets {
            let program = program(recipe, target.lanes(recipe.widest));
            let Some(compiled) = harness::compiled(&program.function, target) else {
                continue;
            };
            let lanes = program.function.lanes() as usize;
            let mut random = Random::new(seed);
            for count in (0..=2 * lanes + 1).rev() {
                let inputs = inputs(&recipe, &program.results, count, &mut random);
                harness::check(&program.function, &compiled, &inputs);
            }
            let inputs = inputs(&recipe, &program.results, 201, &mut Random::new(seed));
            let outcome = harness::check(&program.function, &compiled, &inputs);
            if !program.mixes_lanes {
                outcomes.push((target.isa, outcome));
            }
        }
        for pair in outcomes.windows(2) {
            let message = format!("seed {seed}: {} and {}", pair[0].0, pair[1].0);
            assert!(harness::same(&pair[0].1, &pair[1].1), "{message}");
        }
    }
}

/// Returns a loop with `accumulators` live sums, more than there are registers.
fn accumulating(lane: Lane, accumulators: i32, target: &TargetInfo) -> Function {
    let mut signature = Signature::new("accumulate", target.lanes(lane.bits()));
    let (input, output, extent) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    let (start, neutral) = (b.index(0), b.constant(lane, 0));
    let inits = vec![neutral; accumulators as usize];
    let (lanes, bytes) = (b.lanes(), lane.bytes() as i32);
    let (_, sums) = b.repeat(
        LoopKind::Whole,
        (start, extent),
        lanes.into(),
        &inits,
        |b, round| {
            let x = b.load(lane, Addr::element(input, round.index, lane), None);
            let mut previous = x;
            let sums = round.carried.iter().map(|&sum| {
                previous = b.binary(BinaryOp::Sub, sum, previous);
                previous
            });
            sums.collect()
        },
    );
    for (place, sum) in (0..).zip(sums) {
        b.store(
            sum,
            Addr::at(output).plus(place * lanes as i32 * bytes),
            None,
        );
    }
    b.finish()
}

#[test]
fn values_that_do_not_fit_the_registers_survive_loops() {
    let mut random = Random::new(4);
    for target in harness::targets() {
        for lane in [Lane::F32, Lane::I64] {
            for accumulators in [1, 15, 16, 17, 40, 200] {
                let function = accumulating(lane, accumulators, &target);
                let Some(compiled) = harness::compiled(&function, target.isa) else {
                    continue;
                };
                let lanes = function.lanes() as usize;
                let inputs = [
                    Input::elements(&elements(dtype(lane), 3 * lanes, &mut random)),
                    Input::room(dtype(lane), accumulators as usize * lanes),
                    Input::Index(3 * lanes as i64),
                ];
                harness::check(&function, &compiled, &inputs);
            }
        }
    }
}

#[test]
fn every_page_of_a_large_frame_is_touched_in_order() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        let target = TargetInfo::of(isa);
        let taken = |accumulators: i32| {
            let code = assemble(&accumulating(Lane::F32, accumulators, &target), isa);
            let text = disassemble(&code.expect("it assembles"));
            let taken = text.matches("sub rsp,1000h").count();
            assert_eq!(taken, text.matches("test [rsp],eax").count(), "{text}");
            taken
        };
        assert_eq!(taken(40), 0);
        // 200 sums of 32 or 64 bytes, most of which are spilled to the stack.
        let pages = taken(200);
        assert!(
            pages >= 170 * target.vector_bits as usize / 8 / 4096,
            "{pages}"
        );
    }
}

#[test]
fn streamed_results_are_written_at_any_address() {
    let mut random = Random::new(5);
    for target in harness::targets() {
        for lane in Lane::ALL {
            let mut signature = Signature::new("stream", target.lanes(lane.bits()));
            let (input, output, extent) = (signature.ptr(), signature.ptr(), signature.index());
            let mut b = signature.body();
            b.stream(output);
            lower::for_each(&mut b, extent, 2, |b, at| {
                let x = b.load(lane, at.addr(input, lane), at.count);
                b.store(x, at.addr(output, lane), at.count);
            });
            let function = b.finish();
            let Some(compiled) = harness::compiled(&function, target.isa) else {
                continue;
            };
            for count in [0, 1, 64, 259] {
                let inputs = [
                    Input::elements(&elements(dtype(lane.int()), count, &mut random)),
                    Input::room(dtype(lane.int()), count),
                    Input::Index(count as i64),
                ];
                harness::check(&function, &compiled, &inputs);
            }
        }
    }
}
