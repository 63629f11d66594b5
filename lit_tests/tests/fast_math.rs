//! What `--fast-math` changes stays within bounds: drawn modules, each class alone and all together.
//!
//! A rewrite of these classes is an equality of real numbers, or nearly one. So the optimised module may
//! differ from the module as written as far as that one moves when every value in it is disturbed a
//! little: by random factors `1 ± noise`, where `noise` is 256 roundings of the dtype, or 64 times the
//! tolerance of `approx`. Results may differ by [`SLACK`] times the largest movement seen. Where anything
//! on the way is NaN or infinite, which `nnan` assumes away, nothing is compared.

use mind_core::ops::elementwise::Mul;
use mind_driver::formats::Format;
use mind_driver::session::{PASSES, Session};
use mind_interp::{Arrays, Extents, RunConfig, bind, random_inputs, run};
use mind_ir::builder::Builder;
use mind_ir::graph::InsertPoint;
use mind_ir::listener::NoopListener;
use mind_ir::opdef::{Op, Trait};
use mind_ir::random::Rng;
use mind_ir::tensor::{Buffer, FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId, ValueId, with_float};
use mind_pass::{Manager, RewriteOptions, RuleSource, RunCache, Statistics, parse_pipeline};
use mind_reduce::reduction::reduce;
use mind_testgen::{Config, module};

/// How many modules are drawn for each dtype and choice of classes; `MIND_MODULES` asks for another
/// number.
const MODULES: u64 = 60;

/// How often a module is disturbed.
const DISTURBED: u64 = 4;

/// Results may differ by so many times the largest movement.
const SLACK: f64 = 16.0;

const DTYPES: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

const CLASSES: [&[&str]; 5] = [
    &["nsz"],
    &["nnan"],
    &["reassoc"],
    &["approx"],
    &["nsz", "nnan", "reassoc", "approx"],
];

fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("MIND_MODULES").ok();
    0..asked.map_or(MODULES, |count| {
        count.parse().expect("MIND_MODULES is a number")
    })
}

/// Rewriting with these classes, and the rules of a user.
struct Optimiser<'s> {
    session: &'s Session,
    shared: RunCache,
    rewriting: RewriteOptions,
}

impl<'s> Optimiser<'s> {
    fn new(session: &'s Session, classes: &[&str], rules: &str) -> Optimiser<'s> {
        let rules = (!rules.is_empty()).then(|| RuleSource {
            name: "planted.rules".to_owned(),
            text: rules.to_owned(),
        });
        Optimiser {
            session,
            shared: RunCache::default(),
            rewriting: RewriteOptions {
                fast_math: classes.iter().map(|&class| class.to_owned()).collect(),
                rules: rules.into_iter().collect(),
                ..RewriteOptions::default()
            },
        }
    }

    fn run(&self, g: &Graph, passes: &str) -> Graph {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: true,
            verify: VerifyConfig::default(),
            rewriting: &self.rewriting,
            shared: &self.shared,
        };
        let pipeline = parse_pipeline(passes, &PASSES).expect("a pipeline");
        let (mut g, mut statistics) = (g.clone(), Statistics::default());
        let ran = manager.run(&pipeline, &mut g, &mut statistics, &mut NoopListener);
        ran.unwrap_or_else(|failure| panic!("{failure:?}"));
        g
    }

    fn noise(&self, dtype: DType) -> f64 {
        let roundings = match dtype {
            DType::F64 => 2f64.powi(-44),
            DType::F32 => 2f64.powi(-16),
            DType::F16 => 2f64.powi(-5),
            _ => 2f64.powi(-3),
        };
        if self
            .rewriting
            .fast_math
            .iter()
            .any(|class| class == "approx")
        {
            roundings.max(64.0 * 1e-4)
        } else {
            roundings
        }
    }
}

/// What came of one module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// So many elements were compared, and none was too far away.
    Close(usize),
    /// An element is too far away.
    Far,
}

