//! Times of workloads compared with the peaks of the machine.

use std::fmt::Write;

use mind_vir::target::TargetInfo;
use serde_json::{Value, json};

use super::Workload;
use super::run::Times;
use mind_jit::peaks::Peaks;

/// A workload on a number of threads.
#[derive(Clone, Debug)]
pub struct WorkloadResult {
    /// The name of the workload.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// The measured times.
    pub times: Times,
    /// GFLOP/s of its products; `None` if it has no products.
    pub gflops: Option<f64>,
    /// GB/s of its inputs, weights and outputs.
    pub gbytes: f64,
    /// The time of an ideal run as a fraction of the measured time: the maximum of the time of its products at the
    /// peak, and of the time of its bytes at the bandwidth of the memory that holds them. The peak is measured next to
    /// the runs, the bandwidth is that of the table's header.
    pub attained: Option<f64>,
    /// The limiting resource of an ideal run.
    pub limit: &'static str,
}

impl WorkloadResult {
    /// Returns the row of a workload that was measured on the threads of `peaks`.
    pub fn new(
        workload: &Workload,
        times: Times,
        peaks: &Peaks,
        target: &TargetInfo,
    ) -> WorkloadResult {
        let seconds = times.run.as_secs_f64();
        let flops = workload.flops as f64;
        let compute = match times.possible_flops {
            Some(possible) => Some(seconds * flops / possible),
            None => peaks.flops(target.isa).map(|peak| flops / peak),
        };
        let memory = peaks
            .bandwidth(target, workload.bytes)
            .map(|peak| workload.bytes as f64 / peak);
        let (least, limit) = match (compute, memory) {
            (Some(compute), Some(memory)) if compute >= memory => (Some(compute), "peak"),
            (_, Some(memory)) => (Some(memory), "bytes"),
            (compute, None) => (compute, "peak"),
        };
        WorkloadResult {
            name: workload.name.clone(),
            threads: peaks.threads,
            times,
            gflops: (workload.flops > 0).then(|| flops / seconds / 1e9),
            gbytes: workload.bytes as f64 / seconds / 1e9,
            attained: least.map(|least| least / seconds),
            limit,
        }
    }

    /// Returns a line of the table.
    pub fn line(&self) -> String {
        let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        let [low, high] = self.times.quartiles.map(micros);
        let gflops = self
            .gflops
            .map_or("-".to_owned(), |rate| format!("{rate:.1}"));
        let attained = self
            .attained
            .map_or("-".to_owned(), |share| format!("{:.0}%", 100.0 * share));
        format!(
            "{:22} {:3} {:11.2} {:11.2} {:11.2} {gflops:>9} {:9.2} {attained:>6} {:5} {:9.2} {:9.2}",
            self.name,
            self.threads,
            micros(self.times.run),
            low,
            high,
            self.gbytes,
            self.limit,
            micros(self.times.compile) / 1e3,
            micros(self.times.bind) / 1e3,
        )
    }

    fn json(&self) -> Value {
        let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        json!({
            "name": self.name,
            "threads": self.threads,
            "run_us": {
                "median": micros(self.times.run),
                "q1": micros(self.times.quartiles[0]),
                "q3": micros(self.times.quartiles[1]),
            },
            "compile_us": micros(self.times.compile),
            "bind_us": micros(self.times.bind),
            "gflops": self.gflops,
            "gbytes": self.gbytes,
            "attained": self.attained,
            "limit": self.limit,
        })
    }
}

/// The header of the lines of [`WorkloadResult::line`].
pub const HEAD: &str = "workload               thr      run us          q1          q3   GFLOP/s      GB/s   perf limit   comp ms   bind ms";

/// Returns the measured peaks of the machine, as lines.
pub fn machine(peaks: &Peaks) -> String {
    let mut text = format!("{} threads:", peaks.threads);
    for (isa, rate) in &peaks.flops {
        // Writing to a string cannot fail.
        let _ = write!(text, "  {isa} {:.0} GFLOP/s", rate / 1e9);
    }
    for speeds in &peaks.bandwidths {
        let (read, copy) = (speeds.read / 1e9, speeds.copy / 1e9);
        let _ = write!(
            text,
            "  {} read {read:.0}, copy {copy:.0} GB/s",
            speeds.level.name()
        );
    }
    text
}

/// Returns everything as one JSON object.
pub fn json(target: &TargetInfo, peaks: &[Peaks], rows: &[WorkloadResult]) -> Value {
    let machine = |peaks: &Peaks| {
        let flops = peaks
            .flops
            .iter()
            .map(|(isa, rate)| (isa.name().to_owned(), json!(rate / 1e9)));
        let bandwidths = peaks.bandwidths.iter().map(|speeds| {
            let rates = json!({"read": speeds.read / 1e9, "copy": speeds.copy / 1e9});
            (speeds.level.name().to_owned(), rates)
        });
        json!({
            "threads": peaks.threads,
            "gflops": flops.collect::<serde_json::Map<_, _>>(),
            "gbytes": bandwidths.collect::<serde_json::Map<_, _>>(),
        })
    };
    json!({
        "isa": target.isa.name(),
        "peaks": peaks.iter().map(machine).collect::<Vec<_>>(),
        "rows": rows.iter().map(WorkloadResult::json).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_jit::peaks::{Bandwidth, Level};
    use mind_vir::target::Isa;
    use std::time::Duration;

    #[test]
    fn a_row_is_measured_against_the_slower_of_peak_and_memory() {
        let target = TargetInfo::of(Isa::Avx2);
        let peaks = Peaks {
            threads: 1,
            flops: vec![(Isa::Avx2, 100e9)],
            bandwidths: vec![Bandwidth {
                level: Level::L1,
                read: 200e9,
                copy: 400e9,
            }],
        };
        let run = Duration::from_micros(2);
        let times = Times {
            compile: run,
            bind: run,
            run,
            quartiles: [run; 2],
            possible_flops: None,
        };
        let mut workload = Workload {
            name: "w".to_owned(),
            text: String::new(),
            flops: 100_000,
            bytes: 4_000,
        };
        let row = WorkloadResult::new(&workload, times, &peaks, &target);
        assert_eq!(
            (row.limit, row.attained, row.gflops),
            ("peak", Some(0.5), Some(50.0))
        );
        let slowed = Times {
            possible_flops: Some(125_000.0),
            ..times
        };
        let row = WorkloadResult::new(&workload, slowed, &peaks, &target);
        assert_eq!(row.attained, Some(0.8));
        workload.flops = 0;
        let row = WorkloadResult::new(&workload, times, &peaks, &target);
        assert_eq!((row.limit, row.gflops, row.gbytes), ("bytes", None, 2.0));
        assert!((row.attained.expect("a limit") - 0.005).abs() < 1e-9);
        let columns = |line: &str| line.split_whitespace().count();
        assert_eq!(columns(&row.line()), columns("w 1 2 2 2 - 2 1% bytes 1 1"));
    }
}
