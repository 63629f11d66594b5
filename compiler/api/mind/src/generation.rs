//! Options of text generation, and the generation loop.

use mind_model::{Forced, Sampler, Sampling, Session, Suppressed, Text, TextStream};

use crate::error::Error;

/// Sampling and stop conditions of generation.
///
/// ```
/// use mind::decoder::{Generation, Sampling};
///
/// let warm = Generation::from(Sampling { temperature: 0.8, ..Sampling::default() });
/// let lines = Generation { stops: vec!["\n".to_owned()], ..warm };
/// # assert!(!lines.ignores_ends);
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Generation {
    /// The sampling parameters.
    pub sampling: Sampling,
    /// Texts before which generation stops; empty texts are ignored.
    pub stops: Vec<String>,
    /// Tokens before which generation stops.
    pub stop_tokens: Vec<u32>,
    /// Whether generation continues after end-of-text tokens.
    pub ignores_ends: bool,
}

impl From<Sampling> for Generation {
    fn from(sampling: Sampling) -> Generation {
        Generation {
            sampling,
            ..Generation::default()
        }
    }
}

/// The parameters of one generation.
pub(crate) struct Drawing<'a> {
    pub(crate) how: &'a Generation,
    /// Tokens after which generation stops.
    pub(crate) ends: &'a [u32],
    pub(crate) forced: Forced,
    pub(crate) suppressed: &'a Suppressed,
    /// Tokenizer for the text and the stop texts.
    pub(crate) text: Option<&'a Text>,
    /// Limit on the number of tokens.
    pub(crate) count: usize,
}

/// A generated sequence.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) tokens: Vec<u32>,
    /// Its text; empty without a tokenizer.
    pub(crate) text: String,
}

impl Drawing<'_> {
    /// Generates tokens after `prompt` in an empty session.
    pub(crate) fn run(self, session: &mut Session<'_>, prompt: &[u32]) -> Result<Drawn, Error> {
        let Generation {
            sampling,
            stops,
            stop_tokens,
            ignores_ends,
        } = self.how;
        let vocab_size = session.model().config().vocab_size;
        let forced = if *ignores_ends {
            Forced {
                last: None,
                ..self.forced
            }
        } else {
            self.forced
        };
        forced.check(vocab_size)?;
        self.suppressed.check(vocab_size)?;
        let mut stream = self.text.map(|text| TextStream::new(text, stops));
        let mut sampler = Sampler::new(*sampling);
        let mut seen = prompt.to_vec();
        let mut text = String::new();
        let mut logits = session.prefill(prompt)?;
        for drawn in 0..self.count {
            if drawn > 0 {
                logits = session.decode(seen[seen.len() - 1])?;
            }
            self.suppressed.apply(drawn, &mut logits);
            let forced = forced.token(drawn, self.count);
            let token = forced.unwrap_or_else(|| sampler.next(&logits, &seen));
            if stop_tokens.contains(&token) {
                break;
            }
            seen.push(token);
            if let Some(stream) = &mut stream {
                text.push_str(&stream.push(token)?);
            }
            let is_stopped = stream.as_ref().is_some_and(TextStream::is_stopped);
            if is_stopped || (!ignores_ends && self.ends.contains(&token)) {
                break;
            }
        }
        if let Some(stream) = stream {
            text.push_str(&stream.finish()?);
        }
        Ok(Drawn {
            tokens: seen.split_off(prompt.len()),
            text,
        })
    }
}
