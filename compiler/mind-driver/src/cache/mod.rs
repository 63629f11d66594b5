//! Compile cache on disk.
//!
//! An entry of a module has the lowered module and the machine code of its kernels. The key is a hash of the module
//! with its constants, of the build of the compiler, and of the target and options; entries therefore never need to be
//! invalidated. Constants that the passes did not change are not stored again.
//!
//! The cache also holds tuning records: the fastest schedules measured for a kernel or a module.
//!
//! Packed weights of models are stored if the user asks for it; they do not count towards the size limit.
//!
//! - `image`: serialization of modules. `store`: content-addressed store. `identity`: identity of the build. `panels`:
//!   packed weights.

mod checksum;
mod codec;
mod identity;
mod image;
mod interface;
mod panels;
mod store;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use mind_ir::opdef::Registry;
use mind_ir::{Bytes, Graph};
use mind_jit::program::{KernelCode, KernelSignature, ProgramCode};
use rustc_hash::FxHashMap;
use serde_json::Value;

use self::codec::{Decoder, Encoder};
use self::image::Image;
use self::store::{EntryKind, Key, Store};

pub use self::image::{pack, unpack};
pub use self::panels::{CachedPanels, Packing};

/// Alignment in bytes of constants in a file: that of the widest vectors.
const ALIGNMENT: usize = 64;

/// A compile cache in a folder that several processes may share.
#[derive(Debug)]
pub struct CompileCache {
    store: Store,
    identity: String,
    found: AtomicU64,
    missed: AtomicU64,
}

/// Contents and hit counts of a cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheStats {
    /// The folder of the cache.
    pub folder: PathBuf,
    /// Number of programs.
    pub programs: usize,
    /// Number of measured schedules.
    pub schedules: usize,
    /// Number of models with packed weights.
    pub models: usize,
    /// Size of the packed weights in bytes.
    pub model_bytes: u64,
    /// Size of programs and schedules in bytes.
    pub bytes: u64,
    /// Limit on the size of programs and schedules in bytes.
    pub limit: u64,
    /// Cache hits for programs since the cache was opened.
    pub found: u64,
    /// Cache misses for programs since the cache was opened.
    pub missed: u64,
}

/// A lookup of a module, and its key if it has to be stored.
pub(crate) struct Request {
    key: Key,
    /// The constants of the module.
    given: Vec<Bytes>,
}

/// A cached program.
pub(crate) struct Entry {
    /// The module lowered to kernels.
    pub(crate) lowered: Graph,
    pub(crate) code: ProgramCode,
}

impl CompileCache {
    /// Environment variable that names the folder of the cache; if it is empty, nothing is cached.
    pub const FOLDER: &str = "MIND_CACHE";

    /// Default size limit in bytes: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// Opens the cache in `folder`, which is created if it does not exist. Programs and schedules take at most `limit`
    /// bytes.
    ///
    /// # Errors
    ///
    /// Errors if the folder cannot be created, if other users may write to it, or if the file of this program is
    /// unknown.
    pub fn open(folder: &Path, limit: u64) -> io::Result<CompileCache> {
        let unknown = || io::Error::other("the file of this program is unknown");
        Ok(CompileCache {
            store: Store::open(folder, limit)?,
            identity: identity::identity().ok_or_else(unknown)?,
            found: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        })
    }

