//! A folder of files that are known by what is in them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use memmap2::Mmap;
use mind_ir::Bytes;

/// What every file begins with: what it is, and the version of its form.
const MAGIC: &[u8; 16] = b"mind-opt cache 1";

/// Bytes before the contents: [`MAGIC`], and the hash of the contents.
const HEADER: usize = 64;

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A program.
    Program,
    /// A schedule that was measured.
    Schedule,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Program, Kind::Schedule];

    /// What the names of such files end with.
    const fn extension(self) -> &'static str {
        match self {
            Kind::Program => "mind",
            Kind::Schedule => "schedule",
        }
    }
}

/// What contents are filed under.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    kind: Kind,
    hash: blake3::Hash,
}

impl Key {
    /// The key that is a hash.
    pub(super) fn new(kind: Kind, hash: blake3::Hash) -> Key {
        Key { kind, hash }
    }

    /// The hash.
    pub(super) fn digest(&self) -> &[u8] {
        self.hash.as_bytes()
    }
}

/// A folder of files. Processes may share it: a file comes to be by a change of its name, and never changes.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// The most bytes of all files.
    limit: u64,
}

impl Store {
    /// The store in `folder`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or somebody else may write to it.
    pub(super) fn open(folder: &Path, limit: u64) -> io::Result<Store> {
        create(folder)?;
        check_owner(folder)?;
        Ok(Store {
            folder: folder.to_owned(),
            limit,
        })
    }

    /// The most bytes of the contents of one file: a quarter of the limit.
    pub(super) fn most_bytes(&self) -> u64 {
        self.limit / 4
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// The contents that are filed under `key`; `None` if there are none, or they are damaged.
    pub(super) fn load(&self, key: Key) -> Option<Bytes> {
        let path = self.path(key);
        let file = File::open(&path).ok()?;
        // SAFETY: files of the store are never written once they have their name, and the folder is this user's alone.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let (header, contents) = map.split_at_checked(HEADER)?;
        let is_whole = header.starts_with(MAGIC)
            && header[MAGIC.len()..].starts_with(blake3::hash(contents).as_bytes());
        if !is_whole {
            let _ = fs::remove_file(&path);
            return None;
        }
        // Used now: the oldest files are removed first. A folder that is read-only serves all the same.
        let _ = file.set_modified(SystemTime::now());
        Some(Bytes::from_owner(map).slice(HEADER..))
    }

    /// Files `contents` under `key`, and removes the files that were not used for the longest time if all are more than
    /// the limit.
    ///
    /// # Errors
    ///
    /// The file could not be written.
    pub(super) fn store(&self, key: Key, contents: &[u8]) -> io::Result<()> {
        /// Tells the files that threads of this process write at one time.
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

    /// How many programs and schedules there are, and the bytes of all.
    pub(super) fn size(&self) -> (usize, usize, u64) {
        let files = self.files();
        let [programs, schedules] =
            Kind::ALL.map(|kind| files.iter().filter(|file| file.kind == kind).count());
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
            let kind = Kind::ALL.into_iter().find(|kind| own == kind.extension())?;
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
            // Another process may have removed it, or (on Windows) use it.
            let _ = fs::remove_file(&file.path);
            bytes -= file.bytes;
        }
    }
}

/// A file of the store.
struct Filed {
    kind: Kind,
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

/// Checks that nobody else can put code into the folder, which this process would run.
///
/// # Errors
///
/// Somebody else can.
#[cfg(unix)]
fn check_owner(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(folder)?;
    // SAFETY: it takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    if metadata.uid() == user && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::other("others may write to it"))
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
        Key::new(Kind::Program, blake3::hash(text.as_bytes()))
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
        assert_eq!(refused.to_string(), "others may write to it");
    }
}
