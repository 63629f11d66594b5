//! The schedule in the module is what runs: another value of an attribute is other code, or another division of the
//! work, and the same bits; what cannot run is refused with the reason.

use mind_driver::formats::Format;
use mind_driver::session::PASSES;
use mind_interp::{Arrays, Extents, bind, random_inputs, run};
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_jit::program::{emit_c, listings};
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};
use mind_testgen::cases::all;
use mind_text::Limits;
use mind_vir::target::{Isa, TargetInfo};

use super::{Bench, Folder, engines, execute, run_c, same, text};

/// A kernel whose schedule stands in the place of `@`, one schedule, and others.
struct Row {
    module: &'static str,
    schedule: &'static str,
    others: &'static [&'static str],
}

const MAP: &str = "%0 = Input {name=x} : tensor<f32[40, 100]>\n\
    %1 = loops.nest (%0) {at=[-1], dims=[40, 100], @} {\n  args: %2\n  %3 = Neg (%2)\n  yield: %3\n}\noutputs: %1";
const FLAT: &str = "%0 = Input {name=x} : tensor<f32[1000]>\n\
    %1 = loops.nest (%0) {at=[-1], dims=[1000], @} {\n  args: %2\n  %3 = Exp (%2)\n  yield: %3\n}\noutputs: %1";
const ROWS: &str = "%0 = Input {name=x} : tensor<f32[9, 300]>\n\
    %1 = loops.nest (%0) {along=1, at=[-1], dims=[9, 300], @} {\n  args: %2\n  \
    %3 = loops.along (%2) {kind=sum}\n  %4 = Sub (%2, %3)\n  yield: %4\n}\noutputs: %1";
const COLUMNS: &str = "%0 = Input {name=x} : tensor<f32[3, 70, 160]>\n\
    %1 = loops.nest (%0) {along=1, at=[-1], dims=[3, 70, 160], @} {\n  args: %2\n  \
    %3 = loops.along (%2) {kind=sum}\n  yield: %3\n}\noutputs: %1";
const MATRIX: &str = "%0 = Input {name=x} : tensor<f32[70, 256]>\n\
    %1 = loops.nest (%0) {along=0, at=[-1], dims=[70, 256], @} {\n  args: %2\n  \
    %3 = loops.along (%2) {kind=max}\n  yield: %3\n}\noutputs: %1";
const PRODUCT: &str = "%0 = Input {name=x} : tensor<f32[2, 20, 30]>\n%1 = Input {name=w} : tensor<f32[2, 30, 70]>\n\
    %2 = loops.contract (%0, %1) {at=[-1], batch=1, @} {\n  args: %3, %4\n  \
    %5 = loops.product (%3, %4)\n  %6 = Relu (%5)\n  yield: %6\n}\noutputs: %2";
const PACKED: &str = "%0 = Input {name=x} : tensor<f32[20, 30]>\n%1 = Input {name=w, role=param} : tensor<f32[30, 70]>\n\
    %2 = loops.pack (%1) {at=[0], batch=0}\n\
    %3 = loops.contract (%0, %2) {at=[-1], batch=0, @} {\n  args: %4, %5\n  \
    %6 = loops.product (%4, %5)\n  yield: %6\n}\noutputs: %3";
const IMAGE: &str = "%0 = Input {name=x} : tensor<f32[2, 9, 10, 3]>\n%1 = Input {name=f} : tensor<f32[3, 3, 3, 40]>\n\
    %2 = loops.window (%0, %1) {at=[-1], padding=same, @} {\n  args: %3, %4\n  \
    %5 = loops.taps (%3, %4)\n  yield: %5\n}\noutputs: %2";
const FILTERS: &str = "%0 = Input {name=x} : tensor<f32[1, 9, 10, 3]>\n\
    %1 = Input {name=f, role=param} : tensor<f32[3, 3, 3, 40]>\n%2 = loops.pack (%1) {at=[0], batch=0}\n\
    %3 = loops.window (%0, %2) {at=[-1], @} {\n  args: %4, %5\n  %6 = loops.taps (%4, %5)\n  yield: %6\n}\noutputs: %3";
