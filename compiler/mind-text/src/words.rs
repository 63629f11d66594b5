//! A prepared table from words to entries.

/// Finds entries by word: at most one multiplication, one probe and one comparison for most words.
///
/// Made once per set of dialects. The words are the program's own, so that no input can choose them to
/// collide.
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
    /// The table of `entries`. Of several with one word the first counts.
    pub(crate) fn new(entries: impl IntoIterator<Item = (&'static str, T)>) -> Words<T> {
        let entries: Vec<(&'static str, T)> = entries.into_iter().collect();
        let len = (entries.len() * 4).next_power_of_two().max(2);
        let slots = std::iter::repeat_with(|| None).take(len).collect();
        let mut words = Words {
            slots,
            shift: 64 - len.trailing_zeros(),
        };
        for (word, entry) in entries {
            let key = key(word.as_bytes(), word.len());
            let at = words.slot(key, word.as_bytes());
            words.slots[at].get_or_insert(Slot { key, word, entry });
        }
        words
    }

    /// The entry for `word`.
    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Option<&T> {
        self.get_prefix(word, word.len())
    }

    /// The entry for the first `len` bytes of `text`; faster where `text` goes on behind them.
    #[inline]
    pub(crate) fn get_prefix(&self, text: &[u8], len: usize) -> Option<&T> {
        let slot = self.slot(key(text, len), &text[..len]);
        self.slots[slot].as_ref().map(|slot| &slot.entry)
    }

    /// Every word.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.slots.iter().flatten().map(|slot| slot.word)
    }

    /// The slot that holds `word`, or the empty one where it would go: three of four are empty.
    #[inline]
    fn slot(&self, key: u64, word: &[u8]) -> usize {
        const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(MIX) >> self.shift) as usize;
        while let Some(slot) = &self.slots[at & mask] {
            if slot.key == key && (word.len() <= KEY_BYTES || slot.word.as_bytes() == word) {
                break;
            }
            at += 1;
        }
        at & mask
    }
}

/// How much of a word its key holds.
const KEY_BYTES: usize = 7;

/// The length and the first bytes of the word that is the first `len` bytes of `text`: all there is to
/// know of a short one.
#[inline]
fn key(text: &[u8], len: usize) -> u64 {
    let first = match text.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            chunk[..text.len()].copy_from_slice(text);
            u64::from_le_bytes(chunk)
        }
    };
    let kept = len.min(KEY_BYTES) * 8;
    first & ((1 << kept) - 1) | (len.min(255) as u64) << (KEY_BYTES * 8)
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
    fn an_empty_table_finds_nothing() {
        assert_eq!(Words::<u8>::new([]).get(b"m"), None);
    }
}
