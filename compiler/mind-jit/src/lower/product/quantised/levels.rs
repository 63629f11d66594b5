//! Numbers that no product decodes as their files have them, in the form that panels keep.

use mind_vir::ir::{BinaryOp, Builder, Lane, ShiftOp, Value};

/// The entries of `table` for the four bits from `from` on in each byte of words, as the bytes of words.
pub(super) fn levels(b: &mut Builder, word: Value, from: u32, table: &[i8; 16]) -> Value {
    let (ones, all) = (
        b.constant(Lane::I32, 0x0101_0101),
        b.constant(Lane::I32, 0xff),
    );
    // All bits of each byte where one of its bits is set.
    let masks = [0, 1, 2, 3].map(|bit| {
        let down = match from + bit {
            0 => word,
            by => b.shift(ShiftOp::Shr, word, by),
        };
        let bit = b.binary(BinaryOp::And, down, ones);
        b.binary(BinaryOp::Mul, bit, all)
    });
    let splat = |level: i8| u64::from(level as u8) * 0x0101_0101;
    // Halving the table from bit to bit: either of two levels is the first one, with the bits in which they differ
    // exchanged.
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

/// Words of bytes with digits in base 3: the first one's byte, how many words there are, and digits of a byte.
const DIGITS: [(usize, usize, usize); 3] = [(0, 8, 5), (32, 4, 5), (48, 1, 4)];

/// The digits of 256 numbers, in two bits each, as `tq2_0` has them: word `8 h + w` has in the bits from `2 j` on those of
/// numbers `128 h + 32 j + 4 w` and the next three. `read` gives the word at a byte of the block.
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
            // Bytes apart from each other, so that three times each of them has room.
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
