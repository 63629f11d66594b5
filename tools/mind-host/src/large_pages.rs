//! Large pages for large memory: each page costs a fault when it is first written.

/// Asks the system for large pages for `bytes` bytes at `memory`, which was just allocated, if they are many.
#[cfg(target_os = "linux")]
pub(crate) fn advise(memory: *mut u8, bytes: usize) {
    const MANY: usize = 4 << 20;
    const PAGE: usize = 4096;
    if bytes < MANY || memory.is_null() {
        return;
    }
    let before = memory.addr().next_multiple_of(PAGE) - memory.addr();
    let whole = (bytes - before) / PAGE * PAGE;
    // SAFETY: the pages are part of what was allocated, and keep what they hold. Advice that is not taken costs nothing.
    let _ = unsafe { libc::madvise(memory.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
}

/// Large pages are up to the system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise(_: *mut u8, _: usize) {}
