//! Diagnostics as JSON, one object per line.

use serde_json::{Map, Value, json};

use crate::{Diagnostics, SourceFile, Span};

/// Renders each diagnostic as one line of JSON with the keys code, severity, message, file, line, column, length,
/// context, related, notes and help. Lines and columns are counted from 1; line 0 represents the whole file. In a file
/// that is not text, the key `place` describes the location.
pub fn render_json(diagnostics: &Diagnostics, file: &SourceFile) -> String {
    let mut out = String::new();
    for found in diagnostics.iter() {
        let (line, column) = file.position(found.span);
        let is_text = file.place(found.span).is_none();
        let context: Map<String, Value> = found
            .context
            .iter()
            .map(|(key, value)| (key.to_string(), json!(value)))
            .collect();
        let related: Vec<Value> = found
            .related
            .iter()
            .map(|(span, message)| place(file, *span, message))
            .collect();
        let mut object = json!({
            "code": found.code.map(|code| code.to_string()),
            "severity": found.severity.word(),
            "message": found.message,
            "file": file.name(),
            "line": line,
            "column": column,
            "length": if is_text { found.span.end - found.span.start } else { 0 },
            "context": context,
            "related": related,
            "notes": found.notes,
            "help": found.way_out(),
        });
        if let Some(place) = file.place(found.span) {
            object["place"] = json!(place);
        }
        out.push_str(&object.to_string());
        out.push('\n');
    }
    out
}

fn place(file: &SourceFile, span: Span, message: &str) -> Value {
    let (line, column) = file.position(span);
    match file.place(span) {
        Some(place) => json!({ "place": place, "message": message }),
        None => json!({ "line": line, "column": column, "message": message }),
    }
}
