//! Checksums of large files, computed at memory bandwidth.

use std::borrow::Cow;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use mind_ir::Bytes;

/// Size in bytes of the blocks that have a checksum each; the last block may be shorter.
const PIECE: usize = 1 << 22;

/// Multiplier of the hash; odd, so that the multiplication is a bijection.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the checksums of the blocks of `bytes`.
pub(super) fn checksums(bytes: &[u8]) -> impl ExactSizeIterator<Item = u64> {
    bytes.chunks(PIECE).map(checksum)
}

/// Returns a 64-bit checksum. It detects every change within a single 8-byte word, and other damage except with
/// probability 2^-64. It is not cryptographic: collisions can be constructed.
///
/// The loop contains no calls, so that it is fast in builds without inlining.
fn checksum(bytes: &[u8]) -> u64 {
    let (whole, rest) = bytes.split_at(bytes.len() / 64 * 64);
    let blocks: Cow<'_, [[u64; 8]]> = match bytemuck::try_cast_slice(whole) {
        Ok(blocks) => Cow::Borrowed(blocks),
        Err(_) => whole
            .chunks_exact(64)
            .map(bytemuck::pod_read_unaligned)
            .collect(),
    };
    let blocks = &*blocks;
    // The seeds are not 0, because otherwise leading zeros would not change the sum.
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [1u64; 8];
    let mut at = 0;
    while at < blocks.len() {
        let block = &blocks[at];
        a = mixed(a, block[0]);
        b = mixed(b, block[1]);
        c = mixed(c, block[2]);
        d = mixed(d, block[3]);
        e = mixed(e, block[4]);
        f = mixed(f, block[5]);
        g = mixed(g, block[6]);
        h = mixed(h, block[7]);
        at += 1;
    }
    let lanes = [a, b, c, d, e, f, g, h];
    let sum = lanes.into_iter().fold(bytes.len() as u64, mixed);
    rest.iter()
        .fold(sum, |sum, &byte| mixed(sum, u64::from(byte)))
}

/// One step of the hash, a bijection in `sum` and in `word`.
#[inline(always)]
fn mixed(sum: u64, word: u64) -> u64 {
    let product = (sum ^ word).wrapping_mul(FACTOR);
    product ^ (product >> 32)
}

/// Background verification of checksums on several threads.
#[derive(Debug)]
pub(super) struct Verification {
    pieces: Arc<Pieces>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Pieces {
    all: Vec<(Bytes, u64)>,
    /// Index of the next block to verify.
    next: AtomicUsize,
    are_whole: AtomicBool,
}

impl Pieces {
    fn verify(&self) {
        while let Some((bytes, sum)) = self.all.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if checksum(bytes) != *sum {
                self.are_whole.store(false, Ordering::Relaxed);
            }
        }
    }
}

impl Verification {
    /// Starts the verification of the blocks of `all` against their checksums, on at most one thread per hardware
    /// thread.
    pub(super) fn start(all: Vec<(Bytes, Vec<u64>)>) -> Verification {
        let pieces = all.iter().flat_map(|(bytes, sums)| {
            let starts = (0..bytes.len()).step_by(PIECE);
            let pieces = starts.map(|at| bytes.slice(at..bytes.len().min(at + PIECE)));
            pieces.zip(sums.iter().copied())
        });
        let pieces = Arc::new(Pieces {
            all: pieces.collect(),
            next: AtomicUsize::new(0),
            are_whole: AtomicBool::new(true),
        });
        let count = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = (0..count.min(pieces.all.len())).filter_map(|_| {
            let own = pieces.clone();
            // A thread that cannot be started is not an error, because `is_whole` verifies the remaining blocks.
            thread::Builder::new().spawn(move || own.verify()).ok()
        });
        Verification {
            threads: Mutex::new(threads.collect()),
            pieces,
        }
    }

    /// Returns whether all checksums match; waits until the verification has finished.
    pub(super) fn is_whole(&self) -> bool {
        self.pieces.verify();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                return false;
            }
        }
        self.pieces.are_whole.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_tells_bytes_their_order_and_their_number() {
        let bytes: Vec<u8> = (0..200u32).map(|at| (at * 7 % 251) as u8).collect();
        let own = checksum(&bytes);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert_ne!(checksum(&other), own, "bit {bit} of byte {at}");
            }
        }
        let mut other = bytes.clone();
        other.swap(3, 67);
        assert_ne!(checksum(&other), own, "another order");
        // Flips the highest bits of two words of the same lane.
        let mut other = bytes.clone();
        (other[7], other[71]) = (other[7] ^ 0x80, other[71] ^ 0x80);
        assert_ne!(checksum(&other), own, "two bits");
        let zeros = [0; 192];
        let sums: std::collections::BTreeSet<u64> =
            (0..192).map(|count| checksum(&zeros[..count])).collect();
        assert_eq!(sums.len(), 192);
    }
}
