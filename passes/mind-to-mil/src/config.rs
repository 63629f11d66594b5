//! What a lowering is asked for.

use mind_ir::types::DType;
use mind_mil::Opset;
use mind_mil::check::Interface;

/// How tensors lie.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Layout {
    /// As they come.
    Keep,
    /// Products with a constant matrix as 1x1 convolutions over `[B, C, 1, S]`.
    Ane,
    /// As [`Layout::Ane`] where there are rows enough to fill a last axis of 64 bytes.
    #[default]
    Auto,
}

/// What a lowering is asked for.
#[derive(Clone, Debug)]
pub struct Config {
    /// What `f32` becomes: `f16`, or itself.
    pub float: DType,
    /// Which types the program may take and give.
    pub interface: Interface,
    /// The opset.
    pub opset: Opset,
    /// How tensors lie.
    pub layout: Layout,
    /// What the program says of its making, as pairs.
    pub build_info: Vec<(String, String)>,
    /// Symbolic dimensions that inputs may keep, each with the extents that it takes.
    pub flexible: Vec<(String, Extents)>,
}

/// The extents that a dimension takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extents {
    /// From the first to the second.
    Range(i64, i64),
    /// These.
    Listed(Vec<i64>),
}

impl Default for Config {
    fn default() -> Config {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        Config {
            float: DType::F16,
            interface: Interface::Ane,
            opset: Opset::DEFAULT,
            layout: Layout::Auto,
            build_info: vec![
                pair("coremlc-component-MIL", "mind-opt"),
                pair("coremlc-version", "0"),
            ],
            flexible: Vec::new(),
        }
    }
}

impl Config {
    /// The attributes of the program, in canonical form.
    pub(crate) fn attributes(&self) -> String {
        let mut pairs = self.build_info.clone();
        pairs.sort();
        let legal = |text: &str| {
            text.replace(['"', '\\'], "'")
                .replace(char::is_control, " ")
        };
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(key, value)| format!("{{\"{}\", \"{}\"}}", legal(key), legal(value)))
            .collect();
        let string = match self.opset.version() {
            "1.0" => "tensor<string, []>",
            _ => "string",
        };
        format!(
            "buildInfo = dict<{string}, {string}>({{{}}})",
            pairs.join(", ")
        )
    }
}
