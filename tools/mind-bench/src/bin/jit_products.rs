//! Speed of compiled products compared with the peak of the machine.
//!
//! ```text
//! cargo run --release -p mind-bench --bin jit_products [FILTER [mc=48,kc=256,nc=512,lhs=1,rhs=0,ahead=0,down=1]...]
//! ```
//!
//! Runs of each row alternate with a kernel that only does multiply-adds, or one that only reads, and are given as a
//! percentage of it. Times are medians on one thread. Only rows that contain `FILTER` are run. They alternate with the
//! same product in other schedules, which are given as changes of the chosen one.

use std::hint::black_box;

use mind_bench::median;
use mind_bench::pages::Pages;
use mind_ir::types::{DType, QuantFormat};
use mind_jit::lower::product::{
    Conv, Lhs, Operands, Packing, Panels, Parts, Product, QuantPanels, Region, Rhs, Schedule,
    TileCoord, conv, pack, product,
};
use mind_jit::lower::{self, compute_lane};
use mind_jit::peaks;
use mind_vir::ir::{BinaryOp, Builder, Function, Signature, Value};
use mind_vir::kernel::{CompiledKernel, assemble};
use mind_vir::target::{Isa, TargetInfo};

/// Multiply-adds per chain in a call.
const STEPS: i64 = 20_000;
/// Number of runs of a row and of its reference kernel.
const ROUNDS: usize = 15;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let changes: Vec<String> = std::env::args().skip(2).collect();
    let bench = Bench::new();
    println!("{}; one thread; medians", bench.target.isa);
    for row in rows() {
        if row.name().contains(&filter) {
            bench.run(&row, &changes);
        }
    }
    for window in &WINDOWS {
        if window.name().contains(&filter) {
            bench.convolve(window);
        }
    }
}

/// The epilogue of a product.
#[derive(Clone, Copy, PartialEq)]
enum Epilogue {
    Plain,
    /// `max(x + bias, 0) + residual`.
    Fused,
}

/// The layout of the second operand.
#[derive(Clone, Copy, PartialEq)]
enum Weights {
    /// Packed in advance.
    Constant,
    /// Row-major; packed as part of the run if the schedule packs.
    Rows,
    /// Transposed; packed as part of the run if the schedule packs.
    Columns,
    /// Block-quantised, packed in advance.
    Quantised(QuantFormat),
}

/// A product to time.
#[derive(Clone, Copy)]
struct ProductCase {
    dtype: DType,
    extents: (usize, usize, usize),
    weights: Weights,
    epilogue: Epilogue,
}

impl ProductCase {
    fn name(&self) -> String {
        let (m, n, k) = self.extents;
        let weights = match self.weights {
            Weights::Constant => "packed",
            Weights::Rows => "rows",
            Weights::Columns => "columns",
            Weights::Quantised(QuantFormat::Q8_0) => "q8_0",
            Weights::Quantised(QuantFormat::Q4_0) => "q4_0",
            Weights::Quantised(QuantFormat::Q4K) => "q4_k",
            Weights::Quantised(_) => "quantised",
        };
        let epilogue = match self.epilogue {
            Epilogue::Plain => "",
            Epilogue::Fused => " bias relu residual",
        };
        format!("{m}x{n}x{k} {} {weights}{epilogue}", self.dtype)
    }
}

