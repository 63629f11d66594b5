//! Available memory, and populating pages in advance.

use std::thread::JoinHandle;

/// Keeps up to 64 MiB of freed memory for later allocations, because the kernel takes longer to provide a page than a
/// compiler to fill it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_freed() {
    // SAFETY: sets parameters of the allocator, which is allowed on any thread at any time. Unknown parameters are
    // ignored.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
        libc::mallopt(libc::M_TOP_PAD, 1 << 20);
    }
}

/// Other allocators are not configured.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_freed() {}

/// The maximal number of bytes that [`provide`] requests.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MOST_PROVIDED: usize = 16 << 20;

/// Starts a thread that makes the kernel populate the pages of the next `bytes` bytes to be allocated, at most 16 MiB,
/// because populating many pages at once is faster than a page fault each. The thread returns the number of bytes it
/// populated. Returns `None` if the heap is not contiguous or the thread cannot be started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn provide(bytes: usize) -> Option<JoinHandle<usize>> {
    const STEP: usize = 1 << 20;
    let steps = bytes.min(MOST_PROVIDED) / STEP;
    // SAFETY: the memory is freed once and never accessed. The allocator keeps it, see `keep_freed`.
    let starts: Vec<usize> = unsafe {
        let steps: Vec<_> = (0..steps).map(|_| libc::malloc(STEP)).collect();
        steps.iter().rev().for_each(|&step| libc::free(step));
        steps.iter().map(|step| step.addr()).collect()
    };
    let follows = |pair: &[usize]| pair[1].wrapping_sub(pair[0]) < STEP + STEP / 8;
    let is_one_piece = starts.first().is_some_and(|&first| first != 0);
    if !is_one_piece || !starts.windows(2).all(follows) {
        return None;
    }
    let populate = move || {
        // SAFETY: reads a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(STEP);
        let pieces = starts.iter().map(|start| start.next_multiple_of(page));
        let is_populated = |&piece: &usize| {
            let memory = std::ptr::without_provenance_mut(piece);
            // SAFETY: this keeps the contents of pages. If the heap has shrunk, the kernel returns an error.
            unsafe { libc::madvise(memory, STEP, libc::MADV_POPULATE_WRITE) == 0 }
        };
        STEP * pieces.take_while(is_populated).count()
    };
    std::thread::Builder::new().spawn(populate).ok()
}

/// Other systems populate pages when they are first accessed.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn provide(_: usize) -> Option<JoinHandle<usize>> {
    None
}

/// Returns the memory in bytes that this process can still allocate: the minimum of the machine's available memory and
/// the limits of the process. Returns `None` if the system does not provide it.
#[cfg(target_os = "linux")]
pub(crate) fn available() -> Option<u64> {
    use std::fs::read_to_string;

    let meminfo = read_to_string("/proc/meminfo").ok()?;
    let machine = kilobytes(&meminfo, "MemAvailable:")?;
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|limit| limit.trim().parse().ok());
    let status = read_to_string("/proc/self/status").ok();
    let used = status.and_then(|status| kilobytes(&status, "VmSize:"));
    let space = address_space().map(|limit| limit.saturating_sub(used.unwrap_or(0)));
    [group, space].into_iter().flatten().chain([machine]).min()
}

/// Not supported on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn available() -> Option<u64> {
    None
}

/// Returns the value of the line that begins with `name`, for example `MemAvailable:  123 kB`, in bytes.
#[cfg(target_os = "linux")]
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let count: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    count.checked_mul(1024)
}

/// Returns the limit of the address space (`ulimit -v`); `None` if it is unlimited.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the pointer is to a limit that the call writes.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    let is_set = status == 0 && limit.rlim_cur != libc::RLIM_INFINITY;
    // `rlim_t` may have fewer bits than `u64`, as many as an address.
    #[allow(clippy::unnecessary_cast, reason = "it is `u64` on targets of 64 bits")]
    let bytes = limit.rlim_cur as u64;
    is_set.then_some(bytes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_bytes() {
        let text = "MemTotal:  9 kB\nMemAvailable:    1234 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(1234 << 10));
        assert_eq!(kilobytes(text, "MemFree:"), None);
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn provided_memory_is_resident() {
        let resident = || {
            let status = std::fs::read_to_string("/proc/self/status").expect("a process");
            kilobytes(&status, "VmRSS:").expect("a number")
        };
        keep_freed();
        let before = resident();
        let thread = provide(MOST_PROVIDED).expect("a heap in one piece");
        let provided = thread.join().expect("no panic") as u64;
        assert!(
            resident() + (4 << 20) >= before + provided,
            "{provided} bytes"
        );
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
