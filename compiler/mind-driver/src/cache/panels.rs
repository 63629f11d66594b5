//! Packed weights of models on disk.
//!
//! One file holds the packed weights of all programs of a model. Its name is a hash of the paths of the weight files
//! and the settings. Its header identifies the build, the settings, the model and the weight files (size, modification
//! time and, on Unix, inode). A file whose header does not match is overwritten.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use memmap2::Mmap;
use mind_ir::Bytes;
use mind_jit::program::{BoundProgram, Program};
use rustc_hash::FxHashMap;

use super::checksum::{Verification, checksums};
use super::codec::{Decoder, Encoder};

/// Magic number and version of the file format.
const MAGIC: &[u8; 16] = b"mind-opt panels2";

/// Size in bytes of the header before the table: [`MAGIC`], the hash of the table, and its length.
const HEADER: usize = 64;

/// Alignment in bytes of the data of a program: the page size, so that two programs do not share a page.
const ALIGNMENT: u64 = 4096;

/// Location and expected header of the packed weights of a model.
#[derive(Debug)]
pub struct Packing {
    path: PathBuf,
    /// Hash of the build, the settings, the model and the weight files, compared with that of the file.
    identity: String,
}

/// Packed weights loaded from a file, by program.
#[derive(Debug)]
pub struct CachedPanels {
    parts: FxHashMap<String, Bytes>,
    /// Whether a part was requested that the file lacks.
    lacks_some: AtomicBool,
    verification: Verification,
}

/// Range of the packed weights of one program in the file.
struct PanelRange {
    start: u64,
    bytes: u64,
}

impl Packing {
    /// Returns the packing of the weights in `files` by the build `build`, for `settings` and `model`. The file of
    /// packed weights is in `folder`.
    pub(super) fn of(
        folder: &Path,
        build: &str,
        settings: &str,
        (model, files): (&str, &[PathBuf]),
    ) -> io::Result<Packing> {
        let (mut places, mut identity) = (blake3::Hasher::new(), Encoder::default());
        [build, settings, model]
            .iter()
            .for_each(|text| identity.text(text));
        for file in files {
            let path = file.canonicalize()?;
            let metadata = path.metadata()?;
            let written = metadata.modified()?.duration_since(UNIX_EPOCH);
            let written = written.map_err(io::Error::other)?;
            super::add(&mut places, path.as_os_str().as_encoded_bytes());
            identity.number(metadata.len());
            identity.number(written.as_nanos() as u64);
            identity.number(number(&metadata));
        }
        super::add(&mut places, settings.as_bytes());
        let name = places.finalize().to_hex();
        Ok(Packing {
            path: folder.join(format!("{name}.panels")),
            identity: blake3::hash(&identity.bytes).to_hex().to_string(),
        })
    }

    /// Loads the file; returns `None` if it does not exist, if its weights or build differ, or if its table is damaged.
    /// The data is verified in the background, see [`CachedPanels::is_whole`].
    pub fn load(&self) -> Option<CachedPanels> {
        let file = File::open(&self.path).ok()?;
        // SAFETY: files are not modified after the rename that creates them, and only this user may write to the
        // folder.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        // The whole file is read soon, from front to back; the advice is optional.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::WillNeed);
        let map = Bytes::from_owner(map);
        let (name, rest) = map.split_at_checked(MAGIC.len())?;
        let mut rest = Decoder::new(rest);
        let (hash, length) = (rest.take(blake3::OUT_LEN)?, rest.count()?);
        let table = map.get(HEADER..HEADER.checked_add(length)?)?;
        let is_whole = name == MAGIC && hash == blake3::hash(table).as_bytes();
        let mut table = Decoder::new(table);
        if !is_whole || table.text()? != self.identity {
            return None;
        }
        let mut parts = FxHashMap::default();
        let mut places = Vec::new();
        for _ in 0..table.count()? {
            let name = table.text()?;
            let [start, bytes] = [table.number()?, table.number()?];
            let end = usize::try_from(start.checked_add(bytes)?).ok()?;
            let start = usize::try_from(start).ok()?;
            let own = map.get(start..end).map(|_| map.slice(start..end))?;
            let sums = (0..checksums(&own).len()).map(|_| table.number());
            places.push((own.clone(), sums.collect::<Option<Vec<u64>>>()?));
            parts.insert(name.to_owned(), own);
        }
        Some(CachedPanels {
            parts,
            lacks_some: AtomicBool::new(false),
            verification: Verification::start(places),
        })
    }

