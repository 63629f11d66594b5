//! A whole model as one file of C.
//!
//! The file holds the parts of a layer as functions, tables of where each weight stands in its file, and a
//! `main` that goes on from given tokens. It needs nothing but a C compiler, and gives the logits of a
//! [`Session`](crate::Session), bit for bit.

mod rows;
mod table;

use std::fmt::Write;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_driver::engine::{CTiles, c_functions};
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_irv2::graph::{BuildError, parts, quant_format, rope};
use mind_irv2::{Attribute, Config, Turning};
use mind_jit::program::CPart;
use mind_vir::c::SharedFunctions;
use mind_weights::WeightType;

pub use table::{Stored, TableError, Tensors};

/// Tokens of a pass of several.
const CHUNK: usize = 16;

/// Tiles of products that decode weights. The text of decoding is that of a kernel almost alone, and there once for each vector
/// of a tile, each block of terms and each remainder: such kernels are written with the vectors of one panel, all terms of a
/// chain and rows that divide those of a pass.
const DECODING: CTiles = CTiles {
    rows: 0,
    vectors: 2,
    depth: 1 << 20,
};

/// Rows of such a tile in a pass of several tokens.
const DECODING_ROWS: u32 = 4;

const RUNTIME: &str = include_str!("runtime.c");

/// Why a model has no C.
#[derive(Debug, thiserror::Error)]
pub enum CError {
    /// The model has extents that no op takes.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A part could not be written.
    #[error("{}", messages(.0))]
    Compile(Diagnostics),
    /// Weights that the file could not read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A capacity beyond the positions that the model knows, or none.
    #[error("a cache for {capacity} tokens is not from 1 to the model's context of {context}")]
    Context {
        /// What was asked for.
        capacity: usize,
        /// The model's context window.
        context: usize,
    },
}

fn messages(found: &Diagnostics) -> String {
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    messages.join("; ")
}

/// Builds a part for a number of tokens.
type Build = fn(&Config, usize, parts::Stored<'_>) -> Result<Graph, BuildError>;

/// The functions of a part for layers whose weights are stored alike.
struct Variant {
    name: String,
    one: CPart,
    many: CPart,
}

/// The parts in front of and behind attention, and for each layer which of their variants it has.
struct Layers {
    project: Vec<Variant>,
    finish: Vec<Variant>,
    choice: Vec<usize>,
}

/// The text of a program that runs the model on sequences of at most `capacity` tokens.
///
/// # Errors
///
/// A quantised vector; a capacity beyond the model's context.
pub fn c_program(config: &Config, tensors: &Tensors, capacity: usize) -> Result<String, CError> {
    let context = config.context_window;
    if capacity == 0 || capacity > context {
        return Err(CError::Context { capacity, context });
    }
    let mut functions = SharedFunctions::new("kernel").expect("a name of C");
    let mut writer = PartWriter {
        session: &Session::default(),
        config,
        functions: &mut functions,
    };
    let layers = layers(&mut writer, tensors)?;
    let stored = |name: &str| tensors.stored_as(name, None);
    let head = writer.part((parts::head, 1), "head_1", &stored)?;
    let rows = attention_rows(capacity);
    let mut attention = Vec::new();
    for &seen in &rows {
        for tokens in [1, CHUNK] {
            let graph = parts::attend(config, tokens, seen)?;
            let name = format!("attend_{tokens}_{seen}");
            attention.push(writer.functions(graph, &name, CTiles::default())?);
        }
    }
    let variants = || layers.project.iter().chain(&layers.finish);
    let mut texts = vec![HEADERS.to_owned()];
    texts.extend(variants().map(|variant| variant.one.bind_text.clone()));
    texts.push(head.bind_text.clone());
    let written = variants().flat_map(|variant| [&variant.one, &variant.many]);
    let written = written.chain([&head]).chain(&attention);
    texts.extend(written.map(|part| part.text.clone()));
    texts.push(sizes(config, tensors, capacity, &rows));
    texts.push(rows::tables(config, tensors, &layers, &head)?);
    texts.push(RUNTIME.to_owned());
    Ok(mind_vir::c::written(&functions, &texts))
}

const HEADERS: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
";

/// Writes the parts of a model.
struct PartWriter<'m> {
    session: &'m Session,
    config: &'m Config,
    /// What the parts call.
    functions: &'m mut SharedFunctions,
}

impl PartWriter<'_> {
    /// The functions of a module.
    fn functions(&mut self, graph: Graph, name: &str, tiles: CTiles) -> Result<CPart, CError> {
        c_functions(self.session, graph, name, tiles, self.functions).map_err(CError::Compile)
    }

    /// A part for weights that are stored as `stored` says.
    fn part(
        &mut self,
        (build, tokens): (Build, usize),
        name: &str,
        stored: &dyn Fn(&str) -> WeightType,
    ) -> Result<CPart, CError> {
        let graph = build(self.config, tokens, stored)?;
        let weights = mind_interp::inputs(&graph).into_iter();
        let mut weights = weights.filter(|input| input.param);
        let tiles = if weights.any(|input| quant_format(stored(input.name)).is_some()) {
            CTiles {
                rows: if tokens == 1 { 0 } else { DECODING_ROWS },
                ..DECODING
            }
        } else {
            CTiles::default()
        };
        let part = self.functions(graph, name, tiles)?;
        let unread = |port: &&mind_jit::program::Port| {
            port.format.is_none() && quant_format(stored(&port.name)).is_some()
        };
        match part.params.iter().find(unread) {
            Some(port) => {
                let (name, found) = (port.name.clone(), stored(&port.name));
                Err(TableError::Format { name, found }.into())
            }
            None => Ok(part),
        }
    }
}

