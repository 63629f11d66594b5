//! Infrastructure shared by the importers of foreign models.
//!
//! - `emit.rs`: core ops that every importer emits, as methods of [`EmitCore`]; `constants.rs`: constants of the model, once
//!   a block.
//! - `region.rs`: ops with closed regions. A refusal inside of a body reaches the importer as it is, and loops whose steps
//!   change extents are emitted once more with open ones.
//! - `fold.rs`: ops on constants, which are evaluated at once, for example the arithmetic that models do with shapes.
//! - `refusal.rs`: why a part of a model is not converted, with its code, the found and the expected value; `report.rs`:
//!   all refusals of an import, with the place of each, and its warnings; `source.rs`: the inputs that a refused value is
//!   computed from.
//! - `inputs.rs`: extents and arrays that a user gives for the inputs of a model; `names.rs`: identifiers for names of
//!   dimensions, for example `a.b`.

mod constants;
mod emit;
mod fold;
mod inputs;
mod names;
mod refusal;
mod region;
mod report;
mod source;

pub use constants::Constants;
pub use emit::{EmitCore, Many, One, converted, scalar};
pub use fold::{evaluated, finish};
pub use inputs::{bound_constant, unknown_names};
pub use names::DimSymbols;
pub use refusal::{Argument, Refusal};
pub use region::{Bodies, RegionOp};
pub use report::{Imported, Report, Site};
pub use source::{at_run_time, fixing_inputs};
