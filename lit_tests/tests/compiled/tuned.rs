//! Schedules that are chosen by measuring: any of them is the same bits, and what was chosen is kept.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use mind_driver::cache::CompileCache;
use mind_driver::engine::{Config, Engine};
use mind_driver::tune::{Tuner, alternatives};
use mind_interp::{Arrays, Extents, bind, random_inputs, run};
use mind_ir::Graph;
use mind_vir::target::Isa;

use super::{Bench, Folder, draw, execute, lower, same};

/// How many modules are drawn.
const MODULES: u64 = 12;

/// A product, rows and columns that are reduced, a block, a convolution, a window that slides, and a loop.
const KINDS: &[&str] = &[
    "%0 = Input {name=x} : tensor<f32[20, 30]>\n%1 = Input {name=w, role=param} : tensor<f32[30, 40]>\n\
     %2 = MatMul (%0, %1)\n%3 = Gelu (%2)\n%4 = Softmax (%3)\n%5 = Sum (%4) {axes=[0]}\noutputs: %4, %5",
    "%0 = Input {name=q} : tensor<f32[2, 40, 16]>\n%1 = Input {name=k} : tensor<f32[2, 16, 40]>\n\
     %2 = Input {name=v} : tensor<f32[2, 40, 16]>\n%3 = MatMul (%0, %1)\n%4 = Softmax (%3) {axis=-1}\n\
     %5 = MatMul (%4, %2)\noutputs: %5",
    "%0 = Input {name=x} : tensor<f32[1, 9, 10, 3]>\n%1 = Input {name=f, role=param} : tensor<f32[3, 3, 3, 20]>\n\
     %2 = Conv2d (%0, %1)\n%3 = Relu (%2)\n\
     %4 = ReduceWindow (%3) {kind=max, window=[1, 2, 2, 1], strides=[1, 2, 2, 1]}\noutputs: %4",
    "%0 = Input {name=c} : tensor<f32[300]>\n%1 = Input {name=xs} : tensor<f32[3, 300]>\n\
     %2 = Scan (%0, %1) {carried=1, scanned=1} {\n  args: %3, %4\n  %5 = Add (%3, %4)\n  %6 = Tanh (%5)\n  yield: %6\n}\n\
     outputs: %2",
];

/// Returns a tuner whose stopwatch finds candidate `favourite` of every kernel the fastest.
fn favouring(favourite: usize) -> Arc<Tuner> {
    let time = move |number: Option<usize>, work: &mut dyn FnMut()| {
        work();
        // So long that one run is enough.
        let is_best = number == Some(favourite);
        Duration::from_secs(if is_best { 1 } else { 2 })
    };
    Arc::new(Tuner::with_stopwatch(Tuner::LIMIT, Box::new(time)))
}

fn engine(tuner: &Arc<Tuner>, cache: Option<&Arc<CompileCache>>) -> Engine {
    let config = Config {
        threads: NonZero::new(2),
        tuner: Some(tuner.clone()),
        cache: cache.cloned(),
        ..Config::default()
    };
    Engine::new(&config).expect("this machine")
}

/// Each kernel with each other schedule that it can have, one at a time.
fn check_alternatives(bench: &Bench, g: &Graph, arrays: &Arrays) -> Result<usize, String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let expected = run(g, &bound, &Default::default());
    let engine = bench.engines.last().expect("two threads");
    let is_cut = engine.is_cut(g, &bound);
    if is_cut.map_err(|found| format!("{found:?}"))? || expected.is_err() {
        return Ok(0);
    }
    let low = lower(engine, g, &bound)?;
    let mut ran = 0;
    for (op, others) in alternatives(&low, engine.target(), 2) {
        for schedule in others {
            let mut other = low.clone();
            schedule.apply(&mut other, op);
            let found = mind_ir::verify::verify(&mut other, &Default::default());
            if found.has_errors() {
                continue;
            }
            let Ok(program) = engine.program(&other) else {
                continue;
            };
            same(&expected, execute(&program, arrays))
                .map_err(|why| format!("{schedule}: {why}"))?;
            ran += 1;
        }
    }
    Ok(ran)
}

