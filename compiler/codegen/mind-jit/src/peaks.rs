//! Peak throughput and bandwidth of the machine, measured with micro-benchmarks.
//!
//! The benchmarks are written in vector IR, so the figures are an upper bound for code of this compiler. Memory figures
//! depend on the load that other processes put on the machine.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mind_vir::ir::{Addr, BinaryOp, Builder, Function, Lane, LoopKind, Signature, Value};
use mind_vir::kernel::CompiledKernel;
use mind_vir::target::{Isa, TargetInfo};

use crate::pool::Pool;

/// A level of the memory hierarchy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Per-core first-level cache.
    L1,
    /// Per-core second-level cache.
    L2,
    /// Cache shared by the cores.
    L3,
    /// Main memory.
    Dram,
}

impl Level {
    /// All levels, fastest first.
    pub const ALL: [Level; 4] = [Level::L1, Level::L2, Level::L3, Level::Dram];

    /// Returns the name, for example `L1`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::L1 => "L1",
            Level::L2 => "L2",
            Level::L3 => "L3",
            Level::Dram => "DRAM",
        }
    }

    /// Returns the bytes per thread of a working set that fits in this level and not in the previous one.
    fn bytes(self, target: &TargetInfo, threads: usize) -> usize {
        match self {
            Level::L1 => target.l1_bytes / 2,
            Level::L2 => target.l2_bytes / 2,
            Level::L3 => (target.l3_bytes / (2 * threads)).max(target.l2_bytes),
            Level::Dram => (4 * target.l3_bytes / threads).min(256 << 20),
        }
    }
}

/// Bandwidth of a level, in bytes per second; a copy counts both the bytes read and the bytes written.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    /// The level.
    pub level: Level,
    /// Read bandwidth.
    pub read: f64,
    /// Copy bandwidth.
    pub copy: f64,
}

/// Measured peaks for a number of threads.
#[derive(Clone, Debug)]
pub struct Peaks {
    /// Number of threads.
    pub threads: usize,
    /// Peak `f32` FLOP/s of each instruction set of the machine.
    pub flops: Vec<(Isa, f64)>,
    /// Bandwidth of each level.
    pub bandwidths: Vec<Bandwidth>,
}

impl Peaks {
    /// Measures the peaks on the threads of `pool`.
    pub fn measure(pool: &Pool, target: &TargetInfo) -> Peaks {
        let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available());
        let flops = isas
            .filter_map(|isa| Some((isa, fma_rate(pool, isa)?)))
            .collect();
        let bandwidths = Level::ALL.into_iter().filter_map(|level| {
            let bytes = level.bytes(target, pool.threads());
            let (read, copy) = (read(target.isa), copy(target.isa));
            Some(Bandwidth {
                level,
                read: stream_rate(pool, target.isa, &read, bytes, 1)?,
                copy: stream_rate(pool, target.isa, &copy, bytes / 2, 2)?,
            })
        });
        Peaks {
            threads: pool.threads(),
            flops,
            bandwidths: bandwidths.collect(),
        }
    }

    /// Returns the peak FLOP/s of `isa`, or `None` if the machine lacks it.
    pub fn flops(&self, isa: Isa) -> Option<f64> {
        self.flops
            .iter()
            .find(|(of, _)| *of == isa)
            .map(|(_, rate)| *rate)
    }

    /// Returns the peak bandwidth, in bytes per second, for a working set of `bytes` bytes: that of the smallest level
    /// that holds it.
    pub fn bandwidth(&self, target: &TargetInfo, bytes: u64) -> Option<f64> {
        let cores = self.threads as u64;
        let level = match bytes {
            bytes if bytes <= target.l1_bytes as u64 * cores => Level::L1,
            bytes if bytes <= target.l2_bytes as u64 * cores => Level::L2,
            bytes if bytes <= target.l3_bytes as u64 => Level::L3,
            _ => Level::Dram,
        };
        let found = self.bandwidths.iter().find(|speeds| speeds.level == level);
        found.map(|speeds| speeds.read.max(speeds.copy))
    }
}

/// Independent multiply-add chains, enough to hide the latency of an FMA.
pub const CHAINS: usize = 12;

/// Returns the kernel `(out, rounds)`: in each round one multiply-add in each of the [`CHAINS`]; stores their sum, a
/// vector, to `out`.
pub fn fma_chains(isa: Isa) -> Function {
    let mut signature = Signature::new("fma", TargetInfo::of(isa).lanes(32));
    let (out, rounds) = (signature.ptr(), signature.index());
    let mut b = signature.body();
    let (start, factor, addend) = (b.index(0), b.f32(0.999), b.f32(0.001));
    let sums = vec![addend; CHAINS];
    let (_, sums) = b.repeat(LoopKind::Rest, (start, rounds), 1, &sums, |b, round| {
        round
            .carried
            .iter()
            .map(|&sum| b.fma(sum, factor, addend))
            .collect()
    });
    let sum = added(&mut b, &sums);
    b.store(sum, Addr::at(out), None);
    b.finish()
}

fn added(b: &mut Builder, sums: &[Value]) -> Value {
    let rest = sums[1..].iter();
    rest.fold(sums[0], |all, &sum| b.binary(BinaryOp::Add, all, sum))
}

