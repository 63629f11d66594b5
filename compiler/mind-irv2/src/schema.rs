//! What a document says, in the terms of [`Config`].

use std::collections::BTreeMap;

use mind_json::Member;
use mind_weights::{Role, WeightType};

use crate::config::Config;
use crate::layout::buffers::BUFFERS;
use crate::meta::BIASES;

/// A document of IR v2.
///
/// Dimensions, buffers and nodes follow from the configuration by the tables of [`layout`](crate::layout); a
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

/// How each weight of a model is stored; `f32` where nothing else is said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeightTypes {
    /// Never `f32`, so that equal tables are equal.
    usual: BTreeMap<Role, WeightType>,
    /// Never what is usual.
    layers: BTreeMap<(usize, Role), WeightType>,
}

impl WeightTypes {
    /// Matrices stored as `matrices`, vectors as `vectors`.
    pub fn uniform(matrices: WeightType, vectors: WeightType) -> WeightTypes {
        let mut types = WeightTypes::default();
        for row in BUFFERS {
            let is_vector = row.shape.len() == 1 || BIASES.iter().any(|bias| bias.name == row.name);
            let dtype = if is_vector { vectors } else { matrices };
            row.roles().iter().for_each(|&role| types.set(role, dtype));
        }
        types
    }

    /// How the tensor of `role` is stored in `layer`, or in no layer.
    pub fn of(&self, role: Role, layer: Option<usize>) -> WeightType {
        let own = layer.and_then(|layer| self.layers.get(&(layer, role)));
        let usual = self.usual.get(&role);
        own.or(usual).copied().unwrap_or(WeightType::F32)
    }

    /// Sets how tensors of `role` are stored; layers are set afterwards.
    pub fn set(&mut self, role: Role, dtype: WeightType) {
        match dtype {
            WeightType::F32 => drop(self.usual.remove(&role)),
            dtype => drop(self.usual.insert(role, dtype)),
        }
    }

    /// Sets how the tensor of `role` is stored in `layer`.
    pub fn set_in_layer(&mut self, layer: usize, role: Role, dtype: WeightType) {
        if self.of(role, None) == dtype {
            self.layers.remove(&(layer, role));
        } else {
            self.layers.insert((layer, role), dtype);
        }
    }
}