#[test]
fn every_schedule_that_is_tried_has_the_same_bits() {
    let bench = Bench::new();
    let config = mind_testgen::Config::default();
    draw(&bench, (MODULES, &config), &|g, arrays| {
        check_alternatives(&bench, g, arrays).map(drop)
    });
    for text in KINDS {
        let g = bench.read(text).expect("a module");
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        let ran = check_alternatives(&bench, &g, &arrays);
        let ran = ran.unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert!(ran >= 5, "only {ran} schedules ran of\n{text}");
    }
}

#[test]
fn whatever_the_clock_favours_is_chosen_and_has_the_same_bits() {
    let bench = Bench::new();
    for text in KINDS {
        let g = bench.read(text).expect("a module");
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        let bound = bind(&g, &arrays, Extents::default()).expect("they fit");
        let expected = run(&g, &bound, &Default::default());
        let mut chosen = 0;
        for favourite in [0, 3, 6] {
            let tuner = favouring(favourite);
            let (program, _) = engine(&tuner, None)
                .compile(g.clone())
                .expect("it has kernels");
            same(&expected, execute(&program, &arrays))
                .unwrap_or_else(|why| panic!("{why}\n{text}"));
            for choice in tuner.choices() {
                assert_eq!(
                    (choice.gain, choice.from == choice.to),
                    (2.0, false),
                    "{choice:?}"
                );
                chosen += 1;
            }
        }
        assert!(chosen > 0, "nothing was chosen of\n{text}");
    }
}

#[test]
fn what_was_chosen_is_kept_for_the_module_and_for_others_with_the_same_kernel() {
    let (bench, folder) = (Bench::new(), Folder::new("tuned"));
    let cache = CompileCache::open(&folder.0.join("programs"), CompileCache::LIMIT);
    let cache = Arc::new(cache.expect("a folder of its own"));
    let product = |before: &str, name: &str| {
        let text = format!(
            "{before}%0 = Input {{name=x}} : tensor<f32[20, 30]>\n%1 = Input {{name={name}, role=param}} : tensor<f32[30, 40]>\n\
             %2 = MatMul (%0, %1)\n%3 = Relu (%2)\noutputs: %3"
        );
        bench.read(&text).expect("a module")
    };
    let compile = |g: Graph, favourite: usize| {
        let tuner = favouring(favourite);
        let compiled = engine(&tuner, Some(&cache)).compile(g);
        let code = compiled.expect("it has kernels").0.code();
        (code, tuner.choices(), tuner.measured())
    };
    let (code, choices, measured) = compile(product("", "w"), 2);
    assert!(measured > 2 && choices.len() == 1, "{choices:?}");
    // The second start measures nothing and says the same, whatever its clock would have found.
    assert_eq!(
        compile(product("", "w"), 4),
        (code.clone(), choices.clone(), 0)
    );
    // Another module with the same kernel, which stands elsewhere.
    let (other, moved, measured) = compile(product("# A comment.\n", "v"), 4);
    assert_eq!((other == code, measured), (true, 0));
    assert_eq!(
        (&moved[0].to, moved[0].span != choices[0].span),
        (&choices[0].to, true)
    );
    let stats = cache.stats();
    assert_eq!((stats.programs, stats.found), (2, 1));
    // Without a tuner, and for another instruction set, the module is another program.
    let plain = Engine::new(&Config {
        cache: Some(cache.clone()),
        threads: NonZero::new(2),
        ..Config::default()
    });
    let plain = plain.expect("this machine").compile(product("", "w"));
    assert_ne!(plain.expect("it has kernels").0.code(), code);
    let tuner = favouring(2);
    let portable = Engine::new(&Config {
        cache: Some(cache.clone()),
        isa: Some(Isa::Portable),
        tuner: Some(tuner.clone()),
        ..Config::default()
    });
    let portable = portable
        .expect("every machine has it")
        .compile(product("", "w"));
    portable.expect("it has kernels");
    assert!(tuner.measured() > 0);
}

#[test]
fn no_more_candidates_are_measured_than_are_allowed() {
    let bench = Bench::new();
    let time = |_: Option<usize>, work: &mut dyn FnMut()| {
        work();
        Duration::from_secs(1)
    };
    let tuner = Arc::new(Tuner::with_stopwatch(3, Box::new(time)));
    let g = bench.read(KINDS[0]).expect("a module");
    engine(&tuner, None).compile(g).expect("it has kernels");
    // All take as long as the default, so that nothing is changed.
    assert_eq!((tuner.measured(), tuner.choices()), (3, Vec::new()));
}