const SLIDE: &str = "%0 = Input {name=x} : tensor<f32[2, 9, 10, 40]>\n%1 = Input {name=f} : tensor<f32[1, 3, 3, 40]>\n\
    %2 = loops.slide (%0, %1) {at=[-1], base=[1, 1, 1, 1], dilations=[1, 1, 2, 1], kind=multiply, low=[0, 1, 2, 0], \
    positions=[2, 9, 10, 40], strides=[1, 1, 1, 1], window=[1, 3, 3, 1], @}\noutputs: %2";
/// `@` is the schedule of the block; [`inside`] moves it to a kernel in it.
const BLOCK: &str = "%0 = Input {name=q} : tensor<f32[2, 48, 16]>\n%1 = Input {name=k} : tensor<f32[2, 16, 48]>\n\
    %2 = Input {name=v} : tensor<f32[2, 48, 24]>\n\
    %3 = loops.block (%0, %1, %2) {at=[-1], @} {\n  args: %4, %5, %6\n  \
    %7 = loops.contract (%4, %5) {at=[], batch=1, FIRST} {\n    args: %8, %9\n    %10 = loops.product (%8, %9)\n    yield: %10\n  }\n  \
    %11 = loops.view (%7) {offset=0, shape=[96, 48], strides=[48, 1]}\n  \
    %12 = loops.nest (%11) {along=1, at=[], dims=[96, 48], NEST} {\n    args: %13\n    \
    %14 = loops.along (%13) {kind=max}\n    %15 = Sub (%13, %14)\n    %16 = Exp (%15)\n    yield: %16\n  }\n  \
    %17 = loops.view (%12) {offset=0, shape=[2, 48, 48], strides=[2304, 48, 1]}\n  \
    %18 = loops.contract (%17, %6) {at=[], batch=1, SECOND} {\n    args: %19, %20\n    %21 = loops.product (%19, %20)\n    yield: %21\n  }\n  \
    yield: %18\n}\noutputs: %3";

const TABLE: &[Row] = &[
    Row {
        module: MAP,
        schedule: "parallel=[0], tile=[4, 100]",
        others: &[
            "parallel=[], tile=[40, 100]",
            "parallel=[0], tile=[8, 100]",
            "parallel=[0], tile=[4, 100], unroll=1",
            "parallel=[0], tile=[4, 100], unroll=2",
            "parallel=[1], tile=[40, 4], vector=0",
        ],
    },
    Row {
        module: FLAT,
        schedule: "parallel=[0], tile=[256]",
        others: &[
            "parallel=[0], tile=[128]",
            "parallel=[0], tile=[1000]",
            "parallel=[]",
            "parallel=[0], tile=[256], unroll=3",
        ],
    },
    Row {
        module: ROWS,
        schedule: "parallel=[0], tile=[2, 300]",
        others: &[
            "parallel=[0], tile=[3, 300]",
            "parallel=[]",
            "parallel=[0], tile=[2, 300], unroll=1",
            "parallel=[0], tile=[2, 300], unroll=8",
        ],
    },
    Row {
        module: COLUMNS,
        schedule: "parallel=[0], tile=[1, 70, 160]",
        others: &[
            "parallel=[0], tile=[2, 70, 160]",
            "parallel=[]",
            "parallel=[0], vector=1",
            "parallel=[2], vector=1",
            "parallel=[0], tile=[1, 70, 160], unroll=1",
            "parallel=[0], tile=[1, 70, 160], unroll=3",
        ],
    },
    Row {
        module: MATRIX,
        schedule: "parallel=[1], tile=[70, 128]",
        others: &[
            "parallel=[1], tile=[70, 32]",
            "parallel=[]",
            "parallel=[1], vector=0",
            "parallel=[1], tile=[70, 128], unroll=1",
        ],
    },
    Row {
        module: PRODUCT,
        schedule: "parallel=[0, 1, 2], micro=[2, 1]",
        others: &[
            "parallel=[], micro=[2, 1]",
            "parallel=[0], micro=[2, 1]",
            "parallel=[1], micro=[2, 1]",
            "parallel=[0, 2], micro=[2, 1]",
            "parallel=[0, 1, 2], micro=[3, 1]",
            "parallel=[0, 1, 2], micro=[2, 2]",
            "parallel=[0, 1, 2], micro=[0, 3]",
            "parallel=[0, 1, 2], micro=[1, 0]",
            "parallel=[0, 1, 2], micro=[2, 1], block=[4, 0, 0]",
            "parallel=[0, 1, 2], micro=[2, 1], block=[0, 16, 0]",
            "parallel=[0, 1, 2], micro=[2, 1], block=[0, 0, 8]",
        ],
    },
    Row {
        module: PACKED,
        schedule: "parallel=[0, 1]",
        others: &[
            "parallel=[0, 1], micro=[2, 3]",
            "parallel=[0, 1], micro=[0, 1]",
            "parallel=[1]",
            "parallel=[0, 1], block=[4, 0, 0]",
            "parallel=[0, 1], block=[0, 0, 8]",
        ],
    },
    Row {
        module: IMAGE,
        schedule: "parallel=[0, 1, 3]",
        others: &[
            "parallel=[]",
            "parallel=[1]",
            "parallel=[0, 3]",
            "parallel=[0, 1, 3], micro=[3, 1]",
            "parallel=[0, 1, 3], micro=[1, 2]",
            "parallel=[0, 1, 3], micro=[0, 1]",
            "parallel=[0, 1, 3], lines=2",
        ],
    },
    Row {
        module: FILTERS,
        schedule: "parallel=[0, 1, 3]",
        others: &[
            "parallel=[0, 1, 3], micro=[3, 1]",
            "parallel=[0, 1, 3], micro=[1, 3]",
            "parallel=[0, 1, 3], lines=3",
        ],
    },
    Row {
        module: SLIDE,
        schedule: "parallel=[1]",
        others: &["parallel=[]", "parallel=[0]", "parallel=[2]"],
    },
    Row {
        module: BLOCK,
        schedule: "parallel=[0, 1]",
        others: &[
            "parallel=[]",
            "parallel=[1]",
            "parallel=[0, 1], rows=20",
            "parallel=[0, 1] FIRST micro=[2, 1]",
            "parallel=[0, 1] FIRST block=[4, 0, 0]",
            "parallel=[0, 1] NEST unroll=1",
            "parallel=[0, 1] SECOND micro=[3, 1]",
            "parallel=[0, 1] SECOND block=[0, 0, 8]",
        ],
    },
];

