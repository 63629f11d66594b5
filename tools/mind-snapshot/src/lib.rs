//! Snapshot tests, whose expected output is in files of the repository.
//!
//! `INSTA_UPDATE=always` rewrites those files instead of comparing; read the diff before you commit.

use std::path::Path;

#[doc(hidden)]
pub use insta;

/// Returns whether this run rewrites snapshots.
pub fn updates() -> bool {
    std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always")
}

/// Compares a file of the repository with its expected contents.
///
/// # Panics
///
/// Panics if they differ, or if the file cannot be read or rewritten.
#[track_caller]
pub fn check_file(path: impl AsRef<Path>, expected: impl AsRef<[u8]>) {
    let (path, expected) = (path.as_ref(), expected.as_ref());
    if updates() {
        std::fs::write(path, expected).expect("a file of the repository can be written");
        return;
    }
    let found = std::fs::read(path).unwrap_or_default();
    let shown = path.display();
    assert!(
        found == expected,
        "{shown} is stale; `INSTA_UPDATE=always` rewrites it"
    );
}

/// Compares a text with the snapshot of the enclosing test, for example `snapshots/<module>__<test>.snap`.
#[macro_export]
macro_rules! snapshot {
    ($text:expr) => {
        $crate::insta::with_settings!({ omit_expression => true }, {
            $crate::insta::assert_snapshot!($text)
        })
    };
}
