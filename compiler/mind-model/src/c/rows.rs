//! C tables of weights and of the functions that read them.

use std::fmt::Write;

use mind_irv2::graph::distance::{Distances, slopes};
use mind_irv2::graph::parts;
use mind_irv2::layout::buffers::{Buffer, TensorForm};
use mind_irv2::{Among, Config};
use mind_weights::{Permutation, WeightType};

use super::{CError, Compiled, EXPERT, StagePart, StageVariants, Stored, Tensors, Variant, prefix};

/// C functions that dequantise a block, one section per format.
const DECODERS: &str = include_str!("decode.c");

/// Returns the types of the weight tables and the decoders of `formats`. Parts have at most `most` weights.
pub(super) fn types(most: usize, formats: &[WeightType]) -> String {
    let mut text = String::from(
        "\n/* A weight: `count` blocks of `size` bytes each, from `offset` on in file `file`. A row has `row`\n   \
         blocks; the first `rotated` of each `head` rows, if it is not 0, are permuted for rotations of neighbours.\n   \
         If `group` is not 0, the rows are in groups of `group` rows, `stride` rows apart. If `column` is not 0,\n   \
         the weight is transposed in the file, with columns that are `column` blocks apart. */\n\
         struct weight {\n    const char *name;\n    uint64_t offset, count, row, group, stride, column;\n    \
         int file, size, head, rotated, is_half, is_gain;\n};\n\n\
         typedef int part(const void *const *inputs, void *const *outputs);\n\n\
         /* A stage of a layer for one token and for CHUNK, and the functions that pack its `count` weights into `bytes`\n   \
         bytes, or into `many_bytes` bytes for CHUNK if `bind_many` packs them differently. */\n\
         struct stage {\n    part *bind, *one, *bind_many, *many;\n    const struct weight *weights;\n    \
         int count;\n    uint64_t bytes, many_bytes;\n};\n\n\
         /* A table of rows, in blocks of `elements` numbers; `decode` is NULL if the model does not have it. */\n\
         struct table {\n    struct weight weight;\n    \
         void (*decode)(const unsigned char *block, float *to);\n    int elements;\n};\n\n\
         /* Embedding tables. */\n\
         struct tables {\n    struct table tokens, positions, kinds;\n};\n\n\
         /* Distance biases: the class of each distance, where distances above `last` have the class of `last`; the offset\n   \
         of the classes of later positions, 0 if these are masked; and the biases of each of `count` classes. If\n   \
         `slopes` is not NULL, distances are multiplied by them instead; they are the bits of a float per head. */\n\
         struct distances {\n    const uint32_t *classes;\n    int last, behind, heads, count;\n    \
         struct table table;\n    const uint32_t *slopes;\n};\n\n",
    );
    let _ = writeln!(text, "#define MOST_WEIGHTS {most}");
    for format in formats {
        text += "\n";
        text += decoder(*format).trim_end();
        text.push('\n');
    }
    text
}

/// Returns the weight tables of each part of a stack of layers, with the functions of the part.
pub(super) fn stack(
    config: &Config,
    tensors: &Tensors,
    Compiled {
        layers, singles, ..
    }: &Compiled,
) -> Result<String, CError> {
    let mut text = String::new();
    for (stage, variants) in &layers.stages {
        if config.experts.is_some() || stage.among != Among::Experts {
            stages(&mut text, config, tensors, (stage, variants))?;
        }
    }
    for single in singles {
        let (name, own) = (&single.table, &single.one);
        let _ = writeln!(text, "\nstatic const struct weight {name}_weights[] = {{");
        for port in &own.params {
            let stored = tensors.find(&port.name, None)?;
            let row = row(config, stored, &port.name, (None, None));
            let _ = writeln!(text, "    {row},");
        }
        let (count, bytes) = (own.params.len(), own.bound_bytes);
        let [one, many] = single.functions();
        let (bind_many, many_bytes) = bound_for_many(single);
        let _ = writeln!(
            text,
            "}};\nstatic const struct stage {name}_stage =\n    \
             {{{one}_bind, {one}, {bind_many}, {many}, {name}_weights, {count}, UINT64_C({bytes}), UINT64_C({many_bytes})}};\n"
        );
    }
    text += &embeddings(config, tensors)?;
    Ok(text)
}

