//! An encoder as C.

use std::fmt::Write;

use mind_irv2::graph::parts;

use super::{CError, CHUNK, PartWriter, RUNTIME, attention_rows, choice, sizes};

const ENCODER: &str = include_str!("encoder.c");

/// The text of a program that makes vectors of at most `capacity` tokens.
///
/// # Errors
///
/// A quantised vector.
pub(super) fn program(mut writer: PartWriter<'_>, capacity: usize) -> Result<String, CError> {
    let (config, tensors) = (writer.config, writer.tensors);
    let layers = writer.layers(&[CHUNK])?;
    let rows = attention_rows(capacity);
    let attention = writer.attention(&rows, &[CHUNK])?;
    let mut text = sizes(config, tensors, capacity, (&rows, 0));
    let mut singles = Vec::new();
    let all: [(&str, bool, super::Build, usize); 3] = [
        ("embed", parts::has_embed(config), parts::embed, CHUNK),
        ("close", parts::has_close(config), parts::close, CHUNK),
        ("pool", parts::has_pool(config), parts::pool, 1),
    ];
    for (name, has, build, tokens) in all {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "#define HAS_{} {}",
            name.to_uppercase(),
            u8::from(has)
        );
        if has {
            singles.push(writer.single((build, tokens), name)?);
        }
    }
    text += &choice(&rows, &[CHUNK]);
    let runtime = [RUNTIME, ENCODER].concat();
    writer.program((layers, singles, attention), [text, runtime])
}
