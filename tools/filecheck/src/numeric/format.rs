//! Formats of numbers in the input.

use num_bigint::Sign;

use super::integer::{Integer, from_digits};

/// The maximal precision in digits.
const MAX_PRECISION: u32 = 10_000;

/// The conversion letter of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `%u`
    Unsigned,
    /// `%d`
    Signed,
    /// `%x`
    LowerHex,
    /// `%X`
    UpperHex,
}

impl Notation {
    fn radix(self) -> u32 {
        match self {
            Notation::Unsigned | Notation::Signed => 10,
            Notation::LowerHex | Notation::UpperHex => 16,
        }
    }
}

/// The format of a number, for example `%#.8x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The conversion letter.
    pub notation: Notation,
    /// The minimal number of digits; 0 if not given.
    pub precision: u32,
    /// Whether the number begins with `0x`.
    pub alternate: bool,
}

impl Format {
    /// The default format.
    pub const UNSIGNED: Format = Format {
        notation: Notation::Unsigned,
        precision: 0,
        alternate: false,
    };

    fn prefix(&self) -> &'static str {
        if self.alternate { "0x" } else { "" }
    }

    /// Returns the regular expression of numbers in this format.
    pub fn wildcard(&self) -> String {
        let sign = if self.notation == Notation::Signed {
            "-?"
        } else {
            ""
        };
        let digits = match self.notation {
            Notation::Unsigned | Notation::Signed => "0-9",
            Notation::LowerHex => "0-9a-f",
            Notation::UpperHex => "0-9A-F",
        };
        let prefix = self.prefix();
        match self.precision {
            0 => format!("{prefix}{sign}[{digits}]+"),
            least => format!(
                "{prefix}{sign}([1-9{}][{digits}]*)?[{digits}]{{{least}}}",
                &digits[3..]
            ),
        }
    }

    /// Returns `value` in this format; `None` if the format cannot represent it.
    pub fn render(&self, value: &Integer) -> Option<String> {
        let negative = value.sign() == Sign::Minus;
        if self.precision > MAX_PRECISION || (negative && self.notation != Notation::Signed) {
            return None;
        }
        let mut digits = value.magnitude().to_str_radix(self.notation.radix());
        if self.notation == Notation::UpperHex {
            digits.make_ascii_uppercase();
        }
        let sign = if negative { "-" } else { "" };
        Some(format!(
            "{sign}{}{digits:0>width$}",
            self.prefix(),
            width = self.precision as usize
        ))
    }

    /// Parses `text`, a match of [`Format::wildcard`].
    pub fn read(&self, text: &[u8]) -> Option<Integer> {
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let digits = unsigned.strip_prefix(self.prefix().as_bytes())?;
        let value = from_digits(digits, self.notation.radix())?;
        Some(if unsigned.len() < text.len() {
            -value
        } else {
            value
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(notation: Notation, precision: u32, alternate: bool) -> Format {
        Format {
            notation,
            precision,
            alternate,
        }
    }

    #[test]
    fn rendering() {
        let cases = [
            (Format::UNSIGNED, 255, "255"),
            (format(Notation::LowerHex, 4, true), 255, "0x00ff"),
            (format(Notation::UpperHex, 0, false), 255, "FF"),
            (format(Notation::Signed, 2, false), 3, "03"),
        ];
        for (format, value, expected) in cases {
            let value = Integer::from(value);
            assert_eq!(format.render(&value).as_deref(), Some(expected));
            assert_eq!(format.read(expected.as_bytes()), Some(value));
        }
        let minus_three = -Integer::from(3);
        assert_eq!(
            format(Notation::Signed, 2, false)
                .render(&minus_three)
                .as_deref(),
            Some("-03")
        );
        assert_eq!(Format::UNSIGNED.render(&minus_three), None);
    }

    #[test]
    fn wildcards() {
        assert_eq!(Format::UNSIGNED.wildcard(), "[0-9]+");
        assert_eq!(
            format(Notation::LowerHex, 8, true).wildcard(),
            "0x([1-9a-f][0-9a-f]*)?[0-9a-f]{8}"
        );
        assert_eq!(
            format(Notation::Signed, 2, false).wildcard(),
            "-?([1-9][0-9]*)?[0-9]{2}"
        );
    }
}
