//! How fast a model reads a prompt and makes tokens.

use std::sync::Arc;
use std::time::Duration;

use mind_driver::host::Host;
use mind_model::{Model, Session, largest};
use serde_json::{Value, json};

use super::args::ModelArgs;
use super::output::Rate;
use super::stop::Stop;
use crate::args::Form;
use crate::bench::Spread;

/// Tokens of the prompt, unless one is given.
const PROMPT: usize = 256;
/// Tokens that are made, unless a number is given.
const MADE: usize = 32;
/// Prompts are read until they took this long together.
const TARGET: Duration = Duration::from_secs(1);
/// The least and the largest number of times that a prompt is read.
const RUNS: std::ops::Range<usize> = 3..100;

/// What was found out before the model was ready.
pub(super) struct Subject {
    /// The time of opening the files, making code and packing weights.
    pub(super) load: Duration,
    pub(super) threads: usize,
    /// The instruction set, or what else runs it.
    pub(super) isa: &'static str,
}

/// The times of one kind of pass.
struct Measured {
    /// Tokens of a pass.
    tokens: usize,
    passes: usize,
    spread: Spread,
    rate: f64,
}

impl Measured {
    fn of(tokens: usize, mut times: Vec<Duration>) -> Measured {
        let mut rate = Rate::default();
        times.iter().for_each(|&time| rate.add(tokens, time));
        Measured {
            tokens,
            passes: times.len(),
            rate: rate.per_second().unwrap_or(0.0),
            spread: Spread::of(&mut times),
        }
    }

    fn text(&self, name: &str) -> String {
        let Measured {
            tokens,
            passes,
            spread,
            rate,
        } = self;
        let Spread { min, median, p90 } = spread;
        format!(
            "{name} {median:.1} us (min {min:.1}, p90 {p90:.1}, {passes} passes of {tokens} tokens), {rate:.1} tokens/s\n"
        )
    }

    fn json(&self) -> Value {
        json!({
            "tokens": self.tokens,
            "runs": self.passes,
            "us": self.spread.json(),
            "tokens_per_s": self.rate,
        })
    }
}

/// Times passes over `prompt`, and over one token after the other behind it.
pub(super) fn run(
    args: &ModelArgs,
    form: Form,
    model: Arc<Model<'_>>,
    prompt: Option<Vec<u32>>,
    subject: &Subject,
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let config = *model.config();
    let made = args.generate.unwrap_or(MADE);
    let room = config.context_window.saturating_sub(made).max(1);
    let prompt = prompt.unwrap_or_else(|| {
        let ids = (0..PROMPT.min(room)).map(|at| at * 7919 % config.vocab_size);
        ids.map(|id| id as u32).collect()
    });
    let needed = prompt.len().saturating_add(made);
    let mut session = Session::new(model, args.capacity.unwrap_or(needed))?;
    let work = host.working("timing passes");
    let timed = timed(&mut session, &prompt, made, host);
    drop(work);
    let (first, read, single) = timed?;
    let load = subject.load.as_nanos() as f64 / 1000.0;
    let first = load + first.as_nanos() as f64 / 1000.0;
    let (prefill, decode) = (Measured::of(prompt.len(), read), Measured::of(1, single));
    let printed = match form {
        Form::Text => {
            let start = format!("load    {load:.1} us\nfirst   {first:.1} us\n");
            start + &prefill.text("prefill") + &decode.text("decode ")
        }
        Form::Json => {
            let object = json!({
                "load_us": load,
                "first_token_us": first,
                "prefill": prefill.json(),
                "decode": decode.json(),
                "threads": subject.threads,
                "isa": subject.isa,
            });
            format!("{object}\n")
        }
    };
    mind_cli::print(host, &printed);
    Ok(())
}

/// The times of the first pass, which makes code, of further ones, and of passes of one token.
type Times = (Duration, Vec<Duration>, Vec<Duration>);

fn timed(
    session: &mut Session<'_>,
    prompt: &[u32],
    made: usize,
    host: &mut dyn Host,
) -> Result<Times, Stop> {
    let pass = |session: &mut Session<'_>, tokens: &[u32]| -> Result<_, Stop> {
        let started = host.now();
        let logits = session.prefill(tokens)?;
        Ok((host.now().saturating_sub(started), logits))
    };
    let (first, mut logits) = pass(session, prompt)?;
    let (mut read, mut total) = (Vec::new(), Duration::ZERO);
    while read.len() < RUNS.start || total < TARGET && read.len() < RUNS.end {
        session.truncate(0);
        let (time, last) = pass(session, prompt)?;
        read.push(time);
        total += time;
        logits = last;
    }
    let mut single = Vec::new();
    for at in 0..made {
        let (time, last) = pass(session, &[largest(&logits)])?;
        // The first one makes code.
        if at > 0 || made == 1 {
            single.push(time);
        }
        logits = last;
    }
    Ok((first, read, single))
}
