//! Extents that the parts are compiled for.
//!
//! The tokens of a pass are padded to the next supported extent, so that a few programs serve every sequence.

use mind_irv2::Config;

/// The maximal number of tokens of a pass.
pub(crate) const MOST_TOKENS: usize = 256;

/// Returns the number of tokens, at least `tokens`, that the parts of a pass are compiled for.
pub(crate) fn pass_tokens(tokens: usize) -> usize {
    match tokens {
        0..=8 => tokens.next_power_of_two(),
        _ => tokens.next_multiple_of(16),
    }
}

/// Returns the number of cache rows, at least `rows`, that attention is compiled for: a multiple of 64, and at most an
/// eighth more if there are many.
pub(crate) fn seen_rows(rows: usize) -> usize {
    const LANES: usize = 64;
    let eighth = (rows.max(1).next_power_of_two() / 16).max(LANES);
    rows.max(1).next_multiple_of(eighth)
}

/// Returns the rows of a cache for `capacity` tokens, which includes the padding that passes write and attention reads.
pub(crate) fn cache_rows(capacity: usize) -> usize {
    seen_rows(capacity).max(capacity + 16)
}

/// Tokens that a sequence can always go back by although layers with a window evict old positions.
const REWIND: usize = 64;

/// Partial results of a sum: positions are evicted in multiples of this.
const PARTIALS: usize = 64;

/// Returns the first position that layers with a window of `window` positions keep in a pass whose first token has
/// position `first`.
pub(crate) fn window_start(first: usize, window: usize) -> usize {
    let reached = (first + 1).saturating_sub(window.saturating_add(REWIND));
    reached - reached % PARTIALS
}

/// Returns the rows that a layer with a window of `window` positions needs for any pass.
pub(crate) fn window_rows(window: usize) -> usize {
    let rows = window.saturating_add(REWIND + PARTIALS + MOST_TOKENS);
    // Such a window is wider than any sequence.
    if rows > 1 << 40 {
        rows
    } else {
        seen_rows(rows)
    }
}

/// Returns the bytes of the arrays of a pass of `tokens` over `seen` rows of the cache: two rows of the residual
/// stream, of queries and of attention results, the mask and the logits; with experts, five more rows of the stream and
/// the expert weights.
pub(crate) fn array_bytes(config: &Config, tokens: usize, seen: usize) -> u64 {
    let experts = config
        .experts
        .map_or(0, |own| 5 * config.hidden_size + own.count);
    let row = 2 * config.hidden_size + 2 * config.q_width() + config.head_dim + seen + experts;
    4 * (tokens * row + config.vocab_size) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_hold_what_is_asked_for_and_little_more() {
        assert_eq!(
            [1, 2, 3, 5, 9, 16, 17, 256].map(pass_tokens),
            [1, 2, 4, 8, 16, 16, 32, 256]
        );
        assert_eq!([0, 1, 64, 65, 500].map(seen_rows), [64, 64, 64, 128, 512]);
        assert_eq!(
            [1024, 1025, 2000, 2048].map(seen_rows),
            [1024, 1152, 2048, 2048]
        );
        for rows in 1..5000 {
            let seen = seen_rows(rows);
            assert!(seen >= rows && seen.is_multiple_of(64), "{rows} {seen}");
            assert!(seen - rows < 64.max(rows / 7), "{rows} {seen}");
        }
    }

    #[test]
    fn a_pass_at_the_end_of_a_cache_fits_it() {
        for capacity in 1..600 {
            for tokens in 1..=capacity.min(MOST_TOKENS) {
                let first = capacity - tokens;
                assert!(first + pass_tokens(tokens) <= cache_rows(capacity));
            }
        }
    }

    #[test]
    fn a_pass_fits_what_windows_keep() {
        for window in [1, 4, 63, 64, 65, 500, 4096] {
            let rows = window_rows(window);
            for first in 0..2 * rows {
                let start = window_start(first, window);
                assert!(start.is_multiple_of(64) && start <= first);
                assert!(start <= (first + 1).saturating_sub(window));
                for tokens in [1, 3, 9, MOST_TOKENS] {
                    assert!(
                        first + pass_tokens(tokens) - start <= rows,
                        "{window} {first}"
                    );
                    assert!(
                        seen_rows(first + tokens - start) <= rows,
                        "{window} {first}"
                    );
                }
            }
        }
    }
}