fn rows() -> Vec<ProductCase> {
    let mut rows = Vec::new();
    let mut add = |dtype, extents, weights, epilogue| {
        rows.push(ProductCase {
            dtype,
            extents,
            weights,
            epilogue,
        });
    };
    // A few tiles whose operands fit into the first-level cache: the micro-kernel alone.
    for extents in [(24, 16, 128), (6, 16, 256)] {
        add(DType::F32, extents, Weights::Constant, Epilogue::Plain);
    }
    for n in [64, 128, 256, 512, 1024, 2048] {
        add(DType::F32, (n, n, n), Weights::Constant, Epilogue::Plain);
    }
    // The layers of an encoder and of a decoder.
    for extents in [
        (128, 768, 768),
        (128, 3072, 768),
        (128, 768, 3072),
        (128, 4864, 896),
    ] {
        add(DType::F32, extents, Weights::Constant, Epilogue::Plain);
    }
    for n in [64, 128, 256, 512, 1024] {
        add(DType::F32, (n, n, n), Weights::Rows, Epilogue::Plain);
    }
    for n in [64, 128, 512] {
        add(DType::F32, (n, n, n), Weights::Columns, Epilogue::Plain);
    }
    for n in [64, 128, 1024] {
        add(DType::F32, (n, n, n), Weights::Constant, Epilogue::Fused);
    }
    for dtype in [DType::F16, DType::BF16] {
        for n in [128, 1024] {
            add(dtype, (n, n, n), Weights::Constant, Epilogue::Plain);
        }
    }
    add(
        DType::F64,
        (512, 512, 512),
        Weights::Constant,
        Epilogue::Plain,
    );
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for m in [1, 2, 4, 8, 16] {
            let extents = (m, 4096, 4096);
            add(dtype, extents, Weights::Constant, Epilogue::Plain);
        }
    }
    for weights in [Weights::Rows, Weights::Columns] {
        add(DType::F32, (1, 4096, 4096), weights, Epilogue::Plain);
    }
    for format in [QuantFormat::Q8_0, QuantFormat::Q4_0, QuantFormat::Q4K] {
        for m in [1, 4, 128] {
            let extents = (m, 4096, 4096);
            add(
                DType::F32,
                extents,
                Weights::Quantised(format),
                Epilogue::Plain,
            );
        }
    }
    add(
        DType::F32,
        (1, 256, 784),
        Weights::Constant,
        Epilogue::Plain,
    );
    rows
}

/// A convolution to time: 3 × 3 filters, `same` padding, packed filters.
#[derive(Clone, Copy)]
struct Window {
    dtype: DType,
    /// Height and width.
    extent: usize,
    channels: usize,
    filters: usize,
}

impl Window {
    fn name(&self) -> String {
        let Window {
            dtype,
            extent,
            channels,
            filters,
        } = self;
        format!("conv 3x3 {extent}x{extent}x{channels} to {filters} {dtype}")
    }

    fn conv(&self, target: &TargetInfo) -> Conv {
        let rhs = Rhs::Rows {
            k_stride: self.filters,
        };
        let mut conv = Conv {
            dtype: self.dtype,
            input: (self.extent, self.extent, self.channels),
            taps: (3, 3),
            filters: self.filters,
            strides: (1, 1),
            padding: (1, 1),
            output: (self.extent, self.extent),
            rhs,
            schedule: Schedule::choose(target, self.dtype, (1, 1, 1), rhs, true),
        };
        conv.schedule = conv.schedule(target, rhs, true);
        conv.rhs = conv.schedule.packed.map_or(rhs, Rhs::Panels);
        conv
    }
}

const WINDOWS: [Window; 4] = [
    window(DType::F32, 56, 64, 64),
    window(DType::F32, 28, 128, 128),
    window(DType::F32, 14, 256, 256),
    window(DType::F16, 56, 64, 64),
];

const fn window(dtype: DType, extent: usize, channels: usize, filters: usize) -> Window {
    Window {
        dtype,
        extent,
        channels,
        filters,
    }
}

/// The reference kernels of this machine.
struct Bench {
    target: TargetInfo,
    peak: CompiledKernel,
    read: CompiledKernel,
    /// Larger than all caches.
    far: Vec<f32>,
}

/// Returns the CPU time of this thread in seconds, which excludes other processes.
#[cfg(unix)]
fn clock() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one structure, which is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// Returns the seconds since the first call.
#[cfg(not(unix))]
fn clock() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_secs_f64()
}

/// Returns the seconds of one call, timed in batches that are long enough for the clock.
fn time(calls: usize, mut call: impl FnMut()) -> f64 {
    let start = clock();
    for _ in 0..calls {
        call();
    }
    (clock() - start) / calls as f64
}

impl Bench {
    fn new() -> Bench {
        let target = TargetInfo::detected(Isa::detect());
        let compile = |function: &Function| {
            CompiledKernel::compile(function, target.isa).expect("the kernel compiles")
        };
        Bench {
            target,
            peak: compile(&peaks::fma_chains(target.isa)),
            read: compile(&peaks::read(target.isa)),
            far: vec![1.0; 4 * target.l3_bytes.max(8 << 20) / 4],
        }
    }

    /// Returns the peak `f32` multiply-adds per second.
    fn measured_peak(&self) -> f64 {
        let mut out = [0f32; 16];
        let seconds = time(1, || {
            // SAFETY: the kernel writes one vector, of 16 lanes at most.
            unsafe { self.peak.call(&[out.as_mut_ptr() as u64, STEPS as u64]) };
        });
        let lanes = f64::from(self.target.lanes(32));
        peaks::CHAINS as f64 * lanes * STEPS as f64 / seconds
    }

