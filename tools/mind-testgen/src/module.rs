//! Drawing of modules.

use mind_ir::graph::Graph;

use crate::Config;
use crate::generator::Generator;
use crate::recipe;

/// Returns the module of a seed: verified, with one to three outputs.
///
/// # Panics
///
/// If the configuration has no dtype.
pub fn module(seed: u64, config: &Config) -> Graph {
    let mut draw = Generator::new(seed, config);
    let mut made = 0;
    // A drawn op may not fit the existing values.
    for _ in 0..config.ops * 8 {
        made += usize::from(recipe::draw(&mut draw));
        if made == config.ops {
            break;
        }
    }
    draw.finish()
}
