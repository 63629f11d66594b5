//! JSON pointers of spans.

use mind_diag::{Diagnostics, Span};

use crate::value::{Value, ValueKind};

/// Returns the JSON pointer (RFC 6901) of the innermost value or key of `root` that contains `span`, for example
/// `/layers/3/name`.
///
/// Returns `""` for the whole text.
pub fn pointer(root: &Value, span: Span) -> String {
    let mut out = String::new();
    let mut value = root;
    loop {
        let next = match &value.kind {
            ValueKind::Array(elements) => {
                let at = elements.partition_point(|element| element.span.end < span.end);
                elements
                    .get(at)
                    .map(|element| (at.to_string(), element, false))
            }
            ValueKind::Object(members) => {
                let at = members.partition_point(|member| member.value.span.end < span.end);
                members.get(at).map(|member| {
                    let key = member.key.replace('~', "~0").replace('/', "~1");
                    (key, &member.value, within(span, member.key_span))
                })
            }
            _ => None,
        };
        let Some((step, child, is_key)) = next else {
            return out;
        };
        if !is_key && !within(span, child.span) {
            return out;
        }
        out.push('/');
        out.push_str(&step);
        if is_key {
            return out;
        }
        value = child;
    }
}

fn within(span: Span, outer: Span) -> bool {
    outer.start <= span.start && span.end <= outer.end
}

/// Adds the JSON pointer of its span in `root` to each diagnostic.
pub fn locate(root: &Value, found: Diagnostics) -> Diagnostics {
    found.map(|diagnostic| {
        if diagnostic.span.is_file() {
            return diagnostic;
        }
        let pointer = pointer(root, diagnostic.span);
        let note = format!("at `{pointer}`");
        if pointer.is_empty() {
            diagnostic.context("pointer", pointer)
        } else {
            diagnostic.context("pointer", pointer).note(note)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Limits, parse};

    #[test]
    fn places_have_pointers() {
        let text = r#"{"a/b": [10, {"c~": true}], "d": {}}"#;
        let root = parse(text, &Limits::default()).unwrap();
        let at = |needle: &str| {
            let start = text.find(needle).unwrap() as u32;
            pointer(&root, Span::new(start, start + needle.len() as u32))
        };
        assert_eq!(at("10"), "/a~1b/0");
        assert_eq!(at("true"), "/a~1b/1/c~0");
        assert_eq!(at(r#""c~""#), "/a~1b/1/c~0");
        assert_eq!(at("{\"c~\": true}"), "/a~1b/1");
        assert_eq!(at("{}"), "/d");
        assert_eq!(pointer(&root, root.span), "");
    }
}
