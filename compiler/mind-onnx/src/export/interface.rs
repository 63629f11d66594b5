//! What a model calls its outputs, which modules of core do not keep.

use prost::Message;

/// A model, of which the outputs alone are read.
#[derive(Clone, PartialEq, Message)]
struct Interface {
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "12")]
    output: Vec<Output>,
}

#[derive(Clone, PartialEq, Message)]
struct Output {
    #[prost(string, tag = "1")]
    name: String,
}

/// The names of a model's outputs, in order, to write it again under these; none for what is no model.
pub fn output_names(bytes: &[u8]) -> Vec<String> {
    let model = Interface::decode(bytes).unwrap_or_default();
    let outputs = model.graph.into_iter().flat_map(|graph| graph.output);
    outputs.map(|output| output.name).collect()
}
