//! Exit of a process that runs out of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use mind_ir::eval::probes_memory;

#[global_allocator]
static ALLOCATOR: OrExit = OrExit;

/// The system's allocator. If an allocation fails, a tool reports an error and exits, unless the calling code handles
/// the failure. In a process that does not run a tool, but has this crate among its libraries, allocations fail as
/// usual.
struct OrExit;

/// Whether the process runs a tool.
static IS_TOOL: AtomicBool = AtomicBool::new(false);

/// Marks the process as running a tool.
pub(crate) fn exit_without_memory() {
    IS_TOOL.store(true, Ordering::Relaxed);
}

// SAFETY: every call is forwarded to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(memory, layout) };
    }
}

fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && IS_TOOL.load(Ordering::Relaxed) && !probes_memory() {
        exit(bytes);
    }
    memory
}

/// Reports that `bytes` bytes could not be allocated, removes unfinished files and ends the process.
#[cold]
fn exit(bytes: usize) -> ! {
    let mut digits = [0; 20];
    let parts: [&[u8]; 3] = [
        b"error[E6004]: out of memory: the system does not provide ",
        decimal(bytes, &mut digits),
        b" more bytes\n  = help: a smaller module or smaller inputs need less memory; \
          `ulimit -v` shows the limit on the process\n",
    ];
    parts.into_iter().for_each(write);
    end()
}

/// Returns the decimal digits of a number, stored at the end of `digits`, because nothing can be allocated.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(unix)]
fn write(text: &[u8]) {
    // SAFETY: the call only reads the text. Write errors of standard error cannot be reported anywhere.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}

#[cfg(not(unix))]
fn write(text: &[u8]) {
    use std::io::Write;
    // Write errors of standard error cannot be reported anywhere.
    let _ = std::io::stderr().write_all(text);
}

#[cfg(unix)]
fn end() -> ! {
    crate::unfinished::remove_all();
    // SAFETY: the call runs no code of this process.
    unsafe { libc::_exit(1) }
}

#[cfg(not(unix))]
fn end() -> ! {
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_memory() {
        for number in [0, 7, 10, 805_306_368, usize::MAX] {
            let mut digits = [0; 20];
            let found = decimal(number, &mut digits);
            assert_eq!(found, number.to_string().as_bytes());
        }
    }
}
