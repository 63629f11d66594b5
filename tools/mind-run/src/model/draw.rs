//! The generation loop.

use mind_driver::host::Host;
use mind_model::{Forced, Sampler, Session, Suppressed, TextStream};

use super::output::{Output, Rate};
use super::stop::Stop;

/// Parameters of the generation of a sequence.
pub(super) struct Drawing<'a, 'w> {
    pub(super) session: &'a mut Session<'w>,
    pub(super) sampler: &'a mut Sampler,
    /// The end-of-text tokens.
    pub(super) ends: &'a [u32],
    /// Forced tokens, which do not depend on logits.
    pub(super) forced: Forced,
    /// Suppressed tokens, which are never generated.
    pub(super) suppressed: &'a Suppressed,
    /// Limit on the number of tokens.
    pub(super) count: usize,
    /// Decoder of the text; token ids are printed without it.
    pub(super) stream: Option<TextStream<'a>>,
    /// Called with the logits of each further token.
    pub(super) hear: &'a mut dyn FnMut(&[f32]),
}

/// A generated text and its speed.
pub(super) struct Drawn {
    pub(super) text: String,
    pub(super) rate: Rate,
}

impl Drawing<'_, '_> {
    /// Generates tokens after those in `tokens`, the first one from `logits`, and writes them to `output`.
    pub(super) fn run(
        mut self,
        tokens: &mut Vec<u32>,
        mut logits: Vec<f32>,
        output: &mut Output,
        host: &mut dyn Host,
    ) -> Result<Drawn, Stop> {
        let (mut text, mut rate) = (String::new(), Rate::default());
        for drawn in 0..self.count {
            if drawn > 0 {
                let started = host.now();
                logits = self.session.decode(tokens[tokens.len() - 1])?;
                rate.add(1, host.now().saturating_sub(started));
                (self.hear)(&logits);
            }
            self.suppressed.apply(drawn, &mut logits);
            let forced = self.forced.token(drawn, self.count);
            let token = forced.unwrap_or_else(|| self.sampler.next(&logits, tokens));
            tokens.push(token);
            match &mut self.stream {
                Some(stream) => {
                    let piece = stream.push(token)?;
                    output.write(host, &piece);
                    text.push_str(&piece);
                }
                None => output.token(host, token),
            }
            let is_stopped = self.stream.as_ref().is_some_and(TextStream::is_stopped);
            if is_stopped || self.ends.contains(&token) || !output.is_open() {
                break;
            }
        }
        if let Some(stream) = self.stream {
            let piece = stream.finish()?;
            output.write(host, &piece);
            text.push_str(&piece);
        }
        Ok(Drawn { text, rate })
    }
}
