//! Scratch folders of tests.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The scratch folder of a test, the only place it may write to.
#[derive(Debug, Clone)]
pub struct Sandbox {
    dir: PathBuf,
}

impl Sandbox {
    /// Creates an empty folder below `scratch` for a test.
    ///
    /// # Errors
    ///
    /// A folder that cannot be removed or created.
    pub fn create(scratch: &Path, test: &str) -> io::Result<Sandbox> {
        let dir = lexically_normal(&scratch.join(test));
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(&dir)?;
        Ok(Sandbox { dir })
    }

    /// Returns a folder that is never created, for tools that do not write files.
    pub fn absent(scratch: &Path) -> Sandbox {
        Sandbox {
            dir: scratch.join(".absent"),
        }
    }

    /// Returns the path of the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns `path`, resolved relative to `cwd`, for writing; `None` if it is outside of the folder.
    pub fn writable(&self, cwd: &Path, path: &Path) -> Option<PathBuf> {
        let path = lexically_normal(&cwd.join(path));
        path.starts_with(&self.dir).then_some(path)
    }
}

/// Resolves `.` and `..` without accessing the file system.
fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            _ => normal.push(component),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::scratch;

    #[test]
    fn only_the_folder_is_writable() {
        let scratch = scratch("sandbox");
        let sandbox = Sandbox::create(&scratch, "a/b.mic").unwrap();
        let writable = |path: &str| sandbox.writable(sandbox.dir(), Path::new(path));
        assert_eq!(writable("x/../y"), Some(sandbox.dir().join("y")));
        assert_eq!(writable("../c"), None);
        assert_eq!(writable("/etc/passwd"), None);
        fs::write(sandbox.dir().join("old"), "").unwrap();
        let again = Sandbox::create(&scratch, "a/b.mic").unwrap();
        assert!(!again.dir().join("old").exists());
    }
}
