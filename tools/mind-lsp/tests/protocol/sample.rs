//! Small documents in every language, with marks at the positions that tests use.

use serde_json::{Value, json};

use crate::client::Client;

/// A document; `«n»` in its text marks a position and is removed.
pub struct Sample {
    pub uri: String,
    language: &'static str,
    pub text: String,
    marks: Vec<(char, usize)>,
}

/// An MLP in mic@2.
pub const MIC2: &str = "mic@2\nS «B»B\nT«t»0 f32 B 4\nT1 f32 4 4\na «x»X T0\np w T1\n«m»m 0 1\nr «u»2\ns«s»um 3 1\nO 4";
/// The same MLP in mic@1.
pub const MIC1: &str = "mic@1\nS0 \"x\"\nT0 [f32;«B»B,4]\nT1 [f32;4,4]\nN0 input S0 «t»T0\nN«n»1 param \"w\" T1\nN2 «m»matmul N0 «u»N1\nN3 relu N2\nN4 sum N3 [1] «k»kd=1\nO N4\n";
/// The same MLP in Core text.
pub const CORE: &str = "%0 = Input {name=x} : tensor<f32[«B»B, 4]>\n%«n»1 = Input {name=w, role=param} : tensor<f32[4, 4]>\n%2 = «m»MatMul (%0, «u»%1)\n%3 = Sum (%2) {axes=[1], keep«k»dims=false}\noutputs: %3\n";
/// A MIL program.
pub const MIL: &str = "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"0\"}})]\n{\n    func «f»main<ios18>(tensor<fp16, [1, 4]> x) {\n            tensor<fp16, [1, 4]> «n»y = «m»relu(x = x)[name = string(\"y\")];\n            tensor<fp16, [1, 4]> z = add(«k»x = «u»y, y = x)[name = string(\"z\")];\n        } -> (z);\n}";
/// Two rules.
pub const RULES: &str = "# Two rules.\nrule «r»twice\n  class exact\n  where «p»is_float(?x)\n  «m»core.relu(core.relu(«n»?x)) => core.relu(«u»?x)\n  source \"relu is idempotent\"\n\nrule concat\n  class exact\n  core.split(core.concat(?x, ?x) {axis=«a»$a}) {axis=$a, count=2, part=0} => ?x\n  source \"a half of a doubled value\"\n";

/// Returns the sample of every language.
pub fn all() -> [(&'static str, &'static str); 5] {
    [
        ("mind-mic2", MIC2),
        ("mind-mic", MIC1),
        ("mind-core", CORE),
        ("mil", MIL),
        ("mind-rules", RULES),
    ]
}

impl Sample {
    pub fn new(language: &'static str, marked: &str) -> Sample {
        let (mut text, mut marks) = (String::new(), Vec::new());
        let mut rest = marked;
        while let Some((before, after)) = rest.split_once('«') {
            let (mark, after) = after.split_once('»').expect("a mark ends");
            text.push_str(before);
            marks.push((mark.chars().next().expect("a letter"), text.len()));
            rest = after;
        }
        text.push_str(rest);
        Sample {
            uri: format!("file:///sample.{language}"),
            language,
            text,
            marks,
        }
    }

    /// Opens the document, which must not have errors.
    #[track_caller]
    pub fn open(&self, client: &mut Client) {
        assert_eq!(self.open_broken(client), Vec::<Value>::new());
    }

    /// Opens the document and returns its diagnostics.
    pub fn open_broken(&self, client: &mut Client) -> Vec<Value> {
        client.open(&self.uri, self.language, &self.text)
    }

    /// Returns request parameters with a marked position.
    pub fn at(&self, mark: char) -> Value {
        let found = self.marks.iter().find(|(own, _)| *own == mark);
        let &(_, offset) = found.unwrap_or_else(|| panic!("no mark {mark}"));
        json!({ "textDocument": { "uri": self.uri }, "position": self.position(offset) })
    }

    /// Returns request parameters with the document.
    pub fn document(&self) -> Value {
        json!({ "textDocument": { "uri": self.uri } })
    }

    fn position(&self, offset: usize) -> Value {
        let before = &self.text[..offset];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        json!({ "line": line, "character": before[start..].encode_utf16().count() })
    }

    /// Returns the text of a range with its line from 1, for example `4:y`.
    pub fn shown(&self, range: &Value) -> String {
        let line = range["start"]["line"].as_u64().expect("a line");
        format!("{}:{}", line + 1, self.word(range))
    }

    /// Returns the text of a range on one line.
    pub fn word(&self, range: &Value) -> String {
        let line = range["start"]["line"].as_u64().expect("a line") as usize;
        let units: Vec<u16> = self
            .text
            .split('\n')
            .nth(line)
            .expect("the line is there")
            .encode_utf16()
            .collect();
        let column = |end: &str| range[end]["character"].as_u64().expect("a column") as usize;
        String::from_utf16(&units[column("start")..column("end")]).expect("whole letters")
    }

    /// Returns the text after a workspace edit.
    pub fn after(&self, edit: &Value) -> String {
        let edits = &edit["documentChanges"][0];
        assert_eq!(edits["textDocument"]["uri"], self.uri);
        self.edited(edits["edits"].as_array().expect("edits"))
    }

    /// Returns the text after edits of single lines, or of the whole text.
    pub fn edited(&self, edits: &[Value]) -> String {
        let mut places: Vec<(usize, usize, &str)> = edits
            .iter()
            .map(|edit| {
                let text = edit["newText"].as_str().expect("a text");
                let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
                (self.offset(start), self.offset(end), text)
            })
            .collect();
        places.sort();
        let mut text = self.text.clone();
        for (start, end, new) in places.into_iter().rev() {
            text.replace_range(start..end, new);
        }
        text
    }

    fn offset(&self, position: &Value) -> usize {
        let line = position["line"].as_u64().expect("a line") as usize;
        let column = position["character"].as_u64().expect("a column") as usize;
        let start: usize = self
            .text
            .split('\n')
            .take(line)
            .map(|line| line.len() + 1)
            .sum();
        let mut units = 0;
        for (at, letter) in self.text[start..].char_indices() {
            if units >= column {
                return start + at;
            }
            units += letter.len_utf16();
        }
        self.text.len()
    }
}