    /// Returns the default folder, from environment variables: that of `MIND_CACHE`, or else the user's cache folder of
    /// the system. Returns `None` if caching is off or no folder is known.
    pub fn usual_folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        if let Some(folder) = variable(CompileCache::FOLDER) {
            return (!folder.is_empty()).then(|| folder.into());
        }
        let below = |name: &str, path: &str| {
            let folder = variable(name).filter(|folder| !folder.is_empty())?;
            Some(PathBuf::from(folder).join(path).join("mind-opt"))
        };
        if cfg!(windows) {
            below("LOCALAPPDATA", "")
        } else if cfg!(target_os = "macos") {
            below("HOME", "Library/Caches")
        } else {
            below("XDG_CACHE_HOME", "").or_else(|| below("HOME", ".cache"))
        }
    }

    /// Returns the contents and hit counts.
    pub fn stats(&self) -> CacheStats {
        let (programs, schedules, bytes) = self.store.size();
        let (models, model_bytes) = panels::size(self.store.folder());
        CacheStats {
            folder: self.store.folder().to_owned(),
            programs,
            schedules,
            models,
            model_bytes,
            bytes,
            limit: self.store.limit(),
            found: self.found.load(Ordering::Relaxed),
            missed: self.missed.load(Ordering::Relaxed),
        }
    }

    /// Returns the location of the packed weights for the model and the weight files in `of`, compiled with `settings`.
    ///
    /// # Errors
    ///
    /// Errors if a file does not exist.
    pub(crate) fn packing(&self, settings: &str, of: (&str, &[PathBuf])) -> io::Result<Packing> {
        Packing::of(self.store.folder(), &self.identity, settings, of)
    }

    /// Returns the lookup of module `g`, compiled with `settings`.
    pub(crate) fn request(&self, g: &Graph, settings: &str) -> Request {
        let image = Image::of(g);
        let mut hasher = blake3::Hasher::new();
        let literals = image.literals.iter().map(|literal| literal.bytes);
        let parts = [self.identity.as_bytes(), settings.as_bytes(), &image.bytes];
        for part in parts.into_iter().chain(literals) {
            add(&mut hasher, part);
        }
        Request {
            key: Key::new(EntryKind::Program, hasher.finalize()),
            given: image
                .literals
                .iter()
                .map(|own| g.shared_bytes(own))
                .collect(),
        }
    }

    /// Returns the cached program of `request`.
    pub(crate) fn load(&self, request: &Request, registry: &Registry) -> Option<Entry> {
        let contents = self.store.load(request.key);
        let entry = contents.and_then(|contents| Entry::read(&contents, &request.given, registry));
        let count = if entry.is_some() {
            &self.found
        } else {
            &self.missed
        };
        count.fetch_add(1, Ordering::Relaxed);
        entry
    }

    /// Stores the program of `request`, unless it takes a large part of the size limit. Errors of writing are ignored,
    /// because the cache is only an optimisation.
    pub(crate) fn keep(&self, request: &Request, lowered: &Graph, code: &ProgramCode) {
        let contents = Entry::write(lowered, code, &request.given);
        if contents.len() as u64 <= self.store.most_bytes() {
            // The program was compiled, so a failed write only costs a later run its cache hit.
            let _ = self.store.store(request.key, &contents);
        }
    }

    /// Returns the tuning record of this build with this key.
    pub(crate) fn note(&self, parts: &[&[u8]]) -> Option<Value> {
        let contents = self.store.load(self.note_key(parts))?;
        serde_json::from_slice(&contents).ok()
    }

    /// Stores a tuning record. Errors of writing are ignored.
    pub(crate) fn keep_note(&self, parts: &[&[u8]], note: &Value) {
        let _ = self
            .store
            .store(self.note_key(parts), note.to_string().as_bytes());
    }

    fn note_key(&self, parts: &[&[u8]]) -> Key {
        let mut hasher = blake3::Hasher::new();
        add(&mut hasher, self.identity.as_bytes());
        parts.iter().for_each(|part| add(&mut hasher, part));
        Key::new(EntryKind::Schedule, hasher.finalize())
    }
}

impl Request {
    /// Returns the hash of the key.
    pub(crate) fn digest(&self) -> &[u8] {
        self.key.digest()
    }
}

/// Hashes `parts` and a module; the hash does not depend on source spans or on the labels of values.
pub(crate) fn digest(parts: &[&[u8]], g: &Graph) -> blake3::Hash {
    let image = Image::without_spans(g);
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| add(&mut hasher, part));
    add(&mut hasher, &image.bytes);
    image
        .literals
        .iter()
        .for_each(|literal| add(&mut hasher, literal.bytes));
    hasher.finalize()
}