/// Returns the function that packs weights for `CHUNK` tokens if they are packed differently than for one, and the
/// number of bytes it writes.
fn bound_for_many(variant: &Variant) -> (String, u64) {
    let [_, many] = variant.functions();
    match variant.packed_otherwise() {
        Some(own) => (format!("{many}_bind"), own.bound_bytes),
        None => ("NULL".to_owned(), 0),
    }
}

/// Returns the names of the embedding tables of a stack of layers: tokens, positions, kinds and distances.
fn rows_of(config: &Config) -> [Option<&'static str>; 4] {
    let own = parts::tables(config);
    [Some(own.tokens), own.positions, own.kinds, own.distances]
}

/// Returns the distinct storage types of these tables.
pub(super) fn formats(config: &Config, tensors: &Tensors) -> Vec<WeightType> {
    let names = rows_of(config).into_iter().flatten();
    let mut all: Vec<WeightType> = Vec::new();
    for format in names.map(|name| tensors.stored_as(name, None)) {
        if !all.contains(&format) {
            all.push(format);
        }
    }
    all
}

/// Returns the C definitions of these tables.
fn embeddings(config: &Config, tensors: &Tensors) -> Result<String, CError> {
    let table = |name: Option<&'static str>| -> Result<String, CError> {
        let Some(name) = name else {
            let nothing = ["0"; 10].join(", ");
            return Ok(format!("{{{{NULL, {nothing}, 0, 0}}, NULL, 0}}"));
        };
        let stored = tensors.find(name, None)?;
        let (row, format) = (row(config, stored, name, (None, None)), stored.weight_type);
        let elements = format.block_elements();
        Ok(format!("{{{row}, decode_{}, {elements}}}", format.name()))
    };
    let nothing = table(None)?;
    let [tokens, positions, kinds, distances] = rows_of(config).map(table);
    let prefix = prefix(config);
    let mut text = format!(
        "\nstatic const struct tables {prefix}tables = {{\n    {},\n    {},\n    {},\n}};\n",
        tokens?, positions?, kinds?
    );
    if let Some(own) = Distances::of(config) {
        let classes: Vec<String> = own.classes.iter().map(u32::to_string).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "static const uint32_t {prefix}classes[] = {{{}}};\n\
             static const struct distances {prefix}distances = {{{prefix}classes, {}, {}, {}, {},\n    {}, NULL}};",
            classes.join(", "),
            own.classes.len() - 1,
            own.after_offset.unwrap_or(0),
            config.num_attention_heads,
            own.count(),
            distances?
        );
    }
    if let Some(own) = slopes(config) {
        let bits: Vec<String> = own.iter().map(|x| format!("{:#x}", x.to_bits())).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "static const uint32_t {prefix}slopes[] = {{{}}};\n\
             static const struct distances {prefix}distances = {{NULL, 0, 0, {}, 0,\n    {nothing}, {prefix}slopes}};",
            bits.join(", "),
            own.len(),
        );
    }
    Ok(text)
}

/// Writes the weights and functions of a stage for each layer, and for each expert if it is the expert stage.
fn stages(
    text: &mut String,
    config: &Config,
    tensors: &Tensors,
    (part, stage): (&StagePart, &StageVariants),
) -> Result<(), CError> {
    let count = config.experts.filter(|_| part.name == EXPERT);
    let prefix = prefix(config);
    let name = &format!("{prefix}{}", part.name);
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
            let (bind_many, many_bytes) = bound_for_many(variant);
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
    let extent = format!("{}{extent}", prefix.to_uppercase());
    let _ = writeln!(
        text,
        "\nstatic const struct stage {name}_stages[{extent}] = {{\n{rows}}};"
    );
    Ok(())
}

/// Returns the C initialiser of a weight.
fn row(
    config: &Config,
    stored: Stored,
    name: &str,
    (layer, expert): (Option<usize>, Option<usize>),
) -> String {
    let buffer = config.family.buffer(name);
    let is_vector = |own: &Buffer| matches!(own.form(config), TensorForm::Vector { .. });
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

/// Returns the C function that decodes a block of a format.
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
