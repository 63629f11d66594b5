//! The pass that lowers to the mil dialect.

use mind_ir::Graph;
use mind_ir::types::DType;
use mind_mil::Opset;
use mind_mil::check::Interface;
use mind_pass::{Changed, OptionInfo, OptionKind, Options, Pass, PassCx, PassError, PassInfo};

use crate::config::{Config, Layout};
use crate::conversion::lower;

/// The registration of the pass.
pub const PASS: PassInfo = PassInfo {
    name: "lower-to-mil",
    alias: None,
    summary: "Lowers core and tensor ops to the mil dialect: halves for floats, constants cast once, ops \
              without a MIL form reported by name",
    example: "--lower-to-mil='precision=fp16 io=ane'",
    options: &[
        OptionInfo {
            name: "precision",
            kind: OptionKind::Word(&["fp16", "fp32"]),
            default: "fp16",
            summary: "the dtype that replaces f32",
        },
        OptionInfo {
            name: "io",
            kind: OptionKind::Word(&["ane", "coreml"]),
            default: "ane",
            summary: "which types the program takes and gives: `ane` fp16 and narrow integers, `coreml` also fp32 \
                      and int32",
        },
        OptionInfo {
            name: "layout",
            kind: OptionKind::Word(&["auto", "ane", "keep"]),
            default: "auto",
            summary: "products with a constant matrix as 1x1 convolutions over [B, C, 1, S]: always, never, or \
                      from 32 rows",
        },
        OptionInfo {
            name: "opset",
            kind: OptionKind::Word(&["ios15", "ios16", "ios17", "ios18", "ios26"]),
            default: "ios18",
            summary: "the opset",
        },
    ],
    enters_regions: false,
    make: |options| {
        Box::new(LowerToMil {
            config: config(options),
        })
    },
};

/// Returns the configuration of the pass from its options.
pub fn config(options: &Options) -> Config {
    let float = match options.text("precision") {
        "fp32" => DType::F32,
        _ => DType::F16,
    };
    let interface = match (options.text("io"), float) {
        ("coreml", _) => Interface::Any,
        _ => Interface::Ane,
    };
    let layout = match options.text("layout") {
        "ane" => Layout::Ane,
        "keep" => Layout::Keep,
        _ => Layout::Auto,
    };
    let opset = Opset::parse(options.text("opset")).unwrap_or(Opset::DEFAULT);
    Config {
        float,
        interface,
        opset,
        layout,
        ..Config::default()
    }
}

struct LowerToMil {
    config: Config,
}

impl Pass for LowerToMil {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let lowered = lower(g, &self.config).map_err(PassError::Invalid)?;
        cx.statistics.add("lowered", lowered.ops as u64);
        if lowered.doubles > 0 {
            cx.statistics
                .add("narrowed-doubles", lowered.doubles as u64);
        }
        Ok(Changed::when(lowered.ops > 0))
    }
}
