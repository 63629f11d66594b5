//! Generation of text.

use std::path::Path;
use std::sync::Arc;

use mind_cli::npz;
use mind_driver::host::Host;
use mind_ir::tensor::Tensor;
use mind_model::{
    BeamSearch, Forced, Model, ModelError, Sampler, Session, Speech, Suppressed, Text, TextStream,
};

use super::args::ModelArgs;
use super::draw::Drawing;
use super::output::{Output, Rate, note_rates};
use super::stop::Stop;

/// The start of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'t> {
    /// The input of the encoder, if any.
    pub(super) read: Read<'t>,
    /// The first tokens of the sequence, unless they follow from audio.
    pub(super) prompt: &'t [u32],
    /// Forced tokens.
    pub(super) forced: Forced,
}

/// Input of an encoder.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read<'t> {
    Nothing,
    Text(&'t [u32]),
    /// Features of audio, and the decoder's prompt for it.
    Sound(&'t [f32], &'t Speech),
}

/// Generates a sequence and prints it incrementally, as text if there is a tokenizer, otherwise as token ids.
pub(super) fn run(
    args: &ModelArgs,
    model: Arc<Model<'_>>,
    (beginning, text): (Beginning<'_>, Option<&Text>),
    ends: &[u32],
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let Beginning {
        read,
        prompt,
        forced,
    } = beginning;
    forced.check(model.config().vocab_size)?;
    let (context, none) = (model.config().most_tokens(), Suppressed::default());
    let (length, most, suppressed) = match read {
        Read::Nothing | Read::Text(_) => (prompt.len(), 1, &none),
        Read::Sound(_, own) => {
            let length = own.count();
            (
                length,
                context.saturating_sub(length).max(1),
                &own.suppressed,
            )
        }
    };
    suppressed.check(model.config().vocab_size)?;
    let count = args.generate.unwrap_or(most);
    let needed = length.saturating_add(count.saturating_sub(1));
    let capacity = args.capacity.unwrap_or(needed.max(1));
    if capacity < length {
        let needed = length;
        return Err(ModelError::Capacity { needed, capacity }.into());
    }
    let started = host.now();
    let mut prefill = Rate::default();
    let mut said = Vec::new();
    let session = match read {
        Read::Text(text) => {
            let work = host.working("reading the text");
            let session = Session::behind(model, text, capacity);
            drop(work);
            prefill.add(text.len(), host.now().saturating_sub(started));
            session?
        }
        Read::Sound(features, speech) => {
            let positions = model.config().encoder().map_or(0, |own| own.context_window);
            let work = host.working("listening");
            let mut session = Session::behind_audio(model, features, capacity)?;
            said = speech.tokens(&mut session)?;
            drop(work);
            prefill.add(positions, host.now().saturating_sub(started));
            session
        }
        Read::Nothing => Session::new(model, capacity)?,
    };
    let prompt = match read {
        Read::Nothing | Read::Text(_) => prompt,
        Read::Sound(..) => &said,
    };
    let stream = text.map(|text| TextStream::new(text, &args.stops));
    if let Some(beams) = args.beams {
        let search = BeamSearch {
            beams,
            tokens: count,
            ends,
            forced,
            suppressed,
            repetition_penalty: args.sampling.repetition_penalty,
        };
        return searched(&search, session, prompt, (stream, prefill), host);
    }
    drawn(
        args,
        (session, prefill),
        (prompt, forced, suppressed),
        (stream, ends, count),
        host,
    )
}

/// Runs a beam search and prints the most likely text, which is only known at the end.
fn searched(
    search: &BeamSearch<'_>,
    session: Session<'_>,
    prompt: &[u32],
    (stream, prefill): (Option<TextStream<'_>>, Rate),
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let started = host.now();
    let work = host.working("searching");
    let found = search.run(session, prompt);
    drop(work);
    let found = found?;
    let rate = Rate {
        tokens: found.len(),
        time: host.now().saturating_sub(started),
    };
    let mut output = Output::new();
    match stream {
        Some(mut stream) => {
            for token in found {
                let piece = stream.push(token)?;
                output.write(host, &piece);
            }
            let piece = stream.finish()?;
            output.write(host, &piece);
        }
        None => found
            .into_iter()
            .for_each(|token| output.token(host, token)),
    }
    output.end(host);
    note_rates(host, prefill, rate);
    Ok(())
}

fn drawn(
    args: &ModelArgs,
    (mut session, mut prefill): (Session<'_>, Rate),
    (prompt, forced, suppressed): (&[u32], Forced, &Suppressed),
    (stream, ends, count): (Option<TextStream<'_>>, &[u32], usize),
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let vocab = session.model().config().vocab_size;
    let started = host.now();
    let work = host.working("reading the prompt");
    let read = if args.all_logits {
        session.prefill_all(prompt)
    } else {
        session.prefill(prompt)
    };
    drop(work);
    let mut kept = read?;
    prefill.add(prompt.len(), host.now().saturating_sub(started));
    let logits = kept[kept.len() - vocab..].to_vec();
    let mut output = Output::new();
    let mut tokens = prompt.to_vec();
    let drawing = Drawing {
        session: &mut session,
        sampler: &mut Sampler::new(args.sampling),
        ends,
        forced,
        suppressed,
        count,
        stream,
        hear: &mut |logits| {
            if args.logits.is_some() {
                kept.extend_from_slice(logits);
            }
        },
    };
    let drawn = drawing.run(&mut tokens, logits, &mut output, host)?;
    output.end(host);
    if let Some(path) = &args.logits {
        let array = Tensor::of(vec![kept.len() / vocab, vocab], kept);
        save(host, path, ("logits", &array))?;
    }
    note_rates(host, prefill, drawn.rate);
    Ok(())
}

/// Writes an array to an archive.
pub(super) fn save(
    host: &mut dyn Host,
    path: &str,
    (name, array): (&str, &Tensor),
) -> Result<(), Stop> {
    let archive = npz::write([(name.to_owned(), array)]);
    let archive = archive.map_err(|why| Stop::Archive {
        name: path.to_owned(),
        why: why.to_string(),
    })?;
    let written = host.write(Path::new(path), &archive);
    written.map_err(|why| Stop::Stream {
        name: path.to_owned(),
        why,
    })
}
