//! Architectures of families, and stacks of layers.

use crate::kernels::{ATTENTION, BIDIRECTIONAL_ATTENTION};

/// The architecture of a family, which determines its layer plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// Causal attention. The model returns the logits of the next token.
    Decoder,
    /// Bidirectional attention. The model returns a vector for each position.
    Encoder,
    /// A decoder with cross-attention to the output of an encoder.
    EncoderDecoder,
}

/// A stack of layers. An encoder-decoder has two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stack {
    /// The encoder of an encoder-decoder, which runs first.
    Source,
    /// The layers of a decoder or of an encoder, or the decoder of an encoder-decoder.
    Main,
}

impl Stack {
    /// Returns its word in the scope of nodes of an encoder-decoder.
    pub const fn name(self) -> &'static str {
        match self {
            Stack::Source => "encoder",
            Stack::Main => "decoder",
        }
    }

    /// Returns the stack that nodes call `name`.
    pub fn parse(name: &str) -> Option<Stack> {
        let all = [Stack::Source, Stack::Main];
        all.into_iter().find(|own| own.name() == name)
    }
}

impl Architecture {
    /// All architectures.
    pub const ALL: [Architecture; 3] = [
        Architecture::Decoder,
        Architecture::Encoder,
        Architecture::EncoderDecoder,
    ];

    /// Returns its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::Decoder => "decoder",
            Architecture::Encoder => "encoder",
            Architecture::EncoderDecoder => "encoder-decoder",
        }
    }

    /// Returns the name of a model with this architecture in messages.
    pub const fn model(self) -> &'static str {
        match self {
            Architecture::Decoder => "a decoder model",
            Architecture::Encoder => "an encoder model",
            Architecture::EncoderDecoder => "an encoder-decoder model",
        }
    }

    /// Returns its stacks of layers in execution order.
    pub const fn stacks(self) -> &'static [Stack] {
        match self {
            Architecture::Decoder | Architecture::Encoder => &[Stack::Main],
            Architecture::EncoderDecoder => &[Stack::Source, Stack::Main],
        }
    }

    /// Returns the scope in files of buffers that each layer of its main stack has.
    pub const fn layer_scope(self) -> &'static str {
        match self {
            Architecture::Decoder => "layer",
            Architecture::Encoder => "encoder",
            Architecture::EncoderDecoder => "decoder",
        }
    }

    /// Returns the op of self-attention in a stack.
    pub(crate) const fn attention(self, stack: Stack) -> &'static str {
        match (self, stack) {
            (Architecture::Decoder | Architecture::EncoderDecoder, Stack::Main) => ATTENTION,
            (Architecture::Encoder, Stack::Main)
            | (
                Architecture::Decoder | Architecture::Encoder | Architecture::EncoderDecoder,
                Stack::Source,
            ) => BIDIRECTIONAL_ATTENTION,
        }
    }
}
