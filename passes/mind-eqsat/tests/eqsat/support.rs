//! Builds, runs, compares and dumps small modules.

use std::borrow::Cow;
use std::fmt::Write;

use mind_core::ops::input::Input;
use mind_diag::Span;
use mind_eqsat::cost::HOST_CPU;
use mind_eqsat::{Context, KeptReason, KeptRegion, Limits, Report, fold, fuse};
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin;
use mind_ir::eval::{DimEnv, EvalCx, eval_block};
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Registry};
use mind_ir::random::Rng;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{BlockId, OpId, ValueId};
use mind_rules::{FastMath, RuleSet};

pub fn registry() -> Registry {
    Registry::with([builtin::DIALECT, mind_core::DIALECT])
}

pub fn shipped() -> RuleSet {
    RuleSet::shipped(&registry()).unwrap_or_else(|errors| panic!("{errors}"))
}

pub fn def(name: &str) -> &'static OpDef {
    registry()
        .get(&format!("core.{name}"))
        .unwrap_or_else(|| panic!("no op {name}"))
}

/// A module under construction.
pub struct Module {
    pub g: Graph,
    inputs: usize,
}

impl Module {
    pub fn new() -> Module {
        Module {
            g: Graph::new(),
            inputs: 0,
        }
    }

    fn builder(&mut self) -> Builder<'_> {
        let body = self.g.body();
        Builder::new(&mut self.g, InsertPoint::End(body), Span::FILE)
    }

    pub fn input(&mut self, dtype: DType, shape: &[i64]) -> ValueId {
        self.input_of(TensorType::fixed(dtype, shape))
    }

    pub fn input_of(&mut self, ty: TensorType) -> ValueId {
        let name = format!("x{}", self.inputs);
        self.inputs += 1;
        let (name, ty) = (self.g.intern(&name), self.g.intern_type(ty.view()));
        let attrs = Input::attrs(name, false, None);
        let op = self.builder().create_typed(Input::DEF, &[], &attrs, &[ty]);
        self.g.result(op)
    }

    pub fn f32(&mut self, shape: &[i64]) -> ValueId {
        self.input(DType::F32, shape)
    }

    pub fn i32_input(&mut self, shape: &[i64]) -> ValueId {
        self.input(DType::I32, shape)
    }

    pub fn op_with(&mut self, name: &str, operands: &[ValueId], attrs: &[Attr<'_>]) -> ValueId {
        self.row(def(name), operands, attrs)
    }

    /// Appends an op; returns one of its results.
    pub fn result_of(
        &mut self,
        name: &str,
        result: usize,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> ValueId {
        let op = self.builder().create(def(name), operands, attrs);
        let op = op.unwrap_or_else(|error| panic!("{name}: {error}"));
        self.g.results(op).get(result)
    }

    /// Appends an op of any dialect.
    pub fn row(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> ValueId {
        let op = self.builder().create(def, operands, attrs);
        let op = op.unwrap_or_else(|error| panic!("{}: {error}", def.name));
        self.g.result(op)
    }

    /// Appends an op with default attributes.
    pub fn op(&mut self, name: &str, operands: &[ValueId]) -> ValueId {
        let defaults: Vec<Attr<'static>> = def(name)
            .attrs
            .iter()
            .map(|attr| attr.default.expect("a default"))
            .collect();
        self.op_with(name, operands, &defaults)
    }

    pub fn constant(&mut self, tensor: &Tensor) -> ValueId {
        mind_core::constant(&mut self.builder(), tensor)
    }

    pub fn scalar(&mut self, value: f32) -> ValueId {
        self.constant(&Tensor::scalar(value))
    }

    pub fn splat(&mut self, dtype: DType, shape: &[i64], value: f64) -> ValueId {
        let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
        let count = shape.iter().product();
        let element = number(dtype, value);
        self.constant(&Tensor::new(shape, element.splat(count)))
    }

    pub fn transpose(&mut self, x: ValueId, permutation: &[i64]) -> ValueId {
        self.op_with("transpose", &[x], &[Attr::Ints(permutation)])
    }

    pub fn reshape(&mut self, x: ValueId, shape: &[i64]) -> ValueId {
        let dims: Vec<Dim> = shape.iter().copied().map(Dim::Fixed).collect();
        self.op_with("reshape", &[x], &[Attr::Dims(&dims)])
    }

    pub fn reduce(&mut self, name: &str, x: ValueId, axes: &[i64], keepdims: bool) -> ValueId {
        self.op_with(name, &[x], &[Attr::Ints(axes), Attr::Bool(keepdims)])
    }

    /// Ends the module with these outputs, and returns it.
    pub fn outputs(mut self, outputs: &[ValueId]) -> Graph {
        let at = InsertPoint::End(self.g.body());
        let def = builtin::Yield::DEF;
        let end = NewOp {
            def,
            operands: outputs,
            attrs: &[],
            results: 0,
            span: Span::FILE,
        };
        self.g.insert(at, end);
        check(&mut self.g);
        self.g
    }
}

/// Returns one element of `dtype`.
pub fn number(dtype: DType, value: f64) -> Buffer {
    match dtype {
        DType::F16 => Buffer::F16(vec![half::f16::from_f64(value)].into()),
        DType::BF16 => Buffer::BF16(vec![half::bf16::from_f64(value)].into()),
        DType::F32 => Buffer::F32(vec![value as f32].into()),
        DType::F64 => Buffer::F64(vec![value].into()),
        DType::I8 => Buffer::I8(vec![value as i8].into()),
        DType::I16 => Buffer::I16(vec![value as i16].into()),
        DType::I32 => Buffer::I32(vec![value as i32].into()),
        DType::I64 => Buffer::I64(vec![value as i64].into()),
        DType::U8 => Buffer::U8(vec![value as u8].into()),
        DType::U16 => Buffer::U16(vec![value as u16].into()),
        DType::U32 => Buffer::U32(vec![value as u32].into()),
        DType::U64 => Buffer::U64(vec![value as u64].into()),
        DType::Bool => Buffer::Bool(vec![value != 0.0].into()),
    }
}

/// Verifies a module; panics with the diagnostics if it is invalid.
pub fn check(g: &mut Graph) {
    let found = verify(g, &VerifyConfig::default());
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}\n{}", dump(g));
}

pub fn context(rules: &RuleSet) -> Context<'_> {
    Context {
        rules,
        classes: FastMath::EXACT,
        cost: &HOST_CPU,
        limits: Limits::default(),
        constant: mind_core::constant,
        splat: mind_core::splat,
        fused: mind_core::ops::fused::Fused::DEF,
        canonical: |_| (),
    }
}

