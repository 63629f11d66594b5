//! Core ML's formats for programs of the mil dialect.
//!
//! [`mil`] reads and writes MIL text, [`package`] the `.mlpackage` folders that hold a program as protobuf beside
//! its weight file. Both are read to one syntax, in which every part has its place, and one builder makes the graph of
//! it. What they share with the other text formats, such as numbers and limits, is in `mind_text`.

pub mod mil;
pub mod package;