/// Returns the module with a schedule in its place: that of the kernel itself, and after a word one of a kernel inside.
fn scheduled(module: &str, schedule: &str) -> String {
    let mut own = schedule;
    let mut module = module.to_owned();
    for word in ["FIRST", "NEST", "SECOND"] {
        let mut parts = own.splitn(2, word);
        let before = parts.next().unwrap_or_default();
        let inner = parts.next().map_or("parallel=[]", str::trim);
        module = module.replace(word, inner);
        own = before.trim();
    }
    module.replace('@', own)
}

/// What is made of a module on an instruction set.
#[derive(PartialEq, Eq)]
struct Made {
    code: String,
    /// The tasks; `None` if this machine lacks the instruction set.
    steps: Option<String>,
}

impl Made {
    fn of(g: &Graph, isa: Isa, bench: &Bench) -> Result<Made, String> {
        let kernels = listings(g, &TargetInfo::of(isa)).map_err(|why| why.to_string())?;
        let code = kernels.iter().map(|kernel| kernel.vector_ir.as_str());
        let mut engines = bench.engines.iter();
        let engine = engines.find(|engine| engine.target().isa == isa);
        let program = engine.map(|engine| engine.program(g)).transpose();
        let program = program.map_err(|found| format!("{found:?}"))?;
        Ok(Made {
            code: code.collect(),
            steps: program.map(|program| format!("{:?}", program.steps())),
        })
    }

    /// Returns whether the tasks differ, or are not known here.
    fn may_have_other_steps(&self, other: &Made) -> bool {
        self.steps.is_none() || self.steps != other.steps
    }
}

/// Runs a module at loops level on every engine and, if `folder` is given, as C.
fn check(bench: &Bench, g: &Graph, arrays: &Arrays, folder: &Folder) -> Result<(), String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let expected = run(g, &bound, &Default::default());
    for engine in &bench.engines {
        let program = engine.program(g).map_err(|found| format!("{found:?}"))?;
        let isa = engine.target().isa;
        same(&expected, execute(&program, arrays)).map_err(|why| format!("{isa}: {why}"))?;
    }
    let c = emit_c(g, "module", true).map_err(|why| why.to_string())?;
    same(&expected, run_c(&c, g, arrays, &folder.0)).map_err(|why| format!("as C: {why}"))
}

