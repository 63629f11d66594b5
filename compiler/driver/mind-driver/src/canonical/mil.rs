//! MIL, whose statements may span several lines or share one.

use super::split::{Split, Statement};

/// Splits `text`, a valid program, into statements and comments.
///
/// A statement is a line of the canonical form: text up to a semicolon, the head of a program, function or block up to
/// its opening brace, or the end of a block from its closing brace.
pub(super) fn split(text: &str) -> Split {
    let mut cutter = Cutter::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let length = match c {
            '/' if line.starts_with("//") => {
                let comment = line.trim_end();
                cutter.split.comments.push(at..at + comment.len());
                comment.len()
            }
            '"' => {
                let closing = line[1..].find('"').map(|quote| quote + 2);
                let quoted = &line[..closing.unwrap_or(line.len())];
                cutter.token(at, quoted);
                quoted.len()
            }
            c => {
                if !c.is_whitespace() && c != '\u{feff}' {
                    cutter.mark(at, c);
                }
                c.len_utf8()
            }
        };
        at += length;
    }
    cutter.finish();
    cutter.split
}

#[derive(Default)]
struct Cutter {
    split: Split,
    /// The current statement.
    open: Option<Statement>,
    /// Nesting depth of parentheses and brackets.
    brackets: usize,
    /// Nesting depth of braces outside of brackets.
    blocks: usize,
    /// Whether the last token closed the outermost bracket.
    closed: bool,
}

impl Cutter {
    /// Adds the character at `at` to the current statement; it may begin or end a statement.
    fn mark(&mut self, at: usize, c: char) {
        let outside = self.brackets == 0;
        // A statement ends between the parts of a program's head, before each block of an op, and before a closing
        // brace.
        if outside && (c == '}' || self.closed && (c == '(' || self.blocks == 0)) {
            self.finish();
        }
        self.token(at, c.encode_utf8(&mut [0; 4]));
        match c {
            '(' | '[' => self.brackets += 1,
            // The text is valid, so brackets are balanced.
            ')' | ']' => {
                self.brackets = self.brackets.saturating_sub(1);
                self.closed = self.brackets == 0;
            }
            '{' if outside => {
                self.blocks += 1;
                self.finish();
            }
            '}' if outside => self.blocks = self.blocks.saturating_sub(1),
            ';' if outside => self.finish(),
            _ => {}
        }
    }

    /// Appends the token at offset `at` to the current statement.
    fn token(&mut self, at: usize, token: &str) {
        let open = self.open.get_or_insert_with(|| Statement {
            code: String::new(),
            place: at..at,
        });
        if at > open.place.end {
            open.code.push(' ');
        }
        open.code.push_str(token);
        open.place.end = at + token.len();
        self.closed = false;
    }

    fn finish(&mut self) {
        self.split.statements.extend(self.open.take());
        self.closed = false;
    }
}

/// Returns the word that identifies a statement: the value it defines, or else its first word.
pub(super) fn word(statement: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(equals) = outermost_equals(statement) {
        let results = statement[..equals].trim_end();
        let name = results.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        return format!("{name} =");
    }
    let length = statement.find(|c| !is_name(c)).unwrap_or(statement.len());
    let first = statement.chars().next().map_or(0, char::len_utf8);
    statement[..length.max(first)].to_owned()
}

/// Returns the offset of the first `=` outside of parentheses and brackets; inside they separate argument names from
/// values.
fn outermost_equals(statement: &str) -> Option<usize> {
    let mut depth = 0i32;
    statement.bytes().position(|byte| {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        byte == b'=' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<String> {
        let statements = split(text).statements;
        statements
            .into_iter()
            .map(|statement| statement.code)
            .collect()
    }

    #[test]
    fn statements_are_what_canonical_text_has_on_lines() {
        let canonical = "\
program(1.3)
[buildInfo = dict<string, string>({{\"a; // b\", \"0\"}})]
{
func main<ios18>(tensor<fp16, [1, 4]> x) [A = string(\"{\")] {
tensor<fp16, [1, 4]> y = cond(pred = p)[name = string(\"y\")]
() {
tensor<fp16, [1, 4]> a = const()[name = string(\"a\"), val = BLOBFILE(path = string(\"p\"), offset = uint64(64))];
} -> (a)
() {
} -> (x);
write_state(data = y, input = s);
} -> (y);
}";
        let lines: Vec<&str> = canonical.lines().collect();
        assert_eq!(codes(canonical), lines);
        assert_eq!(codes(&canonical.replace('\n', " ")), lines);
        let words: Vec<String> = lines.iter().map(|line| word(line)).collect();
        assert_eq!(
            words,
            [
                "program",
                "[",
                "{",
                "func",
                "y =",
                "(",
                "a =",
                "}",
                "(",
                "}",
                "write_state",
                "}",
                "}"
            ]
        );
    }

    #[test]
    fn comments_are_no_part_of_statements() {
        let text = "{ func f() { tensor<fp16, [4]> y // = z\n  = relu(x = // \"\r\n x);// end\n//";
        let split = split(text);
        let codes: Vec<&str> = split
            .statements
            .iter()
            .map(|own| own.code.as_str())
            .collect();
        assert_eq!(
            codes,
            ["{", "func f() {", "tensor<fp16, [4]> y = relu(x = x);"]
        );
        let comments: Vec<&str> = split.comments.into_iter().map(|at| &text[at]).collect();
        assert_eq!(comments, ["// = z", "// \"", "// end", "//"]);
    }
}
