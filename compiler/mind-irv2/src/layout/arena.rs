//! Buffer assignment: offsets of activations in one arena, by liveness.

use std::collections::BTreeMap;
use std::ops::Range;

use super::buffers::Scope;
use super::nodes::{Access, Node, PlanSection, nodes};
use crate::config::Config;
use crate::family::Stack;
use crate::graph::plan::{ENCODED, ROTATION, Stream, hidden};

/// The alignment of offsets, in bytes.
pub const ALIGNMENT: usize = 64;

/// The logits that a run keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logits {
    /// Those of the last position.
    Last,
    /// Those of every position.
    All,
}

/// A buffer in the arena.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// The buffer.
    pub buffer: &'static str,
    /// The offset of its first byte.
    pub offset: usize,
    /// Its size in bytes, rounded up to [`ALIGNMENT`].
    pub bytes: usize,
    /// The first step that writes it.
    pub first: usize,
    /// The last step that reads or writes it.
    pub last: usize,
}

/// The offsets of all activations of a run.
///
/// Layers share their buffers: their temporaries have the same offsets, and `output` is the `input` of the next layer.
/// The KV cache, the tables of rotary embeddings and buffers that inference does not read are not in the arena.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The buffers, in the order of documents.
    pub places: Vec<Allocation>,
    /// The size of the arena in bytes.
    pub bytes: usize,
    /// The most bytes of buffers that are live in the same step.
    pub live: usize,
}

/// Plans a run of `tokens` positions; returns `None` if sizes overflow.
pub fn plan(config: &Config, tokens: usize, logits: Logits) -> Option<Plan> {
    let mut lives = lives(config);
    let mut places = Vec::new();
    for row in config.family.buffers() {
        let Some((first, last)) = lives.remove(row.name.as_str()) else {
            continue;
        };
        let rows = match (row.name.as_str(), logits) {
            ("logits", Logits::Last) => 1,
            _ => tokens,
        };
        let shape = row.resolved(config, rows)?;
        let bytes = super::buffers::bytes_of(&shape, mind_weights::WeightType::F32)?;
        places.push(Allocation {
            buffer: &row.name,
            offset: 0,
            bytes: bytes.checked_next_multiple_of(ALIGNMENT)?,
            first,
            last,
        });
    }
    let bytes = assign(&mut places)?;
    let steps = places.iter().map(|place| place.last).max().unwrap_or(0);
    let live = (0..=steps).map(|step| {
        let live = places
            .iter()
            .filter(|place| (place.first..=place.last).contains(&step));
        live.map(|place| place.bytes).sum()
    });
    let live = live.max().unwrap_or(0);
    Some(Plan {
        places,
        bytes,
        live,
    })
}

/// Returns the first and the last step of each activation, with one layer in place of all.
fn lives(config: &Config) -> BTreeMap<&'static str, (usize, usize)> {
    let mut lives: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    let sections = [PlanSection::First, PlanSection::Layer, PlanSection::Last];
    let mut order: Vec<&'static Node> = Vec::new();
    let mut layers: Vec<Range<usize>> = Vec::new();
    for (_, own) in config.stacks() {
        for section in sections {
            let start = order.len();
            order.extend(nodes(&own, section));
            if section == PlanSection::Layer {
                layers.push(start..order.len());
            }
        }
    }
    for (step, node) in order.iter().enumerate() {
        for arg in &node.args {
            let row = config.family.buffer(&arg.buffer);
            let is_activation = row.is_some_and(|row| !row.is_weight());
            let is_kept = row.is_some_and(|row| row.scope == Scope::Cross);
            let outside = ROTATION.contains(&arg.buffer.as_str()) || is_kept;
            if !is_activation || outside || arg.access == Access::Scratch {
                continue;
            }
            // A buffer that only optional arguments name is not in the arena, because a document may omit it.
            if !arg.optional {
                lives.entry(&arg.buffer).or_insert((step, step));
            }
            if let Some(life) = lives.get_mut(arg.buffer.as_str()) {
                life.1 = step;
            }
        }
    }
    // The residual stream: embeddings are the input of the first layer, and an output is the input of the next layer.
    let carried = |lives: &BTreeMap<_, (usize, usize)>, name| lives.get(name).copied();
    for (stack, own) in config.stacks() {
        // The output of the encoder's last layer may be the encoder output, which is live as long as the decoder reads
        // it.
        let left = hidden(&own);
        if stack == Stack::Source
            && left != ENCODED
            && let (Some(made), Some(read)) = (carried(&lives, left), carried(&lives, ENCODED))
        {
            lives.insert(ENCODED, (made.0, read.1));
            lives.remove(left);
        }
        let Stream {
            embedded, input, ..
        } = Stream::of(stack);
        if let (Some(first), Some(last)) = (carried(&lives, embedded), carried(&lives, input)) {
            lives.insert(input, (first.0, last.1));
            lives.remove(embedded);
        }
    }
    // The next layer reads again a buffer that was written before the layers, except the input, which is then the
    // output of this layer.
    let inputs = config.stacks().map(|(stack, _)| Stream::of(stack).input);
    let inputs: Vec<&str> = inputs.collect();
    for (name, (first, last)) in &mut lives {
        let around = layers.iter().find(|own| own.contains(last));
        if let Some(layers) = around.filter(|own| *first < own.start && !inputs.contains(name)) {
            *last = layers.end - 1;
        }
    }
    lives
}

/// Assigns each buffer the lowest offset at which it does not overlap buffers that are live at the same time, largest
/// buffer first. Returns the size of the arena.
fn assign(places: &mut [Allocation]) -> Option<usize> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(places[at].bytes), at));
    let mut placed: Vec<usize> = Vec::new();
    let mut end = 0;
    for at in order {
        let own = &places[at];
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .map(|&other| &places[other])
            .filter(|other| other.first <= own.last && own.first <= other.last)
            .map(|other| (other.offset, other.offset + other.bytes))
            .collect();
        taken.sort_unstable();
        let mut offset = 0usize;
        for (start, stop) in taken {
            if offset.checked_add(own.bytes)? <= start {
                break;
            }
            offset = offset.max(stop);
        }
        end = end.max(offset.checked_add(own.bytes)?);
        places[at].offset = offset;
        placed.push(at);
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::qwen2;

    #[test]
    fn qwen2_at_2048_tokens_takes_less_than_200_megabytes() {
        let config = Config::new(qwen2()).unwrap();
        let plan = plan(&config, 2048, Logits::Last).unwrap();
        assert!(plan.bytes < 200_000_000, "{}", plan.bytes);
        assert_eq!(plan.bytes, plan.live);
    }

    #[test]
    fn what_is_live_at_once_lies_apart() {
        let config = Config::new(qwen2()).unwrap();
        for logits in [Logits::Last, Logits::All] {
            for tokens in [1, 7, 512] {
                let plan = plan(&config, tokens, logits).unwrap();
                for (at, a) in plan.places.iter().enumerate() {
                    assert!(a.offset.is_multiple_of(ALIGNMENT) && a.offset + a.bytes <= plan.bytes);
                    for b in &plan.places[at + 1..] {
                        let together = a.first <= b.last && b.first <= a.last;
                        let apart =
                            a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
                        assert!(!together || apart, "{a:?} {b:?}");
                    }
                }
            }
        }
    }
}
