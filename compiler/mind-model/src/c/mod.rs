//! A whole model as one file of C.
//!
//! The file holds the parts of a layer as functions, tables of where each weight stands in its file, and a
//! `main` that goes on from given tokens, or makes vectors of them. It needs nothing but a C compiler, and gives the logits
//! of a [`Session`](crate::Session) or the vectors of an [`Encoder`](crate::Encoder), bit for bit.

mod encoder;
mod mixture;
mod rows;
mod table;

use std::fmt::Write;

use mind_diag::Diagnostics;
use mind_driver::engine::{CTiles, c_functions};
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_irv2::graph::{BuildError, parts, quant_format, rope, routed};
use mind_irv2::{Among, Attribute, Config, Turning};
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
const DECODER: &str = include_str!("decoder.c");

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
    #[error("room for {capacity} tokens is not from 1 to the model's context of {context}")]
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

/// The steps of a layer, and what its weights are stored as: layers of one kind have the same functions.
type Kind = (Vec<bool>, Vec<(String, WeightType)>);

/// The functions of a part for weights that are stored alike.
struct Variant {
    name: String,
    one: CPart,
    many: Option<CPart>,
}

impl Variant {
    /// Its functions.
    fn parts(&self) -> impl Iterator<Item = &CPart> {
        std::iter::once(&self.one).chain(&self.many)
    }

    /// The names of its functions for one pass of the fewest tokens and of the most.
    fn functions(&self) -> [String; 2] {
        let name = &self.name;
        match self.many {
            Some(_) => [format!("{name}_1"), format!("{name}_{CHUNK}")],
            None => [name.clone(), name.clone()],
        }
    }

    /// The part for several tokens, if they need the weights packed otherwise than one token: a matrix of few rows is packed by
    /// how many tokens it is for.
    fn packed_otherwise(&self) -> Option<&CPart> {
        let many = self.many.as_ref();
        many.filter(|many| many.binding != self.one.binding)
    }

    /// The functions that pack its weights.
    fn bind_texts(&self) -> impl Iterator<Item = String> {
        let parts = std::iter::once(&self.one).chain(self.packed_otherwise());
        parts.map(|part| part.bind_text.clone())
    }
}

/// The parts of layers: their names in C, and which layers have them.
const STAGES: [(&str, Build, Among); 5] = [
    ("project", parts::project, Among::Every),
    ("finish", parts::finish, Among::Dense),
    ("route", routed::route, Among::Experts),
    (EXPERT, routed::expert, Among::Experts),
    ("merge", routed::merge, Among::Experts),
];

/// The part that layers have once for each expert.
const EXPERT: &str = "expert";

/// The variants of a part, and for each layer which of them it has, if any.
#[derive(Default)]
struct StageVariants {
    variants: Vec<Variant>,
    choice: Vec<Option<usize>>,
}

/// The variants of each of [`STAGES`].
struct Layers {
    stages: Vec<StageVariants>,
}

impl Layers {
    /// Every variant of a part.
    fn variants(&self) -> impl Iterator<Item = &Variant> {
        self.stages.iter().flat_map(|stage| &stage.variants)
    }
}

/// The text of a program that runs the model on sequences of at most `capacity` tokens.
///
/// # Errors
///
/// A quantised vector; a capacity beyond the model's context.
pub fn c_program(config: &Config, tensors: &Tensors, capacity: usize) -> Result<String, CError> {
    let context = config.most_tokens();
    if capacity == 0 || capacity > context {
        return Err(CError::Context { capacity, context });
    }
    let mut parts = PartWriter::new(config, tensors);
    if config.family.is_encoder() {
        return encoder::program(parts, capacity);
    }
    let layers = parts.layers(&[1, CHUNK])?;
    let head = parts.single((parts::head, 1), "head")?;
    let rows = attention_rows(capacity);
    let attention = parts.attention(&rows, &[1, CHUNK])?;
    let sizes = sizes(config, tensors, capacity, (&rows, CHUNK));
    let tables = sizes + &choice(&rows, &[1, CHUNK]) + &mixture::tables(config)?;
    let runtime = [RUNTIME, DECODER].concat();
    parts.program((layers, vec![head], attention), [tables, runtime])
}