    /// Returns the bytes per second read from memory.
    fn measured_read(&self) -> f64 {
        let mut sink = [0f32; 16];
        let count = self.far.len().min(16 << 20);
        let seconds = time(1, || {
            let args = [
                self.far.as_ptr() as u64,
                sink.as_mut_ptr() as u64,
                count as u64,
            ];
            // SAFETY: the kernel reads `count` elements and writes one vector, of 16 lanes at most.
            unsafe { self.read.call(&args) };
        });
        black_box(sink);
        4.0 * count as f64 / seconds
    }

    /// Times a row, and the same product in schedules with `changes`.
    fn run(&self, row: &ProductCase, changes: &[String]) {
        let (m, n, k) = row.extents;
        let changes = std::iter::once("").chain(changes.iter().map(String::as_str));
        let mut calls: Vec<Call> = changes
            .map(|change| Call::new(row, &self.target, change))
            .collect();
        let work = (m * n * k) as f64;
        let weight_bytes = match calls[0].product.rhs {
            Rhs::Quantised(panels) => panels.bytes(n, k) as f64,
            _ => (n * k * row.dtype.size()) as f64,
        };
        let is_far = m <= 8 && weight_bytes > self.target.l2_bytes as f64;
        let repeats = (3e7 / work).clamp(1.0, 2000.0) as usize;
        calls.iter_mut().for_each(Call::run);
        for _ in 0..ROUNDS {
            for call in &mut calls {
                let peak = self.measured_peak();
                let seconds = time(repeats, || call.run());
                call.compute.push(100.0 * work / seconds / peak);
                if is_far {
                    let speed = self.measured_read();
                    call.memory.push(100.0 * weight_bytes / seconds / speed);
                }
                call.times.push(seconds);
                call.peaks.push(peak);
            }
        }
        for call in calls {
            call.report(row);
        }
    }
}

impl Bench {
    fn convolve(&self, window: &Window) {
        let c = window.conv(&self.target);
        let lanes = self.target.lanes(compute_lane(c.dtype).bits());
        let mut signature = Signature::new("conv", lanes);
        let [lhs, rhs, out] = std::array::from_fn(|_| signature.ptr());
        let bounds: [Value; 4] = std::array::from_fn(|_| signature.index());
        let mut b = signature.body();
        let at = Operands { lhs, rhs };
        let (lines, filters) = ((bounds[0], bounds[1]), (bounds[2], bounds[3]));
        conv(&mut b, &c, at, lines, filters, &mut |b, coord, sum| {
            let addr = coord.addr(b, out, c.filters, lower::storage_lane(c.dtype));
            lower::store(b, c.dtype, sum, addr, coord.column.count);
        });
        let code = b.finish();
        let kernel = CompiledKernel::compile(&code, self.target.isa).expect("it compiles");
        let places = window.extent * window.extent;
        let panels = match c.rhs {
            Rhs::Panels(panels) => panels,
            _ => unreachable!("constants are packed"),
        };
        let count = panels.bytes(c.filters, c.terms()) / panels.dtype.size();
        let image = elements(c.dtype, places * window.channels);
        let filter = elements(panels.dtype, count);
        let result = elements(c.dtype, places * c.filters);
        let room = code.scratch().map(|scratch| Pages::new(scratch.bytes));
        let mut args = vec![
            image.address(),
            filter.address(),
            result.address(),
            0,
            c.positions().0 as u64,
            0,
            c.filters as u64,
        ];
        args.extend(room.as_ref().map(Pages::address));
        let work = (places * c.filters * c.terms()) as f64;
        let (mut compute, mut times) = (Vec::new(), Vec::new());
        for _ in 0..=ROUNDS {
            let peak = self.measured_peak();
            // SAFETY: the buffers have the extents that the kernel was made for.
            let seconds = time(1, || unsafe {
                kernel.call(&args);
            });
            compute.push(100.0 * work / seconds / peak);
            times.push(seconds);
        }
        let s = c.schedule;
        println!(
            "{:44} {:9.1} us {:5.1} % of peak  [{}x{} mc {}]",
            window.name(),
            1e6 * median(times),
            median(compute),
            s.rows,
            s.vectors,
            s.mc
        );
    }
}

/// A product with its operands.
struct Call {
    product: Product,
    kernel: CompiledKernel,
    packing: Option<(CompiledKernel, u64)>,
    /// Whether packing is part of a run.
    packs_each_time: bool,
    buffers: Buffers,
    compile_us: f64,
    code_bytes: usize,
    /// Seconds of each run; the peak in multiply-adds per second next to it; percentages of the peak and of the memory
    /// bandwidth.
    times: Vec<f64>,
    peaks: Vec<f64>,
    compute: Vec<f64>,
    memory: Vec<f64>,
}

