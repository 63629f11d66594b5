//! Frequency factors of rotary embeddings in weight files.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::TensorInfo;

use super::index::{FACTORS, LONG_FACTORS, Source};
use crate::codes;
use crate::config::{Config, Rope, RopeScaling};
use crate::factors::{FrequencyFactors, MAX_FACTORS};
use crate::graph::rope::frequencies;

/// Returns the factors of the first file that has them.
///
/// # Errors
///
/// E4304 if the factors cannot be read.
pub(crate) fn factors(sources: &[Source<'_>]) -> Result<Option<FrequencyFactors>, Diagnostics> {
    let found = sources.iter().find_map(|source| {
        let info = source.file.info(FACTORS)?;
        Some((source, info))
    });
    let Some((source, info)) = found else {
        return Ok(None);
    };
    decoded(source, info).map(Some)
}

/// Returns the factors for long and for short sequences, if the file has both.
///
/// # Errors
///
/// E4304 if the factors cannot be read.
pub(crate) fn long_factors(
    source: &Source<'_>,
) -> Result<Option<[FrequencyFactors; 2]>, Diagnostics> {
    let [Some(long), Some(short)] = LONG_FACTORS.map(|name| source.file.info(name)) else {
        return Ok(None);
    };
    Ok(Some([decoded(source, long)?, decoded(source, short)?]))
}

fn decoded(source: &Source<'_>, info: &TensorInfo) -> Result<FrequencyFactors, Diagnostics> {
    let divisors = source.file.view(info).and_then(|view| {
        let mut divisors = vec![0.0; view.elements()];
        view.decode_f32(&mut divisors).ok().map(|()| divisors)
    });
    let factors = divisors.and_then(|divisors| FrequencyFactors::new(&divisors));
    factors.ok_or_else(|| {
        let message = format!(
            "{}: tensor {:?} is not 1 to {MAX_FACTORS} numbers that can be decoded",
            source.name, info.name
        );
        let found = Diagnostic::error(Span::FILE, message);
        found.code(codes::TENSOR_SHAPE).into()
    })
}

/// Checks that the factors in the files agree with the rotation of `config`, up to rounding.
///
/// # Errors
///
/// E4210 if the rotations differ; see also [`factors`].
pub(super) fn check(config: &Config, sources: &[Source<'_>]) -> Result<(), Diagnostics> {
    let (Some(rope), Some(factors)) = (config.rope, factors(sources)?) else {
        return Ok(());
    };
    let scaling = match rope.scaling {
        // GGUF files express the scaling of Llama 3 by their factors alone.
        RopeScaling::Llama3 { .. } => RopeScaling::None,
        scaling @ (RopeScaling::None
        | RopeScaling::Linear { .. }
        | RopeScaling::Dynamic { .. }
        | RopeScaling::Yarn(_)
        | RopeScaling::LongRope { .. }) => scaling,
    };
    let stored = Rope {
        scaling,
        factors: Some(factors),
        ..rope
    };
    let own = |rope| frequencies(rope, config.context_window);
    let pairs = own(&stored).into_iter().zip(own(&rope));
    let mut same = factors.as_slice().len() == rope.rotary_dims / 2;
    for (one, other) in pairs {
        same &= (one - other).abs() <= 1e-4 * other.abs();
    }
    if same {
        return Ok(());
    }
    let message = format!(
        "tensor {FACTORS:?} stretches the rotation otherwise than the description of the model"
    );
    Err(Diagnostic::error(Span::FILE, message)
        .code(codes::CONTRADICTION)
        .into())
}
