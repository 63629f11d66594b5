//! The pass `lower-to-loops`.

use mind_ir::Graph;
use mind_pass::{Changed, OptionInfo, OptionKind, Pass, PassCx, PassError, PassInfo};

use crate::conversion::lower;
use crate::options::{Options, Packing};

/// Returns a count option, for which 0 usually leaves the choice to the target.
const fn count(name: &'static str, default: &'static str, summary: &'static str) -> OptionInfo {
    OptionInfo {
        name,
        kind: OptionKind::Count,
        default,
        summary,
    }
}

pub(crate) const PASS: PassInfo = PassInfo {
    name: "lower-to-loops",
    alias: None,
    summary: "Lowers to kernels over tiled loops: groups become one kernel if possible, layout-only \
              ops become views, results get offsets in the workspace; core ops are lowered to the tensor \
              dialect first",
    example: "--pass-pipeline='lower-to-loops{tile=4096}'",
    options: &[
        count("tile", "8192", "least positions of a nest in a task"),
        count(
            "unroll",
            "0",
            "unroll factor in vectors of a loop without a reduction, or of reduced columns, 1 to 8; 0 for 4 (columns: 8), fewer in long bodies and under register pressure",
        ),
        count(
            "micro-rows",
            "0",
            "rows of the register tile, which are positions in a convolution; 0 for the target's choice",
        ),
        count(
            "micro-vectors",
            "0",
            "vectors in a row of the register tile; 0 for the target's choice",
        ),
        count(
            "block-rows",
            "0",
            "rows of the cache block, rounded up to whole lines in a convolution; 0 for the target's choice",
        ),
        count(
            "block-columns",
            "0",
            "columns of the cache block; 0 for the target's choice",
        ),
        count(
            "block-depth",
            "0",
            "terms of a chain in the cache block; 0 for the target's choice",
        ),
        OptionInfo {
            name: "pack",
            kind: OptionKind::Word(&["auto", "always", "never"]),
            default: "auto",
            summary: "when to pack the right sides of products into panels",
        },
        mind_to_tensor::DOT_BYTES,
        count(
            "rows",
            "0",
            "rows of a block of kernels that are computed together; 0 for the target's choice",
        ),
    ],
    enters_regions: true,
    make: |options| {
        let list = |names: &[&str]| -> Vec<i64> {
            let counts = names.iter().map(|name| options.count(name) as i64);
            let counts: Vec<i64> = counts.collect();
            if counts.iter().all(|&count| count == 0) {
                Vec::new()
            } else {
                counts
            }
        };
        let loops = Options {
            tile: options.count("tile").max(1),
            unroll: options.count("unroll"),
            micro: list(&["micro-rows", "micro-vectors"]),
            block: list(&["block-rows", "block-columns", "block-depth"]),
            pack: match options.text("pack") {
                "always" => Packing::Always,
                "never" => Packing::Never,
                _ => Packing::Auto,
            },
            rows: options.count("rows"),
        };
        Box::new(LowerToLoops {
            tensor: mind_to_tensor::Options::of(options),
            loops,
        })
    },
};

struct LowerToLoops {
    tensor: mind_to_tensor::Options,
    loops: Options,
}

impl Pass for LowerToLoops {
    fn prepare(&self, g: &mut Graph) -> Result<Changed, PassError> {
        let expanded = mind_core::solve::expand(g).map_err(PassError::Rejected)?;
        Ok(Changed::when(expanded > 0))
    }

    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let (ops, outputs) = (g.walk().count(), g.outputs().to_vec());
        let lowered = mind_to_tensor::lower(g, &self.tensor).map_err(PassError::Rejected)?;
        let kernels = lower(g, &self.loops).map_err(PassError::Rejected)?;
        cx.statistics.add("kernels", kernels as u64);
        // The count does not include views and copies of inputs to outputs.
        let moved = ops != g.walk().count() || outputs != g.outputs();
        Ok(Changed::when(lowered > 0 || kernels > 0 || moved))
    }
}
