//! Executable memory that is never writable while it can run.

use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

/// Alignment of every function, in bytes: one cache line.
pub const FUNCTION_ALIGN: usize = 64;

/// Where a function starts in the code of its module, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionOffset(usize);

/// The machine code of a module while it is collected.
///
/// All functions of a module share their pages, so that publishing costs one mapping and one change of
/// protection however many there are.
#[derive(Clone, Debug, Default)]
pub struct CodeBuilder {
    bytes: Vec<u8>,
}

impl CodeBuilder {
    /// Appends a function and returns its offset.
    ///
    /// `code` must be position-independent: jumps and constants are relative to the instruction pointer. Constants
    /// after the instructions may require an alignment of up to [`FUNCTION_ALIGN`].
    pub fn push(&mut self, code: &[u8]) -> FunctionOffset {
        let start = self.bytes.len().next_multiple_of(FUNCTION_ALIGN);
        self.bytes.resize(start, FILLER);
        self.bytes.extend_from_slice(code);
        FunctionOffset(start)
    }

    /// Bytes collected, with the gaps between functions.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no function was collected.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Copies the code into executable, read-only pages.
    ///
    /// # Errors
    ///
    /// Errors if the system refuses memory, or refuses to make it executable.
    pub fn publish(&self) -> Result<Code, CodeError> {
        let length = self.bytes.len().max(1);
        let refused = |source| CodeError::Refused { length, source };
        let mut writable = MmapMut::map_anon(length).map_err(refused)?;
        writable[..self.bytes.len()].copy_from_slice(&self.bytes);
        writable[self.bytes.len()..].fill(FILLER);
        let pages = writable.make_exec().map_err(refused)?;
        synchronise(&pages);
        Ok(Code {
            pages: Arc::new(pages),
        })
    }
}

/// `int3` on x86-64, so that a jump into a gap between functions traps.
const FILLER: u8 = 0xcc;

/// The machine code of a module, ready to run.
///
/// A clone shares the pages; the last clone frees them. Any thread may run the code, because the pages never change.
#[derive(Clone, Debug)]
pub struct Code {
    pages: Arc<Mmap>,
}

impl Code {
    /// Returns the address of the function at `offset`, as returned by [`CodeBuilder::push`].
    ///
    /// It is valid as long as a clone of `self` exists. The caller must know its signature.
    ///
    /// # Panics
    ///
    /// Panics if `offset` is beyond this module's code, which can only happen if it belongs to another module.
    pub fn entry(&self, offset: FunctionOffset) -> NonNull<u8> {
        NonNull::from(&self.pages[offset.0])
    }

    /// Returns the first `length` bytes of the function at `offset`, as returned by [`CodeBuilder::push`].
    ///
    /// # Panics
    ///
    /// Panics if `offset` is beyond this module's code.
    pub fn function(&self, offset: FunctionOffset, length: usize) -> &[u8] {
        &self.pages[offset.0..][..length]
    }

    /// The code as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.pages
    }
}

/// Why code could not be made executable.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// The system refused to map memory or to make it executable.
    #[error(
        "the system refused {length} bytes of executable memory: {source}; \
         run with the interpreter where policy forbids generated code"
    )]
    Refused {
        /// Bytes asked for.
        length: usize,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Synchronises the instruction cache with the data cache.
#[cfg(target_arch = "aarch64")]
fn synchronise(pages: &Mmap) {
    unsafe extern "C" {
        fn __clear_cache(start: *const u8, end: *const u8);
    }
    let range = pages.as_ptr_range();
    // SAFETY: the range is one live mapping; the routine only writes back and invalidates caches.
    unsafe { __clear_cache(range.start, range.end) }
}

/// x86-64 keeps instruction fetch coherent with stores.
#[cfg(not(target_arch = "aarch64"))]
fn synchronise(_: &Mmap) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov eax, value; ret`
    #[cfg(target_arch = "x86_64")]
    fn returning(value: u32) -> Vec<u8> {
        let mut code = vec![0xb8];
        code.extend(value.to_le_bytes());
        code.push(0xc3);
        code
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn functions_of_a_module_run_on_any_thread_and_outlive_their_builder() {
        let mut builder = CodeBuilder::default();
        let offsets: Vec<FunctionOffset> = (0..100)
            .map(|value| builder.push(&returning(value)))
            .collect();
        let code = builder.publish().expect("executable memory");
        drop(builder);
        let threads = offsets.into_iter().zip(0..).map(|(offset, value)| {
            let code = code.clone();
            std::thread::spawn(move || {
                let entry = code.entry(offset);
                assert_eq!(entry.as_ptr() as usize % FUNCTION_ALIGN, 0);
                // SAFETY: `returning` makes a function of this signature that touches nothing.
                let function: extern "sysv64" fn() -> u32 =
                    unsafe { std::mem::transmute(entry.as_ptr()) };
                assert_eq!(function(), value);
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().expect("the code ran");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn published_pages_are_executable_and_not_writable() {
        let mut builder = CodeBuilder::default();
        let offset = builder.push(&[FILLER]);
        let code = builder.publish().expect("executable memory");
        let address = code.entry(offset).as_ptr() as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the map of this process");
        let inside = |line: &&str| {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            let bound = |text: &str| usize::from_str_radix(text, 16).expect("an address");
            range.is_some_and(|(start, end)| (bound(start)..bound(end)).contains(&address))
        };
        let line = maps.lines().find(inside).expect("the mapping of the code");
        assert!(line.contains("r-xp"), "{line}");
    }

    #[test]
    fn nothing_at_all_can_be_published() {
        let code = CodeBuilder::default().publish().expect("executable memory");
        assert_eq!(code.bytes()[0], FILLER);
    }
}