const HEADERS: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
";

/// Writes the parts of a model.
struct PartWriter<'m> {
    session: Session,
    config: &'m Config,
    tensors: &'m Tensors,
    /// What the parts call.
    functions: SharedFunctions,
}

impl<'m> PartWriter<'m> {
    fn new(config: &'m Config, tensors: &'m Tensors) -> PartWriter<'m> {
        PartWriter {
            session: Session::default(),
            config,
            tensors,
            functions: SharedFunctions::new("kernel").expect("a name of C"),
        }
    }

    /// The functions of a module.
    fn functions(&mut self, graph: Graph, name: &str, tiles: CTiles) -> Result<CPart, CError> {
        let part = c_functions(&self.session, graph, name, tiles, &mut self.functions);
        part.map_err(CError::Compile)
    }

    /// A part for weights that are stored as `stored` says, of the model or of a layer of `config`.
    fn part(
        &mut self,
        config: &Config,
        (build, tokens): (Build, usize),
        name: &str,
        stored: &dyn Fn(&str) -> WeightType,
    ) -> Result<CPart, CError> {
        let graph = build(config, tokens, stored)?;
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

    /// A part that the model has once, for passes of `tokens`.
    fn single(&mut self, (build, tokens): (Build, usize), name: &str) -> Result<Variant, CError> {
        let tensors = self.tensors;
        let stored = |name: &str| tensors.stored_as(name, None);
        let name = format!("{name}_{tokens}");
        Ok(Variant {
            one: self.part(self.config, (build, tokens), &name, &stored)?,
            many: None,
            name,
        })
    }

    /// Attention for each number of `tokens` of a pass, over each number of cached `rows`.
    fn attention(&mut self, rows: &[usize], tokens: &[usize]) -> Result<Vec<CPart>, CError> {
        let mut attention = Vec::new();
        for &seen in rows {
            for &tokens in tokens {
                let graph = parts::attend(self.config, tokens, seen)?;
                let name = format!("attend_{tokens}_{seen}");
                attention.push(self.functions(graph, &name, CTiles::default())?);
            }
        }
        Ok(attention)
    }

    /// The parts of all layers for passes of one or two numbers of tokens: one variant for each way of storing the weights of
    /// a part.
    fn layers(&mut self, tokens: &[usize]) -> Result<Layers, CError> {
        let stages = STAGES.into_iter().map(|stage| self.stage(stage, tokens));
        Ok(Layers {
            stages: stages.collect::<Result<_, _>>()?,
        })
    }

    fn stage(
        &mut self,
        (name, build, among): (&str, Build, Among),
        tokens: &[usize],
    ) -> Result<StageVariants, CError> {
        let (config, tensors) = (self.config, self.tensors);
        let mut stage = StageVariants::default();
        let mut known: Vec<Kind> = Vec::new();
        for layer in 0..config.num_layers {
            if !among.has(config.has_experts(layer)) {
                stage.choice.push(None);
                continue;
            }
            let own = &config.of_layer(layer);
            let stored = |name: &str| tensors.stored_as(name, Some(layer));
            // Which weights a part has does not depend on how they are stored.
            let probe = build(own, 1, &|_| WeightType::F32)?;
            let weights = mind_interp::inputs(&probe).into_iter();
            let weights = weights.filter(|input| input.param);
            let types = weights.map(|input| (input.name.to_owned(), stored(input.name)));
            let kind: Kind = (parts::steps(own), types.collect());
            if let Some(at) = known.iter().position(|known| *known == kind) {
                stage.choice.push(Some(at));
                continue;
            }
            let name = format!("{name}_{}", known.len());
            let variant = self.variant(own, (build, tokens), name, &stored)?;
            stage.choice.push(Some(known.len()));
            stage.variants.push(variant);
            known.push(kind);
        }
        Ok(stage)
    }

    /// A part of a layer of `config` for passes of one or two numbers of `tokens`.
    fn variant(
        &mut self,
        config: &Config,
        (build, tokens): (Build, &[usize]),
        name: String,
        stored: &dyn Fn(&str) -> WeightType,
    ) -> Result<Variant, CError> {
        let &[fewest, most] = tokens else {
            let tokens = tokens.first().copied().unwrap_or(CHUNK);
            return Ok(Variant {
                one: self.part(config, (build, tokens), &name, stored)?,
                many: None,
                name,
            });
        };
        let one = self.part(config, (build, fewest), &format!("{name}_{fewest}"), stored)?;
        let many = self.part(config, (build, most), &format!("{name}_{most}"), stored)?;
        let many = Some(many);
        Ok(Variant { name, one, many })
    }

    /// The text of a program: its parts, then `sizes`, tables and `runtime`.
    fn program(
        self,
        (layers, singles, attention): (Layers, Vec<Variant>, Vec<CPart>),
        [sizes, runtime]: [String; 2],
    ) -> Result<String, CError> {
        let variants = || layers.variants().chain(&singles);
        let mut texts = vec![HEADERS.to_owned()];
        texts.extend(variants().flat_map(Variant::bind_texts));
        let parts = variants().flat_map(Variant::parts).chain(&attention);
        texts.extend(parts.map(|part| part.text.clone()));
        texts.push(sizes);
        texts.push(rows::tables(self.config, self.tensors, &layers, &singles)?);
        texts.push(runtime);
        Ok(mind_vir::c::written(&self.functions, &texts))
    }
}

