//! Cleanup at an interrupt: incomplete outputs, scratch files, and a running command.
//!
//! An interrupt removes the files, kills the command and ends the process, as it would without a handler.

#[cfg(unix)]
pub(crate) use unix::{Group, Unfinished, remove_all};

#[cfg(not(unix))]
pub(crate) struct Group;

#[cfg(not(unix))]
impl Group {
    pub(crate) fn new(_: &std::process::Child) -> Group {
        Group
    }

    pub(crate) fn end(&self) {}
}

#[cfg(not(unix))]
pub(crate) struct Unfinished;

#[cfg(not(unix))]
impl Unfinished {
    pub(crate) fn new(_: &std::path::Path) -> Unfinished {
        Unfinished
    }

    pub(crate) fn keep(self) {}
}

#[cfg(unix)]
mod unix {
    use std::ffi::{CString, c_char, c_int};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::Child;
    use std::ptr::null_mut;
    use std::sync::Once;
    use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

    /// Paths that an interrupt removes; null for free slots. Further paths are not removed.
    static PATHS: [AtomicPtr<c_char>; 64] = [const { AtomicPtr::new(null_mut()) }; 64];

    /// A path that an interrupt removes, until this is dropped.
    pub(crate) struct Unfinished(Option<&'static AtomicPtr<c_char>>);

    /// The process group that an interrupt kills; 0 if there is none.
    static GROUP: AtomicI32 = AtomicI32::new(0);

    /// A process group that an interrupt kills, until this is dropped. At most one exists at a time.
    pub(crate) struct Group(i32);

    impl Group {
        /// Registers the process group of `leader`.
        pub(crate) fn new(leader: &Child) -> Group {
            HANDLED.call_once(handle);
            let group = i32::try_from(leader.id()).unwrap_or(0);
            GROUP.store(group, Ordering::Release);
            Group(group)
        }

        /// Kills its processes. The leader must not have been waited for, because its id could otherwise be reused.
        pub(crate) fn end(&self) {
            end_group(self.0);
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            GROUP.store(0, Ordering::Release);
        }
    }

    fn end_group(group: i32) {
        if group > 1 {
            // SAFETY: the call reads no memory of this process, and is async-signal-safe.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }

    static HANDLED: Once = Once::new();

    impl Unfinished {
        /// Registers a file, or a folder that is empty once all paths registered after it are removed.
        pub(crate) fn new(path: &Path) -> Unfinished {
            HANDLED.call_once(handle);
            let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
                return Unfinished(None);
            };
            // The text is never freed, because a signal handler may be reading it.
            let path = path.into_raw();
            let free = PATHS.iter().find(|slot| {
                let taken = Ordering::AcqRel;
                slot.compare_exchange(null_mut(), path, taken, Ordering::Relaxed)
                    .is_ok()
            });
            Unfinished(free)
        }

        /// Keeps the path registered until the process ends.
        pub(crate) fn keep(mut self) {
            self.0 = None;
        }
    }

    impl Drop for Unfinished {
        fn drop(&mut self) {
            if let Some(slot) = self.0 {
                slot.store(null_mut(), Ordering::Release);
            }
        }
    }

    /// Installs the handler for interrupts that are not handled or ignored yet.
    fn handle() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the calls only access their arguments, and the handler only makes async-signal-safe calls.
            unsafe {
                let mut usual: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(signal, std::ptr::null(), &mut usual) == 0
                    && usual.sa_sigaction == libc::SIG_DFL
                {
                    usual.sa_sigaction = interrupted as *const () as libc::sighandler_t;
                    usual.sa_flags = libc::SA_RESETHAND;
                    libc::sigaction(signal, &usual, null_mut());
                }
            }
        }
    }

    extern "C" fn interrupted(signal: c_int) {
        end_group(GROUP.load(Ordering::Acquire));
        remove_all();
        // SAFETY: both calls are async-signal-safe. The default action takes place when the handler returns.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }

    /// The maximal nesting depth of registered folders.
    const DEPTH: usize = 8;

    /// Removes all files, then the empty folders, innermost first.
    pub(crate) fn remove_all() {
        let each = |remove: unsafe extern "C" fn(*const c_char) -> c_int| {
            for slot in &PATHS {
                let path = slot.load(Ordering::Acquire);
                if !path.is_null() {
                    // SAFETY: the text lives as long as the process, and the call is async-signal-safe. It fails for
                    // paths of another kind.
                    unsafe { remove(path) };
                }
            }
        };
        each(libc::unlink);
        (0..DEPTH).for_each(|_| each(libc::rmdir));
    }

    /// Locked by each test that registers a path, because one of them removes all registered paths.
    #[cfg(test)]
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_registered_is_removed() {
            let _alone = ALONE.lock().expect("no test panicked");
            let folder =
                std::env::temp_dir().join(format!("mind-unfinished-{}", std::process::id()));
            std::fs::create_dir(&folder).expect("a folder");
            let files = ["kept", "partial", "inside"].map(|name| folder.join(name));
            for file in &files {
                std::fs::write(file, "bytes").expect("a file");
            }
            let _folder = Unfinished::new(&folder);
            let kept = Unfinished::new(&files[0]);
            drop(kept);
            let _partial = Unfinished::new(&files[1]);
            Unfinished::new(&files[2]).keep();
            remove_all();
            assert!(files[0].exists() && !files[1].exists() && !files[2].exists());
            std::fs::remove_dir_all(folder).expect("the folder is ours");
        }
    }
}
