//! Packages with flexible shapes, as ranges or as lists.

use mind_driver::formats::Format;
use mind_interp::{Extents as Dims, random_inputs};
use mind_ir::Graph;
use mind_mil::Opset;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Extents, Layout};

use crate::{Arrays, Packages};

/// A module, the extents of its dimensions, and the expected description of each input.
struct Open {
    source: &'static str,
    extents: &'static [(&'static str, &'static str)],
    described: &'static [&'static str],
}

/// Modules with a single input, with inputs that share a dimension, with inputs that have their own, and with both.
const MODULES: &[Open] = &[
    Open {
        source: SOFTMAX,
        extents: &[("B", "1..32")],
        described: &["x 1,3 of 1..32,3..3"],
    },
    Open {
        source: SOFTMAX,
        extents: &[("B", "4,8,2")],
        described: &["x 4,3 of 4,3 8,3 2,3"],
    },
    Open {
        source: SHARED,
        extents: &[("B", "2..7")],
        described: &["x 2,3 of 2..7,3..3", "y 2,1 of 2..7,1..1"],
    },
    Open {
        source: SHARED,
        extents: &[("B", "5,1")],
        described: &["x 5,3 of 5,3 1,3", "y 5,1 of 5,1 1,1"],
    },
    Open {
        source: PRODUCT,
        extents: &[("B", "1..4"), ("S", "2..9")],
        described: &["x 1,4 of 1..4,4..4", "y 4,2 of 4..4,2..9"],
    },
    Open {
        source: PRODUCT,
        extents: &[("B", "1,2"), ("S", "3,5")],
        described: &["x 1,4 of 1,4 1,4 2,4 2,4", "y 4,3 of 4,3 4,5 4,3 4,5"],
    },
    Open {
        source: NORMALIZED,
        extents: &[("B", "1..2"), ("S", "1..128")],
        described: &["x 1,1,4 of 1..2,1..128,4..4"],
    },
    Open {
        source: NORMALIZED,
        extents: &[("B", "1,2"), ("S", "16,32")],
        described: &["x 1,16,4 of 1,16,4 1,32,4 2,16,4 2,32,4"],
    },
    Open {
        source: IMAGE,
        extents: &[("B", "1..3")],
        described: &["x 1,6,6,2 of 1..3,6..6,6..6,2..2"],
    },
    Open {
        source: BESIDE,
        extents: &[("B", "3,6")],
        described: &["x 3,2 of 3,2 6,2"],
    },
];

const SOFTMAX: &str = "%0 = Input {name=x} : tensor<f32[B, 3]>
%1 = ConstTensor {data=[0.5, -0.25, 2.0], dtype=f32, shape=[3]} : tensor<f32[3]>
%2 = Mul (%0, %1)
%3 = Softmax (%2)
outputs: %3
";

const SHARED: &str = "%0 = Input {name=x} : tensor<f32[B, 3]>
%1 = Input {name=y} : tensor<f32[B, 1]>
%2 = Add (%0, %1)
%3 = Tanh (%2)
outputs: %3, %2
";

const PRODUCT: &str = "%0 = Input {name=x} : tensor<f32[B, 4]>
%1 = Input {name=y} : tensor<f32[4, S]>
%2 = MatMul (%0, %1)
outputs: %2
";

const NORMALIZED: &str = "%0 = Input {name=x} : tensor<f32[B, S, 4]>
%1 = ConstTensor {data=[1.0, 0.5, -1.0, 2.0], dtype=f32, shape=[4]} : tensor<f32[4]>
%2 = LayerNorm (%0)
%3 = Mul (%2, %1)
%4 = Transpose (%3) {permutation=[0, 2, 1]}
%5 = Sum (%4) {axes=[2], keepdims=true}
outputs: %5
";

const IMAGE: &str = "%0 = Input {name=x} : tensor<f32[B, 6, 6, 2]>
%1 = Relu (%0)
%2 = Mean (%1) {axes=[1, 2], keepdims=false}
outputs: %2
";

const BESIDE: &str = "%0 = Input {name=x} : tensor<f32[B, 2]>
%1 = Input {name=w} : tensor<f32[2, 2]>
%2 = MatMul (%0, %1)
outputs: %2
";

impl Packages<'_> {
    /// Adds modules with flexible dimensions, run at the last extent of each.
    pub(crate) fn flexible(&mut self) -> Result<(), String> {
        for (at, open) in MODULES.iter().enumerate() {
            let Some((_, g)) = self.read(open.source, Some(Format::Core)) else {
                return Err(format!("not a module:\n{}", open.source));
            };
            let own = |&(name, text): &(&str, &str)| (name.to_owned(), extents(text));
            for opset in [Opset::Ios16, Opset::Ios18] {
                for (word, layout) in [("keep", Layout::Keep), ("ane", Layout::Ane)] {
                    let config = Config {
                        layout,
                        opset,
                        interface: Interface::Any,
                        flexible: open.extents.iter().map(own).collect(),
                        ..Config::default()
                    };
                    let mut low = g.clone();
                    let refused = |found| format!("{}: {found:?}", open.source);
                    mind_to_mil::lower(&mut low, &config).map_err(refused)?;
                    let name = format!("flexible-{at}-{}-{word}", opset.tag());
                    self.add("flexible", name.clone(), open.source, low, |g| {
                        last(g, open)
                    })?;
                    let Some(judged) = self.judged.get_mut(&name) else {
                        let several = open.described.len() > 1 && !open.extents[0].1.contains("..");
                        if several && opset < Opset::Ios18 {
                            continue;
                        } else {
                            return Err(format!("{name} is not a package\n{}", open.source));
                        }
                    };
                    judged.shapes = open.described.iter().map(|&line| line.into()).collect();
                }
            }
        }
        Ok(())
    }
}

/// Parses `1..32` or `4,8`.
fn extents(text: &str) -> Extents {
    let number = |text: &str| text.parse().expect("an extent");
    match text.split_once("..") {
        Some((least, most)) => Extents::Range(number(least), number(most)),
        None => Extents::Listed(text.split(',').map(number).collect()),
    }
}

/// Returns arrays with the last extent of each dimension.
fn last(g: &Graph, open: &Open) -> Option<Arrays> {
    let pairs = open.extents.iter().filter_map(|(name, text)| {
        let (_, extent) = text.rsplit_once(['.', ','])?;
        Some((*name, extent.parse().ok()?))
    });
    let dims = Dims::given(g, pairs).ok()?;
    random_inputs(g, 1, dims).ok()
}
