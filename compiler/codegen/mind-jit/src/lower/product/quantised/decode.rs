//! Dequantisation of panels in registers.

use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, IndexOp, Lane, LoopKind, ShiftOp, UnaryOp, Value,
};

use super::super::operands::beyond;
use super::super::tile::{Tile, factor};
use super::format::{Coding, Facts, Groups, Period, Run, Scale};
use super::panels::{Fields, QuantPanels, halves};

/// Words that are dequantised per loop iteration. A word holds four numbers of each column, compared to which the loop
/// overhead is small, and unrolling would produce more C code to compile.
const WORDS: usize = 1;

/// Prefetch distance in panels, because the hardware prefetcher does not keep up with adjacent panels whose numbers
/// take time to dequantise.
const PREFETCH_BYTES: i32 = 1024;

const CACHE_LINE: usize = 64;

/// Consumes the dequantised numbers of vectors of columns, term by term.
pub(in crate::lower::product) trait Use {
    /// Prepares four terms, from term `first + ahead`.
    fn begin(&mut self, b: &mut Builder, first: Value, ahead: usize);

    /// Consumes the numbers of vector `strip` of the tile for one of the four terms.
    fn take(
        &mut self,
        b: &mut Builder,
        term: usize,
        strip: usize,
        numbers: Value,
        sums: &mut [Value],
    );
}

/// The region to dequantise: `strips` vectors of columns, from the first one of a panel, and `blocks` blocks of each.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower::product) struct Region {
    pub panels: QuantPanels,
    /// Terms of a column, in the region or not.
    pub k: usize,
    pub strips: usize,
    pub blocks: usize,
}

/// Returns the scratch memory for the scales of `strips` vectors of `lanes` lanes, in bytes.
pub(in crate::lower::product) const fn steps_bytes(strips: usize, lanes: u32) -> usize {
    2 * strips * lanes as usize * Lane::F32.bytes() as usize
}

/// Appends the dequantisation of a region at `from`; returns the `sums` as updated by `user`.
///
/// `scratch` has [`steps_bytes`] bytes.
pub(in crate::lower::product) fn decode(
    b: &mut Builder,
    region: Region,
    from: Value,
    scratch: Value,
    sums: Vec<Value>,
    user: &mut dyn Use,
) -> Vec<Value> {
    let cx = Context::new(b, region, scratch);
    let mut runs = |b: &mut Builder, runs: &[Run], here: Here, mut sums: Vec<Value>| {
        let mut group = None;
        for run in runs {
            if group != Some(run.group) {
                cx.prepare_steps(b, here, run.group);
                group = Some(run.group);
            }
            sums = cx.run(b, run, here, sums, user);
        }
        sums
    };
    cx.blocks(b, from, sums, &mut runs)
}

/// Appends code for the runs of a period, and returns updated sums.
pub(super) type Runs<'r> = dyn FnMut(&mut Builder, &[Run], Here, Vec<Value>) -> Vec<Value> + 'r;

/// Returns the address `index` times `bytes` after `base`.
pub(in crate::lower::product) fn moved(
    b: &mut Builder,
    base: Value,
    index: Value,
    bytes: usize,
) -> Value {
    let bytes = b.index(bytes as i64);
    let index = b.index_op(IndexOp::Mul, index, bytes);
    b.address(Addr::element(base, index, Lane::I8))
}

/// State of reading the fields of blocks.
pub(super) struct Context {
    pub(super) region: Region,
    pub(super) facts: Facts,
    pub(super) fields: Fields,
    scratch: Value,
    /// Whether a vector is a table large enough for all values of the bits of a number.
    is_looked_up: bool,
}

/// The addresses of the fields of a period; each pointer is to the block, advanced within that field.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) block: Value,
    scales: Value,
    high: Value,
    low: Value,
    /// The first term.
    first: Value,
}

impl Context {
    /// Returns the state for a region; `scratch` is for scales.
    pub(super) fn new(b: &Builder, region: Region, scratch: Value) -> Context {
        let facts = Facts::of(region.panels.format);
        Context {
            region,
            facts,
            fields: region.panels.fields(),
            scratch,
            is_looked_up: 1 << facts.bits <= b.lanes(),
        }
    }

