//! The stacks of layers of a model. An encoder-decoder has an encoder, whose extents may differ, and a decoder.

use crate::config::{Config, ConfigError, MAX_COUNT, MAX_EXTENT, Parameters};
use crate::family::Stack;

/// The extents of the encoder of an encoder-decoder that differ from those of its decoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncoderSizes {
    /// The number of layers.
    pub num_layers: usize,
    /// The width of the MLP.
    pub intermediate_size: usize,
    /// The number of query heads, which equals that of key and value heads.
    pub num_attention_heads: usize,
    /// The elements of a head.
    pub head_dim: usize,
    /// The most positions that it reads.
    pub context_window: usize,
}

impl Config {
    /// Returns the encoder of an encoder-decoder as a separate model; `None` for other models.
    pub fn encoder(&self) -> Option<Config> {
        let own = self.encoder?;
        Some(Config::of(Parameters {
            family: self.family.encoder()?,
            num_layers: own.num_layers,
            intermediate_size: own.intermediate_size,
            num_attention_heads: own.num_attention_heads,
            num_kv_heads: own.num_attention_heads,
            head_dim: own.head_dim,
            context_window: own.context_window,
            ..**self
        }))
    }

    /// Returns the model of the layers of `stack`; `None` if it does not have the stack.
    pub fn of_stack(&self, stack: Stack) -> Option<Config> {
        match stack {
            Stack::Source => self.encoder(),
            Stack::Main => Some(*self),
        }
    }

    /// Returns the stacks of layers in execution order, each as a separate model.
    pub fn stacks(&self) -> impl Iterator<Item = (Stack, Config)> + '_ {
        let all = self.family.architecture().stacks().iter();
        all.filter_map(|&stack| Some((stack, self.of_stack(stack)?)))
    }

    /// Returns the number of layers of its largest stack.
    pub fn most_layers(&self) -> usize {
        let of_encoder = self.encoder.map_or(0, |own| own.num_layers);
        self.num_layers.max(of_encoder)
    }
}

/// Checks the extents of the encoder, which only an encoder-decoder may have.
pub(crate) fn check(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let is_asked = p.family.encoder().is_some();
    let Some(own) = &p.encoder else {
        if is_asked {
            let (key, value, min, max) = ("encoder_layers", 0, 1, MAX_COUNT);
            errors.push(ConfigError::Range {
                key,
                value,
                min,
                max,
            });
        }
        return;
    };
    let most = |max: usize| if is_asked { max } else { 0 };
    let rows = [
        ("encoder_layers", own.num_layers, most(MAX_COUNT)),
        (
            "encoder_intermediate_size",
            own.intermediate_size,
            most(MAX_EXTENT),
        ),
        (
            "encoder_attention_heads",
            own.num_attention_heads,
            most(MAX_COUNT),
        ),
        ("encoder_head_dim", own.head_dim, most(MAX_EXTENT)),
        ("source_window", own.context_window, most(MAX_EXTENT)),
    ];
    let wrong = rows
        .into_iter()
        .filter(|&(_, value, max)| value == 0 || value > max);
    errors.extend(wrong.map(|(key, value, max)| ConfigError::Range {
        key,
        value,
        min: 1.min(max),
        max,
    }));
}
