//! Embeddings of texts.

use std::sync::Arc;

use mind_driver::host::Host;
use mind_ir::tensor::Tensor;
use mind_model::{Embedding, Encoded, Encoder, Files, Model, Text, normalize};
use serde_json::{Value, json};

use super::args::{ModelArgs, Start};
use super::generate::save;
use super::output::Rate;
use super::stop::Stop;
use crate::args::Form;

/// Returns the pooling and normalisation of the command line, or else of the model's files.
pub(super) fn how(args: &ModelArgs, files: &Files, host: &mut dyn Host) -> Result<Embedding, Stop> {
    if let (Some(pooling), Some(normalizes)) = (args.pooling, args.normalizes) {
        return Ok(Embedding {
            pooling,
            normalizes,
        });
    }
    let own = Embedding::of(files, host)?;
    Ok(Embedding {
        pooling: args.pooling.unwrap_or(own.pooling),
        normalizes: args.normalizes.unwrap_or(own.normalizes),
    })
}

/// The tokens of a text and their segment ids.
type Tokens = (Vec<u32>, Vec<u32>);

/// Prints or saves the embedding of each text, or of `--tokens`.
pub(super) fn run(
    args: &ModelArgs,
    model: Arc<Model<'_>>,
    (text, how, most): (Option<&Text>, Embedding, Option<usize>),
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let encoder = Encoder::new(model)?;
    let texts = tokens(args, text)?;
    let config = encoder.model().config();
    let (width, context) = (config.hidden_size, config.most_tokens());
    let context = most.map_or(context, |most| most.min(context));
    let too_long = texts.iter().position(|(tokens, _)| tokens.len() > context);
    if let Some(at) = too_long {
        let (text, tokens) = (at + 1, texts[at].0.len());
        return Err(Stop::Long {
            text,
            tokens,
            context,
        });
    }
    let mut rate = Rate::default();
    let mut vectors = Vec::with_capacity(texts.len());
    let work = host.working("making vectors");
    for (tokens, kinds) in &texts {
        let started = host.now();
        let encoded = encoder.run(tokens, kinds)?;
        vectors.push(vector(args, how, &encoded, width)?);
        rate.add(tokens.len(), host.now().saturating_sub(started));
    }
    drop(work);
    let counts: Vec<usize> = texts.iter().map(|(tokens, _)| tokens.len()).collect();
    write(args, how, (&vectors, &counts), host)?;
    note(host, rate);
    Ok(())
}

/// Returns the embedding of a text or an image, of length `width`.
pub(super) fn vector(
    args: &ModelArgs,
    how: Embedding,
    encoded: &Encoded,
    width: usize,
) -> Result<Vec<f32>, Stop> {
    let vector = how.pooling.apply(encoded, width);
    let model = || args.model.clone();
    let mut vector = vector.ok_or_else(|| Stop::NoPooler { model: model() })?;
    if how.normalizes {
        normalize(&mut vector);
    }
    Ok(vector)
}

/// Prints or saves embeddings, with their numbers of tokens.
pub(super) fn write(
    args: &ModelArgs,
    how: Embedding,
    (vectors, counts): (&[Vec<f32>], &[usize]),
    host: &mut dyn Host,
) -> Result<(), Stop> {
    if let Some(path) = &args.outputs {
        let width = vectors.first().map_or(0, Vec::len);
        let array = Tensor::of(vec![vectors.len(), width], vectors.concat());
        return save(host, path, ("embeddings", &array));
    }
    let printed = match args.vectors {
        Form::Text => lines(vectors),
        Form::Json => object(vectors, counts, how),
    };
    mind_cli::print(host, &printed);
    Ok(())
}

/// Notes the throughput in tokens per second.
pub(super) fn note(host: &mut dyn Host, rate: Rate) {
    if let Some(speed) = rate.per_second() {
        let (tokens, seconds) = (rate.tokens, rate.time.as_secs_f64());
        let note = format!("embed {tokens} tokens in {seconds:.3} s, {speed:.1} tokens/s");
        mind_cli::note(host, &note);
    }
}

/// Returns the tokens of each text.
fn tokens(args: &ModelArgs, text: Option<&Text>) -> Result<Vec<Tokens>, Stop> {
    match (&args.start, text) {
        (Start::Texts(texts), Some(text)) => {
            let all = texts.iter().map(|own| Ok(text.encode_kinds(own)?));
            all.collect()
        }
        (Start::Tokens(tokens), _) => Ok(vec![(tokens.clone(), Vec::new())]),
        // Other starts are for decoders.
        _ => Ok(Vec::new()),
    }
}

/// Formats a line of numbers for each embedding; they are exact.
fn lines(vectors: &[Vec<f32>]) -> String {
    let line = |vector: &Vec<f32>| {
        let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
        format!("[{}]\n", numbers.join(", "))
    };
    vectors.iter().map(line).collect()
}

/// Converts a number to JSON exactly; NaN and infinities are strings.
pub(super) fn number(x: &f32) -> Value {
    let text = x.to_string();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Formats a JSON object on one line.
fn object(vectors: &[Vec<f32>], counts: &[usize], how: Embedding) -> String {
    let embeddings = vectors.iter().zip(counts).map(|(vector, count)| {
        json!({
            "tokens": count,
            "vector": vector.iter().map(number).collect::<Vec<_>>(),
        })
    });
    let object = json!({
        "pooling": how.pooling.name(),
        "normalized": how.normalizes,
        "embeddings": embeddings.collect::<Vec<_>>(),
    });
    format!("{object}\n")
}
