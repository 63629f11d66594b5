//! The object that says how rotary embeddings are stretched, as Hugging Face writes it.

use mind_diag::{Code, Diagnostic, Span};
use mind_json::Value;

use crate::codes;
use crate::config::RopeScaling;

/// The base of the frequencies in every family whose configuration does not say one.
pub(crate) const DEFAULT_THETA: f64 = 10_000.0;

/// The context that a stretched model was trained on.
pub(crate) const ORIGINAL_CONTEXT: &str = "original_max_position_embeddings";

/// The keys of an object that are read where it says `scaling`.
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
    }
}

fn error(code: Code, span: Span, message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).code(code))
}

/// The contradiction of two values of one thing, of which the first is blamed.
pub(crate) fn contradiction((one, at): (&str, &Value), (two, other): (&str, &Value)) -> Diagnostic {
    let message = format!(
        "`{one}` is {}, but `{two}` is {}",
        at.describe(),
        other.describe()
    );
    let found = Diagnostic::error(at.span, message).code(codes::CONTRADICTION);
    found.related(other.span, format!("`{two}` is here"))
}

/// Whether two values mean the same: numbers are compared as numbers.
pub(crate) fn means_the_same(one: &Value, two: &Value) -> bool {
    match (one.real(), two.real()) {
        (Some(one), Some(two)) => one == two,
        _ => one.print() == two.print(),
    }
}

/// The scaling that `value` says. `context` is the original context where it stands outside of the object.
///
/// # Errors
///
/// Another kind of scaling, a missing number, two keys that contradict each other.
pub(crate) fn scaling(
    value: &Value,
    context: Option<&Value>,
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
            let message = format!("`rope_scaling.{key}` is missing or no number");
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
        Some("llama3") => {
            if let (Some(own), Some(outside)) = (present(ORIGINAL_CONTEXT), context)
                && !means_the_same(own, outside)
            {
                let nested = format!("rope_scaling.{ORIGINAL_CONTEXT}");
                let own = contradiction((ORIGINAL_CONTEXT, outside), (&nested, own));
                return Err(Box::new(own));
            }
            let context = number(ORIGINAL_CONTEXT, context)?;
            let whole = context >= 0.0 && context.fract() == 0.0 && context < 1e15;
            if !whole {
                let message = format!("`{ORIGINAL_CONTEXT}` is {context}, expected a whole number");
                return Err(error(codes::KIND, value.span, message));
            }
            Ok(RopeScaling::Llama3 {
                factor: number("factor", None)?,
                low_freq_factor: number("low_freq_factor", None)?,
                high_freq_factor: number("high_freq_factor", None)?,
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
