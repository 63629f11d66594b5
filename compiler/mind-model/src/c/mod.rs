//! A whole model as one C file.
//!
//! The file contains the parts of a layer as functions, tables with the file offset of each weight, and a `main` that
//! continues given tokens, or encodes them. It needs nothing but a C compiler, and computes the logits of a
//! [`Session`](crate::Session) or the hidden states of an [`Encoder`](crate::Encoder), bit for bit.

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

/// Tokens of a prefill pass.
const CHUNK: usize = 16;

/// Register tile of products that dequantise their weights. The decoding makes up almost all of the kernel's text and
/// is repeated for each vector of a tile, each block of terms and each remainder. Therefore these kernels use the
/// vectors of one panel, all terms of a chain, and a number of rows that divides the rows of a pass.
const DECODING: CTiles = CTiles {
    rows: 0,
    vectors: 2,
    depth: 1 << 20,
};

/// Rows of the register tile in a prefill pass.
const DECODING_ROWS: u32 = 4;

const RUNTIME: &str = include_str!("runtime.c");
const ENCODE: &str = include_str!("encode.c");
const DECODER: &str = include_str!("decoder.c");

/// Why C code cannot be generated for a model.
#[derive(Debug, thiserror::Error)]
pub enum CError {
    /// The model has extents that no op supports.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A part could not be written.
    #[error("{}", messages(.0))]
    Compile(Diagnostics),
    /// A token that the model does not have.
    #[error(transparent)]
    Token(#[from] ModelError),
    /// A weight that the C program cannot read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The capacity is 0 or exceeds the model's context window.
    #[error("invalid capacity of {capacity} tokens: expected 1 to {context}, the model's context")]
    Context {
        /// The requested capacity.
        capacity: usize,
        /// The model's context window.
        context: usize,
    },
}

fn messages(found: &Diagnostics) -> String {
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    messages.join("; ")
}

/// Builds a part of the model for passes of this many tokens.
type Build = fn(&Config, usize, parts::Stored<'_>) -> Result<Graph, BuildError>;

/// Builds attention for a number of queries and a number of visible rows.
type Look = fn(&Config, usize, usize) -> Result<Graph, BuildError>;

/// Self-attention, with its name in C.
const ATTEND: (&str, Look) = ("attend", parts::attend);
/// Cross-attention to the encoder output.
const LOOK: (&str, Look) = ("look", parts::cross_attention);

/// The steps of a layer and the storage types of its weights. Layers with equal keys share their functions.
type Kind = (Vec<bool>, Vec<(String, WeightType)>);

/// The functions of a part for one choice of storage types.
struct Variant {
    name: String,
    /// The name of its weight table, if the model has the part once.
    table: String,
    one: CPart,
    many: Option<CPart>,
}

impl Variant {
    /// Returns its functions, that for the fewest tokens first.
    fn parts(&self) -> impl Iterator<Item = &CPart> {
        std::iter::once(&self.one).chain(&self.many)
    }

    /// Returns the names of its functions for passes of the fewest and of the most tokens.
    fn functions(&self) -> [String; 2] {
        let name = &self.name;
        match self.many {
            Some(_) => [format!("{name}_1"), format!("{name}_{CHUNK}")],
            None => [name.clone(), name.clone()],
        }
    }

    /// Returns the function for `CHUNK` tokens if it needs the weights packed differently than the one for a single
    /// token: the panels of a matrix of few rows depend on the number of tokens.
    fn packed_otherwise(&self) -> Option<&CPart> {
        let many = self.many.as_ref();
        many.filter(|many| many.binding != self.one.binding)
    }

    /// Returns the functions that pack its weights.
    fn bind_texts(&self) -> impl Iterator<Item = String> {
        let parts = std::iter::once(&self.one).chain(self.packed_otherwise());
        parts.map(|part| part.bind_text.clone())
    }
}

/// A stage of a layer.
struct StagePart {
    /// Its name in C.
    name: &'static str,
    build: Build,
    /// The layers that have it: those with or without experts, or all.
    among: Among,
    /// Whether only layers with cross-attention have it.
    is_across: bool,
    /// Whether it is used only in passes of `CHUNK` tokens.
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

/// The stages of layers.
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

/// The stage that a layer has once per expert.
const EXPERT: &str = "expert";

/// The variants of a stage, and the index of the variant of each layer, `None` for layers without the stage.
#[derive(Default)]
struct StageVariants {
    variants: Vec<Variant>,
    choice: Vec<Option<usize>>,
}

/// The variants of the [`STAGES`] that the layers have.
struct Layers {
    stages: Vec<(&'static StagePart, StageVariants)>,
}

/// The functions of an encoder or a decoder.
struct Compiled {
    layers: Layers,
    /// Parts that exist once, outside of the layers.
    singles: Vec<Variant>,
    attention: Vec<CPart>,
}

impl Compiled {
    /// Returns every variant that has weights.
    fn variants(&self) -> impl Iterator<Item = &Variant> {
        let of_layers = self.layers.stages.iter();
        let of_layers = of_layers.flat_map(|(_, stage)| &stage.variants);
        of_layers.chain(&self.singles)
    }

    /// Returns the C text of its functions.
    fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.variants().flat_map(Variant::bind_texts).collect();
        let parts = self.variants().flat_map(Variant::parts);
        texts.extend(parts.chain(&self.attention).map(|part| part.text.clone()));
        texts
    }

    /// Returns the number of weights of its largest part.
    fn most_weights(&self) -> usize {
        let counts = self.variants().map(|own| own.one.params.len());
        counts.max().unwrap_or(0)
    }
}

/// Returns the prefix of the names of a stack's functions and tables.
fn prefix(config: &Config) -> &'static str {
    if config.family.is_encoder() {
        "enc_"
    } else {
        ""
    }
}

/// Tokens that a program draws, or never draws, whatever their logits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawn {
    /// Forced tokens of an encoder-decoder.
    pub forced: Forced,
    /// Tokens that an encoder-decoder never draws.
    pub suppressed: Suppressed,
}

/// Returns the text of a program that runs the model on sequences of at most `capacity` tokens, or on images.
///
/// # Errors
///
/// A vector is stored in a quantised type; the capacity exceeds the model's context; a token is outside of the
/// vocabulary.
pub fn c_program(
    config: &Config,
    tensors: &Tensors,
    capacity: usize,
    drawn: &Drawn,
) -> Result<String, CError> {
    drawn.forced.check(config.vocab_size)?;
    drawn.suppressed.check(config.vocab_size)?;
    let context = config.most_tokens();
    // The number of positions of an image is fixed by the model.
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
            // The encoder has the capacity of the decoder, if it has that many positions.
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

/// Returns the capacity of an encoder whose decoder has room for `capacity` tokens. An audio encoder always uses all of
/// its positions, because its input has a fixed length.
fn source_capacity(encoder: &Config, capacity: usize) -> usize {
    let most = encoder.most_tokens();
    encoder.audio().map_or(capacity.min(most), |_| most)
}

/// Returns the C definitions of forced and suppressed tokens.
fn drawn_tokens(own: &Drawn) -> String {
    let number = |token: Option<u32>| token.map_or(-1, i64::from);
    let list = |name: &str, tokens: &[u32]| {
        let mut words: Vec<String> = tokens.iter().map(u32::to_string).collect();
        // The array ends with VOCAB, because C has no empty arrays.
        words.push("VOCAB".to_owned());
        format!(
            "static const uint32_t {name}[] = {{{}}};\n",
            words.join(", ")
        )
    };
    format!(
        "\n#define FORCED_FIRST ({})\n#define FORCED_LAST ({})\n\
         /* Tokens that are never drawn, and those that are not drawn first; each list ends with VOCAB. */\n{}{}",
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

/// Generates the C functions of the parts of a model.
struct PartWriter<'m> {
    session: Session,
    tensors: &'m Tensors,
    /// Kernels that the parts share.
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

    /// Compiles a module to C functions.
    fn functions(&mut self, graph: Graph, name: &str, tiles: CTiles) -> Result<CPart, CError> {
        let part = c_functions(&self.session, graph, name, tiles, &mut self.functions);
        part.map_err(CError::Compile)
    }

    /// Compiles a part of the model or of a layer of `config`, for weights with the storage types of `stored`.
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

    /// Compiles a part that a stack has once, for passes of one or two different numbers of `tokens`.
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

    /// Compiles self-attention or cross-attention for each number of `tokens` of a pass and each number of visible
    /// `rows`.
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

    /// Returns the functions of the decoder of `config` for sequences of at most `capacity` tokens, and its tables
    /// other than those of weights.
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

    /// Compiles the stages of all layers for passes of one or two different numbers of tokens: one variant per
    /// combination of storage types.
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
            // The set of weights of a part does not depend on their storage types.
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

    /// Compiles a stage of a layer of `config` for passes of one or two different numbers of `tokens`.
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

    /// Returns the text of a program: the functions of its stacks, then sizes, tables and `runtime`.
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

/// Returns the numbers of cache rows for which attention is compiled: 64, doubled until `capacity` tokens fit.
fn attention_rows(capacity: usize) -> Vec<usize> {
    let mut rows = vec![64];
    while rows[rows.len() - 1] < capacity {
        rows.push(2 * rows[rows.len() - 1]);
    }
    rows
}

/// Returns the window of a decoder's layers and the number of rows that these keep; `None` if they need all of `rows`.
/// The kept rows are those that the window reaches from the first token of a pass, rounded down to a multiple of 64
/// (the number of partial results of a sum), and those of the pass.
fn narrow_rows(config: &Config, rows: &[usize]) -> Option<(usize, usize)> {
    let window = (0..config.num_layers).find_map(|layer| config.window(layer))?;
    let own = window.checked_add(64 + CHUNK)?.next_multiple_of(64);
    (own < *rows.last()?).then_some((window, own))
}

/// Returns a `#define` for each number.
fn defines(prefix: &str, all: &[(&str, usize)]) -> String {
    let mut text = String::from("\n");
    for (name, value) in all {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {}{name} {value}", prefix.to_uppercase());
    }
    text
}

/// Returns the macro that tells whether a stack has a part.
fn has(prefix: &str, name: &str, has: bool) -> String {
    let (prefix, name) = (prefix.to_uppercase(), name.to_uppercase());
    format!("#define {prefix}HAS_{name} {}\n", u8::from(has))
}

/// Returns the size macros of a stack of layers. Arrays of rows that attention reads are `more` rows longer than the
/// largest number it reads.
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
         /* Rotary frequencies of each layer, and its window; 0 for none. */\n\
         static const struct {{\n    int turning, window;\n}} {prefix}layers[{upper}LAYERS] = {{\n{}\n}};",
        layers.collect::<Vec<_>>().join(",\n"),
        upper = prefix.to_uppercase()
    );
    text
}

/// Returns the size macros that all stacks share; `heads` is the largest number of heads of a stack.
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
        "\n/* Scale of embeddings, as the bits of a float. */\n\
         #define EMBEDDING_SCALE {:#x}u",
        scale.to_bits()
    );
    let scales = frequencies
        .each_ref()
        .map(|own| format!("{:#x}", own.scale.to_bits()));
    let _ = writeln!(
        text,
        "\n/* Scale of cosines and sines, as the bits of a float, for each kind of rotation. */\n\
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
        "\n/* Rotary frequencies, as the bits of floats, for each kind of rotation. */\n\
         static const uint32_t frequencies[{}][PAIRS > 0 ? PAIRS : 1] = {{\n{}\n}};",
        RotaryStyle::COUNT,
        rows.join(",\n")
    );
    text
}

/// Returns `table`, which maps a number of rows to the attention functions called `name` for the fewest of `tokens` and
/// for the most.
fn choice(prefix: &str, [table, name]: [&str; 2], attended: &[usize], tokens: &[usize]) -> String {
    let mut text = format!(
        "\n/* Attention by number of key rows, for passes of the fewest tokens and of CHUNK. */\n\
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
