//! Content-addressed store.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use memmap2::Mmap;
use mind_ir::Bytes;

/// Magic number and version of the file format.
const MAGIC: &[u8; 16] = b"mind-opt cache 1";

/// Size in bytes of the header: [`MAGIC`] and the hash of the contents.
const HEADER: usize = 64;

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryKind {
    /// A program.
    Program,
    /// A measured schedule.
    Schedule,
}

impl EntryKind {
    const ALL: [EntryKind; 2] = [EntryKind::Program, EntryKind::Schedule];

    /// Returns the file name extension.
    const fn extension(self) -> &'static str {
        match self {
            EntryKind::Program => "mind",
            EntryKind::Schedule => "schedule",
        }
    }
}

/// Key of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    kind: EntryKind,
    hash: blake3::Hash,
}

impl Key {
    pub(super) fn new(kind: EntryKind, hash: blake3::Hash) -> Key {
        Key { kind, hash }
    }

    /// Returns the hash.
    pub(super) fn digest(&self) -> &[u8] {
        self.hash.as_bytes()
    }
}

/// A folder of immutable files. Processes may share it, because files are written under a temporary name and renamed
/// atomically.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// Limit on the total size in bytes.
    limit: u64,
}

impl Store {
    /// Opens the store in `folder`, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// Errors if the folder cannot be created, or if other users may write to it.
    pub(super) fn open(folder: &Path, limit: u64) -> io::Result<Store> {
        create(folder)?;
        check_owner(folder)?;
        Ok(Store {
            folder: folder.to_owned(),
            limit,
        })
    }

    /// Returns the size limit in bytes of one entry: a quarter of the total.
    pub(super) fn most_bytes(&self) -> u64 {
        self.limit / 4
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the entry of `key`; `None` if it does not exist or is damaged. A damaged entry is removed.
    pub(super) fn load(&self, key: Key) -> Option<Bytes> {
        let path = self.path(key);
        let file = File::open(&path).ok()?;
        // SAFETY: files are not modified after the rename that creates them, and only this user may write to the
        // folder.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let (header, contents) = map.split_at_checked(HEADER)?;
        let is_whole = header.starts_with(MAGIC)
            && header[MAGIC.len()..].starts_with(blake3::hash(contents).as_bytes());
        if !is_whole {
            let _ = fs::remove_file(&path);
            return None;
        }
        // Marks the entry as recently used for the eviction; fails without harm if the folder is read-only.
        let _ = file.set_modified(SystemTime::now());
        Some(Bytes::from_owner(map).slice(HEADER..))
    }

    /// Stores `contents` under `key`, and evicts the least recently used entries if the limit is exceeded.
    ///
    /// # Errors
    ///
    /// Errors if the file cannot be written.
    pub(super) fn store(&self, key: Key, contents: &[u8]) -> io::Result<()> {
        /// Distinguishes the temporary files of concurrent threads of this process.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let partial = self
            .folder
            .join(format!("{}-{number}.partial", std::process::id()));
        let mut file = MAGIC.to_vec();
        file.extend(blake3::hash(contents).as_bytes());
        file.resize(HEADER, 0);
        file.extend(contents);
        let written = fs::write(&partial, file);
        let written = written.and_then(|()| fs::rename(&partial, self.path(key)));
        if written.is_err() {
            let _ = fs::remove_file(&partial);
        }
        self.evict();
        written
    }

    /// Returns the number of programs, the number of schedules, and the total size in bytes.
    pub(super) fn size(&self) -> (usize, usize, u64) {
        let files = self.files();
        let [programs, schedules] =
            EntryKind::ALL.map(|kind| files.iter().filter(|file| file.kind == kind).count());
        let bytes = files.iter().map(|file| file.bytes).sum();
        (programs, schedules, bytes)
    }

    fn path(&self, key: Key) -> PathBuf {
        let (name, extension) = (key.hash.to_hex(), key.kind.extension());
        self.folder.join(format!("{name}.{extension}"))
    }

    fn files(&self) -> Vec<Filed> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        let files = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let path = entry.path();
            let metadata = entry.metadata().ok()?;
            let own = path.extension()?;
            let kind = EntryKind::ALL
                .into_iter()
                .find(|kind| own == kind.extension())?;
            metadata.is_file().then(|| Filed {
                kind,
                used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                bytes: metadata.len(),
                path,
            })
        });
        files.collect()
    }

    fn evict(&self) {
        let mut files = self.files();
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
        files.sort_by(|a, b| a.used.cmp(&b.used).then_with(|| a.path.cmp(&b.path)));
        for file in files {
            if bytes <= self.limit {
                break;
            }
            // Removal fails if another process has removed the file or, on Windows, has it open.
            let _ = fs::remove_file(&file.path);
            bytes -= file.bytes;
        }
    }
}

/// A file of the store.
struct Filed {
    kind: EntryKind,
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

#[cfg(unix)]
fn create(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn create(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Checks that other users cannot place code in the folder, because this process would run it.
///
/// # Errors
///
/// Errors if other users can.
#[cfg(unix)]
fn check_owner(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(folder)?;
    // SAFETY: `geteuid` has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    if metadata.uid() == user && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::other("other users may write to it"))
}

#[cfg(not(unix))]
fn check_owner(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn key(text: &str) -> Key {
        Key::new(EntryKind::Program, blake3::hash(text.as_bytes()))
    }

    fn store(limit: u64) -> (TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("cache"), limit).expect("it opens");
        (folder, store)
    }

    #[test]
    fn what_is_filed_is_found_and_nothing_else() {
        let (_folder, store) = store(1 << 20);
        assert_eq!(store.load(key("a")), None);
        store.store(key("a"), b"contents").expect("it is written");
        assert_eq!(store.load(key("a")).as_deref(), Some(&b"contents"[..]));
        assert_eq!(store.load(key("b")), None);
        assert_eq!(store.size(), (1, 0, HEADER as u64 + 8));
    }

    #[test]
    fn damaged_files_are_removed() {
        let (_folder, store) = store(1 << 20);
        for at in [0, 20, HEADER, HEADER + 7] {
            store.store(key("a"), b"contents").expect("it is written");
            let path = store.path(key("a"));
            let mut bytes = fs::read(&path).expect("the file");
            bytes[at] ^= 1;
            fs::write(&path, bytes).expect("it is written");
            assert_eq!(store.load(key("a")), None, "byte {at}");
            assert!(!path.exists());
        }
        store.store(key("a"), b"contents").expect("it is written");
        fs::write(store.path(key("a")), b"short").expect("it is written");
        assert_eq!(store.load(key("a")), None);
    }

    #[test]
    fn the_files_that_were_not_used_for_the_longest_time_go_first() {
        let one = HEADER as u64 + 100;
        let (_folder, store) = store(3 * one);
        let used = |name: &str, seconds: u64| {
            store.store(key(name), &[0; 100]).expect("it is written");
            let file = File::options().write(true).open(store.path(key(name)));
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            file.expect("the file").set_modified(time).expect("a time");
        };
        used("a", 3);
        used("b", 1);
        used("c", 2);
        assert!(store.load(key("b")).is_some());
        store.store(key("d"), &[0; 100]).expect("it is written");
        let there = ["a", "b", "c", "d"].map(|name| store.path(key(name)).exists());
        assert_eq!(there, [true, true, false, true]);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
        let refused = Store::open(folder.path(), 1).expect_err("anybody may write to it");
        assert_eq!(refused.to_string(), "other users may write to it");
    }
}
