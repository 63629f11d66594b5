//! What the layers of a family are for.

use crate::kernels::{ATTENTION, BIDIRECTIONAL_ATTENTION};

/// Which plans of layers a family has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// A position sees those in front of it, and the model says what follows.
    Decoder,
    /// A position sees all others, and the model says what each means.
    Encoder,
    /// A decoder whose positions also see what an encoder says of another text.
    EncoderDecoder,
}

/// Which of the layers of a family: an encoder-decoder has two stacks of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stack {
    /// The encoder of an encoder-decoder, which runs first.
    Source,
    /// The layers of a decoder or of an encoder, or the decoder of an encoder-decoder.
    Main,
}

impl Stack {
    /// The word in the scope of nodes of an encoder-decoder.
    pub const fn name(self) -> &'static str {
        match self {
            Stack::Source => "encoder",
            Stack::Main => "decoder",
        }
    }

    /// The stack that nodes call `name`.
    pub fn parse(name: &str) -> Option<Stack> {
        let all = [Stack::Source, Stack::Main];
        all.into_iter().find(|own| own.name() == name)
    }
}

impl Architecture {
    /// Each of them.
    pub const ALL: [Architecture; 3] = [
        Architecture::Decoder,
        Architecture::Encoder,
        Architecture::EncoderDecoder,
    ];

    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::Decoder => "decoder",
            Architecture::Encoder => "encoder",
            Architecture::EncoderDecoder => "encoder-decoder",
        }
    }

    /// What a model of it is called in messages.
    pub const fn model(self) -> &'static str {
        match self {
            Architecture::Decoder => "a decoder model",
            Architecture::Encoder => "an encoder model",
            Architecture::EncoderDecoder => "an encoder-decoder model",
        }
    }

    /// The stacks of layers that it has, in the order in which they run.
    pub const fn stacks(self) -> &'static [Stack] {
        match self {
            Architecture::Decoder | Architecture::Encoder => &[Stack::Main],
            Architecture::EncoderDecoder => &[Stack::Source, Stack::Main],
        }
    }

    /// The scope of buffers that each layer of its main stack has, as files write it.
    pub const fn layer_scope(self) -> &'static str {
        match self {
            Architecture::Decoder => "layer",
            Architecture::Encoder => "encoder",
            Architecture::EncoderDecoder => "decoder",
        }
    }

    /// The op of attention to the own positions of a stack.
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
