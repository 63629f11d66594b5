//! Named texts and locations in them.

/// A check file, an input or an option.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name in messages.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
}

impl Source {
    /// Creates a source with `bytes` as text. CR LF is converted to LF and, unless `strict_whitespace`, runs of spaces
    /// and tabs to a single space.
    pub fn new(name: impl Into<String>, bytes: &[u8], strict_whitespace: bool) -> Source {
        let mut text = Vec::with_capacity(bytes.len());
        let mut in_run = false;
        for (i, &byte) in bytes.iter().enumerate() {
            let is_blank = !strict_whitespace && matches!(byte, b' ' | b'\t');
            let dropped = (is_blank && in_run) || bytes[i..].starts_with(b"\r\n");
            in_run = is_blank;
            if !dropped {
                text.push(if is_blank { b' ' } else { byte });
            }
        }
        Source {
            name: name.into(),
            text,
        }
    }

    /// Returns the line and column of `offset`, from 1.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..offset];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        (
            before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            offset - line_start + 1,
        )
    }

    /// Returns `offset` as `name:line:column`.
    pub fn place(&self, offset: usize) -> String {
        let (line, column) = self.position(offset);
        format!("{}:{line}:{column}", self.name)
    }

    /// Returns the line of `offset`.
    pub fn line_at(&self, offset: usize) -> &[u8] {
        let (_, column) = self.position(offset);
        let rest = &self.text[offset + 1 - column..];
        rest.split(|&byte| byte == b'\n').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_squeezed() {
        assert_eq!(
            Source::new("", b"a \t b\r\n\t\tc\r", false).text,
            b"a b\n c\r"
        );
        assert_eq!(Source::new("", b"a \t b\r\n", true).text, b"a \t b\n");
    }

    #[test]
    fn places() {
        let source = Source::new("f", b"ab\ncd", true);
        assert_eq!(
            (source.place(0), source.place(4)),
            ("f:1:1".to_owned(), "f:2:2".to_owned())
        );
        assert_eq!(
            (source.line_at(4), source.line_at(2)),
            (&b"cd"[..], &b"ab"[..])
        );
        assert_eq!(source.place(5), "f:2:3");
    }
}
