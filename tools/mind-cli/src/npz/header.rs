//! The header of an `.npy` array: a Python dict of three keys.

use mind_ir::types::DType;

use super::error::NpyError;

/// The contents of an array's header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Element type.
    pub(super) dtype: DType,
    /// Whether the elements are big-endian.
    pub(super) big_endian: bool,
    /// Whether the order is column-major.
    pub(super) fortran_order: bool,
    /// Extents, outermost first.
    pub(super) shape: Vec<usize>,
}

/// Element types by NumPy's type code, without byte order.
const TYPES: [(&str, DType); 13] = [
    ("f2", DType::F16),
    ("f4", DType::F32),
    ("f8", DType::F64),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("u1", DType::U8),
    ("u2", DType::U16),
    ("u4", DType::U32),
    ("u8", DType::U64),
    ("b1", DType::Bool),
    ("V2", DType::BF16),
];

impl Header {
    /// Parses the dict; its keys may be in any order.
    ///
    /// # Errors
    ///
    /// Errors if the text is not such a dict or the dtype is not supported.
    pub(super) fn parse(text: &str) -> Result<Header, NpyError> {
        let mut dict = Dict { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        dict.expect('{')?;
        while !dict.eat('}') {
            match dict.string()? {
                "descr" => {
                    dict.expect(':')?;
                    descr = Some(dict.descr()?);
                }
                "fortran_order" => {
                    dict.expect(':')?;
                    fortran_order = Some(dict.boolean()?);
                }
                "shape" => {
                    dict.expect(':')?;
                    shape = Some(dict.extents()?);
                }
                other => return Err(malformed(format!("unknown key '{other}'"))),
            }
            if !dict.eat(',') {
                dict.expect('}')?;
                break;
            }
        }
        if !dict.rest.trim().is_empty() {
            return Err(malformed("text after the closing brace"));
        }
        let missing = |key: &str| malformed(format!("no key '{key}'"));
        let (dtype, big_endian) = dtype(descr.ok_or_else(|| missing("descr"))?)?;
        let fortran_order = fortran_order.ok_or_else(|| missing("fortran_order"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        Ok(Header {
            dtype,
            big_endian,
            fortran_order,
            shape,
        })
    }

    /// Prints the header of row-major, little-endian elements.
    pub(super) fn text(dtype: DType, shape: &[usize]) -> String {
        let stored = if dtype == DType::BF16 {
            DType::U16
        } else {
            dtype
        };
        let (kind, _) = TYPES
            .iter()
            .find(|row| row.1 == stored)
            .expect("every dtype has a row");
        let order = if dtype.size() == 1 { '|' } else { '<' };
        let extents: String = match shape {
            [only] => format!("{only},"),
            shape => shape
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        };
        format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({extents}), }}")
    }
}

/// Parses a type string into the dtype and whether it is big-endian.
fn dtype(descr: &str) -> Result<(DType, bool), NpyError> {
    let unsupported = || NpyError::DType(descr.to_owned());
    let mut letters = descr.chars();
    let big_endian = match letters.next() {
        Some('>') => true,
        Some('<' | '|') => false,
        Some('=') => cfg!(target_endian = "big"),
        _ => return Err(unsupported()),
    };
    let row = TYPES.iter().find(|row| row.0 == letters.as_str());
    row.map(|row| (row.1, big_endian)).ok_or_else(unsupported)
}

fn malformed(problem: impl Into<String>) -> NpyError {
    NpyError::Header(problem.into())
}

/// A cursor in the text of a dict.
struct Dict<'t> {
    rest: &'t str,
}

impl<'t> Dict<'t> {
    fn eat(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), NpyError> {
        if self.eat(wanted) {
            Ok(())
        } else {
            Err(malformed(format!(
                "expected `{wanted}`, found `{}`",
                self.next()
            )))
        }
    }

    /// Returns the next characters, truncated for messages.
    fn next(&self) -> String {
        self.rest.chars().take(16).collect()
    }

    fn string(&mut self) -> Result<&'t str, NpyError> {
        let quote = match (self.eat('\''), self.rest) {
            (true, _) => '\'',
            (false, _) if self.eat('"') => '"',
            _ => {
                return Err(malformed(format!(
                    "expected a string, found `{}`",
                    self.next()
                )));
            }
        };
        let (text, rest) = self
            .rest
            .split_once(quote)
            .ok_or_else(|| malformed("an open string"))?;
        self.rest = rest;
        Ok(text)
    }

    /// Parses a type string; a list would be a structured dtype.
    fn descr(&mut self) -> Result<&'t str, NpyError> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['[', '(']) {
            Err(NpyError::DType("a structured dtype".to_owned()))
        } else {
            self.string()
        }
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(malformed(format!(
            "expected True or False, found `{}`",
            self.next()
        )))
    }

    /// Parses a tuple of integers.
    fn extents(&mut self) -> Result<Vec<usize>, NpyError> {
        self.expect('(')?;
        let mut extents = Vec::new();
        while !self.eat(')') {
            self.rest = self.rest.trim_start();
            let end = self
                .rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            let extent = digits.parse();
            extents.push(extent.map_err(|_| malformed(format!("extent `{}`", self.next())))?);
            // Python 2 printed long integers with a suffix.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(extents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_numpy_writes() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    ";
        let header = Header::parse(text).unwrap();
        let (dtype, shape) = (DType::F32, vec![3, 4]);
        let expected = Header {
            dtype,
            big_endian: false,
            fortran_order: false,
            shape,
        };
        assert_eq!(header, expected);
        let header = Header::parse("{\"shape\":(7L,),'fortran_order':True,'descr':'>u2'}").unwrap();
        let (dtype, shape) = (DType::U16, vec![7]);
        let expected = Header {
            dtype,
            big_endian: true,
            fortran_order: true,
            shape,
        };
        assert_eq!(header, expected);
    }

    #[test]
    fn reads_back_its_own_text() {
        for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::BF16) {
            for shape in [vec![], vec![5], vec![2, 0, 3]] {
                let header = Header::parse(&Header::text(dtype, &shape)).unwrap();
                assert_eq!((header.dtype, header.shape), (dtype, shape));
            }
        }
        assert!(Header::text(DType::BF16, &[]).contains("'<u2'"));
    }

    #[test]
    fn refuses_the_rest_and_says_why() {
        let problem = |text: &str| Header::parse(text).unwrap_err().to_string();
        let cases = [
            ("", "malformed header: expected `{`, found ``"),
            (
                "{'descr': '<f4'}",
                "malformed header: no key 'fortran_order'",
            ),
            (
                "{'descr': '<c8', 'fortran_order': False, 'shape': ()}",
                "dtype <c8 is not supported",
            ),
            (
                "{'descr': [('a', '<f4')]}",
                "dtype a structured dtype is not supported",
            ),
            ("{'shape': (-1,)}", "malformed header: extent `-1,)}`"),
            (
                "{'shape': (99999999999999999999,)}",
                "malformed header: extent `9999999999999999`",
            ),
            ("{'shape': (1", "malformed header: expected `)`, found ``"),
            ("{'descr", "malformed header: an open string"),
            ("{'a': 1}", "malformed header: unknown key 'a'"),
        ];
        for (text, expected) in cases {
            assert_eq!(problem(text), expected);
        }
        problem(&"{'shape': (".repeat(10_000));
    }
}
