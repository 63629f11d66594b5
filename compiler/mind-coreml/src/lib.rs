//! Core ML's formats for programs of the mil dialect.
//!
//! [`mil`] reads and writes MIL text, [`package`] the `.mlpackage` folders that hold a program as protobuf beside
//! its weight file, [`blob`] weight files, which texts name too. Text and packages are read to one syntax, in which
//! every part has its place, and one builder makes the graph of it. What they share with the other text formats, such
//! as numbers and limits, is in `mind_text`. Packages are behind the feature `package`, on by default, because of what
//! protobuf takes to build.

pub mod blob;
pub mod mil;
#[cfg(feature = "package")]
pub mod package;