fn fail(row: &Row, schedule: &str, why: &str) -> ! {
    panic!("{why}\n{}", scheduled(row.module, schedule))
}

#[test]
fn another_schedule_is_other_code_and_the_same_bits() {
    let (bench, folder) = (Bench::new(), Folder::new("schedules"));
    for row in TABLE {
        let read = |schedule: &str| {
            let text = scheduled(row.module, schedule);
            let g = bench.read(&text);
            g.unwrap_or_else(|| panic!("not valid: {text}"))
        };
        let first = read(row.schedule);
        let arrays = random_inputs(&first, 1, Extents::default()).expect("small arrays");
        check(&bench, &first, &arrays, &folder)
            .unwrap_or_else(|found| fail(row, row.schedule, &found));
        let before = Isa::ALL.map(|isa| {
            Made::of(&first, isa, &bench).unwrap_or_else(|found| fail(row, row.schedule, &found))
        });
        let c = emit_c(&first, "module", true).expect("it was written before");
        for schedule in row.others {
            let g = read(schedule);
            check(&bench, &g, &arrays, &folder).unwrap_or_else(|found| fail(row, schedule, &found));
            let is_grain = tile_alone(row.schedule, schedule);
            for (isa, before) in Isa::ALL.into_iter().zip(&before) {
                let now = Made::of(&g, isa, &bench).expect("it ran before");
                let differs =
                    before.code != now.code || is_grain && before.may_have_other_steps(&now);
                assert!(differs, "{isa}: `{schedule}` is run as `{}`", row.schedule);
            }
            let other = emit_c(&g, "module", true).expect("it was written before");
            assert!(
                c != other || is_grain,
                "as C: `{schedule}` is run as `{}`",
                row.schedule
            );
        }
    }
}

/// Returns whether two schedules differ in the least size of a task alone, which no kernel depends on unless it is that
/// of vectors.
fn tile_alone(one: &str, other: &str) -> bool {
    let without = |schedule: &str| {
        let start = schedule.find("tile=")?;
        let end = start + schedule[start..].find(']')?;
        Some(format!("{}{}", &schedule[..start], &schedule[end..]))
    };
    without(one).is_some() && without(one) == without(other)
}

/// Kernels that cannot run as their schedule says, and a part of the reason.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        SLIDE,
        "parallel=[3]",
        "attribute `parallel` of `slide` is `[3]`",
    ),
    (
        MAP,
        "parallel=[0, 1]",
        "attribute `parallel` of `nest` is `[0, 1]`",
    ),
    (
        MAP,
        "parallel=[1]",
        "attribute `parallel` of `nest` is `[1]`",
    ),
    (
        MAP,
        "parallel=[0], tile=[4, 50]",
        "attribute `tile` of `nest` is `[4, 50]`",
    ),
    (
        MAP,
        "parallel=[], tile=[4, 100]",
        "attribute `tile` of `nest` is `[4, 100]`",
    ),
    (
        MAP,
        "parallel=[0], tile=[0, 100]",
        "attribute `tile` of `nest` is `[0, 100]`",
    ),
    (MAP, "unroll=9", "attribute `unroll` of `nest` is `9`"),
    (
        ROWS,
        "parallel=[1]",
        "attribute `parallel` of `nest` is `[1]`",
    ),
    (ROWS, "vector=0", "attribute `vector` of `nest` is `0`"),
    (COLUMNS, "vector=0", "attribute `vector` of `nest` is `0`"),
    (
        COLUMNS,
        "parallel=[2]",
        "attribute `parallel` of `nest` is `[2]`",
    ),
    (
        COLUMNS,
        "vector=1, unroll=2",
        "`unroll` requires a loop without a reduction",
    ),
    (
        MATRIX,
        "parallel=[1], tile=[70, 100]",
        "attribute `tile` of `nest` is `[70, 100]`",
    ),
    (
        PRODUCT,
        "micro=[40, 2]",
        "a tile of 40 rows of 2 vectors takes 83 vector registers",
    ),
    (PRODUCT, "micro=[-1, 2]", "is negative"),
    (PRODUCT, "parallel=[3]", "axis 3 is outside rank 3"),
    (
        IMAGE,
        "parallel=[2]",
        "attribute `parallel` of `window` is `[2]`",
    ),
    (
        IMAGE,
        "micro=[1, 60]",
        "a tile of 1 rows of 60 vectors takes 62 vector registers",
    ),
    (IMAGE, "lines=-1", "is negative"),
    (
        BLOCK,
        "parallel=[2]",
        "attribute `parallel` of `block` is `[2]`",
    ),
    (
        BLOCK,
        "parallel=[0] NEST parallel=[0]",
        "threads share the rows of the block around it",
    ),
];

