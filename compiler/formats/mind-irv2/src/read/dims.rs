//! Reads the member `dimensions`, and the extents of shapes.

use mind_json::Value;

use super::field::{Reader, present, shown};
use crate::codes;
use crate::config::Config;
use crate::family::Family;
use crate::layout::dims::{Dim, Extent};

/// The dimensions of a document that do not follow from its configuration.
pub(super) struct Dims {
    /// The stored number of positions, from which sizes are computed.
    pub(super) tokens: usize,
}

/// Checks every listed dimension against the configuration, from which missing ones follow.
pub(super) fn check(root: &Value, config: &Config, r: &mut Reader) -> Dims {
    let mut dims = Dims {
        tokens: config.context_window,
    };
    let Some(value) = root.get("dimensions") else {
        return dims;
    };
    let Some(entries) = value.elements() else {
        r.wrong("dimensions", value, "an array");
        return dims;
    };
    let mut seen = [false; Dim::ALL.len()];
    for entry in entries {
        let Some((dim, stored)) = dimension(entry, config.family, r) else {
            continue;
        };
        if std::mem::replace(&mut seen[dim.id()], true) {
            let message = format!("dimension `{}` appears twice", dim.name());
            r.push(codes::TWICE, entry.span, message);
            continue;
        }
        let span = entry.get("value").map_or(entry.span, |value| value.span);
        let max = crate::config::MAX_EXTENT;
        if dim == Dim::Tokens {
            if (1..=max).contains(&stored) {
                dims.tokens = stored
            } else {
                let message = format!("`tokens` is {stored}, expected 1 to {max}");
                r.push(codes::RANGE, span, message);
            }
            continue;
        }
        let expected = dim.value(config, dims.tokens);
        if stored != expected {
            let message = format!(
                "dimension `{}` is {stored}, but `config` makes it {expected}",
                dim.name()
            );
            r.push(codes::CONTRADICTION, span, message);
        }
    }
    dims
}

fn dimension(entry: &Value, family: Family, r: &mut Reader) -> Option<(Dim, usize)> {
    if entry.members().is_none() {
        r.wrong("dimensions", entry, "objects with `id`, `name` and `value`");
        return None;
    }
    r.foreign(entry, &["id", "name", "value"]);
    let id = r.required(entry, "id")?;
    let number = r.natural("id", id)?;
    let dim = Dim::of_id(number).filter(|dim| dim.is_of(family));
    if dim.is_none() {
        let mut all = Dim::ALL.into_iter().filter(|dim| dim.is_of(family));
        let last = all.next_back().map_or(0, Dim::id);
        let message = format!("no dimension has id {number}, expected 0 to {last}");
        r.push(codes::NAME, id.span, message);
    }
    let dim = dim?;
    let (name, span) = r.text(entry, "name")?;
    if name != dim.name() {
        let message = format!(
            "dimension {number} is called `{}`, found `{}`",
            dim.name(),
            shown(name)
        );
        r.push(codes::CONTRADICTION, span, message);
        return None;
    }
    let value = r.required(entry, "value")?;
    Some((dim, r.natural("value", value)?))
}

/// Reads an element of a shape: an id, a name, or an object with `dim`, `mult` and `div`.
pub(crate) fn extent(value: &Value, r: &mut Reader) -> Option<Extent> {
    if value.members().is_none() {
        return Some(Extent::of(dim("shape", value, r)?));
    }
    r.foreign(value, &["dim", "dim_id", "mult", "div"]);
    let own = r.required(value, "dim")?;
    let own = dim("dim", own, r)?;
    if let Some(id) = present(value, "dim_id") {
        let other = dim("dim_id", id, r)?;
        if other != own {
            let message = format!(
                "`dim` is `{}` and `dim_id` is `{}`",
                own.name(),
                other.name()
            );
            r.push(codes::CONTRADICTION, id.span, message);
            return None;
        }
    }
    let mut factor = |key: &str| {
        let Some(own) = present(value, key) else {
            return Some(1);
        };
        let factor = r.natural(key, own)?;
        if factor == 0 {
            r.push(
                codes::RANGE,
                own.span,
                format!("`{key}` is 0, expected at least 1"),
            );
        }
        (factor > 0).then_some(factor)
    };
    let (mult, div) = (factor("mult")?, factor("div")?);
    Some(Extent {
        dim: own,
        mult,
        div,
    })
}

fn dim(key: &str, value: &Value, r: &mut Reader) -> Option<Dim> {
    let found = match value.text() {
        Some(name) => Dim::parse(name),
        None => Dim::of_id(r.natural(key, value)?),
    };
    if found.is_none() {
        let message = format!("no dimension is {}", value.describe());
        let help = format!(
            "ids are 0 to {}, names {}",
            Dim::ALL.len() - 1,
            Dim::ALL.map(Dim::name).join(", ")
        );
        r.push_with_help(codes::NAME, value.span, message, help);
    }
    found
}
