//! The buffers of a model, as its family declares them.

use mind_weights::WeightType;

use super::dims::{Dim, Extent};
use crate::condition::{Condition, Mode};
use crate::config::{Config, Parameters};
use crate::experts::Among;
use crate::family::Architecture;

/// The scope of a buffer, which determines its number of instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One instance.
    Global,
    /// One instance per layer; per decoder layer in an encoder-decoder.
    Layer,
    /// One instance per layer of the encoder of an encoder-decoder.
    Encoder,
    /// One instance per decoder layer of an encoder-decoder, for cross-attention keys and values, which are computed
    /// once for all tokens.
    Cross,
}

impl Scope {
    /// Returns the scopes that buffers of `architecture` may have.
    const fn all(architecture: Architecture) -> &'static [Scope] {
        match architecture {
            Architecture::Decoder | Architecture::Encoder => &[Scope::Global, Scope::Layer],
            Architecture::EncoderDecoder => {
                &[Scope::Global, Scope::Layer, Scope::Encoder, Scope::Cross]
            }
        }
    }

    /// Returns its name in files.
    pub const fn name(self, architecture: Architecture) -> &'static str {
        match self {
            Scope::Global => "global",
            Scope::Layer => architecture.layer_scope(),
            Scope::Encoder => "encoder",
            Scope::Cross => "cross",
        }
    }

    /// Returns the scope that files call `name`.
    pub fn parse(name: &str, architecture: Architecture) -> Option<Scope> {
        let mut all = Scope::all(architecture).iter().copied();
        all.find(|own| own.name(architecture) == name)
    }

    /// Returns a sentence with the valid scopes, for messages.
    pub(crate) fn words(architecture: Architecture) -> String {
        let all = Scope::all(architecture).iter();
        let words: Vec<String> = all
            .map(|own| format!("`{}`", own.name(architecture)))
            .collect();
        match words.split_last() {
            Some((last, [])) => format!("a scope is {last}"),
            Some((last, others)) => format!("a scope is {} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// Returns whether each layer of a stack has an instance.
    pub const fn is_layered(self) -> bool {
        match self {
            Scope::Global => false,
            Scope::Layer | Scope::Encoder | Scope::Cross => true,
        }
    }

    /// Returns the number of instances in the model of `parameters`.
    pub fn count(self, parameters: &Parameters) -> usize {
        match self {
            Scope::Global => 1,
            Scope::Layer | Scope::Cross => parameters.num_layers,
            Scope::Encoder => parameters.encoder.map_or(0, |own| own.num_layers),
        }
    }
}

/// The use of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BufferKind {
    /// A weight that consists of these tensors of a checkpoint, as consecutive rows.
    Weight(Vec<String>),
    /// A weight that inference does not read.
    UnusedWeight,
    /// An intermediate result, in `f32`.
    Activation,
}

/// A condition, with its text.
#[derive(Clone, PartialEq, Debug)]
pub struct When {
    /// The text, which documents repeat.
    pub text: String,
    /// The condition.
    pub condition: Condition,
}

/// A buffer.
#[derive(Debug)]
pub struct Buffer {
    /// The name.
    pub name: String,
    /// Its scope.
    pub scope: Scope,
    /// Its use.
    pub kind: BufferKind,
    /// Its padded extents, outermost first.
    pub shape: Vec<Extent>,
    /// The condition under which the buffer exists; `None` for always.
    pub when: Option<When>,
    /// Whether a checkpoint may lack it.
    pub optional: bool,
    /// The layers that have it, for a buffer of layers.
    pub layers: Among,
}

impl Buffer {
    /// Returns whether it is read from a checkpoint.
    pub fn is_weight(&self) -> bool {
        !matches!(self.kind, BufferKind::Activation)
    }

    /// Returns the tensors of which it consists.
    pub fn parts(&self) -> &[String] {
        match &self.kind {
            BufferKind::Weight(parts) => parts,
            BufferKind::UnusedWeight | BufferKind::Activation => &[],
        }
    }

    /// Returns the key of the part at `index` in `weight_dtypes`: the name of the buffer for the first part, and a
    /// suffixed name for others, for example `w1.up` for the part `w_up`.
    pub fn part_key(&self, index: usize) -> String {
        match self.parts().get(index) {
            Some(part) if index > 0 => {
                let word = part.rsplit('_').next().unwrap_or(part);
                format!("{}.{word}", self.name)
            }
            _ => self.name.clone(),
        }
    }

    /// Returns whether the model of `config` has it in inference.
    pub fn exists(&self, config: &Config) -> bool {
        let when = self.when.as_ref();
        self.layers.occurs(config)
            && when.is_none_or(|own| own.condition.holds(config, Mode::Prefill))
    }

    /// Returns whether it holds a matrix for each expert of a layer.
    pub fn is_of_experts(&self) -> bool {
        let first = self.shape.first();
        self.shape.len() == 3 && first.is_some_and(|own| own.dim == Dim::NumExperts)
    }

    /// Returns its extents in a run of `tokens` positions; `None` if one overflows.
    pub fn resolved(&self, config: &Config, tokens: usize) -> Option<Vec<usize>> {
        let extents = self.shape.iter();
        extents.map(|extent| extent.value(config, tokens)).collect()
    }

    /// Returns how one of its tensors is laid out in it; for a buffer of experts, in the part of an expert.
    pub fn form(&self, config: &Config) -> TensorForm {
        let parts = self.parts().len().max(1);
        let is_heads = |extent: &Extent| {
            let heads = matches!(
                extent.dim,
                Dim::NumHeads | Dim::NumKvHeads | Dim::EncoderHeads
            );
            heads && extent.mult == 1
        };
        let is_head =
            |extent: &Extent| matches!(extent.dim, Dim::AlignedHead | Dim::AlignedEncoderHead);
        let plain = |at: usize| self.shape[at].unpadded(config);
        match self.shape.as_slice() {
            [heads, head] if is_heads(heads) && is_head(head) => TensorForm::HeadVector {
                heads: plain(0),
                head: plain(1),
            },
            [heads, head, _] if is_heads(heads) && is_head(head) => TensorForm::HeadRows {
                heads: plain(0),
                head: plain(1),
                columns: plain(2),
            },
            [heads, _, _] if is_heads(heads) => TensorForm::HeadColumns {
                heads: plain(0),
                rows: plain(1),
                head: plain(2),
            },
            [..] if self.is_of_experts() => TensorForm::Matrix {
                rows: plain(1) / parts,
                columns: plain(2),
            },
            [_, ..] if self.shape.len() > 1 => TensorForm::Matrix {
                rows: plain(0) / parts,
                columns: plain(1),
            },
            _ => TensorForm::Vector {
                count: self.shape.first().map_or(1, |_| plain(0)) / parts,
            },
        }
    }
}

/// The layout of a tensor in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorForm {
    /// `[count]`.
    Vector {
        /// The number of elements.
        count: usize,
    },
    /// `[rows, columns]`.
    Matrix {
        /// The number of outputs.
        rows: usize,
        /// The number of inputs.
        columns: usize,
    },
    /// `[heads head]` as `[heads, head]`.
    HeadVector {
        /// The number of heads.
        heads: usize,
        /// The elements of each head.
        head: usize,
    },
    /// `[heads head, columns]` as `[heads, head, columns]`.
    HeadRows {
        /// The number of heads.
        heads: usize,
        /// The rows of each head.
        head: usize,
        /// The number of inputs.
        columns: usize,
    },
    /// `[rows, heads head]` as `[heads, rows, head]`.
    HeadColumns {
        /// The number of heads.
        heads: usize,
        /// The number of outputs.
        rows: usize,
        /// The columns of each head.
        head: usize,
    },
}

impl TensorForm {
    /// Returns the shape of the tensor.
    pub fn shape(self) -> Vec<usize> {
        match self {
            TensorForm::Vector { count } => vec![count],
            TensorForm::Matrix { rows, columns } => vec![rows, columns],
            TensorForm::HeadVector { heads, head } => vec![heads * head],
            TensorForm::HeadRows {
                heads,
                head,
                columns,
            } => vec![heads * head, columns],
            TensorForm::HeadColumns { heads, rows, head } => vec![rows, heads * head],
        }
    }
}

/// Returns the bytes of an array of `dtype`, with rows rounded up to whole blocks; `None` if they overflow.
pub fn bytes_of(shape: &[usize], dtype: WeightType) -> Option<usize> {
    let (row, outer) = shape.split_last()?;
    let row = row.checked_next_multiple_of(dtype.block_elements())?;
    let rows = outer
        .iter()
        .try_fold(1usize, |rows, &extent| rows.checked_mul(extent))?;
    rows.checked_mul(dtype.row_bytes(row)?)
}
