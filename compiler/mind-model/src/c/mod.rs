//! A whole model as one file of C.
//!
//! The file holds the parts of a layer as functions, tables of where each weight stands in its file, and a
//! `main` that goes on from given tokens. It needs nothing but a C compiler, and gives the logits of a
//! [`Session`](crate::Session), bit for bit.

mod table;

use std::fmt::Write;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_driver::engine::c_functions;
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_ir::types::DType;
use mind_irv2::Config;
use mind_irv2::graph::parts::{self, names};
use mind_irv2::graph::{BuildError, rope};
use mind_jit::program::{CPart, c_file};

pub use table::{Stored, TableError, Tensors};

/// Tokens of a pass of several.
const CHUNK: usize = 16;

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

/// The text of a program that runs the model on sequences of at most `capacity` tokens.
///
/// Errors: weights that are not stored as `f32`, `f16` or `bf16`, or differently from layer to layer; a capacity
/// beyond the model's context.
pub fn c_program(config: &Config, tensors: &Tensors, capacity: usize) -> Result<String, CError> {
    let context = config.context_window;
    if capacity == 0 || capacity > context {
        return Err(CError::Context { capacity, context });
    }
    let dtype = |name: &str| tensors.dtype(name);
    let session = Session::default();
    let part = |graph: Graph, name: &str| {
        c_functions(&session, graph, name, &|_| None).map_err(CError::Compile)
    };
    let project = part(parts::project(config, 1, &dtype)?, "project_1")?;
    let finish = part(parts::finish(config, 1, &dtype)?, "finish_1")?;
    let head = part(parts::head(config, 1, &dtype)?, "head_1")?;
    let many = [
        part(parts::project(config, CHUNK, &dtype)?, "project_16")?,
        part(parts::finish(config, CHUNK, &dtype)?, "finish_16")?,
    ];
    for (one, many) in [&project, &finish].into_iter().zip(&many) {
        if one.binding != many.binding {
            let text = "parts for one and for several tokens pack their weights differently";
            let found = Diagnostic::error(Span::FILE, text);
            return Err(CError::Compile(found.into()));
        }
    }
    let rows = attention_rows(capacity);
    let mut attention = Vec::new();
    for &seen in &rows {
        for tokens in [1, CHUNK] {
            let graph = parts::attend(config, tokens, seen)?;
            attention.push(part(graph, &format!("attend_{tokens}_{seen}"))?);
        }
    }
    let mut texts = vec![HEADERS.to_owned()];
    let all = [&project, &finish, &head];
    texts.extend(all.map(|part| part.bind_text.clone()));
    let written = all.into_iter().chain(&many).chain(&attention);
    texts.extend(written.map(|part| part.text.clone()));
    texts.push(sizes(config, tensors, capacity, &rows));
    texts.push(tables(config, tensors, all)?);
    texts.push(RUNTIME.to_owned());
    Ok(c_file(&texts))
}

const HEADERS: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
";

/// The rows of the cache that attention is written for: enough for `capacity` tokens, doubling.
fn attention_rows(capacity: usize) -> Vec<usize> {
    let mut rows = vec![64];
    while rows[rows.len() - 1] < capacity {
        rows.push(2 * rows[rows.len() - 1]);
    }
    rows
}

