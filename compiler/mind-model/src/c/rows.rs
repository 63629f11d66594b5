//! Tables of weights and of the functions that read them, as C.

use std::fmt::Write;

use mind_irv2::layout::buffers::{Buffer, Form};
use mind_irv2::{Among, Config};
use mind_weights::{Permutation, WeightType};

use super::{CError, EXPERT, Layers, STAGES, StageVariants, Stored, Tensors, Variant};

/// The decoding of each format, one function a section.
const DECODERS: &str = include_str!("decode.c");

/// Where the weights of each part stand, the functions of each layer, and the decoding of embeddings.
pub(super) fn tables(
    config: &Config,
    tensors: &Tensors,
    layers: &Layers,
    singles: &[Variant],
) -> Result<String, CError> {
    let mut text = String::from(
        "\n/* A weight: `count` blocks of `size` bytes each, from `offset` on in file `file`. A row has `row`\n   \
         blocks; the first `rotated` of each `head` rows, if it is not 0, are in the order for rotations of\n   \
         neighbours. Rows stand in groups of `group`, `stride` rows from one to the next, if it is not 0. The rows\n   \
         of the file are columns, `column` blocks from one to the next, if that is not 0. */\n\
         struct weight {\n    const char *name;\n    uint64_t offset, count, row, group, stride, column;\n    \
         int file, size, head, rotated, is_half, is_gain;\n};\n\n\
         typedef int part(const void *const *inputs, void *const *outputs);\n\n\
         /* What a layer does to one token or to CHUNK, and how its `count` weights become `bytes` bytes; `many_bytes`\n   \
         bytes for CHUNK where `bind_many` packs them otherwise. */\n\
         struct stage {\n    part *bind, *one, *bind_many, *many;\n    const struct weight *weights;\n    \
         int count;\n    uint64_t bytes, many_bytes;\n};\n\n",
    );
    let variants = layers.variants().chain(singles);
    let counts = variants.map(|variant| variant.one.params.len());
    let most = counts.max().unwrap_or(0);
    let _ = writeln!(text, "#define MOST_WEIGHTS {most}");
    for ((name, _, among), stage) in STAGES.iter().zip(&layers.stages) {
        if config.experts.is_some() || *among != Among::Experts {
            stages(&mut text, config, tensors, stage, name)?;
        }
    }
    for single in singles {
        let (name, own) = (single.name.split('_').next().unwrap_or(""), &single.one);
        let _ = writeln!(text, "\nstatic const struct weight {name}_weights[] = {{");
        for port in &own.params {
            let stored = tensors.find(&port.name, None)?;
            let row = row(config, stored, &port.name, (None, None));
            let _ = writeln!(text, "    {row},");
        }
        let (count, bytes) = (own.params.len(), own.bound_bytes);
        let [one, many] = single.functions();
        let _ = writeln!(
            text,
            "}};\nstatic const struct stage {name}_stage =\n    \
             {{{one}_bind, {one}, NULL, {many}, {name}_weights, {count}, UINT64_C({bytes}), 0}};\n"
        );
    }
    // A table that the model lacks is not read.
    let table = |name: &'static str| match config.family.buffer(name) {
        Some(own) if config.has(own) => name,
        Some(_) | None => "token_emb",
    };
    let types = [
        ("token", "token_emb"),
        ("position", table("pos_emb")),
        ("kind", table("token_type_emb")),
    ];
    for (name, weight) in types {
        let row = row(config, tensors.find(weight, None)?, weight, (None, None));
        let _ = writeln!(text, "static const struct weight {name}_table = {row};");
    }
    let types = types.map(|(name, weight)| (name, tensors.stored_as(weight, None)));
    let mut done = Vec::new();
    for (name, weight_type) in types {
        if !done.contains(&weight_type) {
            text += "\n";
            text += decoder(weight_type).trim_end();
            text.push('\n');
            done.push(weight_type);
        }
        let (c, elements) = (weight_type.name(), weight_type.block_elements());
        let upper = name.to_uppercase();
        let _ = writeln!(
            text,
            "#define {upper}_DECODE decode_{c}\n#define {upper}_ELEMENTS {elements}"
        );
    }
    Ok(text)
}

