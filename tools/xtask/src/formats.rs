//! The table of formats.

use std::fmt::Write;

use mind_driver::formats::{FOREIGN, FORMATS, Read, Sign, Write as Written};

/// `docs/formats.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Formats\n\nGenerated from the format table by `cargo run -p xtask`. The words are the values of `--from` \
         and `--to`. Formats that are detected do not need `--from`: some are detected by their content, whatever the \
         name of the file, and others by the name of the file or folder. [translating.md](translating.md) describes the \
         translations.\n\n\
         The extension of the file that `-o` names selects the format of the output, in lower or upper case; `--to` may \
         repeat it, and must not contradict it. An extension of two rows, for example `.mic`, keeps the input's format \
         if it is one of them. An extension without a row is an error unless `--to` is given, as is one of a format \
         that the tool does not write. If the name has no extension, an ending without letters, for example \
         `model-v1.2`, or a part `.tmp` with an unknown ending, as the names of lit's `%t`, the format is that of \
         `--to` or of the input.\n\n\
         | word | what it is | files | detected by | read as | written as |\n|---|---|---|---|---|---|\n",
    );
    for row in FORMATS {
        let files: Vec<String> = row
            .extensions
            .iter()
            .map(|end| format!("`.{end}`"))
            .collect();
        let detected = match (row.read, row.sniff) {
            (Some(_), Some(_)) | (Some(Read::Binary(_)), _) => "content",
            (Some(_), None) if !row.extensions.is_empty() => "name",
            (Some(_), None) | (None, _) => "–",
        };
        let read = match row.read {
            Some(_) if row.is_description() => "a module, or the description of a model",
            Some(
                Read::Module(_)
                | Read::Document(_)
                | Read::Import(_)
                | Read::Package(_)
                | Read::Binary(_)
                | Read::Model,
            ) => "a module",
            None => "–",
        };
        let written = match row.write {
            Some(Written::Text(_) | Written::Drawing(_)) => "any module",
            Some(Written::Program(_) | Written::Package) => "a module, lowered to MIL",
            Some(Written::Binary(_)) => "a module of core",
            Some(Written::C(_)) => "a module, compiled; a model",
            Some(Written::Object(_)) => "a module, compiled",
            Some(Written::Description) => "a model",
            None => "–",
        };
        let files = if files.is_empty() {
            "–".to_owned()
        } else {
            files.join(", ")
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {files} | {detected} | {read} | {written} |",
            row.word, row.summary
        );
    }
    text.push_str(
        "\n## Files of other programs\n\nThe errors of the tools for files that are not modules.\n\n\
         | file | detected by | help |\n|---|---|---|\n",
    );
    for row in FOREIGN {
        let evidence = match row.sign {
            Sign::Magic(..) | Sign::Header(_) | Sign::Text(_) => "content".to_owned(),
            Sign::Zip(entry) => format!("the entry `{entry}` of a zip archive"),
            Sign::Extension(ends) => format!("the extension `.{}`", ends.join("`, `.")),
            Sign::Mlir(dialect) => format!("MLIR with ops `{dialect}.…`"),
            Sign::Folder(entry) => format!("a folder with `{entry}`"),
        };
        let help = row.help.replace('|', "\\|");
        let _ = writeln!(text, "| {} | {evidence} | {help} |", row.what);
    }
    text
}
