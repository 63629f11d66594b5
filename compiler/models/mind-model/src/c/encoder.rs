//! C code of an encoder, which is a program of its own or runs before a decoder.

use mind_ir::Graph;
use mind_irv2::Config;
use mind_irv2::graph::{BuildError, parts};

use super::{
    ATTEND, Build, CError, CHUNK, Compiled, PartWriter, attention_rows, choice, defines, has,
    prefix, sizes,
};

/// The C driver of an encoder without a decoder.
pub(super) const PROGRAM: &str = include_str!("encoder.c");

/// Builds the first convolution over audio frames: a row per frame.
fn frames(config: &Config, count: usize, stored: parts::Stored<'_>) -> Result<Graph, BuildError> {
    parts::frames(config, (count, false), stored)
}

/// Builds the second convolution: a row per pair of frames (stride 2).
fn pairs(config: &Config, count: usize, stored: parts::Stored<'_>) -> Result<Graph, BuildError> {
    parts::frames(config, (count, true), stored)
}

/// Returns the functions of the encoder of `config` for texts of at most `capacity` tokens, and its tables other than
/// those of weights.
///
/// # Errors
///
/// A vector is stored in a quantised type.
pub(super) fn stack(
    writer: &mut PartWriter<'_>,
    config: &Config,
    capacity: usize,
) -> Result<(Compiled, String), CError> {
    let tokens = [CHUNK];
    let layers = writer.layers(config, &tokens)?;
    let rows = attention_rows(capacity);
    let attention = writer.attention(config, ATTEND, &rows, &tokens)?;
    let prefix = prefix(config);
    let mut tables = sizes(config, capacity, (&rows, 0));
    let mut singles = Vec::new();
    let all: [(&str, bool, Build, usize); 7] = [
        ("frames", parts::has_frames(config), frames, CHUNK),
        ("pairs", parts::has_frames(config), pairs, CHUNK),
        ("patches", parts::has_patches(config), parts::patches, CHUNK),
        ("embed", parts::has_embed(config), parts::embed, CHUNK),
        ("close", parts::has_close(config), parts::close, CHUNK),
        ("pool", parts::has_pool(config), parts::pool, 1),
        ("classify", parts::has_classify(config), parts::classify, 1),
    ];
    for (name, is_there, build, tokens) in all {
        tables += &has(prefix, name, is_there);
        if is_there {
            singles.push(writer.single(config, (build, &[tokens]), name)?);
        }
    }
    if let Some(image) = config.image() {
        tables += &defines(
            prefix,
            &[
                ("IMAGE", image.size),
                ("PATCH", image.patch),
                ("CHANNELS", image.channels),
            ],
        );
    }
    if let Some(audio) = config.audio() {
        let numbers = [("MEL_BINS", audio.mel_bins), ("FRAMES", audio.frames)];
        tables += &defines(prefix, &numbers);
    }
    tables += &choice(prefix, ["attention", ATTEND.0], &rows, &tokens);
    let compiled = Compiled {
        layers,
        singles,
        attention,
    };
    Ok((compiled, tables))
}
