//! Conversations: each line of standard input is answered.

use std::sync::Arc;

use mind_driver::host::Host;
use mind_model::{
    ChatTemplate, Forced, Message, Model, Sampler, Session, Speaker, Suppressed, Text, TextStream,
};

use super::args::ModelArgs;
use super::draw::Drawing;
use super::output::{Output, Rate, note_rates};
use super::stop::Stop;

/// Default capacity of the KV cache of a conversation in tokens.
const CAPACITY: usize = 8192;

/// Limit on the length of a line in bytes.
const LINE_LIMIT: u64 = 1 << 20;

/// The tokenizer, chat template and system message of a conversation.
pub(super) struct Means<'t> {
    pub(super) text: &'t Text,
    pub(super) template: ChatTemplate,
    pub(super) ends: &'t [u32],
    /// The system message.
    pub(super) system: Option<&'t str>,
}

/// Answers lines until the end of the input.
pub(super) fn run(
    args: &ModelArgs,
    model: Arc<Model<'_>>,
    means: &Means<'_>,
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let usual = CAPACITY.min(model.config().context_window);
    let mut session = Session::new(model, args.capacity.unwrap_or(usual))?;
    let mut sampler = Sampler::new(args.sampling);
    let system = means
        .system
        .map(|said| message(Speaker::System, said.to_owned()));
    let mut messages: Vec<Message> = system.into_iter().collect();
    // The tokens in the KV cache.
    let mut seen: Vec<u32> = Vec::new();
    let (mut prefill, mut decode) = (Rate::default(), Rate::default());
    while let Some(line) = next_line(host)? {
        messages.push(message(Speaker::User, line));
        let prompt = means.template.prompt(&messages)?;
        let mut tokens = means.text.encode_bare(&prompt)?;
        let (needed, capacity) = (tokens.len(), session.capacity());
        if needed > capacity {
            return Err(Stop::Full { needed, capacity });
        }
        // The common prefix with the previous turn is in the KV cache. It ends early if the template now renders
        // earlier messages differently; a layer with a sliding window may then no longer have their keys and values. At
        // least one token has to be processed, because its logits are needed.
        let pairs = seen.iter().zip(&tokens);
        let same = pairs.take_while(|(one, other)| one == other).count();
        let same = same.min(needed.saturating_sub(1));
        let same = session.truncate(same);
        let started = host.now();
        let work = host.working("reading");
        let logits = session.prefill(&tokens[same..]);
        drop(work);
        let logits = logits?;
        prefill.add(needed - same, host.now().saturating_sub(started));
        let mut output = Output::new();
        let drawing = Drawing {
            session: &mut session,
            sampler: &mut sampler,
            ends: means.ends,
            forced: Forced::default(),
            suppressed: &Suppressed::default(),
            count: args
                .generate
                .unwrap_or(usize::MAX)
                .min(capacity - needed + 1),
            stream: Some(TextStream::new(means.text, &args.stops)),
            hear: &mut |_| {},
        };
        let drawn = drawing.run(&mut tokens, logits, &mut output, host)?;
        let is_open = output.is_open();
        output.end(host);
        if !is_open {
            break;
        }
        decode.add(drawn.rate.tokens, drawn.rate.time);
        messages.push(message(Speaker::Assistant, drawn.text));
        tokens.truncate(session.len());
        seen = tokens;
    }
    note_rates(host, prefill, decode);
    Ok(())
}

fn message(speaker: Speaker, content: String) -> Message {
    Message { speaker, content }
}

/// Returns the next line that is not blank; `None` at the end of the input.
fn next_line(host: &mut dyn Host) -> Result<Option<String>, Stop> {
    loop {
        if host.stdin_is_terminal() && !host.style().quiet {
            mind_cli::print_error(host, "> ");
        }
        let line = host.read_line(LINE_LIMIT).map_err(|why| Stop::Stream {
            name: "<stdin>".to_owned(),
            why,
        })?;
        match line {
            Some(line) if line.trim().is_empty() => {}
            line => return Ok(line),
        }
    }
}
