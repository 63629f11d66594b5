//! Files that complete those of a plan.

use mind_diag::Span;
use mind_json::{Member, Value, ValueKind};

/// Returns `own` with the members of `base` that it lacks. Entries of `buffers` are completed by name, `switches` by word and
/// objects by key; another array of `own` replaces that of `base`.
///
/// Values of `base` get the span of `own`, because diagnostics are about the text of `own`.
pub(super) fn complete(own: &Value, base: &Value) -> Value {
    let (Some(members), Some(of_base)) = (own.members(), base.members()) else {
        return own.clone();
    };
    let mut all: Vec<Member> = members.to_vec();
    for theirs in of_base {
        match all.iter_mut().find(|member| member.key == theirs.key) {
            None => all.push(Member {
                key: theirs.key.clone(),
                key_span: own.span,
                value: respanned(&theirs.value, own.span),
            }),
            Some(member) => match (member.key.as_str(), theirs.value.elements()) {
                ("buffers", Some(entries)) => add_entries(&mut member.value, entries, |entry| {
                    entry.get("name").and_then(Value::text)
                }),
                ("switches", Some(entries)) => {
                    add_entries(&mut member.value, entries, Value::text);
                }
                _ => member.value = complete(&member.value, &theirs.value),
            },
        }
    }
    Value {
        span: own.span,
        kind: ValueKind::Object(all),
    }
}

/// Puts the entries of `base` in front of those of the array `own`, which replace entries of the same name.
fn add_entries(own: &mut Value, base: &[Value], name: impl Fn(&Value) -> Option<&str>) {
    let span = own.span;
    let ValueKind::Array(entries) = &mut own.kind else {
        return;
    };
    let mut all = Vec::new();
    for theirs in base {
        match entries.iter().position(|entry| name(entry) == name(theirs)) {
            Some(at) => all.push(entries.remove(at)),
            None => all.push(respanned(theirs, span)),
        }
    }
    all.append(entries);
    *entries = all;
}

fn respanned(value: &Value, span: Span) -> Value {
    let kind = match &value.kind {
        ValueKind::Array(entries) => {
            ValueKind::Array(entries.iter().map(|entry| respanned(entry, span)).collect())
        }
        ValueKind::Object(members) => {
            let member = |own: &Member| Member {
                key: own.key.clone(),
                key_span: span,
                value: respanned(&own.value, span),
            };
            ValueKind::Object(members.iter().map(member).collect())
        }
        scalar @ (ValueKind::Null
        | ValueKind::Bool(_)
        | ValueKind::Number(_)
        | ValueKind::String(_)) => scalar.clone(),
    };
    Value { span, kind }
}
