//! How the tasks of a call are divided among threads.

use smallvec::SmallVec;

use mind_vir::program::Axis;

/// The tasks of a call, numbered: for each dimension the number of parts it is cut into.
#[derive(Debug)]
pub(super) struct Partition<'g> {
    grid: &'g [Axis],
    parts: SmallVec<[usize; 4]>,
}

impl Partition<'_> {
    /// The tasks of `grid` for `threads` threads: as few as give each thread as much as any other.
    pub(super) fn new(grid: &[Axis], threads: usize) -> Partition<'_> {
        let mut parts: SmallVec<[usize; 4]> = grid
            .iter()
            .map(|axis| match *axis {
                Axis::Each(extent) => extent,
                Axis::Range { .. } => 1,
            })
            .collect();
        let tasks: usize = parts.iter().product();
        if threads > 1 && tasks > 0 && !tasks.is_multiple_of(threads) && tasks < 8 * threads {
            let units = grid.iter().map(|axis| match *axis {
                Axis::Range { extent, grain } => extent.div_ceil(grain),
                Axis::Each(_) => 0,
            });
            let widest = units
                .enumerate()
                .max_by_key(|&(at, units)| (units.min(2 * threads), usize::MAX - at));
            if let Some((at, units)) = widest
                && units > 1
            {
                parts[at] = threads.min(units);
            }
        }
        Partition { grid, parts }
    }

    /// How many tasks there are.
    pub(super) fn tasks(&self) -> usize {
        self.parts.iter().product()
    }

    /// Appends the arguments of a task.
    pub(super) fn push(&self, task: usize, args: &mut SmallVec<[u64; 24]>) {
        let (mut rest, mut below) = (task, self.tasks());
        for (axis, &parts) in self.grid.iter().zip(&self.parts) {
            below /= parts;
            let part = rest / below;
            rest %= below;
            match *axis {
                Axis::Each(_) => args.push(part as u64),
                Axis::Range { extent, grain } => {
                    let units = extent.div_ceil(grain);
                    let edge = |part: usize| (units * part / parts * grain).min(extent) as u64;
                    args.extend([edge(part), edge(part + 1)]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(grid: &[Axis], threads: usize) -> Vec<Vec<u64>> {
        let partition = Partition::new(grid, threads);
        let task = |number: usize| {
            let mut args = SmallVec::new();
            partition.push(number, &mut args);
            args.to_vec()
        };
        (0..partition.tasks()).map(task).collect()
    }

    #[test]
    fn one_thread_has_one_task_for_each_index() {
        let range = Axis::Range {
            extent: 10,
            grain: 4,
        };
        assert_eq!(tasks(&[range], 1), [[0, 10]]);
        assert_eq!(tasks(&[Axis::Each(2), range], 1), [[0, 0, 10], [1, 0, 10]]);
        assert_eq!(tasks(&[], 1), [Vec::<u64>::new()]);
        assert!(tasks(&[Axis::Each(0), range], 3).is_empty());
    }

    #[test]
    fn ranges_are_cut_at_multiples_of_their_grain() {
        let range = Axis::Range {
            extent: 10,
            grain: 4,
        };
        assert_eq!(tasks(&[range], 2), [[0, 4], [4, 10]]);
        assert_eq!(tasks(&[range], 8), [[0, 4], [4, 8], [8, 10]]);
        let rows = Axis::Range {
            extent: 3,
            grain: 6,
        };
        let columns = Axis::Range {
            extent: 64,
            grain: 16,
        };
        assert_eq!(tasks(&[rows, columns], 2), [[0, 3, 0, 32], [0, 3, 32, 64]]);
    }

    #[test]
    fn enough_indices_are_not_cut_further() {
        let range = Axis::Range {
            extent: 100,
            grain: 1,
        };
        assert_eq!(tasks(&[Axis::Each(4), range], 2).len(), 4);
        assert_eq!(tasks(&[Axis::Each(3), range], 2).len(), 6);
    }
}
