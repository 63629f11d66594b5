//! Real-world modules as Core text, for measuring compiled code.
//!
//! - [`all`]: every workload, by family: a residual block, a perceptron, products, elementwise chains, rows, an encoder
//!   layer, convolutions, windows, a recurrent layer, a decoder layer.
//! - [`products::product`]: a product of any extents.
//! - [`run`]: a compiled workload, bound to random arrays.
//! - [`report`]: times compared with the peaks of the machine, as text and as JSON.
//! - [`tuned`]: a workload with the default schedules of the lowering and with tuned ones.

pub mod products;
pub mod report;
pub mod run;
pub mod tuned;

mod convolution;
mod elementwise;
mod recurrent;
mod rows;
mod text;
mod transformer;
mod windows;

/// A module to measure.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The name, for example `matmul-512`.
    pub name: String,
    /// The module as Core text. Weights are `param`s; all shapes are static.
    pub text: String,
    /// Multiplications and additions of its products and convolutions in one run.
    pub flops: u64,
    /// Bytes of its inputs, weights and outputs, each counted once.
    pub bytes: u64,
}

/// Returns every workload, in the order of a report.
pub fn all() -> Vec<Workload> {
    let families = [
        products::blocks(),
        products::perceptrons(),
        products::matrices(),
        elementwise::all(),
        rows::all(),
        transformer::encoders(),
        convolution::all(),
        windows::all(),
        recurrent::all(),
        transformer::decoders(),
    ];
    families.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::run::Code;
    use mind_driver::engine::{Config, Engine};
    use mind_interp::{Extents, RunConfig, bind, random_inputs};

    #[test]
    fn every_workload_verifies_and_its_counts_are_those_of_its_interface() {
        let mut names = std::collections::BTreeSet::new();
        for workload in all() {
            assert!(
                names.insert(workload.name.clone()),
                "{} twice",
                workload.name
            );
            let graph = run::graph(&workload).unwrap_or_else(|why| panic!("{why}"));
            let interface = run::interface_bytes(&graph);
            assert_eq!(workload.bytes, interface, "{}", workload.name);
        }
        assert!(names.len() > 30);
    }

    #[test]
    fn small_workloads_give_the_same_bits_compiled_and_interpreted() {
        let engine = Engine::new(&Config::default()).expect("an engine for this machine");
        let small = [
            "block-128-f32",
            "block-128-bf16",
            "mlp-1",
            "matmul-64",
            "chain-16k",
            "silu-gate-16k",
        ];
        for workload in all()
            .iter()
            .filter(|workload| small.contains(&&*workload.name))
        {
            let graph = run::graph(workload).expect("it verifies");
            let arrays = random_inputs(&graph, 1, Extents::default()).expect("they fit");
            let bound = bind(&graph, &arrays, Extents::default()).expect("they fit");
            let expected =
                mind_interp::run(&graph, &bound, &RunConfig::default()).expect("it runs");
            let code = Code::compile(&engine, &graph).expect("it compiles");
            let found = code.run_on(&arrays).expect("it runs");
            if let Err(why) = mind_interp::compare(&expected, &found) {
                panic!("{}: {why}", workload.name);
            }
        }
    }
}