/// The parts of all layers: one variant for each way of storing the weights of a layer.
fn layers(writer: &mut PartWriter<'_>, tensors: &Tensors) -> Result<Layers, CError> {
    let mut layers = Layers {
        project: Vec::new(),
        finish: Vec::new(),
        choice: Vec::new(),
    };
    let mut known: Vec<Vec<(&str, WeightType)>> = Vec::new();
    for layer in 0..writer.config.num_layers {
        let types = tensors.types(layer);
        if let Some(at) = known.iter().position(|own| *own == types) {
            layers.choice.push(at);
            continue;
        }
        let at = known.len();
        layers.choice.push(at);
        known.push(types);
        let stored = |name: &str| tensors.stored_as(name, Some(layer));
        let mut variant = |build: Build, name: &str| {
            let name = format!("{name}_{at}");
            let one = writer.part((build, 1), &format!("{name}_1"), &stored)?;
            let called = format!("{name}_{CHUNK}");
            let many = writer.part((build, CHUNK), &called, &stored)?;
            if one.binding != many.binding {
                let text = "parts for one and for several tokens pack their weights differently";
                let found = Diagnostic::error(Span::FILE, text);
                return Err(CError::Compile(found.into()));
            }
            Ok(Variant { name, one, many })
        };
        layers.project.push(variant(parts::project, "project")?);
        layers.finish.push(variant(parts::finish, "finish")?);
    }
    Ok(layers)
}

/// The rows of the cache that attention is written for: enough for `capacity` tokens, doubling.
fn attention_rows(capacity: usize) -> Vec<usize> {
    let mut rows = vec![64];
    while rows[rows.len() - 1] < capacity {
        rows.push(2 * rows[rows.len() - 1]);
    }
    rows
}

/// What the runtime is told as macros, and the choice of attention.
fn sizes(config: &Config, tensors: &Tensors, capacity: usize, attended: &[usize]) -> String {
    let frequencies = Turning::ALL.map(|turning| rope::frequencies_of(config, turning));
    let positions = config.family.buffer("pos_emb");
    let has_positions = positions.is_some_and(|own| config.has(own));
    let cache = attended.last().copied().unwrap_or(0) + CHUNK;
    let defines = [
        ("LAYERS", config.num_layers),
        ("WIDTH", config.hidden_size),
        ("Q_WIDTH", config.q_width()),
        ("KV_WIDTH", config.kv_width()),
        ("VOCAB", config.vocab_size),
        ("PAIRS", frequencies[0].len()),
        ("POSITIONS", usize::from(has_positions)),
        ("CHUNK", CHUNK),
        ("CAPACITY", capacity),
        ("ROWS", cache),
        ("FILES", tensors.files().max(1)),
    ];
    let mut text = String::from("\n");
    for (name, value) in defines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {name} {value}");
    }
    let scale = config.attributes.get(Attribute::EmbeddingScale) as f32;
    let _ = writeln!(
        text,
        "\n/* What embeddings are multiplied by, as the bits of a float. */\n\
         #define EMBEDDING_SCALE {:#x}u",
        scale.to_bits()
    );
    let rows = frequencies.map(|own| {
        let bits: Vec<String> = own.iter().map(|x| format!("{:#x}", x.to_bits())).collect();
        let bits = if bits.is_empty() {
            "0".to_owned()
        } else {
            bits.join(", ")
        };
        format!("    {{{bits}}}")
    });
    let _ = writeln!(
        text,
        "\n/* What positions are multiplied by, as bits of float, for each way in which heads turn. */\n\
         static const uint32_t frequencies[{}][PAIRS > 0 ? PAIRS : 1] = {{\n{}\n}};",
        Turning::COUNT,
        rows.join(",\n")
    );
    let layers = (0..config.num_layers).map(|layer| {
        let (turning, window) = (config.turning(layer) as usize, config.window(layer));
        format!("    {{{turning}, {}}}", window.unwrap_or(0))
    });
    let _ = writeln!(
        text,
        "\n/* How the heads of each layer turn, and how many positions its queries see; 0 for all. */\n\
         static const struct {{\n    int turning, window;\n}} layers[LAYERS] = {{\n{}\n}};",
        layers.collect::<Vec<_>>().join(",\n")
    );
    text += "\n/* Attention over the first rows of the cache, of one token and of CHUNK. */\n\
             static const struct {\n    int rows;\n    \
             int (*one)(const void *const *inputs, void *const *outputs);\n    \
             int (*many)(const void *const *inputs, void *const *outputs);\n} attention[] = {\n";
    for rows in attended {
        let _ = writeln!(
            text,
            "    {{{rows}, attend_1_{rows}, attend_{CHUNK}_{rows}}},"
        );
    }
    text + "};\n"
}
