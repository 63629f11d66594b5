//! Options of a lowering.

use mind_ir::types::DType;
use mind_mil::Opset;
use mind_mil::check::Interface;

/// Preferred tensor layout.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Layout {
    /// The layout of the module.
    Keep,
    /// Products with a constant matrix as 1x1 convolutions over `[B, C, 1, S]`.
    Ane,
    /// [`Layout::Ane`] for products with enough rows to fill a last axis of 64 bytes, otherwise [`Layout::Keep`].
    #[default]
    Auto,
}

/// Options of a lowering.
#[derive(Clone, Debug)]
pub struct Config {
    /// The dtype that replaces `f32`: `f16`, or `f32` itself.
    pub float: DType,
    /// The types that inputs and outputs of the program may have.
    pub interface: Interface,
    /// The opset.
    pub opset: Opset,
    /// The preferred tensor layout.
    pub layout: Layout,
    /// The pairs in the program's `buildInfo` attribute.
    pub build_info: Vec<(String, String)>,
    /// Symbolic dimensions that stay open in inputs, with their allowed extents.
    pub flexible: Vec<(String, Extents)>,
}

/// The allowed extents of a dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extents {
    /// All extents from the first to the second, both included.
    Range(i64, i64),
    /// The listed extents.
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
    /// Returns the attributes of the program, in canonical form.
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
