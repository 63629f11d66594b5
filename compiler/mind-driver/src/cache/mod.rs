//! Compiled modules that are kept on disk.
//!
//! What is kept of a module is what the passes made of it and the machine code of its kernels. It is found again by a hash
//! of the module with its constants, of the build of the compiler, and of what it was compiled for; so nothing that is
//! found is out of date. Constants that the passes left as they were are not kept a second time.
//!
//! Notes are kept beside programs: which schedules were measured to be the fastest, for a kernel and for a module.
//!
//! Packed weights of models are kept where their users ask for that, outside of the limit on all other files.
//!
//! - `image`: modules as bytes. `store`: files by what is in them. `identity`: which build this is. `panels`: packed weights.

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
use self::store::{Key, Kind, Store};

pub use self::image::{pack, unpack};
pub use self::panels::{KeptPanels, Packing};

/// Alignment of constants in a file: that of the widest vectors.
const ALIGNMENT: usize = 64;

/// A folder of compiled modules, which processes may share.
#[derive(Debug)]
pub struct CompileCache {
    store: Store,
    identity: String,
    found: AtomicU64,
    missed: AtomicU64,
}

/// What a cache holds, and what it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheStats {
    /// Where it is.
    pub folder: PathBuf,
    /// How many programs it holds.
    pub programs: usize,
    /// How many schedules that were measured.
    pub schedules: usize,
    /// Of how many models it holds packed weights.
    pub models: usize,
    /// Bytes that packed weights take.
    pub model_bytes: u64,
    /// Bytes that all else takes.
    pub bytes: u64,
    /// The most bytes that all but packed weights may take.
    pub limit: u64,
    /// How many programs were found since it was opened.
    pub found: u64,
    /// How many were not.
    pub missed: u64,
}

/// A module that is looked for, and kept if it is not found.
pub(crate) struct Request {
    key: Key,
    /// The constants of the module.
    given: Vec<Bytes>,
}

/// What was kept of a module.
pub(crate) struct Entry {
    /// The module of kernels.
    pub(crate) lowered: Graph,
    pub(crate) code: ProgramCode,
}

impl CompileCache {
    /// The variable of the environment that names the folder of a user; an empty one keeps nothing.
    pub const FOLDER: &str = "MIND_CACHE";

    /// The most bytes of a cache unless its user says otherwise: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// The cache in `folder`, which is made if it is not there, and whose files are never more than `limit` bytes.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or somebody else may write to it; the file of this program is not known.
    pub fn open(folder: &Path, limit: u64) -> io::Result<CompileCache> {
        let unknown = || io::Error::other("the file of this program is not known");
        Ok(CompileCache {
            store: Store::open(folder, limit)?,
            identity: identity::identity().ok_or_else(unknown)?,
            found: AtomicU64::new(0),
            missed: AtomicU64::new(0),
        })
    }

    /// The folder that users have what can be made again in, as the variables of their environment say: that of
    /// `MIND_CACHE`, or one of the system's; `None` if there is none.
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

    /// What it holds.
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

    /// Where what is made of the weights in `files` is kept, for a model and settings.
    ///
    /// # Errors
    ///
    /// A file that is not there.
    pub(crate) fn packing(&self, settings: &str, of: (&str, &[PathBuf])) -> io::Result<Packing> {
        Packing::of(self.store.folder(), &self.identity, settings, of)
    }

    /// What a module is looked for by that is compiled as `settings` say.
    pub(crate) fn request(&self, g: &Graph, settings: &str) -> Request {
        let image = Image::of(g);
        let mut hasher = blake3::Hasher::new();
        let literals = image.literals.iter().map(|literal| literal.bytes);
        let parts = [self.identity.as_bytes(), settings.as_bytes(), &image.bytes];
        for part in parts.into_iter().chain(literals) {
            add(&mut hasher, part);
        }
        Request {
            key: Key::new(Kind::Program, hasher.finalize()),
            given: image
                .literals
                .iter()
                .map(|own| g.shared_bytes(own))
                .collect(),
        }
    }

    /// What is kept of the module of `request`; `None` if nothing is.
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

    /// Keeps what was made of the module of `request`, unless that is a large part of what the cache may hold. A
    /// cache that cannot be written to keeps nothing.
    pub(crate) fn keep(&self, request: &Request, lowered: &Graph, code: &ProgramCode) {
        let contents = Entry::write(lowered, code, &request.given);
        if contents.len() as u64 <= self.store.most_bytes() {
            // The program is there all the same.
            let _ = self.store.store(request.key, &contents);
        }
    }

    /// The note that is kept under these parts of a key by this build; `None` if there is none.
    pub(crate) fn note(&self, parts: &[&[u8]]) -> Option<Value> {
        let contents = self.store.load(self.note_key(parts))?;
        serde_json::from_slice(&contents).ok()
    }

    /// Keeps a note. A cache that cannot be written to keeps nothing.
    pub(crate) fn keep_note(&self, parts: &[&[u8]], note: &Value) {
        let _ = self
            .store
            .store(self.note_key(parts), note.to_string().as_bytes());
    }

    fn note_key(&self, parts: &[&[u8]]) -> Key {
        let mut hasher = blake3::Hasher::new();
        add(&mut hasher, self.identity.as_bytes());
        parts.iter().for_each(|part| add(&mut hasher, part));
        Key::new(Kind::Schedule, hasher.finalize())
    }
}

impl Request {
    /// What the module is known by.
    pub(crate) fn digest(&self) -> &[u8] {
        self.key.digest()
    }
}

/// What a module is known by, wherever it stands and whatever its values are called, together with `parts`.
pub(crate) fn digest(parts: &[&[u8]], g: &Graph) -> blake3::Hash {
    let image = Image::without_places(g);
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| add(&mut hasher, part));
    add(&mut hasher, &image.bytes);
    image
        .literals
        .iter()
        .for_each(|literal| add(&mut hasher, literal.bytes));
    hasher.finalize()
}

/// Hashes a part of a key, which ends before the next one begins.
fn add(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

/// Where the bytes of a constant are, as a byte.
mod tag {
    /// Among those of the module that was compiled.
    pub(super) const GIVEN: u8 = 0;
    /// In the file.
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
        // Scratch memory is never of no bytes.
        out.number(scratch.unwrap_or(0) as u64);
        out.number(kernel.code.len() as u64);
        out.bytes.extend(&kernel.code);
    }
    out.number(code.regions.len() as u64);
    for region in &code.regions {
        write_code(out, region);
    }
}

/// `contents` are the bytes that `bytes` are read from.
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