    /// Returns whether integers are kept in the high bits of words, where they are sign-extended for free, with their
    /// scale divided by the same factor. This is exact, because an `f16` times such an integer does not underflow in
    /// `f32`.
    fn is_raised(&self) -> bool {
        let is_signed = self.facts.coding == Coding::Signed;
        is_signed && matches!(self.facts.scale, Scale::Half(_)) && !self.is_looked_up
    }

    /// Appends `runs` for each period of each block from `from`; returns the updated `sums`.
    pub(super) fn blocks(
        &self,
        b: &mut Builder,
        from: Value,
        sums: Vec<Value>,
        runs: &mut Runs<'_>,
    ) -> Vec<Value> {
        let panels = self.region.panels;
        let bounds = (b.index(0), b.index(self.region.blocks as i64));
        let (_, sums) = b.repeat(LoopKind::Whole, bounds, 1, &sums, |b, round| {
            let block = moved(b, from, round.index, panels.block_bytes());
            let elements = b.index(panels.format.elements() as i64);
            let first = b.index_op(IndexOp::Mul, round.index, elements);
            self.block(b, block, first, round.carried.to_vec(), runs)
        });
        sums
    }

    /// The periods of one block of each column.
    fn block(
        &self,
        b: &mut Builder,
        block: Value,
        first: Value,
        sums: Vec<Value>,
        runs: &mut Runs<'_>,
    ) -> Vec<Value> {
        let period = Period::of(self.region.panels.format);
        let width = self.region.panels.width;
        let word = width * Lane::I32.bytes() as usize;
        if period.count == 1 {
            let here = Here {
                block,
                scales: block,
                high: block,
                low: block,
                first,
            };
            return runs(b, &period.runs, here, sums);
        }
        let bounds = (b.index(0), b.index(period.count as i64));
        let (_, sums) = b.repeat(LoopKind::Whole, bounds, 1, &sums, |b, round| {
            let terms = b.index(period.terms as i64);
            let ahead = b.index_op(IndexOp::Mul, round.index, terms);
            let here = Here {
                block,
                scales: moved(b, block, round.index, width * period.groups),
                high: moved(b, block, round.index, word * period.high_words),
                low: moved(b, block, round.index, word * period.low_words),
                first: b.index_op(IndexOp::Add, first, ahead),
            };
            runs(b, &period.runs, here, round.carried.to_vec())
        });
        sums
    }

    /// Returns the address of a row of a field for a vector of the tile; `bytes` is the size per column of the fields
    /// before it, `size` the size of an element.
    fn addr(&self, b: &mut Builder, base: Value, strip: usize, bytes: usize, size: u32) -> Addr {
        let panels = self.region.panels;
        let column = strip * b.lanes() as usize;
        let (panel, inside) = (column / panels.width, column % panels.width);
        let offset = panel * panels.panel_bytes(self.region.k)
            + panels.width * bytes
            + inside * size as usize;
        beyond(b, base, offset as i64)
    }

    /// Stores the scale and the minimum of a group to scratch memory.
    fn prepare_steps(&self, b: &mut Builder, here: Here, group: usize) {
        for strip in 0..self.region.strips {
            let (mut step, added) = self.steps_of(b, here, strip, group);
            if self.is_raised() {
                let down = 2f32.powi(self.facts.bits as i32 - 32);
                let down = b.constant(Lane::F32, down.to_bits().into());
                step = b.binary(BinaryOp::Mul, step, down);
            }
            let addr = self.step(b, strip, 0);
            b.store(step, addr, None);
            if let Some(added) = added {
                let addr = self.step(b, strip, 1);
                b.store(added, addr, None);
            }
        }
    }

    /// Returns the scale and the minimum of a group.
    pub(super) fn steps_of(
        &self,
        b: &mut Builder,
        here: Here,
        strip: usize,
        group: usize,
    ) -> (Value, Option<Value>) {
        let (mut step, mut added) = self.block_steps(b, here, strip);
        let (scale, minimum) = self.group(b, here, strip, group);
        if let Some(scale) = scale {
            let scale = b.convert(ConvertOp::IntToFloat, Lane::F32, scale);
            step = b.binary(BinaryOp::Mul, step, scale);
        }
        if let (Some(dmin), Some(minimum)) = (added, minimum) {
            let minimum = b.convert(ConvertOp::IntToFloat, Lane::F32, minimum);
            let offset = b.binary(BinaryOp::Mul, dmin, minimum);
            added = Some(b.unary(UnaryOp::Neg, offset));
        }
        (step, added)
    }

