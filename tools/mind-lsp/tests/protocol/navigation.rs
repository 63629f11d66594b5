//! Definitions, references, highlights and the outline.

use mind_snapshot::snapshot;
use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::{self, CORE, MIC1, MIC2, MIL, RULES, Sample};

struct Opened {
    client: Client,
    sample: Sample,
}

fn opened(language: &'static str, text: &str) -> Opened {
    let (mut client, sample) = (Client::start(), Sample::new(language, text));
    sample.open(&mut client);
    Opened { client, sample }
}

impl Opened {
    fn definition(&mut self, mark: char) -> String {
        let at = self.sample.at(mark);
        let found = self.client.request("textDocument/definition", at);
        if found.is_null() {
            "nothing".to_owned()
        } else {
            self.sample.shown(&found["range"])
        }
    }

    fn references(&mut self, mark: char, declaration: bool) -> Vec<String> {
        let mut params = self.sample.at(mark);
        params["context"] = json!({ "includeDeclaration": declaration });
        let found = self.client.request("textDocument/references", params);
        let found = found.as_array().expect("a list").iter();
        found
            .map(|each| self.sample.shown(&each["range"]))
            .collect()
    }

    fn outline(&mut self) -> Vec<String> {
        let document = self.sample.document();
        let found = self.client.request("textDocument/documentSymbol", document);
        let mut lines = Vec::new();
        list(&found, "", &mut lines);
        lines
    }
}

fn list(symbols: &Value, indent: &str, lines: &mut Vec<String>) {
    for each in symbols.as_array().into_iter().flatten() {
        let name = each["name"].as_str().expect("a name");
        let detail = each["detail"]
            .as_str()
            .map_or(String::new(), |own| format!(" = {own}"));
        lines.push(format!("{indent}{name}{detail}"));
        list(&each["children"], "  ", lines);
    }
}

#[test]
fn definitions_are_found() {
    let mut mic2 = opened("mind-mic2", MIC2);
    assert_eq!(mic2.definition('u'), "7:m");
    assert_eq!(mic2.definition('B'), "2:B");
    assert_eq!(opened("mind-mic", MIC1).definition('u'), "6:N1");
    assert_eq!(opened("mind-mic", MIC1).definition('t'), "3:T0");
    assert_eq!(opened("mind-core", CORE).definition('u'), "2:%1");
    assert_eq!(opened("mil", MIL).definition('u'), "5:y");
    assert_eq!(opened("mind-rules", RULES).definition('u'), "5:?x");
}

#[test]
fn references_are_found_with_and_without_the_declaration() {
    let mut mic2 = opened("mind-mic2", MIC2);
    assert_eq!(mic2.references('m', false), ["8:2"]);
    assert_eq!(mic2.references('x', true), ["5:X", "7:0"]);
    assert_eq!(mic2.references('t', true), ["3:T0", "5:T0"]);
    assert_eq!(
        opened("mind-mic", MIC1).references('n', true),
        ["6:N1", "7:N1"]
    );
    assert_eq!(opened("mind-core", CORE).references('n', false), ["3:%1"]);
    assert_eq!(opened("mil", MIL).references('n', true), ["5:y", "6:y"]);
    let mut rules = opened("mind-rules", RULES);
    assert_eq!(rules.references('u', true), ["4:?x", "5:?x", "5:?x"]);
    assert_eq!(rules.references('a', true), ["10:$a", "10:$a"]);
}

#[test]
fn names_that_are_equal_in_other_places_are_others() {
    let text = "program(1.3)\n{\nfunc other<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = relu(x = «o»x);\n} -> (y);\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = relu(x = «u»x);\n} -> (y);\n}";
    let mut mil = opened("mil", text);
    assert_eq!(mil.references('u', true), ["6:x", "7:x"]);
    assert_eq!(mil.references('o', true), ["3:x", "4:x"]);
}

#[test]
fn highlights_tell_declarations_from_uses() {
    let mut core = opened("mind-core", CORE);
    let at = core.sample.at('u');
    let found = core.client.request("textDocument/documentHighlight", at);
    let kinds = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|each| &each["kind"]);
    // 3 is a write, 2 a read.
    assert_eq!(kinds.collect::<Vec<_>>(), [3, 2]);
}

#[test]
fn a_broken_text_is_still_navigated() {
    let mut mic2 = opened("mind-mic2", MIC2);
    assert_eq!(
        mic2.client
            .edit("file:///sample.mind-mic2", 2, [8, 0, 8, 3], "sun")
            .len(),
        1
    );
    assert_eq!(mic2.definition('u'), "7:m");
}

#[test]
fn the_outline_lists_what_is_declared() {
    let shown = sample::all().map(|(language, text)| {
        let lines = opened(language, text).outline();
        format!("{language}\n    {}\n", lines.join("\n    "))
    });
    snapshot!(shown.concat());
}

impl Opened {
    /// Returns the first and last line of each folding range, from 1.
    fn folded(&mut self) -> Vec<(u64, u64)> {
        let document = self.sample.document();
        let found = self.client.request("textDocument/foldingRange", document);
        let line = |each: &Value, key: &str| each[key].as_u64().expect("a line") + 1;
        let found = found.as_array().expect("a list").iter();
        found
            .map(|each| (line(each, "startLine"), line(each, "endLine")))
            .collect()
    }
}

#[test]
fn functions_rules_bodies_and_comments_fold() {
    assert_eq!(opened("mil", MIL).folded(), [(3, 8), (4, 7)]);
    assert_eq!(opened("mind-rules", RULES).folded(), [(2, 6), (8, 11)]);
    assert_eq!(opened("mind-mic2", MIC2).folded(), []);
    let fused = "# a\n# b\n%0 = Input {name=x} : tensor<f32[4]>\n%1 = Fused (%0) {kind=elementwise} : \
                 tensor<f32[4]> {\n  args: %2\n  %3 = Relu (%2)\n  yield: %3\n}\noutputs: %1\n";
    assert_eq!(opened("mind-core", fused).folded(), [(1, 2), (4, 8)]);
    // Incomplete text folds as far as it is closed.
    let sample = Sample::new("mind-core", "# a\n# b\n# c\n}\n%0 = {\n");
    let mut client = Client::start();
    sample.open_broken(&mut client);
    let mut broken = Opened { client, sample };
    assert_eq!(broken.folded(), [(1, 3)]);
}

#[test]
fn symbols_of_all_open_documents_are_found() {
    let mut mil = opened("mil", MIL);
    Sample::new("mind-rules", RULES).open(&mut mil.client);
    let mut found = |query: &str| -> Vec<String> {
        let params = json!({ "query": query });
        let found = mil.client.request("workspace/symbol", params);
        let found = found.as_array().expect("a list").iter();
        let name = |each: &Value| {
            let container = each["containerName"].as_str().unwrap_or("-").to_owned();
            format!("{container} {}", each["name"].as_str().expect("a name"))
        };
        found.map(name).collect()
    };
    assert_eq!(found("MAI"), ["- main"]);
    assert_eq!(found("c"), ["- twice", "- concat"]);
    assert_eq!(found("y"), ["main y"]);
    assert_eq!(found("nothing"), [""; 0]);
}
