//! Programs from the disk cache have the same code and the same results as newly compiled ones.

use std::num::NonZero;
use std::sync::Arc;

use mind_driver::cache::CompileCache;
use mind_driver::engine::{Config, Engine};
use mind_interp::{Arrays, Extents, bind, random_inputs, run};
use mind_ir::Graph;
use mind_vir::target::Isa;

use super::{Bench, Folder, constants, control, draw, execute, in_parts, same};

/// The number of random modules.
const MODULES: u64 = 60;

/// Engines that share a cache, so that the second one finds the programs of the first one.
struct Engines {
    cache: Arc<CompileCache>,
    engine: Arc<Engine>,
}

impl Engines {
    fn new(folder: &Folder) -> Engines {
        let cache = CompileCache::open(&folder.0.join("programs"), CompileCache::LIMIT);
        let cache = Arc::new(cache.expect("a folder of its own"));
        let config = Config {
            cache: Some(cache.clone()),
            threads: NonZero::new(1),
            ..Config::default()
        };
        Engines {
            engine: Arc::new(Engine::new(&config).expect("this machine")),
            cache,
        }
    }

    /// Compiles a module twice; the second time everything must be cached.
    ///
    /// # Errors
    ///
    /// The first difference.
    fn check(&self, g: &Graph, arrays: &Arrays) -> Result<(), String> {
        let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
        let expected = run(g, &bound, &Default::default());
        let is_cut = self
            .engine
            .is_cut(g, &bound)
            .map_err(|found| format!("{found:?}"))?;
        if is_cut {
            for _ in 0..2 {
                same(&expected, in_parts(&self.engine, g, arrays))?;
            }
            return Ok(());
        }
        let compile = || self.engine.compile_and_cut(g, &bound);
        let Ok((first, first_segments)) = compile() else {
            return match expected {
                Err(_) => Ok(()),
                Ok(_) => Err("it was not compiled".to_owned()),
            };
        };
        let found = self.cache.stats().found;
        let (second, second_segments) = compile().map_err(|found| format!("{found:?}"))?;
        if self.cache.stats().found != found + 1 {
            return Err("it was not found".to_owned());
        }
        if first.code() != second.code() || first_segments != second_segments {
            return Err("other code was found".to_owned());
        }
        same(&expected, execute(&first, arrays))?;
        same(&expected, execute(&second, arrays))
    }
}

#[test]
fn drawn_modules_that_were_kept() {
    let (bench, folder) = (Bench::new(), Folder::new("kept"));
    let engines = Engines::new(&folder);
    let config = mind_testgen::Config::default();
    draw(&bench, (MODULES, &config), &|g, arrays| {
        engines.check(g, arrays)
    });
}

#[test]
fn control_flow_and_large_constants_that_were_kept() {
    let (bench, folder) = (Bench::new(), Folder::new("kept-regions"));
    let engines = Engines::new(&folder);
    let control = control::MODULES.iter();
    let control = control.map(|(text, _)| bench.read(text).expect("a module"));
    // Two modules that differ only in the elements of constants.
    let constants = [1, 2].map(|seed| constants::with_constants(&bench, seed, 0));
    let modules = control.chain(constants);
    for (at, g) in modules.enumerate() {
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        let checked = engines.check(&g, &arrays);
        checked.unwrap_or_else(|why| panic!("module {at}: {why}"));
    }
}

#[test]
fn another_place_constant_or_target_is_another_program() {
    let (bench, folder) = (Bench::new(), Folder::new("kept-apart"));
    let engines = Engines::new(&folder);
    let compile = |engine: &Engine, text: &str| {
        let compiled = engine.compile(bench.read(text).expect("a module"));
        compiled.expect("it has kernels").0.code()
    };
    let text = |space: &str, value: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<f32[8]>\n{space}%1 = ConstF32 {{value={value}}}\n%2 = Mul (%0, %1)\noutputs: %2"
        )
    };
    let first = compile(&engines.engine, &text("", "2.0"));
    for other in [text(" ", "2.0"), text("", "3.0")] {
        compile(&engines.engine, &other);
    }
    let portable = Engine::new(&Config {
        cache: Some(engines.cache.clone()),
        isa: Some(Isa::Portable),
        ..Config::default()
    });
    let portable = portable.expect("every machine has it");
    assert_ne!(compile(&portable, &text("", "2.0")), first);
    let stats = engines.cache.stats();
    assert_eq!((stats.found, stats.missed, stats.programs), (0, 4, 4));
    assert_eq!(compile(&engines.engine, &text("", "2.0")), first);
    assert_eq!(engines.cache.stats().found, 1);
}
