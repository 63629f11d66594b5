//! Reads the object of Hugging Face that describes the scaling of rotary embeddings.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::scalar::math::log_f64;
use mind_json::Value;

use crate::codes;
use crate::config::{RopeScaling, Yarn};
use crate::factors::{FrequencyFactors, MAX_FACTORS};

/// The default base of the frequencies.
pub(crate) const DEFAULT_THETA: f64 = 10_000.0;

/// The key of the original context, on which a model with scaled frequencies was trained.
pub(crate) const ORIGINAL_CONTEXT: &str = "original_max_position_embeddings";

/// Returns the keys that are read for `scaling`.
pub(crate) fn keys(scaling: RopeScaling) -> &'static [&'static str] {
    match scaling {
        RopeScaling::None => &["rope_type", "type"],
        RopeScaling::Linear { .. } => &["rope_type", "type", "factor"],
        RopeScaling::Llama3 { .. } => &[
            "rope_type",
            "type",
            "factor",
            "low_freq_factor",
            "high_freq_factor",
            ORIGINAL_CONTEXT,
        ],
        RopeScaling::Dynamic { .. } => &["rope_type", "type", "factor"],
        RopeScaling::Yarn(_) => &[
            "rope_type",
            "type",
            "factor",
            "attention_factor",
            "mscale",
            "mscale_all_dim",
            "beta_fast",
            "beta_slow",
            ORIGINAL_CONTEXT,
            "truncate",
        ],
        RopeScaling::LongRope { .. } => &[
            "rope_type",
            "type",
            "factor",
            "attention_factor",
            "short_factor",
            "long_factor",
            ORIGINAL_CONTEXT,
        ],
    }
}

fn error(code: Code, span: Span, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).code(code))
}

/// Returns the error that two values contradict each other, located at the first one.
pub(crate) fn contradiction((one, at): (&str, &Value), (two, other): (&str, &Value)) -> Diagnostic {
    let message = format!(
        "`{one}` is {}, but `{two}` is {}",
        at.describe(),
        other.describe()
    );
    let found = Diagnostic::error(at.span, message).code(codes::CONTRADICTION);
    found.related(other.span, format!("`{two}` is here"))
}

/// Returns whether two values are equal; numbers are compared as numbers.
pub(crate) fn means_the_same(one: &Value, two: &Value) -> bool {
    match (one.real(), two.real()) {
        (Some(one), Some(two)) => one == two,
        _ => one.print() == two.print(),
    }
}

/// Returns the scaling that `value` describes. `context` is the original context if it is given outside of the object,
/// and `positions` the context of the model.
///
/// # Errors
///
/// Errors if the type is not supported, a number is missing, or two keys contradict each other.
pub(crate) fn scaling(
    value: &Value,
    context: Option<&Value>,
    positions: usize,
) -> Result<RopeScaling, Box<Diagnostic>> {
    if value.members().is_none() {
        let message = format!("`rope_scaling` is {}, expected an object", value.describe());
        return Err(error(codes::KIND, value.span, message));
    }
    let present = |key: &str| value.get(key).filter(|value| !value.is_null());
    let number = |key: &str, outside: Option<&Value>| {
        let found = present(key).or(outside);
        found.and_then(Value::real).ok_or_else(|| {
            let span = found.map_or(value.span, |found| found.span);
            let message = format!("`rope_scaling.{key}` is missing or not a number");
            error(codes::MISSING, span, message)
        })
    };
    let (new, old) = (present("rope_type"), present("type"));
    if let (Some(new), Some(old)) = (new, old)
        && !means_the_same(new, old)
    {
        let (new, old) = (("rope_scaling.rope_type", new), ("rope_scaling.type", old));
        return Err(Box::new(contradiction(new, old)));
    }
    let Some(named) = new.or(old) else {
        if value.get("factor").is_none() {
            return Ok(RopeScaling::None);
        }
        let message = "`rope_scaling.rope_type` is missing".to_owned();
        return Err(error(codes::MISSING, value.span, message));
    };
    match named.text() {
        Some("default") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear {
            factor: number("factor", None)?,
        }),
        Some("llama3") => Ok(RopeScaling::Llama3 {
            original_context: original_context(value, context, None)?,
            factor: number("factor", None)?,
            low_freq_factor: number("low_freq_factor", None)?,
            high_freq_factor: number("high_freq_factor", None)?,
        }),
        Some("dynamic") => Ok(RopeScaling::Dynamic {
            factor: number("factor", None)?,
        }),
        Some("yarn") => {
            let original_context = original_context(value, context, Some(positions))?;
            yarn(value, original_context, positions).map(RopeScaling::Yarn)
        }
        // The second word occurs in early files.
        Some("longrope" | "su") => {
            let original_context = original_context(value, context, Some(positions))?;
            longrope(value, original_context, positions)
        }
        _ => {
            let message = format!(
                "`rope_scaling.rope_type` is {}, supported are \"default\", \"linear\", \"llama3\", \"dynamic\", \"yarn\" and \"longrope\"",
                named.describe()
            );
            Err(error(codes::UNSUPPORTED, named.span, message))
        }
    }
}

