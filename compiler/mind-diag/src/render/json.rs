//! One JSON object per line and diagnostic.

use serde_json::{Map, Value, json};

use crate::{Diagnostics, SourceFile, Span};

/// Renders each finding as one line of JSON: code, severity, message, file, line, column, length,
/// context, related places, notes, help. Lines and columns count from 1; line 0 is the whole file.
pub fn render_json(diagnostics: &Diagnostics, file: &SourceFile) -> String {
    let mut out = String::new();
    for found in diagnostics.iter() {
        let (line, column) = file.position(found.span);
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
        let object = json!({
            "code": found.code.map(|code| code.to_string()),
            "severity": found.severity.word(),
            "message": found.message,
            "file": file.name(),
            "line": line,
            "column": column,
            "length": found.span.end - found.span.start,
            "context": context,
            "related": related,
            "notes": found.notes,
            "help": found.way_out(),
        });
        out.push_str(&object.to_string());
        out.push('\n');
    }
    out
}

fn place(file: &SourceFile, span: Span, message: &str) -> Value {
    let (line, column) = file.position(span);
    json!({ "line": line, "column": column, "message": message })
}