/// Hashes a part of a key with its length, so that the boundaries of parts are unambiguous.
fn add(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

/// Tags of the two locations of a constant's bytes.
mod tag {
    /// Among the constants of the module that was compiled.
    pub(super) const GIVEN: u8 = 0;
    /// In the file of the entry.
    pub(super) const OWN: u8 = 1;
}

impl Entry {
    fn write(lowered: &Graph, code: &ProgramCode, given: &[Bytes]) -> Vec<u8> {
        let place = |bytes: &[u8]| (bytes.as_ptr().addr(), bytes.len());
        let given = given.iter().enumerate();
        let given: FxHashMap<_, usize> = given.map(|(at, bytes)| (place(bytes), at)).collect();
        let image = Image::of(lowered);
        let mut out = Encoder::default();
        out.number(image.bytes.len() as u64);
        out.bytes.extend(&image.bytes);
        write_code(&mut out, code);
        out.number(image.literals.len() as u64);
        let mut own: Vec<&[u8]> = Vec::new();
        for literal in &image.literals {
            match given.get(&place(literal.bytes)) {
                Some(&at) => {
                    out.byte(tag::GIVEN);
                    out.number(at as u64);
                }
                None => {
                    out.byte(tag::OWN);
                    out.number(literal.bytes.len() as u64);
                    own.push(literal.bytes);
                }
            }
        }
        for bytes in own {
            out.align(ALIGNMENT);
            out.bytes.extend(bytes);
        }
        out.bytes
    }

    fn read(contents: &Bytes, given: &[Bytes], registry: &Registry) -> Option<Entry> {
        let mut bytes = Decoder::new(contents);
        let length = bytes.count()?;
        let image = bytes.take(length)?;
        let code = read_code(&mut bytes, contents)?;
        let places = (0..bytes.count()?)
            .map(|_| Some((bytes.byte()?, usize::try_from(bytes.number()?).ok()?)));
        let places: Vec<(u8, usize)> = places.collect::<Option<_>>()?;
        let mut end = contents.len() - bytes.remaining();
        let mut literals = Vec::with_capacity(places.len());
        for (place, number) in places {
            literals.push(match place {
                tag::GIVEN => given.get(number)?.clone(),
                tag::OWN => {
                    let start = end.next_multiple_of(ALIGNMENT);
                    end = start.checked_add(number)?;
                    contents.get(start..end)?;
                    contents.slice(start..end)
                }
                _ => return None,
            });
        }
        Some(Entry {
            lowered: image::read(registry, image, &literals)?,
            code,
        })
    }
}

fn write_code(out: &mut Encoder, code: &ProgramCode) {
    out.number(code.kernels.len() as u64);
    for kernel in &code.kernels {
        let KernelSignature { params, scratch } = kernel.signature;
        out.number(params as u64);
        // 0 encodes `None`, because scratch memory is never empty.
        out.number(scratch.unwrap_or(0) as u64);
        out.number(kernel.code.len() as u64);
        out.bytes.extend(&kernel.code);
    }
    out.number(code.regions.len() as u64);
    for region in &code.regions {
        write_code(out, region);
    }
}

/// Reads the code of a program. `contents` is the buffer that `bytes` reads from; machine code is sliced from it.
fn read_code(bytes: &mut Decoder<'_>, contents: &Bytes) -> Option<ProgramCode> {
    let mut code = ProgramCode::default();
    for _ in 0..bytes.count()? {
        let (params, scratch) = (usize::try_from(bytes.number()?).ok()?, bytes.number()?);
        let scratch = usize::try_from(scratch).ok()?;
        let length = bytes.count()?;
        code.kernels.push(KernelCode {
            signature: KernelSignature {
                params,
                scratch: (scratch > 0).then_some(scratch),
            },
            code: contents.slice_ref(bytes.take(length)?),
        });
    }
    for _ in 0..bytes.count()? {
        code.regions.push(read_code(bytes, contents)?);
    }
    Some(code)
}
