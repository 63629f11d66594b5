//! The buffers of a model, as its family declares them.

use mind_weights::WeightType;

use super::dims::{Dim, Extent};
use crate::condition::{Condition, Mode};
use crate::config::{Config, Parameters};
use crate::experts::Among;
use crate::family::Architecture;

/// How many instances a buffer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One.
    Global,
    /// One a layer: of the decoder, in an encoder-decoder.
    Layer,
    /// One a layer of the encoder of an encoder-decoder.
    Encoder,
    /// One a layer of the decoder of an encoder-decoder, made once of what the encoder says and kept for all tokens.
    Cross,
}

impl Scope {
    /// The scopes that buffers of `architecture` may have.
    const fn all(architecture: Architecture) -> &'static [Scope] {
        match architecture {
            Architecture::Decoder | Architecture::Encoder => &[Scope::Global, Scope::Layer],
            Architecture::EncoderDecoder => {
                &[Scope::Global, Scope::Layer, Scope::Encoder, Scope::Cross]
            }
        }
    }

    /// The word in files.
    pub const fn name(self, architecture: Architecture) -> &'static str {
        match self {
            Scope::Global => "global",
            Scope::Layer => architecture.layer_scope(),
            Scope::Encoder => "encoder",
            Scope::Cross => "cross",
        }
    }

    /// The scope that files call `name`.
    pub fn parse(name: &str, architecture: Architecture) -> Option<Scope> {
        let mut all = Scope::all(architecture).iter().copied();
        all.find(|own| own.name(architecture) == name)
    }

    /// Which words there are, for messages.
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

    /// Whether there is one for each layer of a stack.
    pub const fn is_layered(self) -> bool {
        match self {
            Scope::Global => false,
            Scope::Layer | Scope::Encoder | Scope::Cross => true,
        }
    }

    /// The instances that the model of `parameters` has.
    pub fn count(self, parameters: &Parameters) -> usize {
        match self {
            Scope::Global => 1,
            Scope::Layer | Scope::Cross => parameters.num_layers,
            Scope::Encoder => parameters.encoder.map_or(0, |own| own.num_layers),
        }
    }
}

/// What a buffer is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It is filled from these tensors of a checkpoint, each below the one before.
    Weight(Vec<String>),
    /// It is a weight that inference does not read.
    UnusedWeight,
    /// It is computed in a run, in `f32`.
    Activation,
}

/// A condition with its text.
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
    /// How many there are.
    pub scope: Scope,
    /// What it is for.
    pub kind: Kind,
    /// Its extents, padded, outermost first.
    pub shape: Vec<Extent>,
    /// When there is such a buffer; always without.
    pub when: Option<When>,
    /// Whether a checkpoint may lack it.
    pub optional: bool,
    /// The layers that have it, of a buffer of layers.
    pub layers: Among,
}

impl Buffer {
    /// Whether it is filled from a checkpoint.
    pub fn is_weight(&self) -> bool {
        !matches!(self.kind, Kind::Activation)
    }

    /// The tensors that fill it.
    pub fn parts(&self) -> &[String] {
        match &self.kind {
            Kind::Weight(parts) => parts,
            Kind::UnusedWeight | Kind::Activation => &[],
        }
    }

    /// What `weight_dtypes` calls the part at `index`: the buffer itself for the first one.
    pub fn part_key(&self, index: usize) -> String {
        match self.parts().get(index) {
            Some(part) if index > 0 => {
                let word = part.rsplit('_').next().unwrap_or(part);
                format!("{}.{word}", self.name)
            }
            _ => self.name.clone(),
        }
    }

    /// Whether inference of the model of `config` has it.
    pub fn exists(&self, config: &Config) -> bool {
        let when = self.when.as_ref();
        self.layers.occurs(config)
            && when.is_none_or(|own| own.condition.holds(config, Mode::Prefill))
    }

    /// Whether it holds a matrix for each expert of a layer.
    pub fn is_of_experts(&self) -> bool {
        let first = self.shape.first();
        self.shape.len() == 3 && first.is_some_and(|own| own.dim == Dim::NumExperts)
    }

    /// Its extents in a run of `tokens` positions; `None` if one does not fit.
    pub fn resolved(&self, config: &Config, tokens: usize) -> Option<Vec<usize>> {
        let extents = self.shape.iter();
        extents.map(|extent| extent.value(config, tokens)).collect()
    }

    /// How a tensor that fills it, or a part of it, lies in it; that of an expert in the part of that expert.
    pub fn form(&self, config: &Config) -> Form {
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
            [heads, head] if is_heads(heads) && is_head(head) => Form::HeadVector {
                heads: plain(0),
                head: plain(1),
            },
            [heads, head, _] if is_heads(heads) && is_head(head) => Form::HeadRows {
                heads: plain(0),
                head: plain(1),
                columns: plain(2),
            },
            [heads, _, _] if is_heads(heads) => Form::HeadColumns {
                heads: plain(0),
                rows: plain(1),
                head: plain(2),
            },
            [..] if self.is_of_experts() => Form::Matrix {
                rows: plain(1) / parts,
                columns: plain(2),
            },
            [_, ..] if self.shape.len() > 1 => Form::Matrix {
                rows: plain(0) / parts,
                columns: plain(1),
            },
            _ => Form::Vector {
                count: self.shape.first().map_or(1, |_| plain(0)) / parts,
            },
        }
    }
}

/// How the elements of a tensor lie in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `[count]`.
    Vector {
        /// Elements.
        count: usize,
    },
    /// `[rows, columns]`.
    Matrix {
        /// Outputs.
        rows: usize,
        /// Inputs.
        columns: usize,
    },
    /// `[heads head]` as `[heads, head]`.
    HeadVector {
        /// Heads.
        heads: usize,
        /// Elements of each.
        head: usize,
    },
    /// `[heads head, columns]` as `[heads, head, columns]`.
    HeadRows {
        /// Heads.
        heads: usize,
        /// Rows of each.
        head: usize,
        /// Inputs.
        columns: usize,
    },
    /// `[rows, heads head]` as `[heads, rows, head]`.
    HeadColumns {
        /// Heads.
        heads: usize,
        /// Outputs.
        rows: usize,
        /// Columns of each.
        head: usize,
    },
}

impl Form {
    /// The shape of the tensor.
    pub fn shape(self) -> Vec<usize> {
        match self {
            Form::Vector { count } => vec![count],
            Form::Matrix { rows, columns } => vec![rows, columns],
            Form::HeadVector { heads, head } => vec![heads * head],
            Form::HeadRows {
                heads,
                head,
                columns,
            } => vec![heads * head, columns],
            Form::HeadColumns { heads, rows, head } => vec![rows, heads * head],
        }
    }
}

/// The bytes of an array of `dtype`, rows of blocks rounded up to whole blocks; `None` if they do not fit.
pub fn bytes_of(shape: &[usize], dtype: WeightType) -> Option<usize> {
    let (row, outer) = shape.split_last()?;
    let row = row.checked_next_multiple_of(dtype.block_elements())?;
    let rows = outer
        .iter()
        .try_fold(1usize, |rows, &extent| rows.checked_mul(extent))?;
    rows.checked_mul(dtype.row_bytes(row)?)
}
