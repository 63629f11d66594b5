//! KV cache of a sequence.

use std::ops::Range;

use mind_irv2::Config;

use crate::error::ModelError;
use crate::sizes::{cache_rows, window_rows, window_start};

/// Keys and values of every layer, `[rows, kv_heads, head_dim]` each; unused rows are zeros.
///
/// Layers whose attention window is much shorter than the capacity keep only the positions from `base` on: before a
/// pass, their rows are moved down over those that no query will see. `base` is a multiple of 64, the number of partial
/// results of a sum, so that the scores of a shortened row go to the same partial sums as those of the whole row.
pub(crate) struct Cache {
    /// For each layer its keys, then its values.
    elements: Vec<f32>,
    layers: Vec<Rows>,
    width: usize,
    /// The window of layers with moving rows; `None` if all positions are kept.
    window: Option<usize>,
    /// The position of the first row of layers with moving rows.
    base: usize,
}

/// The rows of a layer.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// The index of the first element of the keys.
    start: usize,
    count: usize,
    moves: bool,
}

impl Cache {
    /// Creates an empty cache.
    ///
    /// # Errors
    ///
    /// The allocation failed.
    pub(crate) fn new(config: &Config, capacity: usize) -> Result<Cache, ModelError> {
        let width = config.kv_width();
        let most = cache_rows(capacity);
        let window = (0..config.num_layers).find_map(|layer| config.window(layer));
        let window = window.filter(|&window| window_rows(window) < most);
        let mut layers = Vec::with_capacity(config.num_layers);
        let mut count = Some(0usize);
        for layer in 0..config.num_layers {
            let own = window.filter(|_| config.window(layer).is_some());
            let rows = own.map_or(most, window_rows);
            layers.push(Rows {
                start: count.unwrap_or(0),
                count: rows,
                moves: own.is_some(),
            });
            let more = (2 * rows).checked_mul(width);
            count = count.and_then(|count| count.checked_add(more?));
        }
        let rows: u64 = layers.iter().map(|own| own.count as u64).sum();
        let refused = || ModelError::OutOfMemory {
            bytes: 8 * rows * width as u64,
        };
        let count = count.filter(|&count| count < isize::MAX as usize / 4);
        Ok(Cache {
            elements: zeros(count.ok_or_else(refused)?).ok_or_else(refused)?,
            layers,
            width,
            window,
            base: 0,
        })
    }

    /// Returns the size of all rows in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.elements.len() as u64
    }

    /// Returns a cache of the same size with a copy of the first `length` positions; later rows are zeros.
    ///
    /// # Errors
    ///
    /// The allocation failed.
    pub(crate) fn fork(&self, length: usize) -> Result<Cache, ModelError> {
        let bytes = self.bytes();
        let elements = zeros(self.elements.len()).ok_or(ModelError::OutOfMemory { bytes })?;
        let mut own = Cache {
            elements,
            layers: self.layers.clone(),
            ..*self
        };
        for layer in 0..self.layers.len() {
            let rows = length - self.first(layer);
            let copies = own.rows_mut(layer, self.first(layer)..length);
            for (copy, kept) in copies.into_iter().zip(self.seen(layer, rows)) {
                copy.copy_from_slice(kept);
            }
        }
        Ok(own)
    }

    /// Returns the position of the first row of a layer.
    pub(crate) fn first(&self, layer: usize) -> usize {
        if self.layers[layer].moves {
            self.base
        } else {
            0
        }
    }

    /// Prepares a pass whose first token has position `first`: evicts the positions that windows do not reach from
    /// there.
    pub(crate) fn advance(&mut self, first: usize) {
        let Some(window) = self.window else {
            return;
        };
        let base = window_start(first, window);
        if base <= self.base {
            return;
        }
        let (kept, used) = (first - base, first - self.base);
        for layer in 0..self.layers.len() {
            if !self.layers[layer].moves {
                continue;
            }
            let width = self.width;
            for half in self.rows_mut(layer, self.base..first) {
                half.copy_within((used - kept) * width.., 0);
                half[kept * width..].fill(0.0);
            }
        }
        self.base = base;
    }

    /// Removes the positions `length..held`, the last ones, and returns how many positions are left: 0 if the windows
    /// of the next tokens reach positions that have been evicted.
    pub(crate) fn truncate(&mut self, length: usize, held: usize) -> usize {
        let reached = |window: usize| (length + 1).saturating_sub(window);
        let is_lost = self.window.is_some_and(|own| reached(own) < self.base);
        let kept = if is_lost { 0 } else { length };
        for layer in 0..self.layers.len() {
            self.clear(layer, kept..held);
        }
        if kept == 0 {
            self.base = 0;
        }
        kept
    }

    /// Returns the first `rows` keys and values of a layer.
    pub(crate) fn seen(&self, layer: usize, rows: usize) -> [&[f32]; 2] {
        let Rows { start, count, .. } = self.layers[layer];
        let whole = count * self.width;
        let (keys, values) = self.elements[start..start + 2 * whole].split_at(whole);
        [keys, values].map(|half| &half[..rows * self.width])
    }

    /// Returns the mutable keys and values of the `positions` of a layer that it still keeps.
    pub(crate) fn rows_mut(&mut self, layer: usize, positions: Range<usize>) -> [&mut [f32]; 2] {
        let first = self.first(layer);
        let Rows { start, count, .. } = self.layers[layer];
        let whole = count * self.width;
        let (keys, values) = self.elements[start..start + 2 * whole].split_at_mut(whole);
        let [from, to] = [positions.start, positions.end].map(|own| own.max(first) - first);
        let here = from * self.width..to * self.width;
        [&mut keys[here.clone()], &mut values[here]]
    }

    /// Fills the rows of `positions` with zeros.
    pub(crate) fn clear(&mut self, layer: usize, positions: Range<usize>) {
        for half in self.rows_mut(layer, positions) {
            half.fill(0.0);
        }
    }
}

/// Returns a vector of zeros; `None` if the allocation fails.
fn zeros(count: usize) -> Option<Vec<f32>> {
    let mut probe: Vec<f32> = Vec::new();
    probe.try_reserve_exact(count).ok()?;
    drop(probe);
    // `vec!` uses pages that the system has zeroed, without touching them.
    Some(vec![0.0; count])
}
