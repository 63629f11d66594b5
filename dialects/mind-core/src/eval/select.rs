//! Selection of the first k elements of a row in sorted order, tuned for small k.

use super::keys::Key;

/// Elements of a chunk; the minimum of each chunk is computed before candidates are selected.
const CHUNK: usize = 16;

/// The selected elements of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    /// The number of selected elements.
    pub kept: usize,
    /// Whether the largest elements come first.
    pub descending: bool,
}

impl Ranking {
    /// Returns the mask which, XORed to keys, makes the ranking ascending.
    fn flip<T: Key>(self) -> T::Key {
        if self.descending {
            !T::Key::default()
        } else {
            T::Key::default()
        }
    }
}

/// A sort key in the high half and the index of its element in the low half, so that equal keys are ordered by index.
trait Keyed: Ord + Copy + Default {
    fn new(key: u64, index: usize) -> Self;
    fn key(self) -> u64;
    fn index(self) -> usize;
}

/// 32-bit keys and indices.
impl Keyed for u64 {
    fn new(key: u64, index: usize) -> u64 {
        key << 32 | index as u64
    }

    fn key(self) -> u64 {
        self >> 32
    }

    fn index(self) -> usize {
        self as u32 as usize
    }
}

impl Keyed for u128 {
    fn new(key: u64, index: usize) -> u128 {
        u128::from(key) << 64 | index as u128
    }

    fn key(self) -> u64 {
        (self >> 64) as u64
    }

    fn index(self) -> usize {
        self as u64 as usize
    }
}

/// Selects from rows one after the other and reuses its buffers.
#[derive(Debug)]
pub(crate) struct Selector {
    ranking: Ranking,
    narrow: Vec<u64>,
    wide: Vec<u128>,
    indices: Vec<usize>,
}

impl Selector {
    /// Creates a selector with empty buffers.
    pub fn new(ranking: Ranking) -> Selector {
        Selector {
            ranking,
            narrow: Vec::new(),
            wide: Vec::new(),
            indices: Vec::new(),
        }
    }

    /// Returns the indices of the selected elements of `row`, in order. Equal elements are ordered by index.
    ///
    /// # Panics
    ///
    /// If `row` has fewer elements than are selected.
    pub fn select<T: Key>(&mut self, row: &[T]) -> &[usize] {
        assert!(self.ranking.kept <= row.len(), "as many as are wanted");
        self.indices.clear();
        if self.ranking.kept == 0 {
            return &[];
        }
        let is_narrow = T::DTYPE.size() <= 4 && u32::try_from(row.len()).is_ok();
        if is_narrow {
            let keyed = select(self.ranking, row, &mut self.narrow);
            self.indices.extend(keyed.iter().map(|keyed| keyed.index()));
        } else {
            let keyed = select(self.ranking, row, &mut self.wide);
            self.indices.extend(keyed.iter().map(|keyed| keyed.index()));
        }
        &self.indices
    }
}

/// Returns the selected elements of `row`; at least one element is selected.
fn select<'k, T: Key, K: Keyed>(ranking: Ranking, row: &[T], keyed: &'k mut Vec<K>) -> &'k [K] {
    let kept = ranking.kept;
    let flip = ranking.flip::<T>();
    keyed.clear();
    if kept.saturating_mul(4 * CHUNK) <= row.len() {
        few(row, flip, kept, keyed);
    } else {
        let keys = row.iter().map(|element| element.key() ^ flip);
        keyed.extend(keys.zip(0..).map(|(key, index)| K::new(key.into(), index)));
    }
    if kept < keyed.len() {
        keyed.select_nth_unstable(kept - 1);
        keyed.truncate(kept);
    }
    keyed.sort_unstable();
    keyed
}

