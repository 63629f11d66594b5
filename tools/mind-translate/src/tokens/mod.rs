//! Size of a module in tokens of language models, by format.

mod record;

use mind_driver::formats::{Format, Formats};
use mind_ir::Graph;
use tiktoken_rs::{cl100k_base_singleton, o200k_base_singleton};

/// Bytes and tokens of a module in every format that can express it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenReport {
    /// A row per format.
    pub rows: Vec<TokenRow>,
    /// The formats that cannot express the module.
    pub unsaid: Vec<&'static str>,
}

/// Size of a module in one format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenRow {
    /// The name of the format.
    pub form: &'static str,
    /// Bytes of UTF-8.
    pub bytes: usize,
    /// Tokens of `cl100k_base`, the vocabulary of GPT-4.
    pub cl100k: usize,
    /// Tokens of `o200k_base`, the vocabulary of GPT-4o and later.
    pub o200k: usize,
}

/// Computes the report of a verified module.
pub fn report(formats: &Formats, g: &Graph) -> TokenReport {
    let mut report = TokenReport {
        rows: Vec::new(),
        unsaid: Vec::new(),
    };
    for format in [Format::Mic2, Format::Mic1, Format::Core, Format::Mil] {
        match formats.print(format, g) {
            Ok(text) => report.rows.push(row(format.name(), &text)),
            Err(_) => report.unsaid.push(format.name()),
        }
    }
    let record = record::module(g);
    report.rows.push(row("json", &record.to_string()));
    report
        .rows
        .push(row("json, indented", &format!("{record:#}")));
    report
}

fn row(form: &'static str, text: &str) -> TokenRow {
    let count = |bpe: &tiktoken_rs::CoreBPE| bpe.encode_ordinary(text).len();
    TokenRow {
        form,
        bytes: text.len(),
        cl100k: count(cl100k_base_singleton()),
        o200k: count(o200k_base_singleton()),
    }
}

impl TokenReport {
    /// Formats the report as a table.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:16}{:>8}{:>13}{:>13}\n",
            "format", "bytes", "cl100k_base", "o200k_base"
        );
        for TokenRow {
            form,
            bytes,
            cl100k,
            o200k,
        } in &self.rows
        {
            text.push_str(&format!("{form:16}{bytes:8}{cl100k:13}{o200k:13}\n"));
        }
        if !self.unsaid.is_empty() {
            text.push_str(&format!("not expressible in: {}\n", self.unsaid.join(", ")));
        }
        text
    }
}