    /// Returns the scale of a block, and the scale of its minima.
    pub(super) fn block_steps(
        &self,
        b: &mut Builder,
        here: Here,
        strip: usize,
    ) -> (Value, Option<Value>) {
        let fields = self.fields;
        let step = match self.facts.scale {
            Scale::Half(_) => {
                let addr = self.addr(b, here.block, strip, fields.scale, 2);
                halves(b, addr)
            }
            Scale::Exponent(_) => {
                let addr = self.addr(b, here.block, strip, fields.scale, 4);
                b.load(Lane::F32, addr, None)
            }
        };
        let added = self.facts.minimum.map(|_| {
            let addr = self.addr(b, here.block, strip, fields.minimum, 2);
            halves(b, addr)
        });
        (step, added)
    }

    /// Returns the integer scale of a group, and its minimum.
    pub(super) fn group(
        &self,
        b: &mut Builder,
        here: Here,
        strip: usize,
        group: usize,
    ) -> (Option<Value>, Option<Value>) {
        let word = |b: &mut Builder, field: usize, extend: ConvertOp| {
            let addr = self.addr(b, here.scales, strip, field + group, 1);
            let bytes = b.load(Lane::I8, addr, None);
            b.convert(extend, Lane::I32, bytes)
        };
        let Fields { scales, minima, .. } = self.fields;
        match self.facts.groups {
            Groups::None => (None, None),
            Groups::Signed(_) | Groups::SignedSixes(_) => {
                (Some(word(b, scales, ConvertOp::SignExtend)), None)
            }
            Groups::Sixes(_) => {
                let scale = word(b, scales, ConvertOp::ZeroExtend);
                (Some(scale), Some(word(b, minima, ConvertOp::ZeroExtend)))
            }
            Groups::Nibbles(_) => {
                let both = word(b, scales, ConvertOp::ZeroExtend);
                (
                    Some(masked(b, both, 15)),
                    Some(b.shift(ShiftOp::Shr, both, 4)),
                )
            }
        }
    }

    /// Returns the scratch address of scales (0) or minima (1).
    fn step(&self, b: &mut Builder, strip: usize, which: usize) -> Addr {
        let vector = b.lanes() as usize * Lane::F32.bytes() as usize;
        beyond(b, self.scratch, ((2 * strip + which) * vector) as i64)
    }

    fn run(
        &self,
        b: &mut Builder,
        run: &Run,
        here: Here,
        sums: Vec<Value>,
        user: &mut dyn Use,
    ) -> Vec<Value> {
        if run.words <= WORDS {
            return self.words(b, run, here, run.words, sums, user);
        }
        let word = self.region.panels.width * Lane::I32.bytes() as usize;
        let bounds = (b.index(0), b.index(run.words as i64));
        let step = WORDS as i64;
        let (_, sums) = b.repeat(LoopKind::Whole, bounds, step, &sums, |b, round| {
            let four = b.index(4);
            let ahead = b.index_op(IndexOp::Mul, round.index, four);
            let here = Here {
                high: moved(b, here.high, round.index, word),
                low: moved(b, here.low, round.index, word),
                first: b.index_op(IndexOp::Add, here.first, ahead),
                ..here
            };
            self.words(b, run, here, WORDS, round.carried.to_vec(), user)
        });
        sums
    }