/// The weights of each layer for a part, and its functions; those of each expert for the part of experts.
fn stages(
    text: &mut String,
    config: &Config,
    tensors: &Tensors,
    stage: &StageVariants,
    name: &str,
) -> Result<(), CError> {
    let count = config.experts.filter(|_| name == EXPERT);
    let owners: Vec<Option<usize>> = match count {
        Some(own) => (0..own.count).map(Some).collect(),
        None => vec![None],
    };
    let mut rows = String::new();
    for (layer, choice) in stage.choice.iter().enumerate() {
        for &expert in &owners {
            let Some(variant) = choice.map(|at| &stage.variants[at]) else {
                rows += "    {NULL, NULL, NULL, NULL, NULL, 0, 0, 0},\n";
                continue;
            };
            let params = &variant.one.params;
            let (count, bytes) = (params.len(), variant.one.bound_bytes);
            let [one, many] = variant.functions();
            let (bind_many, many_bytes) = match variant.packed_otherwise() {
                Some(own) => (format!("{many}_bind"), own.bound_bytes),
                None => ("NULL".to_owned(), 0),
            };
            let at = match expert {
                Some(expert) => format!("{layer}_{expert}"),
                None => layer.to_string(),
            };
            if count > 0 {
                let _ = writeln!(
                    text,
                    "\nstatic const struct weight {name}_weights_{at}[] = {{"
                );
                for port in params {
                    let stored = match expert {
                        Some(expert) => tensors.find_of_expert(&port.name, layer, expert)?,
                        None => tensors.find(&port.name, Some(layer))?,
                    };
                    let row = row(config, stored, &port.name, (Some(layer), expert));
                    let _ = writeln!(text, "    {row},");
                }
                *text += "};\n";
            }
            let (bind, weights) = match count {
                0 => ("NULL".to_owned(), "NULL".to_owned()),
                _ => (format!("{one}_bind"), format!("{name}_weights_{at}")),
            };
            let _ = writeln!(
                rows,
                "    {{{bind}, {one}, {bind_many}, {many}, {weights}, {count}, UINT64_C({bytes}), UINT64_C({many_bytes})}},"
            );
        }
    }
    let extent = match count {
        Some(_) => "LAYERS * EXPERTS",
        None => "LAYERS",
    };
    let _ = writeln!(
        text,
        "\nstatic const struct stage {name}_stages[{extent}] = {{\n{rows}}};"
    );
    Ok(())
}

/// A weight as an initialiser.
fn row(
    config: &Config,
    stored: Stored,
    name: &str,
    (layer, expert): (Option<usize>, Option<usize>),
) -> String {
    let buffer = config.family.buffer(name);
    let is_vector = |own: &Buffer| matches!(own.form(config), Form::Vector { .. });
    let is_gain = buffer.is_some_and(|own| is_vector(own) && !own.optional);
    let is_gain = u8::from(is_gain);
    let is_half = u8::from(stored.weight_type == WeightType::F16);
    let called = match (layer, expert) {
        (Some(layer), Some(expert)) => format!("{name} of expert {expert} of layer {layer}"),
        (Some(layer), None) => format!("{name} of layer {layer}"),
        (None, _) => name.to_owned(),
    };
    let ([group, stride, column], [head, rotated]) = match stored.permutation {
        Permutation::None => ([0; 3], [0; 2]),
        Permutation::Grouped { rows, stride } => ([rows, stride, 0], [0; 2]),
        Permutation::Transposed { stride } => ([0, 0, stride], [0; 2]),
        Permutation::Interleaved {
            head_dim,
            rotary_dims,
        } => ([0; 3], [head_dim, rotary_dims]),
    };
    format!(
        "{{\"{called}\", UINT64_C({}), UINT64_C({}), UINT64_C({}), {group}, {stride}, {column}, {}, {}, {head}, {rotated}, {is_half}, {is_gain}}}",
        stored.offset,
        stored.blocks(),
        stored.row / stored.weight_type.block_elements(),
        stored.file,
        stored.weight_type.block_bytes()
    )
}

/// The function that decodes a block of a format.
fn decoder(weight_type: WeightType) -> &'static str {
    let name = format!("decode_{}(", weight_type.name());
    let mut sections = DECODERS.split("\n\n\n");
    let found = sections.find(|section| section.contains(&name));
    found.unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_decoder() {
        for weight_type in WeightType::all() {
            let name = format!("static void decode_{}(", weight_type.name());
            assert!(decoder(weight_type).contains(&name), "{weight_type}");
        }
    }
}