    /// Stores the packed weights of the programs, by the names of the parts of the model.
    ///
    /// # Errors
    ///
    /// Errors if the file cannot be written.
    pub fn keep<'p>(
        &self,
        parts: impl IntoIterator<Item = (String, &'p BoundProgram)>,
    ) -> io::Result<()> {
        let parts: Vec<(String, &[u8])> = parts
            .into_iter()
            .map(|(name, part)| (name, part.made()))
            .collect();
        let names: usize = parts
            .iter()
            .map(|(name, bytes)| name.len() + 8 + 16 + 8 * checksums(bytes).len())
            .sum();
        let length = 8 + self.identity.len() + 8 + names;
        let mut end = (HEADER + length) as u64;
        let mut table = Encoder::default();
        table.text(&self.identity);
        table.number(parts.len() as u64);
        let mut ranges = Vec::new();
        for (name, bytes) in &parts {
            let start = end.next_multiple_of(ALIGNMENT);
            let range = PanelRange {
                start,
                bytes: bytes.len() as u64,
            };
            table.text(name);
            table.number(range.start);
            table.number(range.bytes);
            checksums(bytes).for_each(|sum| table.number(sum));
            end = range.start + range.bytes;
            ranges.push(range);
        }
        let partial = self
            .path
            .with_extension(format!("{}.partial", std::process::id()));
        let write = || -> io::Result<()> {
            let mut file = BufWriter::new(File::create(&partial)?);
            let mut header = Encoder::default();
            header.bytes.extend(MAGIC);
            header.bytes.extend(blake3::hash(&table.bytes).as_bytes());
            header.number(table.bytes.len() as u64);
            header.align(HEADER);
            file.write_all(&header.bytes)?;
            file.write_all(&table.bytes)?;
            let mut at = (HEADER + table.bytes.len()) as u64;
            for (range, (_, bytes)) in ranges.iter().zip(&parts) {
                let gap = vec![0; (range.start - at) as usize];
                file.write_all(&gap)?;
                file.write_all(bytes)?;
                at = range.start + range.bytes;
            }
            file.flush()?;
            drop(file);
            fs::rename(&partial, &self.path)
        };
        let written = write();
        if written.is_err() {
            let _ = fs::remove_file(&partial);
        }
        written
    }
}

impl CachedPanels {
    /// Binds the program of a part to its packed weights from the file; returns `None` if the file lacks them.
    pub fn restored(&self, part: &str, program: &Arc<Program>) -> Option<BoundProgram> {
        // SAFETY: the header confirms that this build packed these weights for this part of this model, with the same
        // settings, and the program depends on nothing else.
        let restored = self
            .parts
            .get(part)
            .and_then(|made| unsafe { BoundProgram::restored(program.clone(), made.clone()) });
        if restored.is_none() {
            self.lacks_some.store(true, Ordering::Relaxed);
        }
        restored
    }

    /// Returns whether all data is undamaged; waits for the verification.
    pub fn is_whole(&self) -> bool {
        self.verification.is_whole()
    }

    /// Returns whether the file has to be rewritten: a requested part is missing or data is damaged.
    pub fn lacks_some(&self) -> bool {
        self.lacks_some.load(Ordering::Relaxed) || !self.is_whole()
    }
}

/// Returns the number and the total size of the files of packed weights in a folder.
pub(super) fn size(folder: &Path) -> (usize, u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|own| own == "panels"));
    let sizes = files.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    sizes.fold((0, 0), |(count, all), bytes| (count + 1, all + bytes))
}

/// Returns the inode of a file.
#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}
