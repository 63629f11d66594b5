//! Core ML's formats for programs of the mil dialect.
//!
//! [`mil`] reads and writes MIL text. [`package`] reads and writes `.mlpackage` folders, which hold a program as
//! protobuf next to its weight file. [`blob`] reads and writes weight files, which MIL texts refer to as well. Texts
//! and packages are decoded to the same syntax tree, from which one builder makes the graph. Code shared with the other
//! text formats, for example numbers and limits, is in `mind_text`. Packages are behind the feature `package`, which is
//! on by default, because protobuf takes long to build.

pub mod blob;
pub mod mil;
#[cfg(feature = "package")]
pub mod package;
