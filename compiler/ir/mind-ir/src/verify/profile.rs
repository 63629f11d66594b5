//! Profiles: the sets of ops, dtypes and dimensions that a module may use.

use super::VerifyError;
use crate::entity::OpId;
use crate::graph::Graph;
use crate::opdef::Trait;
use crate::types::{Dim, TypeView};

/// A set of ops, dtypes and dimensions that a module may use.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Profile {
    /// Core v1 as published in the specification.
    CoreV1,
    /// All ops, dtypes and dimensions.
    #[default]
    Extended,
}

impl Profile {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::CoreV1 => "core-v1",
            Profile::Extended => "extended",
        }
    }

    /// Returns the profile with this name.
    pub fn parse(name: &str) -> Option<Profile> {
        [Profile::CoreV1, Profile::Extended]
            .into_iter()
            .find(|profile| profile.name() == name)
    }
}

/// Checks that `op` and its result types are in profile `core-v1`.
pub(super) fn check_core_v1(g: &Graph, op: OpId) -> Result<(), VerifyError> {
    let def = g.def(op);
    let admitted = def.core_v1.is_none_or(|admits| admits(op, g));
    if def.has(Trait::Extended) || !admitted {
        return Err(outside(format!("`{}`", def.short_name())));
    }
    for value in g.results(op) {
        let Some(ty) = g.type_id(value) else { continue };
        if let Some(problem) = type_problem(g, g.types().get(ty)) {
            if def.has(Trait::Interface) {
                let name = format!("%{}", g.label(value));
                return Err(VerifyError::Input { name, problem });
            }
            return Err(outside(problem));
        }
    }
    Ok(())
}

fn type_problem(g: &Graph, ty: TypeView<'_>) -> Option<String> {
    if !ty.dtype.in_core_v1() {
        return Some(format!("dtype {}", ty.dtype));
    }
    let open = ty.shape.iter().find(|dim| !matches!(dim, Dim::Fixed(_)))?;
    Some(format!("dimension {}", open.display(g.symbols())))
}

fn outside(what: String) -> VerifyError {
    VerifyError::Profile {
        what,
        profile: "core-v1",
        allowed: "extended",
    }
}
