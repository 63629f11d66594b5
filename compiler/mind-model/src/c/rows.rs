//! Tables of weights and of the functions that read them, as C.

use std::fmt::Write;

use mind_irv2::Config;
use mind_irv2::layout::buffers::{Buffer, Form};
use mind_jit::program::CPart;
use mind_weights::{Permutation, WeightType};

use super::{CError, CHUNK, Layers, Tensors, Variant};

/// The decoding of each format, one function a section.
const DECODERS: &str = include_str!("decode.c");

/// Where the weights of each part stand, the functions of each layer, and the decoding of embeddings.
pub(super) fn tables(
    config: &Config,
    tensors: &Tensors,
    layers: &Layers,
    head: &CPart,
) -> Result<String, CError> {
    let mut text = String::from(
        "\n/* A weight: `count` blocks of `size` bytes each, from `offset` on in file `file`. A row has `row`\n   \
         blocks; the first `rotated` of each `head` rows, if it is not 0, are in the order for rotations of\n   \
         neighbours. */\n\
         struct weight {\n    const char *name;\n    uint64_t offset, count, row;\n    \
         int file, size, head, rotated, is_half, is_gain;\n};\n\n\
         typedef int part(const void *const *inputs, void *const *outputs);\n\n\
         /* What a layer does to one token or to CHUNK, and how its `count` weights become `bytes` bytes. */\n\
         struct stage {\n    part *bind, *one, *many;\n    const struct weight *weights;\n    \
         int count;\n    uint64_t bytes;\n};\n\n",
    );
    let params = |variants: &[Variant]| {
        let counts = variants.iter().map(|variant| variant.one.params.len());
        counts.max().unwrap_or(0)
    };
    let [project, finish] = [&layers.project, &layers.finish].map(|all| params(all));
    let most = project.max(finish).max(head.params.len());
    let _ = writeln!(text, "#define MOST_WEIGHTS {most}");
    for (variants, name) in [(&layers.project, "project"), (&layers.finish, "finish")] {
        stages(&mut text, config, tensors, (variants, &layers.choice), name)?;
    }
    text += "\nstatic const struct weight head_weights[] = {\n";
    for port in &head.params {
        let _ = writeln!(text, "    {},", row(config, tensors, &port.name, None)?);
    }
    let (count, bytes) = (head.params.len(), head.bound_bytes);
    let _ = writeln!(
        text,
        "}};\nstatic const struct stage head_stage =\n    \
         {{head_1_bind, head_1, head_1, head_weights, {count}, UINT64_C({bytes})}};\n"
    );
    let learned = config.family.buffer("pos_emb");
    let positions = match learned {
        Some(own) if config.has(own) => "pos_emb",
        Some(_) | None => "token_emb",
    };
    for (name, weight) in [("token", "token_emb"), ("position", positions)] {
        let row = row(config, tensors, weight, None)?;
        let _ = writeln!(text, "static const struct weight {name}_table = {row};");
    }
    let types = [("token", "token_emb"), ("position", positions)];
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

/// The weights of each layer for a part, and its functions.
fn stages(
    text: &mut String,
    config: &Config,
    tensors: &Tensors,
    (variants, choice): (&[Variant], &[usize]),
    name: &str,
) -> Result<(), CError> {
    for (layer, &choice) in choice.iter().enumerate() {
        let _ = writeln!(
            text,
            "\nstatic const struct weight {name}_weights_{layer}[] = {{"
        );
        for port in &variants[choice].one.params {
            let _ = writeln!(
                text,
                "    {},",
                row(config, tensors, &port.name, Some(layer))?
            );
        }
        *text += "};\n";
    }
    let _ = writeln!(
        text,
        "\nstatic const struct stage {name}_stages[LAYERS] = {{"
    );
    for (layer, &choice) in choice.iter().enumerate() {
        let Variant { name: own, one, .. } = &variants[choice];
        let (count, bytes) = (one.params.len(), one.bound_bytes);
        let _ = writeln!(
            text,
            "    {{{own}_1_bind, {own}_1, {own}_{CHUNK}, {name}_weights_{layer}, {count}, UINT64_C({bytes})}},"
        );
    }
    *text += "};\n";
    Ok(())
}

/// A weight as an initialiser.
fn row(
    config: &Config,
    tensors: &Tensors,
    name: &str,
    layer: Option<usize>,
) -> Result<String, CError> {
    let stored = tensors.find(name, layer)?;
    let buffer = config.family.buffer(name);
    let is_vector = |own: &Buffer| matches!(own.form(config), Form::Vector { .. });
    let is_gain = buffer.is_some_and(|own| is_vector(own) && !own.optional);
    let is_gain = u8::from(is_gain);
    let is_half = u8::from(stored.weight_type == WeightType::F16);
    let called = match layer {
        Some(layer) => format!("{name} of layer {layer}"),
        None => name.to_owned(),
    };
    let (head, rotated) = match stored.permutation {
        Permutation::None => (0, 0),
        Permutation::Interleaved {
            head_dim,
            rotary_dims,
        } => (head_dim, rotary_dims),
    };
    Ok(format!(
        "{{\"{called}\", UINT64_C({}), UINT64_C({}), UINT64_C({}), {}, {}, {head}, {rotated}, {is_half}, {is_gain}}}",
        stored.offset,
        stored.blocks(),
        stored.row / stored.weight_type.block_elements(),
        stored.file,
        stored.weight_type.block_bytes()
    ))
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