/// Why a module is not verified, or has no program.
fn refused(bench: &Bench, text: &str) -> String {
    let parsed = bench
        .session
        .formats
        .parse(Format::Core, text, 0, &Limits::default());
    let Ok(mut g) = parsed else {
        panic!("no module: {text}");
    };
    let found = verify(&mut g, &VerifyConfig::default());
    if found.has_errors() {
        return format!("{found:?}");
    }
    let mut reasons = bench.engines.iter().map(|engine| {
        let program = engine.program(&g).err();
        program.map(|found| format!("{found:?}"))
    });
    // All instruction sets refuse it, and so does C.
    let first = reasons.next().flatten().unwrap_or_default();
    let all = reasons.all(|reason| reason.is_some());
    if all && emit_c(&g, "module", true).is_err() {
        first
    } else {
        String::new()
    }
}

#[test]
fn a_schedule_that_cannot_run_is_refused_with_the_reason() {
    let bench = Bench::new();
    for (module, schedule, reason) in REFUSED {
        let text = scheduled(module, schedule);
        let found = refused(&bench, &text);
        assert!(found.contains(reason), "`{schedule}`: `{found}`\n{text}");
    }
    let apart = BLOCK.replace(
        "kind=max}\\n    %15 = Sub (%13, %14)",
        "kind=max}\\n    %15 = Sub (%14, %13)",
    );
    let apart = apart.replace("loops.view (%7)", "loops.view (%4)").replace(
        "shape=[96, 48], strides=[48, 1]",
        "shape=[96, 16], strides=[16, 1]",
    );
    let apart = apart.replace("dims=[96, 48]", "dims=[96, 16]").replace(
        "shape=[2, 48, 48], strides=[2304, 48, 1]",
        "shape=[2, 48, 16], strides=[768, 16, 1]",
    );
    let apart = apart.replace("tensor<f32[2, 48, 24]>", "tensor<f32[2, 16, 24]>");
    let found = refused(&bench, &scheduled(&apart, "rows=8"));
    assert!(
        found.contains("leave them out to run one kernel after the other"),
        "{found}"
    );
}

