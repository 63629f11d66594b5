//! Keys and values of the tokens that a sequence has.

use std::ops::Range;

use mind_irv2::Config;

use crate::error::ModelError;
use crate::sizes::cache_rows;

/// The keys and values of every layer, `[rows, kv_heads, head_dim]` each; rows that hold nothing are zeros.
pub(crate) struct Cache {
    /// Keys, then values, of a layer after the other.
    elements: Vec<f32>,
    rows: usize,
    width: usize,
}

impl Cache {
    /// An empty cache.
    ///
    /// # Errors
    ///
    /// The system gives no memory.
    pub(crate) fn new(config: &Config, capacity: usize) -> Result<Cache, ModelError> {
        Cache::with_rows(config, cache_rows(capacity))
    }

    fn with_rows(config: &Config, rows: usize) -> Result<Cache, ModelError> {
        let width = config.kv_width();
        let count = (rows * width).checked_mul(2 * config.num_layers);
        let count = count.filter(|&count| count < isize::MAX as usize / 4);
        let refused = ModelError::OutOfMemory {
            bytes: 8 * rows as u64 * width as u64 * config.num_layers as u64,
        };
        let Some(count) = count else {
            return Err(refused);
        };
        let mut probe: Vec<f32> = Vec::new();
        if probe.try_reserve_exact(count).is_err() {
            return Err(refused);
        }
        drop(probe);
        Ok(Cache {
            elements: vec![0.0; count],
            rows,
            width,
        })
    }

    /// A cache of the same size that holds the first `rows` rows of every layer, and nothing in the others.
    ///
    /// # Errors
    ///
    /// The system gives no memory.
    pub(crate) fn fork(&self, config: &Config, rows: usize) -> Result<Cache, ModelError> {
        let mut own = Cache::with_rows(config, self.rows)?;
        for layer in 0..config.num_layers {
            let copies = own.rows_mut(layer, 0..rows);
            for (copy, kept) in copies.into_iter().zip(self.seen(layer, rows)) {
                copy.copy_from_slice(kept);
            }
        }
        Ok(own)
    }

    /// The first `rows` keys and values of a layer.
    pub(crate) fn seen(&self, layer: usize, rows: usize) -> [&[f32]; 2] {
        let whole = self.rows * self.width;
        let start = 2 * layer * whole;
        let (keys, values) = self.elements[start..start + 2 * whole].split_at(whole);
        [keys, values].map(|half| &half[..rows * self.width])
    }

    /// Some keys and values of a layer, to be written.
    pub(crate) fn rows_mut(&mut self, layer: usize, rows: Range<usize>) -> [&mut [f32]; 2] {
        let whole = self.rows * self.width;
        let start = 2 * layer * whole;
        let (keys, values) = self.elements[start..start + 2 * whole].split_at_mut(whole);
        let here = rows.start * self.width..rows.end * self.width;
        [&mut keys[here.clone()], &mut values[here]]
    }

    /// Makes rows of a layer hold nothing.
    pub(crate) fn clear(&mut self, layer: usize, rows: Range<usize>) {
        for half in self.rows_mut(layer, rows) {
            half.fill(0.0);
        }
    }
}
