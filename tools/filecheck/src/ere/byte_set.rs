//! Sets of bytes, for bracket expressions and `.`.

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// Returns the set of `.`: every byte except newline.
    pub fn any_in_line() -> ByteSet {
        ByteSet::default().inverted_in_line()
    }

    /// Adds `byte`.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Returns whether `byte` is a member.
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
    }

    /// Adds `first..=last` in the order of signed characters, because LLVM's POSIX ranges have this order.
    ///
    /// Returns false, and adds nothing, if the range is reversed.
    pub fn insert_range(&mut self, first: u8, last: u8) -> bool {
        let (first, last) = (first as i8, last as i8);
        for byte in first..=last {
            self.insert(byte as u8);
        }
        first <= last
    }

    /// Adds the members of the POSIX class `name`, for example `digit`. Returns false if the class does not exist.
    pub fn insert_class(&mut self, name: &[u8]) -> bool {
        let member: fn(&u8) -> bool = match name {
            b"alnum" => u8::is_ascii_alphanumeric,
            b"alpha" => u8::is_ascii_alphabetic,
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"cntrl" => |byte| *byte != 0 && byte.is_ascii_control(),
            b"digit" => u8::is_ascii_digit,
            b"graph" => u8::is_ascii_graphic,
            b"lower" => u8::is_ascii_lowercase,
            b"print" => |byte| *byte == b' ' || byte.is_ascii_graphic(),
            b"punct" => u8::is_ascii_punctuation,
            b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
            b"upper" => u8::is_ascii_uppercase,
            b"xdigit" => u8::is_ascii_hexdigit,
            _ => return false,
        };
        (0..=u8::MAX)
            .filter(member)
            .for_each(|byte| self.insert(byte));
        true
    }

    /// Returns the set with both cases of each letter in it.
    pub fn with_both_cases(self) -> ByteSet {
        let mut set = self;
        for letter in (b'a'..=b'z')
            .chain(b'A'..=b'Z')
            .filter(|&letter| self.contains(letter))
        {
            set.insert(letter ^ 0x20);
        }
        set
    }

    /// Returns the complement without newline, because a negated set does not match line breaks.
    pub fn inverted_in_line(self) -> ByteSet {
        let mut set = ByteSet(self.0.map(|word| !word));
        set.0[0] &= !(1 << b'\n');
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negated_set_stays_in_its_line() {
        let mut set = ByteSet::default();
        set.insert(b'a');
        let inverted = set.inverted_in_line();
        assert!(inverted.contains(b'b') && inverted.contains(0xff));
        assert!(!inverted.contains(b'a') && !inverted.contains(b'\n'));
    }

    #[test]
    fn ranges_order_bytes_as_signed() {
        let mut set = ByteSet::default();
        assert!(set.insert_range(0xe0, b'a'));
        assert!(set.contains(0xff) && set.contains(0) && set.contains(b'a') && !set.contains(0xc0));
        assert!(!set.insert_range(b'a', 0xe0));
    }

    #[test]
    fn both_cases_touches_letters_only() {
        let mut set = ByteSet::default();
        set.insert(b'q');
        set.insert(b'[');
        let set = set.with_both_cases();
        assert!(set.contains(b'Q') && !set.contains(b'{'));
    }
}