/// Returns `count` elements with the value 0.25.
fn elements(dtype: DType, count: usize) -> Pages {
    let mut pages = Pages::new(count * dtype.size());
    let one: &[u8] = match dtype {
        DType::F16 => &0x3400u16.to_le_bytes(),
        DType::BF16 => &0x3e80u16.to_le_bytes(),
        DType::F64 => &0.25f64.to_le_bytes(),
        _ => &0.25f32.to_le_bytes(),
    };
    let elements = pages.bytes_mut().chunks_exact_mut(one.len());
    elements.for_each(|element| element.copy_from_slice(one));
    pages
}

struct Buffers {
    lhs: Pages,
    rhs: Pages,
    panels: Pages,
    scratch: Option<Pages>,
    out: Pages,
    bias: Pages,
    residual: Pages,
}

fn kernel(p: &Product, epilogue: Epilogue, lanes: u32) -> Function {
    let mut signature = Signature::new("product", lanes);
    let [lhs, rhs, out, bias, residual] = std::array::from_fn(|_| signature.ptr());
    let bounds: [Value; 4] = std::array::from_fn(|_| signature.index());
    let mut b = signature.body();
    let region = Region {
        rows: (bounds[0], bounds[1]),
        columns: (bounds[2], bounds[3]),
    };
    let at = Operands { lhs, rhs };
    let lane = lower::storage_lane(p.dtype);
    product(
        &mut b,
        p,
        at,
        region,
        &mut |b: &mut Builder, coord: TileCoord, mut sum| {
            let addr = coord.addr(b, out, p.n, lane);
            if epilogue == Epilogue::Fused {
                let zero = b.constant(compute_lane(p.dtype), 0);
                let bias = lower::load(
                    b,
                    p.dtype,
                    coord.column.addr(bias, lane),
                    coord.column.count,
                );
                sum = b.binary(BinaryOp::Add, sum, bias);
                sum = b.binary(BinaryOp::Max, sum, zero);
                let residual = coord.addr(b, residual, p.n, lane);
                let residual = lower::load(b, p.dtype, residual, coord.column.count);
                sum = b.binary(BinaryOp::Add, sum, residual);
            }
            lower::store(b, p.dtype, sum, addr, coord.column.count);
        },
    );
    b.finish()
}

impl Call {
    fn new(row: &ProductCase, target: &TargetInfo, change: &str) -> Call {
        let (m, n, k) = row.extents;
        let (n_stride, k_stride, lie) = match row.weights {
            Weights::Constant | Weights::Rows => (1, n, Rhs::Rows { k_stride: n }),
            Weights::Columns => (k, 1, Rhs::Columns { n_stride: k }),
            Weights::Quantised(format) => {
                let width = 4 * target.lanes(32) as usize;
                (k, 1, Rhs::Quantised(QuantPanels { width, format }))
            }
        };
        let is_constant = row.weights == Weights::Constant;
        let mut schedule = Schedule::choose(target, row.dtype, row.extents, lie, is_constant);
        changed(&mut schedule, change);
        let product = Product {
            parts: Parts::Whole,
            dtype: row.dtype,
            m,
            n,
            k,
            lhs: Lhs {
                row_stride: k,
                k_stride: 1,
            },
            rhs: schedule.packed.map_or(lie, Rhs::Panels),
            schedule,
        };
        let lanes = target.lanes(compute_lane(row.dtype).bits());
        let function = kernel(&product, row.epilogue, lanes);
        let mut times = Vec::new();
        for _ in 0..21 {
            times.push(time(1, || drop(black_box(assemble(&function, target.isa)))));
        }
        let code = assemble(&function, target.isa).expect("it assembles");
        if let Some(path) = std::env::var_os("MIND_DUMP") {
            std::fs::write(path, &code).expect("a file for the code");
        }
        let packing = schedule.packed.map(|panels| {
            let packing = Packing {
                dtype: row.dtype,
                n,
                k,
                n_stride,
                k_stride,
                panels,
            };
            let mut signature = Signature::new("pack", lanes);
            let (from, to) = (signature.ptr(), signature.ptr());
            let range = (signature.index(), signature.index());
            let mut b = signature.body();
            pack(&mut b, &packing, from, to, range);
            let kernel =
                CompiledKernel::compile(&b.finish(), target.isa).expect("packing compiles");
            (kernel, packing.count() as u64)
        });
        let panel_bytes = schedule.packed.map_or(0, |panels| panels.bytes(n, k));
        let call = Call {
            product,
            kernel: CompiledKernel::compile(&function, target.isa).expect("the product compiles"),
            packing,
            packs_each_time: matches!(row.weights, Weights::Rows | Weights::Columns),
            buffers: Buffers {
                lhs: elements(row.dtype, m * k),
                rhs: match lie {
                    // All zeros.
                    Rhs::Quantised(panels) => Pages::new(panels.bytes(n, k)),
                    _ => elements(row.dtype, n * k),
                },
                panels: Pages::new(panel_bytes),
                scratch: function.scratch().map(|scratch| Pages::new(scratch.bytes)),
                out: elements(row.dtype, m * n),
                bias: elements(row.dtype, n),
                residual: elements(row.dtype, m * n),
            },
            compile_us: 1e6 * median(times),
            code_bytes: code.len(),
            times: Vec::new(),
            peaks: Vec::new(),
            compute: Vec::new(),
            memory: Vec::new(),
        };
        call.pack();
        call
    }

