//! Packages that are imported, optimised and exported again.

use std::fmt::Write;

use mind_interp::Arrays;
use mind_ir::Graph;
use mind_ir::types::DType;
use mind_mil::Opset;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

use crate::Packages;
use crate::package::{first, read_back};

impl Packages<'_> {
    /// Reads the package of a program, imports and optimises it, and exports the result as a package.
    pub(crate) fn again(
        &mut self,
        name: &str,
        source: &str,
        low: &Graph,
        opset: &str,
        arrays: impl Fn(&Graph) -> Option<Arrays>,
    ) -> Result<(), String> {
        let mut low = low.clone();
        mind_mil::names::assign_names(&mut low);
        // A program that cannot be read back was reported when its package was added.
        let Some(Ok(mut g)) = read_back(&low) else {
            return Ok(());
        };
        let config = Config {
            float: DType::F32,
            interface: Interface::Any,
            layout: Layout::Keep,
            opset: Opset::parse(opset).unwrap_or(Opset::DEFAULT),
            ..Config::default()
        };
        let made = mind_from_mil::import(&mut g).map_err(|found| ("imported", found));
        let made = made.and_then(|_| {
            self.optimiser.run(&mut g);
            mind_to_mil::lower(&mut g, &config).map_err(|found| ("lowered", found))
        });
        if let Err((step, found)) = made {
            // Writing to a string cannot fail.
            let _ = writeln!(
                self.not_passed,
                "{name}: not {step} again: {}",
                first(found)
            );
            return Ok(());
        }
        self.add("again", format!("{name}-again"), source, g, arrays)
    }
}
