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
use mind_irv2::{Among, Attribute, Config, RotaryStyle};
use mind_jit::program::CPart;
use mind_vir::c::SharedFunctions;
use mind_weights::WeightType;

pub use table::{Stored, TableError, Tensors};

use crate::error::ModelError;
use crate::forced::Forced;
use crate::suppressed::Suppressed;

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
const ENCODE: &str = include_str!("encode.c");
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
    /// A token that the model does not have.
    #[error(transparent)]
    Token(#[from] ModelError),
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

/// Builds attention, given the number of queries and the number of rows that they see.
type Look = fn(&Config, usize, usize) -> Result<Graph, BuildError>;

/// Attention to the own text, with its name in C.
const ATTEND: (&str, Look) = ("attend", parts::attend);
/// Attention to what an encoder says.
const LOOK: (&str, Look) = ("look", parts::cross_attention);

/// The steps of a layer, and what its weights are stored as: layers of one kind have the same functions.
type Kind = (Vec<bool>, Vec<(String, WeightType)>);

/// The functions of a part for weights that are stored alike.
struct Variant {
    name: String,
    /// What its weights are called, of a part that the model has once.
    table: String,
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

/// A part of layers.
struct StagePart {
    /// Its name in C.
    name: &'static str,
    build: Build,
    /// The layers that have it.
    among: Among,
    /// Whether it is of layers that look at what an encoder says.
    is_across: bool,
    /// Whether it is for passes of several tokens alone.
    is_wide: bool,
}

const fn stage_part(name: &'static str, build: Build, among: Among) -> StagePart {
    StagePart {
        name,
        build,
        among,
        is_across: false,
        is_wide: false,
    }
}

/// The parts of layers.
static STAGES: [StagePart; 7] = [
    stage_part("project", parts::project, Among::Every),
    StagePart {
        is_across: true,
        ..stage_part("ask", parts::cross_query, Among::Every)
    },
    StagePart {
        is_across: true,
        is_wide: true,
        ..stage_part("source", parts::source, Among::Every)
    },
    stage_part("finish", parts::finish, Among::Dense),
    stage_part("route", routed::route, Among::Experts),
    stage_part(EXPERT, routed::expert, Among::Experts),
    stage_part("merge", routed::merge, Among::Experts),
];

/// The part that layers have once for each expert.
const EXPERT: &str = "expert";

/// The variants of a part, and for each layer which of them it has, if any.
#[derive(Default)]
struct StageVariants {
    variants: Vec<Variant>,
    choice: Vec<Option<usize>>,
}

/// The variants of those of [`STAGES`] that the layers have.
struct Layers {
    stages: Vec<(&'static StagePart, StageVariants)>,
}

/// The functions of a stack of layers.
struct Compiled {
    layers: Layers,
    /// The parts that it has once.
    singles: Vec<Variant>,
    attention: Vec<CPart>,
}

impl Compiled {
    /// Every variant of a part with weights.
    fn variants(&self) -> impl Iterator<Item = &Variant> {
        let of_layers = self.layers.stages.iter();
        let of_layers = of_layers.flat_map(|(_, stage)| &stage.variants);
        of_layers.chain(&self.singles)
    }

    /// The texts of its functions.
    fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.variants().flat_map(Variant::bind_texts).collect();
        let parts = self.variants().flat_map(Variant::parts);
        texts.extend(parts.chain(&self.attention).map(|part| part.text.clone()));
        texts
    }

    /// The weights of its largest part.
    fn most_weights(&self) -> usize {
        let counts = self.variants().map(|own| own.one.params.len());
        counts.max().unwrap_or(0)
    }
}

/// What the names of a stack's functions and tables begin with.
fn prefix(config: &Config) -> &'static str {
    if config.family.is_encoder() {
        "enc_"
    } else {
        ""
    }
}

/// Which tokens a program draws, or does not, whatever their logits are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawn {
    /// Tokens that an encoder-decoder draws.
    pub forced: Forced,
    /// Tokens that it never draws.
    pub suppressed: Suppressed,
}