    fn pack(&self) {
        if let Some((kernel, count)) = &self.packing {
            let (from, to) = (self.buffers.rhs.address(), self.buffers.panels.address());
            // SAFETY: the panels have room for all columns.
            unsafe { kernel.call(&[from, to, 0, *count]) };
        }
    }

    fn run(&mut self) {
        if self.packs_each_time {
            self.pack();
        }
        let (buffers, p) = (&self.buffers, &self.product);
        let rhs = match p.rhs {
            Rhs::Panels(_) => &buffers.panels,
            _ => &buffers.rhs,
        };
        let mut args = vec![
            buffers.lhs.address(),
            rhs.address(),
            buffers.out.address(),
            buffers.bias.address(),
            buffers.residual.address(),
            0,
            p.m as u64,
            0,
            p.n as u64,
        ];
        args.extend(buffers.scratch.as_ref().map(Pages::address));
        // SAFETY: the buffers have the extents that the kernel was made for.
        unsafe { self.kernel.call(&args) };
    }

    /// Prints the medians and the best run.
    fn report(self, row: &ProductCase) {
        let scale = if row.dtype == DType::F64 { 2.0 } else { 1.0 };
        let read = if self.memory.is_empty() {
            String::new()
        } else {
            format!(", {:5.1} % of read speed", median(self.memory))
        };
        let (m, n, k) = row.extents;
        let least = self.times.iter().copied().fold(f64::INFINITY, f64::min);
        let peak = self.peaks.iter().copied().fold(0.0, f64::max);
        let best = 100.0 * (m * n * k) as f64 / least / peak;
        let s = self.product.schedule;
        println!(
            "{:44} {:9.1} us {:5.1} % of peak, best {:5.1}{read}  [{}x{} mc {} nc {} kc {}{}; code {:.0} us, {} bytes]",
            row.name(),
            1e6 * median(self.times),
            scale * median(self.compute),
            scale * best,
            s.rows,
            s.vectors,
            s.mc,
            s.nc,
            s.kc,
            match (s.stages_lhs, s.stages_rhs) {
                (false, false) => "",
                (true, false) => " stages lhs",
                (false, true) => " stages rhs",
                (true, true) => " stages both",
            },
            self.compile_us,
            self.code_bytes,
        );
    }
}

/// Applies changes to a schedule: `FIELD=NUMBER`, separated by commas.
fn changed(schedule: &mut Schedule, change: &str) {
    for (field, value) in change.split(',').filter_map(|word| word.split_once('=')) {
        let value: usize = value.parse().expect("a number");
        match field {
            "mc" => schedule.mc = value,
            "nc" => schedule.nc = value,
            "kc" => schedule.kc = value,
            "lhs" => schedule.stages_lhs = value != 0,
            "rhs" => schedule.stages_rhs = value != 0,
            "ahead" => schedule.prefetches_rhs = value != 0,
            "down" => schedule.stages_output = value != 0,
            "rows" => schedule.rows = value as u32,
            "unroll" => schedule.unroll = value as u32,
            "vectors" => {
                let width = |panels: Panels| Panels {
                    width: panels.width / schedule.vectors as usize * value,
                    ..panels
                };
                schedule.packed = schedule.packed.map(width);
                schedule.vectors = value as u32;
            }
            _ => panic!("no field `{field}`"),
        }
    }
}
