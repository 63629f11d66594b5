//! The contents of a document, in terms of [`Config`].

use std::collections::BTreeMap;

use mind_json::Member;
use mind_weights::WeightType;

use crate::config::Config;
use crate::layout::buffers::TensorForm;

/// A document of IR v2.
///
/// Dimensions, buffers and nodes follow from the configuration and the plan of its family. A document in which they
/// differ is rejected by the reader.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// The model.
    pub config: Config,
    /// The storage types of its weights.
    pub dtypes: WeightTypes,
    /// Whether the checkpoint fuses q, k and v in one matrix. For information only.
    pub fused_qkv: bool,
    /// Notes for human readers.
    pub notes: Vec<String>,
    /// Members of other tools.
    pub foreign: Foreign,
}

/// Members of other tools, which are preserved.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Foreign {
    /// Those of the document itself.
    pub document: Vec<Member>,
    /// Those of `config`.
    pub config: Vec<Member>,
    /// Those of `meta`.
    pub meta: Vec<Member>,
}

/// The storage type of each tensor of a model; `f32` by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeightTypes {
    /// The types of tensors other than `f32`. Defaults are not stored, so that equal tables compare equal.
    usual: BTreeMap<&'static str, WeightType>,
    /// The types of layers that differ from `usual`.
    layers: BTreeMap<(usize, &'static str), WeightType>,
}

impl WeightTypes {
    /// Returns the table for the model of `config` with one type for matrices and one for vectors.
    pub fn uniform(config: &Config, matrices: WeightType, vectors: WeightType) -> WeightTypes {
        let mut types = WeightTypes::default();
        for buffer in config.family.buffers() {
            let dtype = match buffer.form(config) {
                TensorForm::Vector { .. } | TensorForm::HeadVector { .. } => vectors,
                TensorForm::Matrix { .. }
                | TensorForm::HeadRows { .. }
                | TensorForm::HeadColumns { .. } => matrices,
            };
            buffer
                .parts()
                .iter()
                .for_each(|part| types.set(part, dtype));
        }
        types
    }

    /// Returns the type of the tensor `part` in `layer`, or in the whole model.
    pub fn of(&self, part: &str, layer: Option<usize>) -> WeightType {
        let own = layer.and_then(|layer| self.layers.get(&(layer, part)));
        let usual = self.usual.get(part);
        own.or(usual).copied().unwrap_or(WeightType::F32)
    }

    /// Sets the usual type of the tensors `part`; must be called before [`set_in_layer`](WeightTypes::set_in_layer).
    pub fn set(&mut self, part: &'static str, dtype: WeightType) {
        match dtype {
            WeightType::F32 => drop(self.usual.remove(part)),
            dtype => drop(self.usual.insert(part, dtype)),
        }
    }

    /// Sets the type of the tensor `part` in `layer`.
    pub fn set_in_layer(&mut self, layer: usize, part: &'static str, dtype: WeightType) {
        if self.of(part, None) == dtype {
            self.layers.remove(&(layer, part));
        } else {
            self.layers.insert((layer, part), dtype);
        }
    }
}