/// The text of a program that runs the model on sequences of at most `capacity` tokens, or on images.
///
/// # Errors
///
/// A quantised vector; a capacity beyond the model's context; a token outside of the vocabulary.
pub fn c_program(
    config: &Config,
    tensors: &Tensors,
    capacity: usize,
    drawn: &Drawn,
) -> Result<String, CError> {
    drawn.forced.check(config.vocab_size)?;
    drawn.suppressed.check(config.vocab_size)?;
    let context = config.most_tokens();
    // An image has as many positions as the model.
    let capacity = config.image().map_or(capacity, |_| context);
    if capacity == 0 || capacity > context {
        return Err(CError::Context { capacity, context });
    }
    let mut writer = PartWriter::new(tensors);
    let (stacks, tables, runtime) = if config.family.is_encoder() {
        let (encoder, tables) = encoder::stack(&mut writer, config, capacity)?;
        (vec![(*config, encoder)], tables, encoder::PROGRAM)
    } else {
        let mut tables = format!("\n#define SOURCE {}\n", u8::from(config.encoder.is_some()));
        let mut stacks = Vec::new();
        if let Some(own) = config.encoder() {
            // Both stacks have room for the same number of tokens, if they have that many positions.
            let read = source_capacity(&own, capacity);
            let (encoder, text) = encoder::stack(&mut writer, &own, read)?;
            stacks.push((own, encoder));
            tables += &text;
        }
        let (decoder, text) = writer.decoder(config, capacity)?;
        stacks.push((*config, decoder));
        tables += &text;
        tables += &drawn_tokens(drawn);
        (stacks, tables, DECODER)
    };
    let reads = stacks.iter().any(|(own, _)| own.family.is_encoder());
    let runtime = [RUNTIME, if reads { ENCODE } else { "" }, runtime].concat();
    writer.program(config, capacity, &stacks, [tables, runtime])
}

/// The positions that an encoder has room for in front of a decoder with room for `capacity` tokens: all that it has, if it
/// hears.
fn source_capacity(encoder: &Config, capacity: usize) -> usize {
    let most = encoder.most_tokens();
    encoder.audio().map_or(capacity.min(most), |_| most)
}

/// Which tokens are drawn, or are not, whatever their logits are.
fn drawn_tokens(own: &Drawn) -> String {
    let number = |token: Option<u32>| token.map_or(-1, i64::from);
    let list = |name: &str, tokens: &[u32]| {
        let mut words: Vec<String> = tokens.iter().map(u32::to_string).collect();
        // An array of C is never empty.
        words.push("VOCAB".to_owned());
        format!(
            "static const uint32_t {name}[] = {{{}}};\n",
            words.join(", ")
        )
    };
    format!(
        "\n#define FORCED_FIRST ({})\n#define FORCED_LAST ({})\n\
         /* Tokens that are never drawn, and those that are not drawn first, each up to VOCAB. */\n{}{}",
        number(own.forced.first),
        number(own.forced.last),
        list("suppressed", &own.suppressed.always),
        list("suppressed_first", &own.suppressed.first),
    )
}

const HEADERS: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
";

/// Writes the parts of a model.
struct PartWriter<'m> {
    session: Session,
    tensors: &'m Tensors,
    /// What the parts call.
    functions: SharedFunctions,
}