/// Returns a module lowered to loops with the options of the pass.
fn lowered(bench: &Bench, g: &Graph, options: &str) -> Result<Graph, String> {
    let mut low = g.clone();
    let pipeline = format!("canonicalize,cse,fuse,dce,lower-to-loops{{{options}}}");
    let pipeline = parse_pipeline(&pipeline, &PASSES).map_err(|found| format!("{found:?}"))?;
    let manager = Manager {
        registry: &bench.session.registry,
        verify_each: true,
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let done = manager.run(
        &pipeline,
        &mut low,
        &mut Statistics::default(),
        &mut NoopListener,
    );
    done.map(|_| low).map_err(|failure| format!("{failure:?}"))
}

const DENSE: &str = "%0 = Input {name=x} : tensor<f32[40, 50]>\n%1 = Input {name=w, role=param} : tensor<f32[50, 70]>\n\
    %2 = MatMul (%0, %1)\n%3 = Relu (%2)\noutputs: %3";
const LIVE: &str = "%0 = Input {name=x} : tensor<f32[40, 50]>\n%1 = Input {name=w} : tensor<f32[50, 70]>\n\
    %2 = MatMul (%0, %1)\noutputs: %2";
const CONV: &str = "%0 = Input {name=x} : tensor<f32[1, 12, 12, 3]>\n%1 = Input {name=f, role=param} : tensor<f32[3, 3, 3, 20]>\n\
    %2 = Conv2d (%0, %1)\noutputs: %2";
const ATTENTION: &str = "%0 = Input {name=q} : tensor<f32[2, 64, 32]>\n%1 = Input {name=k} : tensor<f32[2, 64, 32]>\n\
    %2 = Input {name=v} : tensor<f32[2, 64, 32]>\n%3 = Transpose (%1) {permutation=[0, 2, 1]}\n%4 = MatMul (%0, %3)\n\
    %5 = Softmax (%4) {axis=-1}\n%6 = MatMul (%5, %2)\noutputs: %6";
const EXP: &str = "%0 = Input {name=x} : tensor<f32[3000]>\n%1 = Exp (%0)\noutputs: %1";
const SOFTMAX: &str = "%0 = Input {name=x} : tensor<f32[40, 300]>\n%1 = Softmax (%0)\noutputs: %1";
const SUM: &str =
    "%0 = Input {name=x} : tensor<f32[70, 256]>\n%1 = Sum (%0) {axes=[0]}\noutputs: %1";

/// Options of the lowering, and the modules with a kernel that each applies to.
const OPTIONS: &[(&str, &[&str])] = &[
    ("tile=512", &[EXP, SOFTMAX]),
    ("unroll=1", &[EXP, SOFTMAX, SUM, ATTENTION]),
    ("micro-rows=1", &[DENSE, LIVE, CONV, ATTENTION]),
    ("micro-vectors=1", &[DENSE, LIVE, CONV, ATTENTION]),
    (
        "micro-rows=2 micro-vectors=3",
        &[DENSE, LIVE, CONV, ATTENTION],
    ),
    ("block-rows=12", &[DENSE, LIVE, CONV]),
    (
        "micro-rows=2 micro-vectors=1 block-columns=16",
        &[DENSE, LIVE],
    ),
    ("block-depth=16", &[DENSE, LIVE, ATTENTION]),
    ("pack=always", &[LIVE, ATTENTION]),
    ("pack=never", &[DENSE, CONV]),
    ("rows=8", &[ATTENTION]),
];

#[test]
fn options_of_the_lowering_reach_every_kernel_that_they_apply_to() {
    let (bench, folder) = (Bench::new(), Folder::new("options"));
    for (options, modules) in OPTIONS {
        for module in *modules {
            let g = bench.read(module).expect("a valid module");
            let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
            let [plain, asked] = ["", options].map(|options| {
                lowered(&bench, &g, options).unwrap_or_else(|why| panic!("{why}\n{module}"))
            });
            check(&bench, &asked, &arrays, &folder)
                .unwrap_or_else(|why| panic!("{options}: {why}\n{module}"));
            for isa in Isa::ALL {
                let [plain, asked] =
                    [&plain, &asked].map(|g| Made::of(g, isa, &bench).expect("a program"));
                let is_grain = options.starts_with("tile=");
                assert!(
                    plain != asked || is_grain && plain.may_have_other_steps(&asked),
                    "{isa}: `{options}` changes nothing of\n{module}"
                );
            }
        }
    }
}

#[test]
fn options_of_the_lowering_suit_every_op() {
    let bench = Bench {
        engines: engines().into_iter().rev().take(1).collect(),
        ..Bench::new()
    };
    let options = [
        "tile=64 unroll=2 rows=4 micro-rows=2 micro-vectors=1",
        "tile=1 unroll=8 block-rows=4 block-columns=16 block-depth=8 pack=always",
    ];
    for (options, dtype) in options.into_iter().zip([DType::F32, DType::F16]) {
        for case in all() {
            let text = text(&case, dtype, dtype, false);
            let Some(g) = bench.read(&text) else { continue };
            let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
            let bound = bind(&g, &arrays, Extents::default()).expect("they fit");
            let expected = run(&g, &bound, &Default::default());
            let low = match lowered(&bench, &g, options) {
                Err(_) if expected.is_err() => continue,
                low => low.unwrap_or_else(|why| panic!("{why}\n{text}")),
            };
            let program = bench.engines[0].program(&low);
            let program = program.unwrap_or_else(|found| panic!("{options}: {found:?}\n{text}"));
            same(&expected, execute(&program, &arrays))
                .unwrap_or_else(|why| panic!("{options}: {why}\n{text}"));
        }
    }
}
