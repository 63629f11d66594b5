//! A group is one kernel, as the cost model counts it: drawn modules and the inputs of the regression suite.

use std::collections::BTreeSet;
use std::path::Path;

use mind_core::ops::fused::Fused;
use mind_core::ops::input::Input;
use mind_driver::formats::Format;
use mind_driver::session::{PASSES, Session};
use mind_ir::builder::Builder;
use mind_ir::listener::Silent;
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::Dim;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId, ValueId};
use mind_pass::{Manager, Rewriting, Shared, Statistics, parse_pipeline};
use mind_reduce::reduction::reduce;
use mind_testgen::{Config, module};
use mind_text::Limits;

/// How many modules are drawn; `MIND_MODULES` asks for another number.
const MODULES: u64 = 1500;

/// What groups: the pass alone, and after what brings out more groups.
const PIPELINES: [&str; 2] = ["fuse", "simplify,fold,simplify,fuse,cse,dce"];

struct Bench {
    session: Session,
    shared: Shared,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            session: Session::default(),
            shared: Shared::default(),
        }
    }

    fn run(&self, g: &mut Graph, pipeline: &str) -> Result<Statistics, String> {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: true,
            verify: VerifyConfig::default(),
            rewriting: &Rewriting::default(),
            shared: &self.shared,
        };
        let mut statistics = Statistics::default();
        let parsed = parse_pipeline(pipeline, &PASSES).expect("a pipeline");
        let ran = manager.run(&parsed, g, &mut statistics, &mut Silent);
        ran.map_err(|failure| format!("{pipeline}: {failure:?}"))?;
        Ok(statistics)
    }

    /// Checks that each group of the module after `pipeline` becomes one kernel; how many groups there are.
    ///
    /// # Errors
    ///
    /// The first group that becomes several.
    fn check(&self, g: &Graph, pipeline: &str) -> Result<u64, String> {
        let mut g = g.clone();
        self.run(&mut g, pipeline)?;
        let groups: Vec<OpId> = g.ops(g.body()).filter(|&op| g.is::<Fused>(op)).collect();
        for &group in &groups {
            let mut alone = alone(&g, group);
            let text = self.print(&alone);
            let lowering = lowering(&alone);
            let statistics = self.run(&mut alone, &lowering)?;
            let kernels = statistics.iter().find(|row| row.1 == "kernels");
            let kernels = kernels.map_or(0, |row| row.2);
            if kernels != 1 {
                return Err(format!("a group of {kernels} kernels:\n{text}"));
            }
        }
        Ok(groups.len() as u64)
    }

    fn print(&self, g: &Graph) -> String {
        let printed = self.session.formats.print(Format::Core, g);
        printed.expect("Core text says everything")
    }
}

/// The module of a group alone.
fn alone(g: &Graph, group: OpId) -> Graph {
    let mut g = g.clone();
    let operands = g.operands(group).to_vec();
    for (index, operand) in operands.into_iter().enumerate() {
        let ty = g.type_id(operand).expect("a verified value has a type");
        let name = g.intern(&format!("operand{index}"));
        let attrs = Input::attrs(name, false, 0);
        let input = Builder::before(&mut g, group).create_typed(Input::DEF, &[], &attrs, &[ty]);
        let value = g.result(input);
        g.set_operand(group, index, value);
    }
    let end = g.terminator(g.body()).expect("a verified body ends");
    let results: Vec<ValueId> = g.results(group).into_iter().collect();
    g.set_operands(end, &results);
    let ops: Vec<OpId> = g.ops(g.body()).collect();
    for op in ops.into_iter().rev() {
        let read = g
            .results(op)
            .into_iter()
            .any(|value| !g.uses(value).is_empty());
        if !read && !g.def(op).has(Trait::Terminator) {
            g.erase(op);
        }
    }
    g
}

/// The lowering, after each symbol of the module has another extent.
fn lowering(g: &Graph) -> String {
    let values = g.ops(g.body()).flat_map(|op| g.results(op));
    let dims = values.flat_map(|value| g.ty(value).shape.iter());
    let names: BTreeSet<String> = dims
        .filter(|dim| matches!(dim, Dim::Symbol(_)))
        .map(|dim| dim.display(g.symbols()).to_string())
        .collect();
    let extents = names
        .iter()
        .zip(3..)
        .map(|(name, extent)| format!("{name}:{extent}"));
    let extents: Vec<String> = extents.collect();
    match extents.is_empty() {
        true => "lower-to-loops".to_owned(),
        false => format!("specialize{{dims={}}},lower-to-loops", extents.join("+")),
    }
}

#[test]
fn each_group_of_a_drawn_module_is_one_kernel() {
    let bench = Bench::new();
    let asked = std::env::var("MIND_MODULES").ok();
    let count = asked.map_or(MODULES, |count| count.parse().expect("a number"));
    let mut groups = 0;
    for seed in 0..count {
        let config = Config {
            ops: 8 + seed as usize % 24,
            ..Config::default()
        };
        let mut g = module(seed, &config);
        assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
        for pipeline in PIPELINES {
            groups += bench.check(&g, pipeline).unwrap_or_else(|_| {
                let check = |g: &Graph| bench.check(g, pipeline);
                let small = reduce(&g, &Default::default(), &mut |g| check(g).is_err()).graph;
                let why = check(&small).expect_err("a reduced module still fails");
                panic!("seed {seed}, {pipeline}: {why}")
            });
        }
    }
    assert!(groups > count, "only {groups} groups");
}

/// The modules of the suite: each valid part of each file, unless it holds groups that are written by hand.
fn suite(session: &Session) -> Vec<(String, Graph)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../examples"), root.to_owned()];
    let mut modules = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the tree") {
            let path = entry.expect("an entry").path();
            let format = match path.extension().and_then(|end| end.to_str()) {
                Some("core") => Format::Core,
                Some("mic") => Format::Mic1,
                Some("mic2") => Format::Mic2,
                None if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                _ => continue,
            };
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for (part, text) in text.split("# -----").enumerate() {
                let title = text.find('\n').filter(|_| part > 0);
                let text = &text[title.unwrap_or(0)..];
                let parsed = session.formats.parse(format, text, 0, &Limits::default());
                if let Ok(mut g) = parsed
                    && !verify(&mut g, &VerifyConfig::default()).has_errors()
                    && !g.ops(g.body()).any(|op| g.is::<Fused>(op))
                {
                    modules.push((format!("{}, part {part}", path.display()), g));
                }
            }
        }
    }
    modules
}

#[test]
fn each_group_of_an_input_of_the_suite_is_one_kernel() {
    let bench = Bench::new();
    let mut groups = 0;
    let mut failures = Vec::new();
    for (name, g) in suite(&bench.session) {
        for pipeline in PIPELINES {
            match bench.check(&g, pipeline) {
                Ok(found) => groups += found,
                Err(why) => failures.push(format!("{name}, {pipeline}: {why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(groups > 100, "only {groups} groups");
}
