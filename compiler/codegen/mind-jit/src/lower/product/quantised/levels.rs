//! Formats that are converted when they are packed.

use mind_vir::ir::{BinaryOp, Builder, Lane, ShiftOp, Value};

/// Looks up the four bits from `from` of each byte of words in `table`; returns the entries as bytes.
pub(super) fn levels(b: &mut Builder, word: Value, from: u32, table: &[i8; 16]) -> Value {
    let (ones, all) = (
        b.constant(Lane::I32, 0x0101_0101),
        b.constant(Lane::I32, 0xff),
    );
    // For each of the four bits, all bits of a byte are set if it is set.
    let masks = [0, 1, 2, 3].map(|bit| {
        let down = match from + bit {
            0 => word,
            by => b.shift(ShiftOp::Shr, word, by),
        };
        let bit = b.binary(BinaryOp::And, down, ones);
        b.binary(BinaryOp::Mul, bit, all)
    });
    let splat = |level: i8| u64::from(level as u8) * 0x0101_0101;
    // A binary selection tree: a select between two levels is the first one, exclusive-or the bits in which they differ
    // where the bit is set.
    let pairs = table.chunks_exact(2).map(|pair| {
        let (first, second) = (splat(pair[0]), splat(pair[1]));
        let (start, differing) = (
            b.constant(Lane::I32, first),
            b.constant(Lane::I32, first ^ second),
        );
        let exchanged = b.binary(BinaryOp::And, differing, masks[0]);
        b.binary(BinaryOp::Xor, start, exchanged)
    });
    let mut left: Vec<Value> = pairs.collect();
    for mask in &masks[1..] {
        let pairs = left.chunks_exact(2).map(|pair| {
            let differing = b.binary(BinaryOp::Xor, pair[0], pair[1]);
            let exchanged = b.binary(BinaryOp::And, differing, *mask);
            b.binary(BinaryOp::Xor, pair[0], exchanged)
        });
        left = pairs.collect();
    }
    left[0]
}

/// Words with base-3 digits: offset in bytes, number of words, and digits per byte.
const DIGITS: [(usize, usize, usize); 3] = [(0, 8, 5), (32, 4, 5), (48, 1, 4)];

/// Converts the digits of 256 numbers to two bits each, in the layout of `tq2_0`: word `8 h + w` has in the bits from
/// `2 j` those of numbers `128 h + 32 j + 4 w` and the next three. `read` returns the word at an offset of the block.
pub(super) fn digits(
    b: &mut Builder,
    mut read: impl FnMut(&mut Builder, usize) -> Value,
) -> [Value; 16] {
    let [three, bytes, pairs] = [3, 0x00ff_00ff, 0x0003_0003].map(|x| b.constant(Lane::I32, x));
    let mut words = [b.constant(Lane::I32, 0); 16];
    let mut first = 0;
    for (start, count, digits) in DIGITS {
        for word in 0..count {
            let whole = read(b, start + 4 * word);
            let odd = b.shift(ShiftOp::Shr, whole, 8);
            // Even and odd bytes are separated, so that three times a byte does not overflow into its neighbour.
            let mut rest = [whole, odd].map(|half| b.binary(BinaryOp::And, half, bytes));
            for digit in 0..digits {
                let [even, odd] = rest.each_mut().map(|rest| {
                    let three_times = b.binary(BinaryOp::Mul, *rest, three);
                    *rest = b.binary(BinaryOp::And, three_times, bytes);
                    let digit = b.shift(ShiftOp::Shr, three_times, 8);
                    b.binary(BinaryOp::And, digit, pairs)
                });
                let odd = b.shift(ShiftOp::Shl, odd, 8);
                let four = b.binary(BinaryOp::Or, even, odd);
                let place = first + digit * count + word;
                let (half, quarter, to) = (place / 32, place % 32 / 8, place % 8);
                let four = match quarter {
                    0 => four,
                    _ => b.shift(ShiftOp::Shl, four, 2 * quarter as u32),
                };
                let kept = &mut words[8 * half + to];
                *kept = b.binary(BinaryOp::Or, *kept, four);
            }
        }
        first += count * digits;
    }
    words
}
