//! A prepared table from words to entries.

/// Finds entries by word: at most one multiplication, one probe and one comparison for most words.
///
/// Made once per set of dialects. The words are the program's own, so that no input can choose them to
/// collide.
#[derive(Debug)]
pub(crate) struct Words<T> {
    slots: Box<[Option<(&'static str, T)>]>,
    shift: u32,
}

impl<T> Words<T> {
    /// The table of `entries`. Of several with one word the first counts.
    pub(crate) fn new(entries: impl IntoIterator<Item = (&'static str, T)>) -> Words<T> {
        let entries: Vec<(&'static str, T)> = entries.into_iter().collect();
        let len = (entries.len() * 4).next_power_of_two().max(2);
        let mut slots: Vec<Option<(&'static str, T)>> = Vec::new();
        slots.resize_with(len, || None);
        let mut words = Words { slots: slots.into(), shift: 64 - len.trailing_zeros() };
        for (word, entry) in entries {
            let at = words.slot(word);
            words.slots[at].get_or_insert((word, entry));
        }
        words
    }

    /// The entry for `word`.
    #[inline]
    pub(crate) fn get(&self, word: &str) -> Option<&T> {
        self.slots[self.slot(word)].as_ref().map(|(_, entry)| entry)
    }

    /// Every word.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.slots.iter().flatten().map(|(word, _)| *word)
    }

    /// The slot that holds `word`, or the empty one where it would go: three of four are empty.
    #[inline]
    fn slot(&self, word: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (hash(word) >> self.shift) as usize;
        loop {
            match &self.slots[at & mask] {
                Some((other, _)) if *other != word => at += 1,
                _ => return at & mask,
            }
        }
    }
}

/// Mixes the length and the first eight bytes.
#[inline]
fn hash(word: &str) -> u64 {
    let bytes = word.as_bytes();
    let mut key = bytes.len() as u64;
    for &byte in bytes.iter().take(8) {
        key = (key << 8 | key >> 56) ^ u64::from(byte);
    }
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_word_and_no_other() {
        let all = ["m", "+", "sum", "softmax", "const.f32", "const.f64", "const.tensor", "transpose"];
        let words = Words::new(all.into_iter().enumerate().map(|(index, word)| (word, index)));
        for (index, word) in all.into_iter().enumerate() {
            assert_eq!(words.get(word), Some(&index));
        }
        for word in ["", "su", "sums", "const.f3", "const.tensors", "transposf"] {
            assert_eq!(words.get(word), None);
        }
        assert_eq!(words.words().count(), all.len());
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        assert_eq!(Words::<u8>::new([]).get("m"), None);
    }
}
