//! Ordering of nodes within layers by the barycentre method.

use crate::layers::Layers;

/// The maximum number of segments that all sweeps visit.
const WORK: usize = 4_000_000;
/// The maximum number of sweeps.
const SWEEPS: usize = 24;
/// Subdivisions of a position.
const FINE: usize = 1 << 10;

/// Reorders the rows of `layers` to reduce edge crossings.
pub(crate) fn reduce(layers: &mut Layers) {
    let steps = layers.layer.len() + layers.below.iter().map(Vec::len).sum::<usize>();
    let mut position = layers.positions();
    let (mut best, mut fewest) = (layers.rows.clone(), crossings(layers, &position));
    for sweep in 0..(WORK / steps.max(1)).clamp(2, SWEEPS) {
        if fewest == 0 {
            break;
        }
        let depth = layers.rows.len();
        for at in 0..depth {
            if sweep % 2 == 0 {
                sort(&mut layers.rows[at], &layers.above, &mut position);
            } else {
                sort(
                    &mut layers.rows[depth - 1 - at],
                    &layers.below,
                    &mut position,
                );
            }
        }
        let left = crossings(layers, &position);
        if left < fewest {
            (best, fewest) = (layers.rows.clone(), left);
        }
    }
    layers.rows = best;
}

/// Sorts `row` by the mean position of each node's neighbours; nodes without neighbours keep their position.
fn sort(row: &mut [usize], neighbours: &[Vec<usize>], position: &mut [usize]) {
    let wish = |node: usize| {
        let own = &neighbours[node];
        let sum: usize = own.iter().map(|&other| position[other] * FINE).sum();
        sum.checked_div(own.len()).unwrap_or(position[node] * FINE)
    };
    let mut wishes: Vec<(usize, usize)> = row.iter().map(|&node| (wish(node), node)).collect();
    wishes.sort_by_key(|&(wish, node)| (wish, position[node]));
    for (at, (_, node)) in wishes.into_iter().enumerate() {
        row[at] = node;
        position[node] = at;
    }
}

/// Returns the number of crossing pairs of segments.
fn crossings(layers: &Layers, position: &[usize]) -> usize {
    let pairs = layers.rows.windows(2);
    pairs
        .map(|pair| {
            let mut ends = Vec::new();
            for &node in &pair[0] {
                let first = ends.len();
                ends.extend(layers.below[node].iter().map(|&other| position[other]));
                ends[first..].sort_unstable();
            }
            inversions(&ends, pair[1].len())
        })
        .sum()
}

/// Returns the number of inversions of `numbers`, all below `bound`, with a Fenwick tree.
fn inversions(numbers: &[usize], bound: usize) -> usize {
    let mut tree = vec![0; bound + 1];
    let mut count = 0;
    for (before, &number) in numbers.iter().enumerate() {
        let (mut at, mut not_above) = (number + 1, 0);
        while at > 0 {
            not_above += tree[at];
            at &= at - 1;
        }
        count += before - not_above;
        at = number + 1;
        while at <= bound {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    count
}
