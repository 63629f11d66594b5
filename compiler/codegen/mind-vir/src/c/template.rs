//! Function texts that differ only in numbers, for example the same kernel at two offsets of the workspace.

/// Precedes a number that a parameter of type `int64_t` could replace.
const OPEN: char = '\u{1}';

/// Follows such a number.
const CLOSE: char = '\u{2}';

/// Marks a number that a parameter of type `int64_t` could replace.
pub(super) fn marked(number: String) -> String {
    format!("{OPEN}{number}{CLOSE}")
}

/// Returns `text` without the marks.
pub(super) fn plain(text: &str) -> String {
    text.replace([OPEN, CLOSE], "")
}

/// The text of a function without its name, with values numbered in order of appearance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Template {
    /// The text before each number, and after the last one.
    pieces: Vec<String>,
}

impl Template {
    /// Returns the template of a definition with marked numbers, and the numbers.
    pub(super) fn of(definition: &str) -> (Template, Vec<String>) {
        let definition = renumbered(definition);
        let (mut pieces, mut numbers) = (Vec::new(), Vec::new());
        let mut rest = definition.as_str();
        while let Some((piece, tail)) = rest.split_once(OPEN) {
            let (number, tail) = tail.split_once(CLOSE).unwrap_or((tail, ""));
            pieces.push(piece.to_owned());
            numbers.push(number.to_owned());
            rest = tail;
        }
        pieces.push(rest.to_owned());
        (Template { pieces }, numbers)
    }

    /// Returns its text with `numbers`, or names of variables.
    pub(super) fn text<'n>(&self, numbers: impl IntoIterator<Item = &'n str>) -> String {
        let mut text = String::with_capacity(self.bytes());
        let mut numbers = numbers.into_iter();
        for piece in &self.pieces {
            text += piece;
            text += numbers.next().unwrap_or_default();
        }
        text
    }

    /// Returns the length of its text without numbers.
    pub(super) fn bytes(&self) -> usize {
        self.pieces.iter().map(String::len).sum()
    }

    /// Returns the text of the parameter list.
    pub(super) fn params(&self) -> &str {
        let first = self.pieces.first().map_or("", String::as_str);
        let declared = first.split_once(')').map_or("", |(declared, _)| declared);
        match declared.trim_start_matches('(') {
            "void" => "",
            params => params,
        }
    }

    /// Returns the text with the additional parameters `more`, and with `numbers`.
    pub(super) fn with_params<'n>(
        &self,
        more: &str,
        numbers: impl IntoIterator<Item = &'n str>,
    ) -> String {
        let text = self.text(numbers);
        let body = text.split_once(')').map_or("", |(_, body)| body);
        let params = [self.params(), more].into_iter();
        let params: Vec<&str> = params.filter(|params| !params.is_empty()).collect();
        format!("({}){body}", params.join(", "))
    }
}

/// Returns `definition` with its values renumbered in order of appearance: `v`, `a`, `n` or `any` before a number.
fn renumbered(definition: &str) -> String {
    let mut text = String::with_capacity(definition.len());
    let mut numbers = rustc_hash::FxHashMap::default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = definition;
    while let Some(at) = rest.find(is_part) {
        let (between, tail) = rest.split_at(at);
        let end = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        let (word, tail) = tail.split_at(end);
        text += between;
        let kind = word.trim_end_matches(|c: char| c.is_ascii_digit());
        match (kind, word[kind.len()..].parse::<u32>()) {
            ("v" | "a" | "n" | "any", Ok(number)) => {
                let count = numbers.len();
                let number = numbers.entry(number).or_insert(count);
                text += &format!("{kind}{number}");
            }
            _ => text += word,
        }
        rest = tail;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_numbers_and_names_is_one_template() {
        let text = |first: u32, number: &str| {
            let (second, number) = (first + 7, marked(number.to_owned()));
            format!(
                "(unsigned char *v{first}) {{ a{second}[0] = mind_add(v{second}, {number}); }}\n"
            )
        };
        let (one, numbers) = Template::of(&text(3, "5"));
        let (other, others) = Template::of(&text(4, "INT64_C(-6)"));
        assert_eq!(one, other);
        assert_eq!(
            (&numbers[..], &others[..]),
            (&["5".to_owned()][..], &["INT64_C(-6)".to_owned()][..])
        );
        assert_eq!(
            one.text(["5"]),
            "(unsigned char *v0) { a1[0] = mind_add(v1, 5); }\n"
        );
        assert_eq!(
            one.with_params("int64_t p0", ["p0"]),
            "(unsigned char *v0, int64_t p0) { a1[0] = mind_add(v1, p0); }\n"
        );
        assert!(!plain(&text(0, "1")).contains([OPEN, CLOSE]));
        let (none, _) = Template::of("(void) {}");
        assert_eq!(none.with_params("int64_t p0", []), "(int64_t p0) {}");
    }
}
