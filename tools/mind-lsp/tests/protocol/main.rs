//! Tests of the server over its standard input and output, as an editor uses it.

mod actions;
mod client;
mod command_line;
mod completion;
mod diagnostics;
mod drawn_edits;
mod formatting;
mod hover;
mod inlay;
mod large;
mod lifecycle;
mod navigation;
mod renaming;
mod sample;
mod semantic_tokens;
mod signature;
