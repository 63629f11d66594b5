//! Diagnostics as text, with the source lines.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::{Diagnostic, Diagnostics, Severity, SourceFile, Span};

/// The maximum length in bytes of a source line that is shown. For longer lines only the location is printed.
const SHOWN_LINE: usize = 400;

/// Renders all diagnostics in order, and a last line with the number of those that were not kept.
pub fn render_text(diagnostics: &Diagnostics, file: &SourceFile, colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut out = String::new();
    for found in diagnostics.iter() {
        out.push_str(&renderer.render(&[group(found, file)]));
        out.push_str("\n\n");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    if diagnostics.dropped() > 0 {
        out.push_str(&format!("\nand {} more\n", diagnostics.dropped()));
    }
    out
}

fn group<'a>(found: &'a Diagnostic, file: &'a SourceFile) -> Group<'a> {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
        Severity::Remark => Level::INFO.with_name("remark"),
    };
    let title = level.primary_title(found.message.as_str());
    let title = match found.code {
        Some(code) => title.id(code.to_string()),
        None => title,
    };
    let mut group = Group::with_title(title);
    for place in places(found, file) {
        group = group.element(place);
    }
    for note in &found.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = found.way_out() {
        group = group.element(Level::HELP.message(help));
    }
    group
}

/// Returns the marked source line and the related ones. Lines that are too long are replaced by their location.
fn places<'a>(found: &'a Diagnostic, file: &'a SourceFile) -> Vec<Element<'a>> {
    if found.span.is_file() {
        return vec![Origin::path(file.name()).into()];
    }
    if let Some(place) = file.place(found.span) {
        let mut elements = vec![Origin::path(format!("{}: {place}", file.name())).into()];
        for (span, text) in &found.related {
            let place = file.place(*span).unwrap_or_default();
            elements.push(Level::NOTE.message(format!("{text}: {place}")).into());
        }
        return elements;
    }
    let primary = (found.span, AnnotationKind::Primary, found.label.as_deref());
    let related = found.related.iter();
    let related = related.map(|(span, text)| (*span, AnnotationKind::Context, Some(text.as_str())));
    let mut elements = Vec::new();
    for (span, kind, label) in std::iter::once(primary).chain(related) {
        let line = file.line(span.start);
        let range = file.line_range(line);
        if range.len() > SHOWN_LINE {
            let (line, column) = file.position(span);
            elements.push(
                Origin::path(file.name())
                    .line(line)
                    .char_column(column)
                    .into(),
            );
            continue;
        }
        let mut annotation = kind.span(within(span, &range));
        if let Some(label) = label {
            annotation = annotation.label(label);
        }
        let text = &file.text()[range];
        let snippet = Snippet::source(text)
            .line_start(line)
            .path(file.name())
            .annotation(annotation);
        elements.push(snippet.into());
    }
    elements
}

/// Returns `span` relative to the line at `range`, clamped to the line.
fn within(span: Span, range: &Range<usize>) -> Range<usize> {
    let start = (span.start as usize).clamp(range.start, range.end);
    let end = (span.end as usize).clamp(start, range.end);
    start - range.start..end - range.start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn shows_place_label_note_and_help() {
        let file = SourceFile::new("layer.mic", "mic@1\nN4 add N2 N3 T1\n");
        let found = Diagnostic::error(Span::new(13, 18), "broadcasting failed at dimension 1")
            .code(Code(3001))
            .label("shapes [8, 6] and [8, 7]")
            .note("N2 is f32 [8, 6]")
            .help("make both extents equal");
        let text = render_text(&found.into(), &file, false);
        let expected = "\
error[E3001]: broadcasting failed at dimension 1
 --> layer.mic:2:8
  |
2 | N4 add N2 N3 T1
  |        ^^^^^ shapes [8, 6] and [8, 7]
  |
  = note: N2 is f32 [8, 6]
  = help: make both extents equal
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_file_that_is_no_text_shows_the_place() {
        let file = SourceFile::of_places("m.mlmodel", "a[0], relu\na[1], add\n");
        let found =
            Diagnostic::error(Span::new(11, 20), "twice").related(Span::new(0, 10), "first here");
        let text = render_text(&found.into(), &file, false);
        assert_eq!(
            text,
            "error: twice\n--> m.mlmodel: a[1], add\n = note: first here: a[0], relu\n"
        );
    }

    #[test]
    fn a_huge_line_is_named_not_shown() {
        let file = SourceFile::new("m", "(".repeat(100_000));
        let text = render_text(
            &Diagnostic::error(Span::new(7, 8), "no").into(),
            &file,
            false,
        );
        assert_eq!(text, "error: no\n--> m:1:8\n");
    }
}