/// Collects candidates for the first `kept` elements of a row.
///
/// The candidates are in the `kept` chunks with the smallest minima, because each of these chunks has an element that
/// precedes all elements of the other chunks. Elements after the largest of these minima are dropped.
fn few<T: Key, K: Keyed>(row: &[T], flip: T::Key, kept: usize, keyed: &mut Vec<K>) {
    let least = row.chunks(CHUNK).map(|chunk| {
        let keys = chunk.iter().map(|element| element.key() ^ flip);
        keys.fold(
            !T::Key::default(),
            |least, key| if key < least { key } else { least },
        )
    });
    keyed.extend(least.zip(0..).map(|(key, chunk)| K::new(key.into(), chunk)));
    let (_, &mut last, _) = keyed.select_nth_unstable(kept - 1);
    keyed.truncate(kept);
    keyed.resize(kept + (kept + 1) * CHUNK, last);
    let mut count = kept;
    for chunk in 0..kept {
        let start = keyed[chunk].index() * CHUNK;
        let elements = &row[start..row.len().min(start + CHUNK)];
        for (element, index) in elements.iter().zip(start..) {
            let key = (element.key() ^ flip).into();
            keyed[count] = K::new(key, index);
            count += usize::from(key <= last.key());
        }
    }
    keyed.truncate(count);
    keyed.drain(..kept);
}

#[cfg(test)]
mod tests {
    use mind_ir::tensor::rust_types::F16;

    use super::*;

    /// Compares the selection with the head of the sorted row.
    fn check<T: Key>(row: &[T]) {
        for descending in [false, true] {
            let mut all: Vec<usize> = (0..row.len()).collect();
            all.sort_by_key(|&at| {
                let key: u64 = row[at].key().into();
                if descending { u64::MAX - key } else { key }
            });
            for kept in [0, 1, 2, 10, 11, 64, 699, 700] {
                let kept = kept.min(row.len());
                let mut selector = Selector::new(Ranking { kept, descending });
                // A selection from another row first, because the buffers are reused.
                selector.select(&[true; 700]);
                let found = selector.select(row);
                assert_eq!(found, &all[..kept], "{} {descending}", T::DTYPE);
            }
        }
    }

    #[test]
    fn few_and_many_are_the_first_of_all() {
        let specials = [
            f32::NAN,
            0.0,
            -0.0,
            -f32::NAN,
            f32::INFINITY,
            -1.0,
            1e-40,
            f32::NEG_INFINITY,
        ];
        let rows: [fn(usize) -> usize; 4] = [
            |at| at,
            |at| 700 - at,
            // Each value occurs several times.
            |at| at * 7 % 97,
            |at| (700 - at) / 4,
        ];
        for number in rows {
            let row =
                |of: &dyn Fn(usize) -> f32| -> Vec<f32> { (0..700).map(number).map(of).collect() };
            let plain = row(&|at| at as f32 - 40.0);
            check(&plain);
            check(&row(&|at| specials[at % specials.len()]));
            check(&row(&|at| {
                if at % 90 == 3 {
                    specials[at / 90]
                } else {
                    at as f32
                }
            }));
            check::<F16>(&plain.iter().map(|&x| F16::from_f32(x)).collect::<Vec<_>>());
            check::<f64>(&plain.iter().map(|&x| x.into()).collect::<Vec<_>>());
            check::<i8>(&plain.iter().map(|&x| x as i8).collect::<Vec<_>>());
            check::<u64>(&plain.iter().map(|&x| x as u64).collect::<Vec<_>>());
            check::<bool>(&plain.iter().map(|&x| x > 9.0).collect::<Vec<_>>());
        }
        check(&[1.0f32]);
        check::<u8>(&[]);
    }

    #[test]
    fn equal_elements_stay_in_order_and_the_first_are_kept() {
        let row = [f64::INFINITY, 0.0, f64::INFINITY, 7.0, -0.0];
        for kept in 0..=5 {
            let indices = |descending| {
                Selector::new(Ranking { kept, descending })
                    .select(&row)
                    .to_vec()
            };
            assert_eq!(indices(false), [1, 4, 3, 0, 2][..kept]);
            assert_eq!(indices(true), [0, 2, 3, 1, 4][..kept]);
        }
    }
}
