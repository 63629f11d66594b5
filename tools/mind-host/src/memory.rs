//! The memory that this process may still take.

/// Keeps freed memory for what is allocated next, up to 64 MiB: the kernel takes longer to provide a page than a compiler to
/// fill it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_freed() {
    // SAFETY: sets parameters of the allocator, which any thread may do at any time. What it does not take, it ignores.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
        libc::mallopt(libc::M_TOP_PAD, 1 << 20);
    }
}

/// The allocator decides.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_freed() {}

/// The bytes that the machine has available, or the limits on this process leave, whichever is less; `None` where
/// the system does not say.
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

/// The system is not asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn available() -> Option<u64> {
    None
}

/// The value of a line `name  123 kB`, in bytes.
#[cfg(target_os = "linux")]
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let count: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    count.checked_mul(1024)
}

/// The limit on the address space, as `ulimit -v` sets it; `None` without one.
#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the pointer is to a limit that the call writes.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
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

    #[test]
    fn this_machine_has_memory() {
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
