//! The object that says how rotary embeddings are stretched, as Hugging Face writes it.

use mind_diag::{Code, Span};
use mind_json::Value;

use crate::codes;
use crate::config::RopeScaling;

/// The base of the frequencies in every family whose configuration does not say one.
pub(crate) const DEFAULT_THETA: f64 = 10_000.0;

/// Why an object says no scaling that is supported.
pub(crate) struct ScalingError {
    pub(crate) code: Code,
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// The scaling that `value` says.
///
/// Errors: another kind of scaling, a missing number.
pub(crate) fn scaling(value: &Value) -> Result<RopeScaling, ScalingError> {
    let error = |code, span, message| ScalingError {
        code,
        span,
        message,
    };
    if value.members().is_none() {
        let message = format!("`rope_scaling` is {}, expected an object", value.describe());
        return Err(error(codes::KIND, value.span, message));
    }
    let number = |key: &str| {
        let found = value.get(key).and_then(Value::real);
        found.ok_or_else(|| {
            let span = value.get(key).map_or(value.span, |found| found.span);
            let message = format!("`rope_scaling.{key}` is missing or no number");
            error(codes::MISSING, span, message)
        })
    };
    let named = value.get("rope_type").or_else(|| value.get("type"));
    let Some(named) = named.filter(|named| !named.is_null()) else {
        if value.get("factor").is_none() {
            return Ok(RopeScaling::None);
        }
        let message = "`rope_scaling.rope_type` is missing".to_owned();
        return Err(error(codes::MISSING, value.span, message));
    };
    match named.text() {
        Some("default") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear {
            factor: number("factor")?,
        }),
        Some("llama3") => {
            let context = number("original_max_position_embeddings")?;
            let whole = context >= 0.0 && context.fract() == 0.0 && context < 1e15;
            if !whole {
                let message = format!(
                    "`original_max_position_embeddings` is {context}, expected a whole number"
                );
                return Err(error(codes::KIND, value.span, message));
            }
            Ok(RopeScaling::Llama3 {
                factor: number("factor")?,
                low_freq_factor: number("low_freq_factor")?,
                high_freq_factor: number("high_freq_factor")?,
                original_context: context as usize,
            })
        }
        _ => {
            let message = format!(
                "`rope_scaling.rope_type` is {}, supported are \"default\", \"linear\" and \"llama3\"",
                named.describe()
            );
            Err(error(codes::UNSUPPORTED, named.span, message))
        }
    }
}