/// Returns the original context, which is in the object or next to it; `default` if it is absent.
fn original_context(
    value: &Value,
    beside: Option<&Value>,
    default: Option<usize>,
) -> Result<usize, Box<Diagnostic>> {
    let own = value.get(ORIGINAL_CONTEXT).filter(|own| !own.is_null());
    if let (Some(own), Some(beside)) = (own, beside)
        && !means_the_same(own, beside)
    {
        let nested = format!("rope_scaling.{ORIGINAL_CONTEXT}");
        let found = contradiction((ORIGINAL_CONTEXT, beside), (&nested, own));
        return Err(Box::new(found));
    }
    let Some(found) = own.or(beside) else {
        return default.ok_or_else(|| {
            let message = format!("`rope_scaling.{ORIGINAL_CONTEXT}` is missing or not a number");
            error(codes::MISSING, value.span, message)
        });
    };
    let context = found.real().ok_or_else(|| {
        let message = format!("`rope_scaling.{ORIGINAL_CONTEXT}` is missing or not a number");
        error(codes::MISSING, found.span, message)
    })?;
    let is_whole = context >= 0.0 && context.fract() == 0.0 && context < 1e15;
    if !is_whole {
        let message = format!("`{ORIGINAL_CONTEXT}` is {context}, expected a whole number");
        return Err(error(codes::KIND, value.span, message));
    }
    Ok(context as usize)
}

/// Returns a number of the object that may be absent.
fn maybe(value: &Value, key: &str) -> Result<Option<f64>, Box<Diagnostic>> {
    let Some(found) = value.get(key).filter(|own| !own.is_null()) else {
        return Ok(None);
    };
    found.real().map(Some).ok_or_else(|| {
        let message = format!(
            "`rope_scaling.{key}` is {}, expected a number",
            found.describe()
        );
        error(codes::KIND, found.span, message)
    })
}

/// Returns the ratio of the context to the original one, which is the default of `factor`.
fn ratio(positions: usize, original_context: usize) -> f64 {
    positions as f64 / original_context.max(1) as f64
}

fn yarn(value: &Value, original_context: usize, positions: usize) -> Result<Yarn, Box<Diagnostic>> {
    let said = maybe(value, "factor")?;
    let factor = said.unwrap_or_else(|| ratio(positions, original_context));
    let growth = |scale: f64| match factor {
        factor if factor <= 1.0 => 1.0,
        factor => 0.1 * scale * log_f64(factor) + 1.0,
    };
    let scales = [maybe(value, "mscale")?, maybe(value, "mscale_all_dim")?];
    let inferred = match scales.map(|scale| scale.filter(|scale| *scale != 0.0)) {
        [Some(one), Some(other)] => growth(one) / growth(other),
        _ => growth(1.0),
    };
    let truncate = match value.get("truncate").filter(|own| !own.is_null()) {
        Some(own) => own.truth().ok_or_else(|| {
            let message = format!(
                "`rope_scaling.truncate` is {}, expected true or false",
                own.describe()
            );
            error(codes::KIND, own.span, message)
        })?,
        None => true,
    };
    let or = |found: Option<f64>, default: f64| found.filter(|own| *own != 0.0).unwrap_or(default);
    Ok(Yarn {
        factor,
        attention_factor: maybe(value, "attention_factor")?.unwrap_or(inferred),
        beta_fast: or(maybe(value, "beta_fast")?, 32.0),
        beta_slow: or(maybe(value, "beta_slow")?, 1.0),
        original_context,
        truncate,
    })
}

fn longrope(
    value: &Value,
    original_context: usize,
    positions: usize,
) -> Result<RopeScaling, Box<Diagnostic>> {
    let factors = |key: &str| {
        let found = value.get(key).filter(|own| !own.is_null());
        let numbers = found.and_then(Value::elements).map(|all| all.iter());
        let numbers = numbers.map(|all| all.map(|own| Some(own.real()? as f32)));
        let numbers = numbers.and_then(Iterator::collect::<Option<Vec<f32>>>);
        let factors = numbers.and_then(|numbers| FrequencyFactors::new(&numbers));
        factors.ok_or_else(|| {
            let span = found.map_or(value.span, |own| own.span);
            let message =
                format!("`rope_scaling.{key}` must be an array of 1 to {MAX_FACTORS} numbers");
            error(codes::KIND, span, message)
        })
    };
    let factor = maybe(value, "factor")?.unwrap_or_else(|| ratio(positions, original_context));
    let inferred = match factor {
        factor if factor <= 1.0 || original_context < 2 => 1.0,
        factor => (1.0 + log_f64(factor) / log_f64(original_context as f64)).sqrt(),
    };
    Ok(RopeScaling::LongRope {
        short: factors("short_factor")?,
        long: factors("long_factor")?,
        attention_factor: maybe(value, "attention_factor")?.unwrap_or(inferred),
        original_context,
    })
}