fn draw(seed: u64, dtype: DType) -> Graph {
    let config = Config {
        dtypes: vec![dtype],
        symbols: false,
        ..Config::default()
    };
    let mut g = module(seed, &config);
    assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
    g
}

fn compare(optimiser: &Optimiser<'_>, before: &Graph, dtype: DType, seed: u64) -> Verdict {
    let after = optimiser.run(before, "canonicalize,fold,fuse");
    let Ok(arrays) = random_inputs(before, seed, Extents::default()) else {
        return Verdict::Close(0);
    };
    let all_finite = everything(before);
    let on_the_way = results(&all_finite, &arrays);
    if !on_the_way.is_some_and(|all| all.iter().flatten().all(|value| value.is_finite())) {
        return Verdict::Close(0);
    }
    let (Some(expected), Some(found)) = (results(before, &arrays), results(&after, &arrays)) else {
        return Verdict::Close(0);
    };
    let noise = optimiser.noise(dtype);
    let disturbed: Option<Vec<_>> = (0..DISTURBED)
        .map(|draw| results(&noisy(before, noise, seed * DISTURBED + draw), &arrays))
        .collect();
    let Some(disturbed) = disturbed else {
        return Verdict::Close(0);
    };
    let mut compared = 0;
    for (output, (expected, found)) in expected.iter().zip(&found).enumerate() {
        for (at, (&expected, &found)) in expected.iter().zip(found).enumerate() {
            let moved = disturbed
                .iter()
                .map(|other| (other[output][at] - expected).abs());
            let moved = moved.fold(
                0.0,
                |most: f64, each| if each <= most { most } else { each },
            );
            if !moved.is_finite() {
                continue;
            }
            compared += 1;
            let least = noise * noise.min(1e-6);
            // A result that is not a number is not close.
            let close = (found - expected).abs() <= SLACK * moved + least;
            if !close {
                return Verdict::Far;
            }
        }
    }
    Verdict::Close(compared)
}

/// Returns the outputs as `f64`; `None` if the module has no result.
fn results(g: &Graph, arrays: &Arrays) -> Option<Vec<Vec<f64>>> {
    fn floats<T: FloatNum>(tensor: &Tensor) -> Vec<f64> {
        tensor
            .elements::<T>()
            .iter()
            .map(|value| value.to_f64())
            .collect()
    }
    let bound = bind(g, arrays, Extents::default()).ok()?;
    let outputs = run(g, &bound, &RunConfig::default()).ok()?;
    let outputs = outputs.iter();
    let numbers = outputs.map(|tensor| {
        with_float!(tensor.dtype(), T => floats::<T>(tensor), else {
            let bytes = tensor.buffer().to_bytes();
            bytes.into_iter().map(f64::from).collect()
        })
    });
    Some(numbers.collect())
}

fn terminator(g: &Graph) -> OpId {
    let last = g.ops(g.body()).last();
    last.expect("a module ends with its outputs")
}

fn is_float(g: &Graph, value: ValueId) -> bool {
    g.ty(value).dtype.is_float()
}

/// Returns the module with every float value among its outputs.
fn everything(g: &Graph) -> Graph {
    let mut g = g.clone();
    let values = g.ops(g.body()).flat_map(|op| g.results(op));
    let values: Vec<ValueId> = values.filter(|&value| is_float(&g, value)).collect();
    let end = terminator(&g);
    g.set_operands(end, &values);
    g
}

