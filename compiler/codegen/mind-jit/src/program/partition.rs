//! Partition of a call's tasks among threads.

use mind_vir::program::Axis;
use smallvec::SmallVec;

use crate::pool::share;

/// Minimal work, in nanoseconds of one thread, of a call that runs in parallel, because starting and finishing one
/// takes a microsecond or two, and the next call then reads the results from the caches of other cores.
const WORTH_DIVIDING: u64 = 8_000;

/// The overhead of each thread of a parallel call in nanoseconds: it reads the published call, and the caller waits for
/// it to finish.
pub(super) const PER_THREAD: u64 = 100;

/// Returns the number of threads, at most `threads`, that minimises the time of a call of this cost.
///
/// With `t` threads a call takes `cost / t + PER_THREAD * t`, which is minimal at the square root of `cost /
/// PER_THREAD`.
pub(super) fn useful_threads(cost: u64, threads: usize) -> usize {
    if cost < WORTH_DIVIDING {
        return 1;
    }
    let most = (cost / PER_THREAD).isqrt();
    threads.min(usize::try_from(most).unwrap_or(usize::MAX))
}

/// The numbered tasks of a call: the number of parts of each dimension of the grid.
#[derive(Debug)]
pub(super) struct Partition<'g> {
    grid: &'g [Axis],
    parts: SmallVec<[usize; 4]>,
}

impl Partition<'_> {
    /// Splits `grid` into tasks for `threads` threads: the smallest number of tasks for which the longest share of a
    /// thread is short.
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
            cut(grid, threads, tasks, &mut parts);
        }
        Partition { grid, parts }
    }

    /// Returns the number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.parts.iter().product()
    }

    /// Returns the largest fraction of the work that a thread gets if `threads` share the tasks, from 0 to 1.
    pub(super) fn longest_share(&self, threads: usize) -> f64 {
        let tasks = self.tasks();
        let threads = threads.min(tasks);
        let mut args = SmallVec::new();
        let mut work_of = |task: usize| -> f64 {
            args.clear();
            self.push(task, &mut args);
            let (mut work, mut args) = (1.0, args.iter());
            for axis in self.grid {
                match *axis {
                    Axis::Each(extent) => {
                        args.next();
                        work /= extent as f64;
                    }
                    Axis::Range { extent, .. } => {
                        let (start, end) = (args.next(), args.next());
                        let length = end.zip(start).map_or(0, |(end, start)| end - start);
                        work *= length as f64 / extent as f64;
                    }
                }
            }
            work
        };
        let shares = (0..threads).map(|thread| share(tasks, threads, thread));
        let works = shares.map(|tasks| tasks.map(&mut work_of).sum());
        works.fold(0.0, f64::max)
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

/// Splits the two ranges with the most units so that the longest share of a thread is short. There are `tasks` tasks
/// before.
///
/// Among ranges with enough units the longer one is split first, so that the threads of a product share the smaller
/// operand. Among equal ones it is the last, the columns of a product, so that each thread reads panels that it packed
/// itself.
fn cut(grid: &[Axis], threads: usize, tasks: usize, parts: &mut [usize]) {
    let ranges = grid
        .iter()
        .enumerate()
        .filter_map(|(at, axis)| match *axis {
            Axis::Range { extent, grain } => Some((at, extent, extent.div_ceil(grain))),
            Axis::Each(_) => None,
        });
    let mut ranges: SmallVec<[(usize, usize, usize); 4]> = ranges.collect();
    ranges.sort_by_key(|&(at, extent, units)| {
        std::cmp::Reverse((units.min(2 * threads), extent, at))
    });
    let units = |place: usize| ranges.get(place).map_or(1, |&(.., units)| units);
    let (first, second) = (units(0), units(1));
    // Minimises the units of the longest share, then the number of tasks.
    let mut least = (usize::MAX, usize::MAX);
    let mut best = (1, 1);
    for rows in (1..=threads.min(first)).rev() {
        for columns in 1..=(threads / rows).min(second) {
            let tasks = tasks * rows * columns;
            let longest = tasks.div_ceil(threads) * first.div_ceil(rows) * second.div_ceil(columns);
            if (longest, tasks) < least {
                least = (longest, tasks);
                best = (rows, columns);
            }
        }
    }
    for (&(at, ..), cut) in ranges.iter().zip([best.0, best.1]) {
        parts[at] = cut;
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
    fn threads_share_the_smaller_operand_and_read_the_panels_that_they_packed() {
        let range = |extent, grain| Axis::Range { extent, grain };
        let columns = range(256, 32);
        let cut = |rows| tasks(&[range(rows, 16), columns], 2);
        assert_eq!(cut(256), [[0, 256, 0, 128], [0, 256, 128, 256]]);
        assert_eq!(cut(512), [[0, 256, 0, 256], [256, 512, 0, 256]]);
    }

    #[test]
    fn both_dimensions_are_cut_if_one_leaves_threads_with_nothing_to_do() {
        let range = |units: usize| Axis::Range {
            extent: units * 8,
            grain: 8,
        };
        // Returns the number of tasks, and the longest share in thousandths of the work.
        let longest = |grid: &[Axis], threads| {
            let partition = Partition::new(grid, threads);
            let share = partition.longest_share(threads) * 1e3;
            (partition.tasks(), share.round() as u32)
        };
        // Splitting only rows would give six threads a unit each, and the others none.
        assert_eq!(longest(&[range(6), range(4)], 12), (12, 83));
        // 43 of 2752 units per thread is perfectly balanced.
        assert_eq!(longest(&[range(86), range(32)], 64), (64, 16));
        // Each of three indices is split in two, and a thread gets three of the six halves.
        assert_eq!(longest(&[Axis::Each(3), range(10)], 2), (6, 500));
        assert_eq!(longest(&[Axis::Each(14), range(64)], 4), (28, 250));
    }

    #[test]
    fn the_more_work_the_more_threads() {
        let threads = |cost| useful_threads(cost, 64);
        let few = [0, 7_999, 8_000, 10_000, 100_000, 409_600, u64::MAX];
        assert_eq!(few.map(threads), [1, 1, 8, 10, 31, 64, 64]);
        assert_eq!(useful_threads(8_000, 2), 2);
        assert_eq!(useful_threads(u64::MAX, 1), 1);
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