/// The rows of the cache that attention is written for: enough for `capacity` tokens, doubling.
fn attention_rows(capacity: usize) -> Vec<usize> {
    let mut rows = vec![64];
    while rows[rows.len() - 1] < capacity {
        rows.push(2 * rows[rows.len() - 1]);
    }
    rows
}

/// The macros of the runtime. Arrays of cached rows have `more` rows than attention reads.
fn sizes(
    config: &Config,
    tensors: &Tensors,
    capacity: usize,
    (attended, more): (&[usize], usize),
) -> String {
    let frequencies = Turning::ALL.map(|turning| rope::frequencies_of(config, turning, capacity));
    let has = |name: &str| {
        let own = config.family.buffer(name);
        usize::from(own.is_some_and(|own| config.has(own)))
    };
    let cache = attended.last().copied().unwrap_or(0) + more;
    let defines = [
        ("LAYERS", config.num_layers),
        ("WIDTH", config.hidden_size),
        ("Q_WIDTH", config.q_width()),
        ("KV_WIDTH", config.kv_width()),
        ("VOCAB", config.vocab_size),
        ("PAIRS", frequencies[0].each.len()),
        ("POSITIONS", has("pos_emb")),
        ("FIRST_POSITION", config.first_position()),
        ("KINDS", has("token_type_emb")),
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
    let scales = frequencies
        .each_ref()
        .map(|own| format!("{:#x}", own.scale.to_bits()));
    let _ = writeln!(
        text,
        "\n/* What cosines and sines are multiplied by, as bits of float, for each way in which heads turn. */\n\
         static const uint32_t rotation_scales[{}] = {{{}}};",
        Turning::COUNT,
        scales.join(", ")
    );
    let rows = frequencies.map(|own| {
        let bits: Vec<String> = own
            .each
            .iter()
            .map(|x| format!("{:#x}", x.to_bits()))
            .collect();
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
    text
}

/// The choice of attention, of passes of the fewest of `tokens` and of the most.
fn choice(attended: &[usize], tokens: &[usize]) -> String {
    let mut text = "\n/* Attention over the first rows of keys, of passes of the fewest tokens and of CHUNK. */\n\
             static const struct {\n    int rows;\n    \
             int (*one)(const void *const *inputs, void *const *outputs);\n    \
             int (*many)(const void *const *inputs, void *const *outputs);\n} attention[] = {\n"
        .to_owned();
    let fewest = tokens.first().copied().unwrap_or(CHUNK);
    for rows in attended {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "    {{{rows}, attend_{fewest}_{rows}, attend_{CHUNK}_{rows}}},"
        );
    }
    text + "};\n"
}
