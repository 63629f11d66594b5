//! Routines without a kernel, as C statements.

mod block;
mod element;
mod extents;
mod sample;
mod scatter;
mod search;
mod sort;

use crate::program::{Algorithm, Evaluate, RoutineError, Step};

use super::module::{EmitError, Module};
use block::Block;

impl Module<'_> {
    /// Checks that a routine has a C implementation, and that its arrays have the sizes that it accesses.
    ///
    /// # Errors
    ///
    /// Errors if one of these does not hold.
    pub(super) fn check_routine(&self, call: &Evaluate) -> Result<(), EmitError> {
        let op = call.op;
        call.checked().map(|_| ()).map_err(|why| match why {
            RoutineError::Unknown => EmitError::NoC { op },
            RoutineError::Arrays { found, expected } => EmitError::Arrays {
                op,
                subprogram: "its code".to_owned(),
                found,
                expected,
            },
            RoutineError::Outside => EmitError::Outside { op },
        })
    }

    /// Returns whether one of `steps`, or of their subprograms, checks extents at run time.
    pub(super) fn checks_extents(&self, steps: &[&Step]) -> bool {
        let mut calls = steps.iter().filter_map(|step| step.as_evaluate());
        let own = calls.any(|call| matches!(call.algorithm, Some(Algorithm::Extents(_))));
        own || self.subprograms.iter().any(|run| run.checks_extents)
    }

    /// Writes the statements of a routine.
    pub(super) fn routine(&self, call: &Evaluate, out: &mut String) {
        let operands: Vec<String> = call.operands.iter().map(|own| self.address(own)).collect();
        let results: Vec<String> = call.results.iter().map(|own| self.address(own)).collect();
        let mut block = Block::new(out);
        match &call.algorithm {
            None => unreachable!("`check` refuses what has no C"),
            Some(Algorithm::Sort(sorting)) => {
                sort::write(sorting, &self.name, (&operands, &results), &mut block);
            }
            Some(Algorithm::Scatter(scattering)) => {
                scatter::write(scattering, (&operands, &results), &mut block);
            }
            Some(Algorithm::Sample(sampling)) => {
                sample::write(sampling, (&operands, &results), &mut block);
            }
            Some(Algorithm::Search(search)) => {
                search::write(search, (&operands, &results), &mut block);
            }
            Some(Algorithm::Extents(extents)) => {
                extents::write(extents, (&operands, &results), &mut block);
            }
        }
    }
}

/// The addresses of the arrays that a step reads, and of those that it writes.
type Arrays<'a> = (&'a [String], &'a [String]);
