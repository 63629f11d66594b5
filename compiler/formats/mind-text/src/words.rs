//! A hash table from words to entries.

/// A hash table keyed by words. Most lookups take at most one multiplication, one probe and one comparison.
///
/// It is built once per set of dialects. Input cannot cause collisions, because the words come from the op tables.
#[derive(Debug)]
pub(crate) struct Words<T> {
    slots: Box<[Option<Slot<T>>]>,
    shift: u32,
}

#[derive(Debug)]
struct Slot<T> {
    key: u64,
    word: &'static str,
    entry: T,
}

impl<T> Words<T> {
    /// Builds the table of `entries`. If several have the same word, the first is used.
    pub(crate) fn new(entries: impl IntoIterator<Item = (&'static str, T)>) -> Words<T> {
        let entries: Vec<(&'static str, T)> = entries.into_iter().collect();
        let len = (entries.len() * 4).next_power_of_two().max(2);
        let slots = std::iter::repeat_with(|| None).take(len).collect();
        let mut words = Words {
            slots,
            shift: 64 - len.trailing_zeros(),
        };
        for (word, entry) in entries {
            let key = key(word.as_bytes());
            if words.find(key, word.as_bytes()).is_none() {
                let mut at = words.first_slot(key);
                while words.slots[at].is_some() {
                    at = words.next_slot(at);
                }
                words.slots[at] = Some(Slot { key, word, entry });
            }
        }
        words
    }

    /// Returns the entry for `word`.
    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Option<&T> {
        self.find(key(word), word)
    }

    /// Returns the entry for the word of `text` before its first blank, and the length of the word. Only short words
    /// are found, because they need a single comparison.
    #[inline]
    pub(crate) fn first_word(&self, text: &[u8]) -> Option<(&T, usize)> {
        const EACH: u64 = 0x0101_0101_0101_0101;
        const BLANKS: u64 = EACH * b' ' as u64;
        let chunk = u64::from_le_bytes(match text.first_chunk() {
            Some(&chunk) => chunk,
            None => padded(text),
        });
        let rest = chunk ^ BLANKS;
        // The lowest bit set marks the first byte that is a blank.
        let blank = rest.wrapping_sub(EACH) & !rest & (EACH << 7);
        let len = (blank.trailing_zeros() / 8) as usize;
        if len > KEY_BYTES {
            return None;
        }
        let key = chunk & ((1 << (8 * len)) - 1) | (len as u64) << (8 * KEY_BYTES);
        self.find(key, &[]).map(|entry| (entry, len))
    }

    /// Returns every word.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.slots.iter().flatten().map(|slot| slot.word)
    }

    /// Returns the entry for `word`, whose key is `key`; only a long word is compared in full.
    #[inline]
    fn find(&self, key: u64, word: &[u8]) -> Option<&T> {
        let mut at = self.first_slot(key);
        loop {
            let slot = self.slots[at].as_ref()?;
            if slot.key == key && (is_whole(key) || slot.word.as_bytes() == word) {
                return Some(&slot.entry);
            }
            at = self.next_slot(at);
        }
    }

    /// Returns the slot where the probe for a key starts. The probe ends at an empty slot; three of four slots are
    /// empty.
    #[inline]
    fn first_slot(&self, key: u64) -> usize {
        const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
        (key.wrapping_mul(MIX) >> self.shift) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn next_slot(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
}

/// Number of bytes of a word in its key.
const KEY_BYTES: usize = 7;

/// Returns the length of a word, in the last byte, and its first bytes; this is all of a short word.
#[inline]
fn key(word: &[u8]) -> u64 {
    let len = word.len().min(255) as u64;
    let first = word.iter().take(KEY_BYTES).rev();
    let bytes = first.fold(0, |key, &byte| key << 8 | u64::from(byte));
    bytes | len << (8 * KEY_BYTES)
}

/// Pads a text of less than eight bytes with zeros.
#[cold]
fn padded(text: &[u8]) -> [u8; 8] {
    let mut chunk = [0; 8];
    chunk[..text.len()].copy_from_slice(text);
    chunk
}

/// Returns whether the key holds all of its word.
#[inline]
fn is_whole(key: u64) -> bool {
    key >> (8 * KEY_BYTES) <= KEY_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_word_and_no_other() {
        let all = [
            "m",
            "+",
            "sum",
            "softmax",
            "const.f32",
            "const.f64",
            "const.tensor",
            "transpose",
        ];
        let words = Words::new(
            all.into_iter()
                .enumerate()
                .map(|(index, word)| (word, index)),
        );
        for (index, word) in all.into_iter().enumerate() {
            assert_eq!(words.get(word.as_bytes()), Some(&index));
        }
        for word in ["", "su", "sums", "const.f3", "const.tensors", "transposf"] {
            assert_eq!(words.get(word.as_bytes()), None);
        }
        assert_eq!(words.words().count(), all.len());
    }

    #[test]
    fn finds_short_words_at_the_start_of_a_text() {
        let words = Words::new([("m", 0), ("softmax", 1), ("transpose", 2)]);
        assert_eq!(words.first_word(b"m 0 1\nr 2"), Some((&0, 1)));
        assert_eq!(words.first_word(b"softmax N1"), Some((&1, 7)));
        assert_eq!(words.first_word(b"m 0"), Some((&0, 1)));
        for text in [
            "m",
            "",
            "mm 0 1 2 3",
            "transpose 0 1",
            "m\t0 1 2 3 4",
            " m 0 1 2 3",
        ] {
            assert_eq!(words.first_word(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        assert_eq!(Words::<u8>::new([]).get(b"m"), None);
    }
}
