//! Memory between inaccessible guard pages.

use std::io;

use memmap2::{MmapMut, MmapOptions, MmapRaw};

/// The guard page that the bytes touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// Right after the page before.
    Start,
    /// Right before the page after.
    End,
}

/// Bytes between two guard pages: code that accesses memory beyond them faults at that instruction, before it can
/// corrupt anything.
///
/// On systems that are not Unix the guard pages exist, but are accessible.
#[derive(Debug)]
pub struct Guarded {
    map: MmapRaw,
    offset: usize,
    length: usize,
}

impl Guarded {
    /// `length` zero bytes at that edge, at a multiple of `align` bytes from it.
    ///
    /// # Errors
    ///
    /// The system gives no memory.
    ///
    /// # Panics
    ///
    /// If `align` is not a power of two up to the size of a page.
    pub fn zeroed(length: usize, align: usize, edge: Edge) -> io::Result<Guarded> {
        let page = page_bytes();
        assert!(align.is_power_of_two() && align <= page, "{align}");
        let room = |length: usize| {
            let inner = length.checked_next_multiple_of(page)?.max(page);
            Some((inner, inner.checked_add(2 * page)?))
        };
        let Some((inner, mapped)) = room(length) else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let mut map = MmapOptions::new().len(mapped).map_anon()?;
        forbid(&mut map, 0, page)?;
        forbid(&mut map, page + inner, page)?;
        let offset = match edge {
            Edge::Start => page,
            Edge::End => page + inner - length.next_multiple_of(align),
        };
        Ok(Guarded {
            map: map.into(),
            offset,
            length,
        })
    }

    /// Returns a copy of `bytes` whose first or last byte touches that edge.
    ///
    /// # Errors
    ///
    /// Errors if the system refuses memory.
    pub fn of(bytes: &[u8], edge: Edge) -> io::Result<Guarded> {
        let mut new = Guarded::zeroed(bytes.len(), 1, edge)?;
        new.bytes_mut().copy_from_slice(bytes);
        Ok(new)
    }

    /// Returns the address of the bytes. A writer must have exclusive access to them.
    pub fn start(&self) -> *mut u8 {
        self.map.as_mut_ptr().wrapping_add(self.offset)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range is inside the mapping, between its guard pages.
        unsafe { std::slice::from_raw_parts(self.start(), self.length) }
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.length) }
    }
}

#[cfg(unix)]
fn page_bytes() -> usize {
    // SAFETY: reads a constant of the system.
    let found = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(found).unwrap_or(4096)
}

#[cfg(not(unix))]
fn page_bytes() -> usize {
    4096
}

/// Makes `count` bytes, which must be whole pages, inaccessible.
#[cfg(unix)]
fn forbid(map: &mut MmapMut, start: usize, count: usize) -> io::Result<()> {
    let range = &mut map[start..start + count];
    // SAFETY: the pages are this mapping's own, and `Guarded` never reaches into them.
    match unsafe { libc::mprotect(range.as_mut_ptr().cast(), count, libc::PROT_NONE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(unix))]
fn forbid(_: &mut MmapMut, _: usize, _: usize) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_touch_the_edge_that_was_asked_for() {
        let page = page_bytes();
        for length in [0, 1, 63, 64, 65, page - 1, page, page + 1] {
            let at_end = Guarded::of(&vec![7; length], Edge::End).expect("some pages");
            assert_eq!((at_end.start() as usize + length) % page, 0);
            assert_eq!(at_end.bytes(), vec![7; length]);
            let at_start = Guarded::zeroed(length, 1, Edge::Start).expect("some pages");
            assert_eq!(at_start.start() as usize % page, 0);
            let aligned = Guarded::zeroed(length, 64, Edge::End).expect("some pages");
            assert_eq!(aligned.start() as usize % 64, 0);
            let gap = page - (aligned.start() as usize + length) % page;
            assert!(gap % page < 64, "{gap}");
        }
    }

    #[test]
    fn more_than_the_address_space_is_refused() {
        for length in [usize::MAX, usize::MAX - 4096, usize::MAX / 2] {
            assert!(Guarded::zeroed(length, 64, Edge::End).is_err());
        }
    }

    /// Runs in a child process, because the access kills it.
    #[cfg(unix)]
    #[test]
    fn what_lies_beyond_cannot_be_touched() {
        let touched = |edge: Edge, byte: isize| {
            // SAFETY: the child only reads one byte and ends; it takes no lock that another thread may hold.
            unsafe {
                let guarded = Guarded::zeroed(100, 1, edge).expect("some pages");
                match libc::fork() {
                    0 => {
                        guarded.start().offset(byte).read_volatile();
                        libc::_exit(0)
                    }
                    child => {
                        let mut status = 0;
                        assert_eq!(libc::waitpid(child, &mut status, 0), child);
                        libc::WIFEXITED(status)
                    }
                }
            }
        };
        assert!(touched(Edge::End, 0) && touched(Edge::End, 99));
        assert!(!touched(Edge::End, 100) && !touched(Edge::Start, -1));
    }
}
