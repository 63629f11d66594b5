//! Parallel moves as sequences of moves, for example a swap of two registers through a third.

use regalloc2::{Allocation, PReg, RegClass};
use smallvec::SmallVec;

/// Source and destination.
pub(super) type Move = (Allocation, Allocation);

/// Parallel moves; most blocks end with few.
type Moves = SmallVec<[Move; 8]>;

/// Returns a sequence of moves equivalent to the parallel `moves`, which have distinct destinations and are not between
/// two stack slots. `spare` returns a free register of a class; the result is `None` if one is needed and there is
/// none.
pub(super) fn in_order(
    moves: &[Move],
    spare: impl Fn(RegClass, usize) -> Option<PReg>,
) -> Option<Moves> {
    let differ = moves.iter().filter(|(from, to)| from != to);
    let mut left: Moves = differ.copied().collect();
    let mut ordered = Moves::new();
    while !left.is_empty() {
        let is_read = |place: Allocation| left.iter().any(|&(from, _)| from == place);
        let ready = left.iter().position(|&(_, to)| !is_read(to));
        match ready {
            Some(at) => ordered.push(left.swap_remove(at)),
            // Only cycles remain: one value is saved to a spare register first.
            None => {
                let overwritten = left[0].1;
                let spare = Allocation::reg(spare(class(overwritten), 0)?);
                ordered.push((overwritten, spare));
                let reads = left.iter_mut().filter(|(from, _)| *from == overwritten);
                reads.for_each(|(from, _)| *from = spare);
            }
        }
    }
    let is_on_stack = |&(from, to): &Move| from.is_stack() && to.is_stack();
    let Some(first) = ordered.iter().find(|own| is_on_stack(own)) else {
        return Some(ordered);
    };
    let between = Allocation::reg(spare(class(first.0), 1)?);
    let through = ordered
        .iter()
        .flat_map(|&(from, to)| match is_on_stack(&(from, to)) {
            true => [Some((from, between)), Some((between, to))],
            false => [Some((from, to)), None],
        });
    Some(through.flatten().collect())
}

/// Returns the register class of a location; only general values are spilled.
fn class(place: Allocation) -> RegClass {
    place.as_reg().map_or(RegClass::Int, PReg::class)
}

#[cfg(test)]
mod tests {
    use regalloc2::SpillSlot;

    use super::*;

    /// Locations by number; those from 8 on are stack slots.
    fn place(number: usize) -> Allocation {
        match number {
            0..8 => Allocation::reg(PReg::new(number, RegClass::Int)),
            _ => Allocation::stack(SpillSlot::new(number - 8)),
        }
    }

    fn number(place: Allocation) -> usize {
        let slot = |place: Allocation| place.as_stack().map(|slot| slot.index() + 8);
        place
            .as_reg()
            .map(|preg| preg.hw_enc())
            .or(slot(place))
            .expect("a place")
    }

    /// Returns the contents of locations after moves, where each initially holds its own number.
    fn after(moves: &[Move]) -> [usize; 12] {
        let mut held: [usize; 12] = std::array::from_fn(|number| number);
        for &(from, to) in moves {
            assert!(number(from) < 8 || number(to) < 8, "{moves:?}");
            held[number(to)] = held[number(from)];
        }
        held
    }

    #[test]
    fn chains_cycles_and_copies_end_as_if_at_once() {
        let cases: [&[(usize, usize)]; 9] = [
            &[],
            &[(0, 1), (1, 2), (2, 3)],
            &[(0, 1), (1, 0)],
            &[(0, 1), (1, 2), (2, 0), (0, 3)],
            &[(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (5, 5)],
            &[(0, 1), (0, 2), (1, 0)],
            &[(8, 9), (0, 1)],
            &[(8, 9), (9, 8), (1, 2), (2, 1)],
            &[(0, 8), (8, 9), (9, 0), (10, 11)],
        ];
        for case in cases {
            let moves: Vec<_> = case
                .iter()
                .map(|&(from, to)| (place(from), place(to)))
                .collect();
            let spare = |class, nth| Some(PReg::new(6 + nth, class));
            let ordered = in_order(&moves, spare).expect("two spare registers");
            let held = after(&ordered);
            for &(from, to) in case {
                assert_eq!(held[to], from, "{case:?} as {ordered:?}");
            }
        }
    }

    #[test]
    fn what_needs_a_spare_register_is_refused_without_one() {
        let moves = |all: &[(usize, usize)]| -> Vec<Move> {
            all.iter()
                .map(|&(from, to)| (place(from), place(to)))
                .collect()
        };
        assert_eq!(in_order(&moves(&[(0, 1), (1, 0)]), |_, _| None), None);
        assert_eq!(in_order(&moves(&[(8, 9)]), |_, _| None), None);
        assert!(in_order(&moves(&[(0, 1), (1, 2), (8, 3)]), |_, _| None).is_some());
    }
}
