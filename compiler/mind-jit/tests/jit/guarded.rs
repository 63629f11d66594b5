//! Memory between pages that nobody may touch.

use std::ptr;

/// Where bytes lie between the forbidden pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Right behind the page before.
    Start,
    /// Right before the page behind.
    End,
}

/// Bytes between two pages without access: reading or writing outside kills the process.
pub struct Guarded {
    map: *mut libc::c_void,
    mapped: usize,
    data: *mut u8,
    length: usize,
}

impl Guarded {
    /// A copy of `bytes` at that place.
    pub fn new(bytes: &[u8], place: Place) -> Guarded {
        // SAFETY: sysconf reads a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let inner = bytes.len().next_multiple_of(page).max(page);
        let mapped = inner + 2 * page;
        // SAFETY: a new mapping of this process; the result is checked.
        let map = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0)
        };
        assert_ne!(map, libc::MAP_FAILED, "memory for a test");
        let offset = match place {
            Place::Start => page,
            Place::End => page + inner - bytes.len(),
        };
        // SAFETY: the range lies in the new mapping, and the copy in the part that becomes accessible.
        let data = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(map.byte_add(page), inner, access), 0);
            let data = map.cast::<u8>().add(offset);
            ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
            data
        };
        Guarded {
            map,
            mapped,
            data,
            length: bytes.len(),
        }
    }

    pub fn address(&self) -> u64 {
        self.data as u64
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range is accessible and initialised; kernels write it only while no borrow lives.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.map, self.mapped) };
    }
}