    /// Dequantises some words of a run.
    fn words(
        &self,
        b: &mut Builder,
        run: &Run,
        here: Here,
        count: usize,
        mut sums: Vec<Value>,
        user: &mut dyn Use,
    ) -> Vec<Value> {
        for at in 0..count {
            user.begin(b, here.first, run.term + 4 * at);
            for strip in 0..self.region.strips {
                let word = self.word(b, run, here, strip, at);
                let addr = self.step(b, strip, 0);
                let step = b.load(Lane::F32, addr, None);
                let added = self.facts.minimum.map(|_| {
                    let addr = self.step(b, strip, 1);
                    b.load(Lane::F32, addr, None)
                });
                let up = if self.is_raised() {
                    8 - self.facts.bits
                } else {
                    0
                };
                let bytes = (!self.is_looked_up).then(|| self.bytes(b, run, word, up));
                for term in 0..4 {
                    let quant = match bytes {
                        Some(bytes) => self.byte(b, bytes, term),
                        None => self.field(b, run, word, term),
                    };
                    let quant = b.convert(ConvertOp::IntToFloat, Lane::F32, quant);
                    // With a minimum the product is exact, so that one rounding is the same as two.
                    let numbers = match added {
                        Some(added) => b.fma(step, quant, added),
                        None => b.binary(BinaryOp::Mul, step, quant),
                    };
                    user.take(b, term as usize, strip, numbers, &mut sums);
                }
            }
        }
        sums
    }

    /// Prefetches [`PREFETCH_BYTES`] bytes after words that are read for the first time.
    fn prefetch_ahead(&self, b: &mut Builder, strip: usize, words: Addr) {
        let column = strip * b.lanes() as usize % self.region.panels.width;
        if (column * Lane::I32.bytes() as usize).is_multiple_of(CACHE_LINE) {
            b.prefetch(words.plus(PREFETCH_BYTES));
        }
    }

    /// Returns a word of a run; with high bits, all bits of four numbers are in its four bytes.
    pub(super) fn word(
        &self,
        b: &mut Builder,
        run: &Run,
        here: Here,
        strip: usize,
        at: usize,
    ) -> Value {
        let row = |field: usize, word: usize| field + 4 * (word + at);
        let addr = self.addr(b, here.low, strip, row(self.fields.low, run.low.0), 4);
        let low = b.load(Lane::I32, addr, None);
        if run.low.1 == 0 {
            self.prefetch_ahead(b, strip, addr);
        }
        let Some((word, shift)) = run.high else {
            return low;
        };
        let low = shifted(b, low, -(run.low.1 as i32));
        let above = 1u64 << self.facts.low.bits();
        let low = masked(b, low, (above - 1) * 0x0101_0101);
        let addr = self.addr(b, here.high, strip, row(self.fields.high, word), 4);
        let high = b.load(Lane::I32, addr, None);
        if shift == self.facts.low.bits() as i32 {
            self.prefetch_ahead(b, strip, addr);
        }
        let high = shifted(b, high, shift);
        let bits = (1u64 << self.facts.bits) - above;
        let high = masked(b, high, bits * 0x0101_0101);
        b.binary(BinaryOp::Or, low, high)
    }

    /// Returns the integers in byte `term` of a word, in a form that instruction selection recognises as a table
    /// look-up of `f32` numbers.
    fn field(&self, b: &mut Builder, run: &Run, word: Value, term: u32) -> Value {
        let bits = self.facts.bits;
        let from = 8 * term + run.high.map_or(run.low.1, |_| 0);
        if self.facts.coding == Coding::Signed {
            let top = shifted(b, word, (32 - bits - from) as i32);
            return b.shift(ShiftOp::Sra, top, 32 - bits);
        }
        let low = shifted(b, word, -(from as i32));
        let number = masked(b, low, (1 << bits) - 1);
        self.without_offset(b, number)
    }

    /// Returns a word with the integers of a run in its four bytes, shifted by `up` bits.
    pub(super) fn bytes(&self, b: &mut Builder, run: &Run, word: Value, up: u32) -> Value {
        let bits = self.facts.bits;
        let from = run.high.map_or(run.low.1, |_| 0);
        let placed = shifted(b, word, up as i32 - from as i32);
        if bits == 8 || run.high.is_some() {
            return placed;
        }
        masked(b, placed, (((1 << bits) - 1) << up) * 0x0101_0101)
    }