impl<'m> PartWriter<'m> {
    fn new(tensors: &'m Tensors) -> PartWriter<'m> {
        PartWriter {
            session: Session::default(),
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

    /// A part that a stack has once, for passes of one or two numbers of `tokens`.
    fn single(
        &mut self,
        config: &Config,
        (build, tokens): (Build, &[usize]),
        name: &str,
    ) -> Result<Variant, CError> {
        let tensors = self.tensors;
        let stored = |name: &str| tensors.stored_as(name, None);
        let table = format!("{}{name}", prefix(config));
        let name = match tokens {
            [tokens] => format!("{table}_{tokens}"),
            _ => table.clone(),
        };
        let own = self.variant(config, (build, tokens), name, &stored)?;
        Ok(Variant { table, ..own })
    }

    /// Attention for each number of `tokens` of a pass, over each number of `rows`: to the own text, or to what an encoder says.
    fn attention(
        &mut self,
        config: &Config,
        (name, build): (&str, Look),
        rows: &[usize],
        tokens: &[usize],
    ) -> Result<Vec<CPart>, CError> {
        let mut attention = Vec::new();
        for &seen in rows {
            for &tokens in tokens {
                let graph = build(config, tokens, seen)?;
                let name = format!("{}{name}_{tokens}_{seen}", prefix(config));
                attention.push(self.functions(graph, &name, CTiles::default())?);
            }
        }
        Ok(attention)
    }

    /// The decoder of `config`, for sequences of at most `capacity` tokens, and its tables besides those of weights.
    fn decoder(&mut self, config: &Config, capacity: usize) -> Result<(Compiled, String), CError> {
        let tokens = [1, CHUNK];
        let layers = self.layers(config, &tokens)?;
        let mut singles = vec![self.single(config, (parts::head, &[1]), "head")?];
        let has_embed = parts::has_embed(config);
        if has_embed {
            singles.push(self.single(config, (parts::embed, &tokens), "embed")?);
        }
        let mut rows = attention_rows(capacity);
        let narrow = narrow_rows(config, &rows);
        if let Some((_, own)) = narrow
            && let Err(at) = rows.binary_search(&own)
        {
            rows.insert(at, own);
        }
        let mut attention = self.attention(config, ATTEND, &rows, &tokens)?;
        let mut tables = sizes(config, capacity, (&rows, CHUNK));
        let (window, narrow) = narrow.unwrap_or_default();
        tables += &defines("", &[("NARROW_ROWS", narrow), ("WINDOW", window)]);
        tables += &has("", "embed", has_embed);
        tables += &choice("", ["attention", ATTEND.0], &rows, &tokens);
        if let Some(own) = config.encoder() {
            let rows = attention_rows(source_capacity(&own, capacity));
            attention.extend(self.attention(config, LOOK, &rows, &tokens)?);
            tables += &choice("", ["look", LOOK.0], &rows, &tokens);
        }
        tables += &mixture::tables(config)?;
        let compiled = Compiled {
            layers,
            singles,
            attention,
        };
        Ok((compiled, tables))
    }

    /// The parts of all layers for passes of one or two numbers of tokens: one variant for each way of storing the weights of
    /// a part.
    fn layers(&mut self, config: &Config, tokens: &[usize]) -> Result<Layers, CError> {
        let has_source = parts::has_source(config);
        let stages = STAGES.iter().filter(|own| has_source || !own.is_across);
        let stages = stages.map(|own| Ok((own, self.stage(config, own, tokens)?)));
        Ok(Layers {
            stages: stages.collect::<Result<_, CError>>()?,
        })
    }

    fn stage(
        &mut self,
        config: &Config,
        part: &StagePart,
        tokens: &[usize],
    ) -> Result<StageVariants, CError> {
        let (tensors, build) = (self.tensors, part.build);
        let tokens = if part.is_wide {
            &tokens[tokens.len() - 1..]
        } else {
            tokens
        };
        let mut stage = StageVariants::default();
        let mut known: Vec<Kind> = Vec::new();
        for layer in 0..config.num_layers {
            if !part.among.has(config.has_experts(layer)) {
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
            let name = format!("{}{}_{}", prefix(config), part.name, known.len());
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
                table: String::new(),
                name,
            });
        };
        let one = self.part(config, (build, fewest), &format!("{name}_{fewest}"), stored)?;
        let many = self.part(config, (build, most), &format!("{name}_{most}"), stored)?;
        let many = Some(many);
        Ok(Variant {
            name,
            table: String::new(),
            one,
            many,
        })
    }

    /// The text of a program: the functions of its stacks, then sizes, tables and `runtime`.
    fn program(
        self,
        config: &Config,
        capacity: usize,
        stacks: &[(Config, Compiled)],
        [tables, runtime]: [String; 2],
    ) -> Result<String, CError> {
        let mut texts = vec![HEADERS.to_owned()];
        texts.extend(stacks.iter().flat_map(|(_, own)| own.texts()));
        let widest = stacks.iter().map(|(own, _)| own.num_attention_heads).max();
        let mut shared = shared_sizes(config, self.tensors, capacity, widest.unwrap_or(0));
        let adds = stacks.iter().any(|(own, _)| parts::has_distances(own));
        shared += &defines("", &[("ANY_DISTANCES", usize::from(adds))]);
        texts.push(shared);
        texts.push(tables);
        let counts = stacks.iter().map(|(_, own)| own.most_weights());
        let mut formats = Vec::new();
        for own in stacks
            .iter()
            .flat_map(|(own, _)| rows::formats(own, self.tensors))
        {
            if !formats.contains(&own) {
                formats.push(own);
            }
        }
        texts.push(rows::types(counts.max().unwrap_or(0), &formats));
        for (own, compiled) in stacks {
            texts.push(rows::stack(own, self.tensors, compiled)?);
        }
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

/// The window of a decoder's layers and the rows that these keep, if they need not keep all of `rows`: those that the window
/// reaches from the first token of a pass, from a multiple of as many positions as sums have partial results, and the pass.
fn narrow_rows(config: &Config, rows: &[usize]) -> Option<(usize, usize)> {
    let window = (0..config.num_layers).find_map(|layer| config.window(layer))?;
    let own = window.checked_add(64 + CHUNK)?.next_multiple_of(64);
    (own < *rows.last()?).then_some((window, own))
}

/// A macro for each number.
fn defines(prefix: &str, all: &[(&str, usize)]) -> String {
    let mut text = String::from("\n");
    for (name, value) in all {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {}{name} {value}", prefix.to_uppercase());
    }
    text
}

/// The macro that says whether a stack has a part.
fn has(prefix: &str, name: &str, has: bool) -> String {
    let (prefix, name) = (prefix.to_uppercase(), name.to_uppercase());
    format!("#define {prefix}HAS_{name} {}\n", u8::from(has))
}

/// The macros of a stack of layers. Arrays of rows that attention reads have `more` rows than it reads.
fn sizes(config: &Config, capacity: usize, (attended, more): (&[usize], usize)) -> String {
    let prefix = prefix(config);
    let rows = attended.last().copied().unwrap_or(0) + more;
    let distances = usize::from(parts::has_distances(config));
    let mut text = defines(
        prefix,
        &[
            ("LAYERS", config.num_layers),
            ("Q_WIDTH", config.q_width()),
            ("KV_WIDTH", config.kv_width()),
            ("FIRST_POSITION", config.first_position()),
            ("POSITION_OFFSET", config.position_offset()),
            ("CAPACITY", capacity),
            ("ROWS", rows),
        ],
    );
    let layers = (0..config.num_layers).map(|layer| {
        let (turning, window) = (config.rotary_style(layer) as usize, config.window(layer));
        format!("    {{{turning}, {}}}", window.unwrap_or(0))
    });
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "#define {upper}DISTANCES {distances}\n\n\
         /* How the heads of each layer turn, and how many positions its queries see; 0 for all. */\n\
         static const struct {{\n    int turning, window;\n}} {prefix}layers[{upper}LAYERS] = {{\n{}\n}};",
        layers.collect::<Vec<_>>().join(",\n"),
        upper = prefix.to_uppercase()
    );
    text
}

/// The macros that all stacks share, of which one has `heads` heads at most.
fn shared_sizes(config: &Config, tensors: &Tensors, capacity: usize, heads: usize) -> String {
    let frequencies =
        RotaryStyle::ALL.map(|turning| rope::frequencies_of(config, turning, capacity));
    let hears = config.encoder().is_some_and(|own| own.audio().is_some());
    let mut text = defines(
        "",
        &[
            ("WIDTH", config.hidden_size),
            ("ROW", config.hidden_size.max(heads)),
            ("VOCAB", config.vocab_size),
            ("PAIRS", frequencies[0].each.len()),
            ("CHUNK", CHUNK),
            ("FILES", tensors.files().max(1)),
            ("READS_IMAGES", usize::from(parts::has_patches(config))),
            ("READS_AUDIO", usize::from(hears)),
        ],
    );
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
        RotaryStyle::COUNT,
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
        RotaryStyle::COUNT,
        rows.join(",\n")
    );
    text
}

/// The choice of attention by the functions called `name`, of passes of the fewest of `tokens` and of the most, as the table
/// `table`.
fn choice(prefix: &str, [table, name]: [&str; 2], attended: &[usize], tokens: &[usize]) -> String {
    let mut text = format!(
        "\n/* Attention over the first rows of keys, of passes of the fewest tokens and of CHUNK. */\n\
         static const struct {{\n    int rows;\n    \
         int (*one)(const void *const *inputs, void *const *outputs);\n    \
         int (*many)(const void *const *inputs, void *const *outputs);\n}} {prefix}{table}[] = {{\n"
    );
    let fewest = tokens.first().copied().unwrap_or(CHUNK);
    for rows in attended {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "    {{{rows}, {prefix}{name}_{fewest}_{rows}, {prefix}{name}_{CHUNK}_{rows}}},"
        );
    }
    text + "};\n"
}
