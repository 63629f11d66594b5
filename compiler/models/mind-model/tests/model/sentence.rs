//! Configuration files of sentence embedding models.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use mind_driver::host::FileSystem;
use mind_ir::random::Rng;
use mind_model::{Embedding, Files, Pooling, WeightsAt};

use crate::writers::corrupt;

/// An in-memory file system.
pub struct Memory(pub BTreeMap<PathBuf, Vec<u8>>);

impl FileSystem for Memory {
    fn read(&mut self, path: &Path, _: u64) -> io::Result<Vec<u8>> {
        let missing = || io::ErrorKind::NotFound.into();
        let kind = io::ErrorKind::IsADirectory;
        match self.0.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None if path == Path::new("model") => Err(kind.into()),
            None => Err(missing()),
        }
    }

    fn read_stdin(&mut self, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn write(&mut self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Returns the embedding configuration of a folder with these files, or the rendered errors.
fn said(files: &[(&str, &[u8])]) -> Result<Embedding, String> {
    let all = files.iter().map(|(name, text)| (*name, text.to_vec()));
    let all = all.chain([
        ("config.json", b"{}".to_vec()),
        ("model.safetensors", Vec::new()),
    ]);
    let all = all.map(|(name, text)| (Path::new("model").join(name), text));
    let mut host = Memory(all.collect());
    let files = Files::open(Path::new("model"), WeightsAt::Beside, &mut host);
    let files = files.map_err(|why| why.to_string())?;
    Embedding::of(&files, &mut host).map_err(|why| why.to_string())
}

const MODULES: &str = r#"[
 {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
 {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
]"#;
const POOLING: &str = r#"{"word_embedding_dimension": 8, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false,
 "pooling_mode_max_tokens": false}"#;

fn embedding(pooling: Pooling, normalizes: bool) -> Result<Embedding, String> {
    Ok(Embedding {
        pooling,
        normalizes,
    })
}

#[test]
fn modules_say_how_vectors_are_made() {
    let (modules, pooling) = (MODULES.as_bytes(), POOLING.as_bytes());
    assert_eq!(said(&[]), embedding(Pooling::Mean, false));
    let listed = said(&[("modules.json", modules)]);
    assert_eq!(listed, embedding(Pooling::Mean, true));
    let usual = said(&[("1_Pooling/config.json", pooling)]);
    assert_eq!(usual, embedding(Pooling::Cls, false));
    let both = said(&[
        ("modules.json", modules),
        ("1_Pooling/config.json", pooling),
    ]);
    assert_eq!(both, embedding(Pooling::Cls, true));
    let moved = MODULES.replace("1_Pooling", "pool/first");
    let moved = said(&[
        ("modules.json", moved.as_bytes()),
        ("1_Pooling/config.json", b"no JSON"),
        ("pool/first/config.json", pooling),
    ]);
    assert_eq!(moved, embedding(Pooling::Cls, true));
}

#[test]
fn files_outside_of_the_folder_are_not_read() {
    for path in ["..", "/etc", "a/../../b", "./.."] {
        let modules = MODULES.replace("1_Pooling", path);
        let found = said(&[("modules.json", modules.as_bytes())]).unwrap_err();
        let expected = "expected a folder below this one as `path`";
        assert!(found.ends_with(expected), "{path}: {found}");
    }
}

#[test]
fn corrupted_modules() {
    let mut random = Rng::new(51);
    let (mut refused, mut read) = (0, 0);
    for at in 0..1000 {
        let mut files = [MODULES, POOLING].map(|text| text.as_bytes().to_vec());
        files[at % 2] = corrupt(&files[at % 2], &mut random);
        let found = said(&[
            ("modules.json", &files[0]),
            ("1_Pooling/config.json", &files[1]),
        ]);
        match found {
            Ok(_) => read += 1,
            Err(why) => {
                assert!(why.starts_with("model/"), "{why}");
                refused += 1;
            }
        }
    }
    assert!(
        refused > 500 && read > 100,
        "{refused} refused, {read} read"
    );
}
