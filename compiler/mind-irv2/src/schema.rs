//! What a document says, in the terms of [`Config`].

use std::collections::BTreeMap;

use mind_json::Member;
use mind_weights::WeightType;

use crate::config::Config;
use crate::layout::buffers::Form;

/// A document of IR v2.
///
/// Dimensions, buffers and nodes follow from the configuration and the plan of its family; a
/// document that says anything else of them is refused when it is read.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// The model.
    pub config: Config,
    /// How its weights are stored.
    pub dtypes: WeightTypes,
    /// Whether the checkpoint keeps q, k and v in one matrix; nothing depends on it.
    pub fused_qkv: bool,
    /// Remarks for readers.
    pub notes: Vec<String>,
    /// What other tools have written.
    pub foreign: Foreign,
}

/// Members of other tools, which are kept as they are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Foreign {
    /// Of the document itself.
    pub document: Vec<Member>,
    /// Of `config`.
    pub config: Vec<Member>,
    /// Of `meta`.
    pub meta: Vec<Member>,
}

/// How each tensor of a model is stored; `f32` where nothing else is said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeightTypes {
    /// Never `f32`, so that equal tables are equal.
    usual: BTreeMap<&'static str, WeightType>,
    /// Never what is usual.
    layers: BTreeMap<(usize, &'static str), WeightType>,
}

impl WeightTypes {
    /// Matrices of the model of `config` stored as `matrices`, vectors as `vectors`.
    pub fn uniform(config: &Config, matrices: WeightType, vectors: WeightType) -> WeightTypes {
        let mut types = WeightTypes::default();
        for buffer in config.family.buffers() {
            let dtype = match buffer.form(config) {
                Form::Vector { .. } | Form::HeadVector { .. } => vectors,
                Form::Matrix { .. } | Form::HeadRows { .. } | Form::HeadColumns { .. } => matrices,
            };
            buffer
                .parts()
                .iter()
                .for_each(|part| types.set(part, dtype));
        }
        types
    }

    /// How the tensor `part` is stored in `layer`, or in no layer.
    pub fn of(&self, part: &str, layer: Option<usize>) -> WeightType {
        let own = layer.and_then(|layer| self.layers.get(&(layer, part)));
        let usual = self.usual.get(part);
        own.or(usual).copied().unwrap_or(WeightType::F32)
    }

    /// Sets how the tensors `part` are stored; layers are set afterwards.
    pub fn set(&mut self, part: &'static str, dtype: WeightType) {
        match dtype {
            WeightType::F32 => drop(self.usual.remove(part)),
            dtype => drop(self.usual.insert(part, dtype)),
        }
    }

    /// Sets how the tensor `part` is stored in `layer`.
    pub fn set_in_layer(&mut self, layer: usize, part: &'static str, dtype: WeightType) {
        if self.of(part, None) == dtype {
            self.layers.remove(&(layer, part));
        } else {
            self.layers.insert((layer, part), dtype);
        }
    }
}
