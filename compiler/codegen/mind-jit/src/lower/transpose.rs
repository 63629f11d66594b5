//! Transposition in registers.

use mind_vir::ir::{Builder, Value};

/// Transposes a square of vectors: as many as they have lanes.
///
/// Each step exchanges blocks twice as large as the step before, within squares of two by two blocks. Blocks of a
/// constant are unchanged, because all lanes are equal.
pub(super) fn columns_of(b: &mut Builder, mut square: Vec<Value>) -> Vec<Value> {
    let lanes = b.lanes() as usize;
    assert_eq!(square.len(), lanes, "as many vectors as lanes");
    let mut block = 1;
    while block < lanes {
        for row in (0..lanes).filter(|row| row & block == 0) {
            let (first, second) = (square[row], square[row + block]);
            if first == second && b.is_constant(first) {
                continue;
            }
            let [even, odd] =
                [false, true].map(|odd| b.transpose(odd, block as u32, first, second));
            (square[row], square[row + block]) = (even, odd);
        }
        block *= 2;
    }
    square
}