/// Unroll factor, in vectors, of the memory benchmarks.
const UNROLL: i32 = 8;

/// Returns the kernel `(from, to, count)`: reads `count` `f32` elements and stores a vector to `to`.
pub fn read(isa: Isa) -> Function {
    let mut signature = Signature::new("read", TargetInfo::of(isa).lanes(32));
    let (from, to, count) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    let (start, zero, lanes) = (b.index(0), b.f32(0.0), b.lanes() as i32);
    let sums = vec![zero; UNROLL as usize];
    let step = i64::from(UNROLL * lanes);
    let (_, sums) = b.repeat(LoopKind::Whole, (start, count), step, &sums, |b, round| {
        let at = Addr::element(from, round.index, Lane::F32);
        let sums = (0..).zip(round.carried).map(|(vector, &sum)| {
            let x = b.load(Lane::F32, at.plus(4 * lanes * vector), None);
            b.binary(BinaryOp::Add, sum, x)
        });
        sums.collect()
    });
    let sum = added(&mut b, &sums);
    b.store(sum, Addr::at(to), None);
    b.finish()
}

fn copy(isa: Isa) -> Function {
    let mut signature = Signature::new("copy", TargetInfo::of(isa).lanes(32));
    let (from, to, count) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    let (start, lanes) = (b.index(0), b.lanes() as i32);
    let step = i64::from(UNROLL * lanes);
    b.repeat(LoopKind::Whole, (start, count), step, &[], |b, round| {
        for vector in 0..UNROLL {
            let ahead = 4 * lanes * vector;
            let at = |base| Addr::element(base, round.index, Lane::F32).plus(ahead);
            let x = b.load(Lane::F32, at(from), None);
            b.store(x, at(to), None);
        }
        Vec::new()
    });
    b.finish()
}

/// Number of measurements, of which the best is the peak.
const BEST_OF: usize = 15;

/// Returns the shortest time of several runs of `work`, in seconds, because other load can only slow a run down.
fn best_seconds(mut work: impl FnMut()) -> f64 {
    let times = (0..BEST_OF).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Rounds of the FMA benchmark in one measurement.
const ROUNDS: u64 = 200_000;

fn fma_rate(pool: &Pool, isa: Isa) -> Option<f64> {
    let probe = Probe::new(isa, ROUNDS)?;
    let rates = (0..BEST_OF).map(|_| probe.flops(pool));
    Some(rates.fold(0.0, f64::max))
}

/// Short FMA benchmark that samples the current speed of the cores.
///
/// The speed changes over time because of other load and thermal throttling. A probe run next to each sample of a
/// workload measures the speed under which that sample ran.
#[derive(Debug)]
pub struct Probe {
    kernel: CompiledKernel,
    rounds: u64,
    /// Floating-point operations per round.
    flops: u64,
}

impl Probe {
    /// Returns a probe of about 200 µs; `None` if the machine lacks the instruction set.
    pub fn short(isa: Isa) -> Option<Probe> {
        Probe::new(isa, ROUNDS / 6)
    }

    fn new(isa: Isa, rounds: u64) -> Option<Probe> {
        let function = fma_chains(isa);
        Some(Probe {
            kernel: CompiledKernel::compile(&function, isa).ok()?,
            rounds,
            flops: 2 * u64::from(function.lanes()) * CHAINS as u64,
        })
    }

    /// Returns the current FLOP/s of all threads of `pool` together.
    pub fn flops(&self, pool: &Pool) -> f64 {
        let start = Instant::now();
        pool.run(pool.threads(), &|_| {
            let mut out = [0f32; 16];
            // SAFETY: the kernel writes one vector, of 16 lanes at most.
            unsafe { self.kernel.call(&[out.as_mut_ptr() as u64, self.rounds]) };
        });
        let seconds = start.elapsed().as_secs_f64();
        (self.flops * self.rounds * pool.threads() as u64) as f64 / seconds
    }
}

/// Returns the bandwidth of `function` in bytes per second, where each thread works on a separate buffer of `bytes`
/// bytes. `ways` is 2 if the function writes as much as it reads.
fn stream_rate(pool: &Pool, isa: Isa, function: &Function, bytes: usize, ways: u64) -> Option<f64> {
    let kernel = CompiledKernel::compile(function, isa).ok()?;
    let step = (UNROLL as usize) * function.lanes() as usize;
    let count = bytes / 4 / step * step;
    // Filled with ones, because untouched pages all map to one zero page.
    let buffers: Vec<Mutex<Vec<f32>>> = (0..pool.threads())
        .map(|_| Mutex::new(vec![1f32; 2 * (count + step)]))
        .collect();
    let passes = ((32 << 20) / bytes.max(1)).max(1) as u64;
    let seconds = best_seconds(|| {
        pool.run(pool.threads(), &|thread| {
            let mut buffer = buffers[thread]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let (from, to) = buffer.split_at_mut(count + step);
            let (from, to) = (from.as_ptr() as u64, to.as_mut_ptr() as u64);
            for _ in 0..passes {
                // SAFETY: both halves of the thread's buffer have room for `count` elements and a vector.
                unsafe { kernel.call(&[from, to, count as u64]) };
            }
        });
    });
    let moved = 4 * count as u64 * ways * passes * pool.threads() as u64;
    Some(moved as f64 / seconds)
}