/// Returns the module with every float value but constants multiplied by factors `1 ± noise`.
fn noisy(g: &Graph, noise: f64, seed: u64) -> Graph {
    let mut g = g.clone();
    let mut rng = Rng::new(seed);
    let ops: Vec<OpId> = g.ops(g.body()).collect();
    for pair in ops.windows(2) {
        let (op, next) = (pair[0], pair[1]);
        let [value] = g.results(op).into_iter().collect::<Vec<_>>()[..] else {
            continue;
        };
        let Some(shape) = g.ty(value).static_shape() else {
            continue;
        };
        if !is_float(&g, value) || g.def(op).has(Trait::Constant) {
            continue;
        }
        let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
        let count: usize = shape.iter().product();
        if count == 0 {
            continue;
        }
        let factors: Vec<f64> = (0..count)
            .map(|_| 1.0 + *rng.pick(&[noise, -noise]))
            .collect();
        let factors = Tensor::new(shape, floats(g.ty(value).dtype, &factors));
        let span = g.span(op);
        let mut builder = Builder::new(&mut g, InsertPoint::Before(next), span);
        let factors = mind_core::constant(&mut builder, &factors);
        let product = builder.create(Mul::DEF, &[value, factors], &[]);
        let product = product.expect("factors of the value's own shape");
        let result = g.result(product);
        g.replace_all_uses(value, result);
        g.set_operand(product, 0, value);
    }
    g
}

fn floats(dtype: DType, values: &[f64]) -> Buffer {
    fn of<T: FloatNum>(values: &[f64]) -> Buffer {
        T::wrap(values.iter().map(|&value| T::from_f64(value)).collect())
    }
    with_float!(dtype, T => of::<T>(values), else unreachable!("a float dtype"))
}

#[test]
fn drawn_modules_stay_within_bounds() {
    let session = Session::default();
    for classes in CLASSES {
        let optimiser = Optimiser::new(&session, classes, "");
        for dtype in DTYPES {
            let mut compared = 0;
            for seed in seeds() {
                let g = draw(seed, dtype);
                match compare(&optimiser, &g, dtype, seed) {
                    Verdict::Close(elements) => compared += elements,
                    Verdict::Far => {
                        let far = |g: &Graph| compare(&optimiser, g, dtype, seed) == Verdict::Far;
                        let small = reduce(&g, &Default::default(), &mut |g| far(g)).graph;
                        let text = session.formats.print(Format::Core, &small);
                        panic!("{classes:?}, seed {seed}, {dtype:?}:\n{}", text.unwrap());
                    }
                }
            }
            assert!(
                compared > 100,
                "{classes:?}, {dtype:?}: {compared} elements"
            );
        }
    }
}

/// The classes change what is computed, or nothing was tested.
#[test]
fn every_class_changes_modules() {
    let session = Session::default();
    let exact = Optimiser::new(&session, &[], "");
    for classes in CLASSES {
        let optimiser = Optimiser::new(&session, classes, "");
        let print = |g: &Graph| session.formats.print(Format::Core, g).unwrap();
        let changed = |&seed: &u64| {
            let g = draw(seed, DType::F32);
            print(&optimiser.run(&g, "fold")) != print(&exact.run(&g, "fold"))
        };
        assert!((0..4000).any(|seed| changed(&seed)), "{classes:?}");
    }
}

#[test]
fn wrong_rules_are_seen() {
    let session = Session::default();
    let planted = [
        (
            "reassoc",
            "rule planted\n  class reassoc\n  core.mul(?x, ?y) => ?x\n",
        ),
        (
            "approx",
            "rule planted\n  class approx(1e-6)\n  core.sigmoid(?x) => ?x\n",
        ),
        (
            "nnan",
            "rule planted\n  class nnan\n  core.relu(?x) => ?x\n",
        ),
        ("nsz", "rule planted\n  class nsz\n  core.abs(?x) => ?x\n"),
    ];
    for (class, rule) in planted {
        let optimiser = Optimiser::new(&session, &[class], rule);
        for dtype in [DType::F64, DType::F32] {
            let mut seen = (0..1_000).map(|seed| {
                let g = draw(seed, dtype);
                compare(&optimiser, &g, dtype, seed)
            });
            assert!(
                seen.any(|verdict| verdict == Verdict::Far),
                "{class}, {dtype:?}"
            );
        }
    }
}
