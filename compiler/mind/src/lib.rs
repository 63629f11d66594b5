//! The public Rust API of mind-opt.
//!
//! ```
//! use mind::ir::compact::v2::{parse_mic2, emit_mic2};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = parse_mic2("mic@2\nT0 f32 4\na x T0\nr 0\nO 1")?;
//! assert_eq!(emit_mic2(&graph), "mic@2\nT0 f32 4\na x T0\nr 0\nO 1");
//! # Ok(())
//! # }
//! ```

pub mod ir;

pub use mind_driver as driver;