/// What the runtime is told as macros, and the choice of attention.
fn sizes(config: &Config, tensors: &Tensors, capacity: usize, rows: &[usize]) -> String {
    let frequencies = config
        .rope
        .as_ref()
        .map(rope::frequencies)
        .unwrap_or_default();
    let cache = rows.last().copied().unwrap_or(0) + CHUNK;
    let defines = [
        ("LAYERS", config.num_layers),
        ("WIDTH", config.hidden_size),
        ("Q_WIDTH", config.q_width()),
        ("KV_WIDTH", config.kv_width()),
        ("VOCAB", config.vocab_size),
        ("PAIRS", frequencies.len()),
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
    let bits: Vec<String> = frequencies
        .iter()
        .map(|x| format!("{:#x}", x.to_bits()))
        .collect();
    let _ = writeln!(
        text,
        "\n/* What positions are multiplied by, as bits of float. */\n\
         static const uint32_t frequencies[{}] = {{{}}};",
        bits.len().max(1),
        if bits.is_empty() {
            "0".to_owned()
        } else {
            bits.join(", ")
        }
    );
    text += "\n/* Attention over the first rows of the cache, of one token and of CHUNK. */\n\
             static const struct {\n    int rows;\n    \
             int (*one)(const void *const *inputs, void *const *outputs);\n    \
             int (*many)(const void *const *inputs, void *const *outputs);\n} attention[] = {\n";
    for rows in rows {
        let _ = writeln!(
            text,
            "    {{{rows}, attend_1_{rows}, attend_{CHUNK}_{rows}}},"
        );
    }
    text + "};\n"
}

/// Where the weights of each part stand.
fn tables(
    config: &Config,
    tensors: &Tensors,
    [project, finish, head]: [&CPart; 3],
) -> Result<String, CError> {
    let mut text = String::from(
        "\n/* A weight: elements from `offset` on in file `file`, of `size` bytes each. */\n\
         struct weight {\n    const char *name;\n    uint64_t offset, count;\n    \
         int file, size, is_half, is_gain;\n};\n\n",
    );
    let most = [project, finish, head]
        .map(|part| part.params.len())
        .into_iter()
        .max();
    let _ = writeln!(text, "#define MOST_WEIGHTS {}", most.unwrap_or(1));
    for (part, upper) in [(project, "PROJECT"), (finish, "FINISH"), (head, "HEAD")] {
        let _ = writeln!(text, "#define {upper}_WEIGHTS {}", part.params.len());
        let _ = writeln!(text, "#define {upper}_BYTES UINT64_C({})", part.bound_bytes);
    }
    for (part, name) in [(project, "project"), (finish, "finish")] {
        let upper = name.to_uppercase();
        let _ = writeln!(
            text,
            "\nstatic const struct weight {name}_weights[LAYERS][{upper}_WEIGHTS] = {{"
        );
        for layer in 0..config.num_layers {
            text += "    {\n";
            for port in &part.params {
                let _ = writeln!(text, "        {},", row(tensors, &port.name, Some(layer))?);
            }
            text += "    },\n";
        }
        text += "};\n";
    }
    text += "\nstatic const struct weight head_weights[HEAD_WEIGHTS] = {\n";
    for port in &head.params {
        let _ = writeln!(text, "    {},", row(tensors, &port.name, None)?);
    }
    text += "};\n\n";
    let positions = match config.rope {
        Some(_) => "token_emb",
        None => "pos_emb",
    };
    for (name, weight) in [("token_table", "token_emb"), ("position_table", positions)] {
        let row = row(tensors, weight, None)?;
        let _ = writeln!(text, "static const struct weight {name} = {row};");
    }
    Ok(text)
}

/// A weight as an initialiser.
fn row(tensors: &Tensors, name: &str, layer: Option<usize>) -> Result<String, CError> {
    let stored = tensors.find(name, layer)?;
    let gains = [
        names::LN1,
        names::LN2,
        names::FINAL_LN,
        names::Q_NORM,
        names::K_NORM,
    ];
    let is_gain = u8::from(gains.contains(&name));
    let is_half = u8::from(stored.dtype == DType::F16);
    let called = match layer {
        Some(layer) => format!("{name} of layer {layer}"),
        None => name.to_owned(),
    };
    Ok(format!(
        "{{\"{called}\", UINT64_C({}), UINT64_C({}), {}, {}, {is_half}, {is_gain}}}",
        stored.offset,
        stored.count,
        stored.file,
        stored.dtype.size()
    ))
}
