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

//!
//! A module runs on arrays of the caller's:
//!
//! ```
//! use mind::exec::{Config, Engine, Executable, View, ViewMut};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "mic@2\nT0 f32 2 2\na x T0\np w T0\nm 0 1\nr 2\nO 3";
//! let engine = Engine::new(&Config::default()).map_err(|_| "no engine")?;
//! let executable = Executable::from_text(engine.into(), text).map_err(|_| "not compiled")?;
//! let model = executable.bind(&[View::new(&[2, 2], &[1.0f32, -1.0, 1.0, 1.0])])?;
//! let mut y = [0f32; 4];
//! model.run(&[View::new(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0])], &mut [ViewMut::new(&mut y)])?;
//! assert_eq!(y, [3.0, 1.0, 7.0, 1.0]);
//! # Ok(())
//! # }
//! ```

pub mod ir;

/// Modules compiled for this machine.
pub mod exec {
    pub use mind_driver::engine::{Config, Engine};
    pub use mind_driver::executable::{Executable, ExecutionError, Model, View, ViewMut};
    pub use mind_jit::pool::Pool;
    pub use mind_jit::program::{BoundProgram, Port, Program, RunError};
    pub use mind_vir::target::Isa;
}

/// Edits of a module by the ids of its values: all of them or none.
///
/// ```
/// use mind::ir::compact::v2::{emit_mic2, parse_mic2};
/// use mind::patch::{Edit, apply};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = parse_mic2("mic@2\nT0 f32 4\na x T0\nr 0\nO 1")?;
/// let edits = Edit::read_all(r#"[{"replace": 1, "with": {"op": "Tanh", "operands": [0]}}]"#)?;
/// let patched = apply(&graph, &edits, &mind::driver::session::registry(), &Default::default())?;
/// assert_eq!(emit_mic2(&patched), "mic@2\nT0 f32 4\na x T0\nth 0\nO 1");
/// # Ok(())
/// # }
/// ```
pub mod patch {
    pub use mind_driver::patch::{Edit, NewBody, NewStatement, PatchError, Place, apply};
}

pub use mind_driver as driver;