    /// Returns the integers in byte `term` of such a word, or, from the high bits of bytes,
    /// [`raised`](Context::is_raised).
    fn byte(&self, b: &mut Builder, bytes: Value, term: u32) -> Value {
        if self.facts.coding != Coding::Signed {
            let low = shifted(b, bytes, -8 * term as i32);
            let number = match term {
                3 => low,
                _ => masked(b, low, 0xff),
            };
            return self.without_offset(b, number);
        }
        let top = shifted(b, bytes, 24 - 8 * term as i32);
        if !self.is_raised() {
            return b.shift(ShiftOp::Sra, top, 24);
        }
        match term {
            0 => top,
            _ => masked(b, top, 0xff00_0000),
        }
    }

    fn without_offset(&self, b: &mut Builder, number: Value) -> Value {
        match self.facts.coding {
            Coding::Unsigned | Coding::Signed => number,
            Coding::Above(by) => {
                let by = b.constant(Lane::I32, u64::from(by));
                b.binary(BinaryOp::Sub, number, by)
            }
        }
    }
}

fn masked(b: &mut Builder, words: Value, mask: u64) -> Value {
    let mask = b.constant(Lane::I32, mask);
    b.binary(BinaryOp::And, words, mask)
}

/// Shifts words to the left, or by a negative distance to the right.
fn shifted(b: &mut Builder, words: Value, by: i32) -> Value {
    match by {
        0 => words,
        1.. => b.shift(ShiftOp::Shl, words, by as u32),
        _ => b.shift(ShiftOp::Shr, words, by.unsigned_abs()),
    }
}

/// The multiply-adds of a tile, whose accumulators are the sums, row by row.
pub(in crate::lower::product) struct Multiply<'t> {
    tile: &'t Tile,
    lhs: Value,
    /// The address of the first operand at the first of four terms.
    here: Value,
    /// Offset from that to the current terms.
    ahead: i64,
    /// The elements of a single row for the four terms.
    kept: Vec<Value>,
}

impl<'t> Multiply<'t> {
    /// Returns the multiply-adds of the rows of a tile, the first one at `lhs`.
    pub(in crate::lower::product) fn new(tile: &'t Tile, lhs: Value) -> Multiply<'t> {
        Multiply {
            tile,
            lhs,
            here: lhs,
            ahead: 0,
            kept: Vec::new(),
        }
    }
}

impl Use for Multiply<'_> {
    fn begin(&mut self, b: &mut Builder, first: Value, ahead: usize) {
        self.here = moved(b, self.lhs, first, self.tile.lhs.k as usize);
        self.ahead = ahead as i64;
        self.kept.clear();
        if self.tile.rows == 1 {
            for term in 0..4 {
                self.kept
                    .push(factor(b, self.tile, self.here, self.ahead + term, 0));
            }
        }
    }

    fn take(
        &mut self,
        b: &mut Builder,
        term: usize,
        strip: usize,
        numbers: Value,
        sums: &mut [Value],
    ) {
        let vectors = self.tile.strips.len();
        for row in 0..self.tile.rows {
            let x = match self.kept.get(term) {
                Some(&kept) => kept,
                None => factor(b, self.tile, self.here, self.ahead + term as i64, row),
            };
            let sum = &mut sums[row as usize * vectors + strip];
            *sum = b.fma(x, numbers, *sum);
        }
    }
}

/// Stores dequantised columns to memory, with `width` columns per term.
pub(in crate::lower::product) struct Spread {
    to: Value,
    width: usize,
    here: Value,
    ahead: usize,
}

impl Spread {
    /// Stores to rows from `to`.
    pub(in crate::lower::product) fn new(to: Value, width: usize) -> Spread {
        Spread {
            to,
            width,
            here: to,
            ahead: 0,
        }
    }
}

impl Use for Spread {
    fn begin(&mut self, b: &mut Builder, first: Value, ahead: usize) {
        let row = self.width * Lane::F32.bytes() as usize;
        self.here = moved(b, self.to, first, row);
        self.ahead = ahead;
    }

    fn take(
        &mut self,
        b: &mut Builder,
        term: usize,
        strip: usize,
        numbers: Value,
        _: &mut [Value],
    ) {
        let element = (self.ahead + term) * self.width + strip * b.lanes() as usize;
        let addr = beyond(b, self.here, (element * Lane::F32.bytes() as usize) as i64);
        b.store(numbers, addr, None);
    }
}
