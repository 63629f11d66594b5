//! What the layers of a family are for.

use crate::kernels::{ATTENTION, BIDIRECTIONAL_ATTENTION};

/// Which plan of layers a family has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// A position sees those in front of it, and the model says what follows.
    Decoder,
    /// A position sees all others, and the model says what each means.
    Encoder,
}

impl Architecture {
    /// Both.
    pub const ALL: [Architecture; 2] = [Architecture::Decoder, Architecture::Encoder];

    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::Decoder => "decoder",
            Architecture::Encoder => "encoder",
        }
    }

    /// The file with the plan of its layers.
    pub const fn plan_file(self) -> &'static str {
        match self {
            Architecture::Decoder => "decoder_layer_plan.json",
            Architecture::Encoder => "encoder_layer_plan.json",
        }
    }

    /// The scope of buffers that each of its layers has, as files write it.
    pub const fn layer_scope(self) -> &'static str {
        match self {
            Architecture::Decoder => "layer",
            Architecture::Encoder => "encoder",
        }
    }

    /// The op of attention in its layers.
    pub(crate) const fn attention(self) -> &'static str {
        match self {
            Architecture::Decoder => ATTENTION,
            Architecture::Encoder => BIDIRECTIONAL_ATTENTION,
        }
    }
}