/// Folds, verifies, and checks that the cost did not rise.
pub fn folded(g: &mut Graph, cx: &Context<'_>) -> Report {
    let report = fold(g, cx);
    assert_no_worse(g, &report);
    report
}

/// Fuses, verifies, and checks that neither cost nor bytes rose.
pub fn fused(g: &mut Graph, cx: &Context<'_>) -> Report {
    let report = fuse(g, cx);
    assert_no_worse(g, &report);
    assert!(report.bytes_after <= report.bytes_before, "{report:?}");
    report
}

/// Checks that the cost did not rise, because the search starts from the program itself.
fn assert_no_worse(g: &mut Graph, report: &Report) {
    check(g);
    assert!(report.cost_after <= report.cost_before, "{report:?}");
    let worse = |kept: &&KeptRegion| matches!(kept.reason, KeptReason::NotCheaper { .. });
    assert_eq!(report.kept.iter().find(worse), None);
}

/// Returns the text of every op, as `name(operands){attributes}` with numbered results.
pub fn dump(g: &Graph) -> String {
    let mut out = String::new();
    dump_block(g, g.body(), "", &mut out);
    out
}

fn dump_block(g: &Graph, block: BlockId, indent: &str, out: &mut String) {
    for op in g.ops(block) {
        let labels = |values: &mut dyn Iterator<Item = ValueId>| -> String {
            values
                .map(|value| format!("%{}", g.label(value)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let results = labels(&mut g.results(op).into_iter());
        let operands = labels(&mut g.operands(op).iter().copied());
        let types: Vec<String> = g.results(op).into_iter().map(|v| g.type_text(v)).collect();
        let _ = write!(out, "{indent}{results} = {}({operands})", g.def(op).name);
        for &attr in g.attrs(op) {
            let _ = match attr {
                Attr::Str(sym) => write!(out, " {}", g.name(sym)),
                attr => write!(out, " {attr:?}"),
            };
        }
        let _ = writeln!(out, " : {}", types.join(", "));
        for &region in g.regions(op) {
            let block = g.block(region);
            let arguments = labels(&mut g.arguments(block).into_iter());
            let _ = writeln!(out, "{indent}  ({arguments})");
            dump_block(g, block, &format!("{indent}  "), out);
        }
    }
}

/// Returns the names of the ops of the body, without inputs, constants and the terminator.
pub fn ops(g: &Graph) -> Vec<&'static str> {
    names(g, g.body())
}

pub fn names(g: &Graph, block: BlockId) -> Vec<&'static str> {
    let shown = |op: &OpId| {
        let name = g.def(*op).name;
        !name.starts_with("core.const") && name != "core.input" && name != "builtin.yield"
    };
    g.ops(block)
        .filter(shown)
        .map(|op| g.def(op).short_name())
        .collect()
}

/// Returns a special value, a value of any exponent or a plain value, a third each.
pub fn value(rng: &mut Rng, dtype: DType) -> Buffer {
    const SPECIAL: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        0.5,
        3.0,
        0.1,
        5e-324,
        1e-45,
        6e-8,
        65504.0,
        -65504.0,
        3.4e38,
        1.7e308,
        16777216.0,
        16777217.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    if !dtype.is_float() {
        let extreme = [0, 1, -1, i64::MAX, i64::MIN, 127, -128, 2, 3][rng.below(9)];
        let bits = if rng.below(2) == 0 {
            extreme
        } else {
            rng.bits() as i64
        };
        return match dtype {
            DType::I32 => Buffer::I32(vec![bits as i32].into()),
            DType::I8 => Buffer::I8(vec![bits as i8].into()),
            DType::U8 => Buffer::U8(vec![bits as u8].into()),
            DType::I64 => Buffer::I64(vec![bits].into()),
            other => number(other, bits as f64),
        };
    }
    let value = match rng.below(3) {
        0 => SPECIAL[rng.below(SPECIAL.len())],
        1 => {
            let mantissa = 1.0 + (rng.bits() >> 12) as f64 / (1u64 << 52) as f64;
            let range = if dtype == DType::F16 { 30 } else { 250 };
            let exponent = rng.below(range) as i32 - range as i32 / 2;
            let sign = if rng.below(2) == 0 { 1.0 } else { -1.0 };
            sign * mantissa * 2f64.powi(exponent)
        }
        _ => rng.fraction() * 8.0 - 4.0,
    };
    number(dtype, value)
}

pub fn tensor(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let bytes: Vec<u8> = (0..count)
        .flat_map(|_| value(rng, dtype).to_bytes())
        .collect();
    Tensor::new(shape.to_vec(), Buffer::from_bytes(dtype, &bytes))
}
/// Runs the module on random inputs; symbols have the extent 3.
pub fn run(g: &Graph, seed: u64) -> Vec<Tensor> {
    let mut rng = Rng::new(seed);
    let mut dims = DimEnv::default();
    for value in g
        .ops(g.body())
        .filter(|&op| g.is::<Input>(op))
        .map(|op| g.result(op))
    {
        for dim in g.ty(value).shape {
            if let Dim::Symbol(sym) = dim {
                let _ = dims.bind(*sym, 3);
            }
        }
    }
    let mut leaf = |op: OpId| {
        let ty = g.ty(g.result(op));
        let shape: Vec<usize> = ty
            .shape
            .iter()
            .map(|d| d.fixed().unwrap_or(3) as usize)
            .collect();
        Ok(Cow::Owned(tensor(&mut rng, ty.dtype, &shape)))
    };
    let cx = EvalCx::run(g, &dims);
    eval_block(&cx, g.body(), &[], &mut leaf)
        .unwrap_or_else(|(op, error)| panic!("{}: {error}\n{}", g.def(op).name, dump(g)))
}

/// Checks that both modules return the same bits on several random inputs.
pub fn assert_same(before: &Graph, after: &Graph) {
    for seed in 0..12 {
        let (expected, found) = (run(before, seed), run(after, seed));
        assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            assert!(
                expected.same_bits(found),
                "seed {seed}: expected {expected:?}, found {found:?}\n{}\n{}",
                dump(before),
                dump(after)
            );
        }
    }
}
