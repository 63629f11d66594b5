//! Timing of prefill, decode steps and encoders.

use std::sync::Arc;
use std::time::Duration;

use mind_driver::host::Host;
use mind_irv2::Config;
use mind_model::{Encoder, Model, Session, largest};
use serde_json::{Value, json};

use super::args::ModelArgs;
use super::output::Rate;
use super::stop::Stop;
use crate::args::Form;
use crate::bench::Spread;

/// Default length of the prompt in tokens.
const PROMPT: usize = 256;
/// Default number of decode steps.
const MADE: usize = 32;
/// Minimum total duration of prefills.
const TARGET: Duration = Duration::from_secs(1);
/// Minimum and maximum number of prefills.
const RUNS: std::ops::Range<usize> = 3..100;

/// Measurements and properties before the first pass.
pub(super) struct Subject {
    /// Time of opening files, compiling and packing weights.
    pub(super) load: Duration,
    pub(super) threads: usize,
    /// The instruction set, for example `avx2`, or `interp`.
    pub(super) isa: &'static str,
}

/// The times of one kind of pass.
struct Measured {
    /// Tokens per pass.
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

/// The kind of model to time.
pub(super) enum Work {
    /// A decoder: prefill and decode steps.
    Decoder,
    /// An encoder-decoder: encoding, and decode steps from this start token.
    Pair(u32),
    /// An encoder: encoding.
    Encoder,
}

/// Times passes of a model over `prompt`, or over silence or a black image if it reads audio or images, followed by
/// decode steps.
pub(super) fn run(
    args: &ModelArgs,
    (form, work): (Form, Work),
    model: Arc<Model<'_>>,
    prompt: Option<Vec<u32>>,
    subject: &Subject,
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let config = *model.config();
    let most = match work {
        Work::Pair(_) => MADE.min(config.most_tokens().saturating_sub(1)).max(1),
        Work::Decoder | Work::Encoder => MADE,
    };
    let made = args.generate.unwrap_or(most);
    let left = match work {
        Work::Decoder => config.context_window.saturating_sub(made),
        Work::Pair(_) => config.encoder().map_or(0, |own| own.most_tokens()),
        Work::Encoder => config.most_tokens(),
    };
    let prompt = prompt.unwrap_or_else(|| {
        let ids = (0..PROMPT.min(left.max(1))).map(|at| at * 7919 % config.vocab_size);
        ids.map(|id| id as u32).collect()
    });
    let sign = host.working("timing passes");
    let timed = match work {
        Work::Decoder => {
            let needed = prompt.len().saturating_add(made);
            let session = Session::new(model, args.capacity.unwrap_or(needed));
            timed(session?, &prompt, made, host)
        }
        Work::Pair(start) => {
            let capacity = args.capacity.unwrap_or(made.saturating_add(1));
            let input = Input::of(config.encoder(), &prompt);
            timed_pair(&model, &input, (start, capacity, made), host)
        }
        Work::Encoder => {
            let input = Input::of(Some(config), &prompt);
            timed_encoder(&Encoder::new(model)?, &input, host)
        }
    };
    drop(sign);
    let Times {
        tokens,
        first,
        read,
        single,
    } = timed?;
    let load = subject.load.as_nanos() as f64 / 1000.0;
    let first = load + first.as_nanos() as f64 / 1000.0;
    let name = match work {
        Work::Decoder => "prefill",
        Work::Pair(_) | Work::Encoder => "encode",
    };
    let mut parts = vec![(name, Measured::of(tokens, read))];
    if !single.is_empty() {
        parts.push(("decode", Measured::of(1, single)));
    }
    let printed = match form {
        Form::Text => {
            let start = format!("load    {load:.1} us\nfirst   {first:.1} us\n");
            let lines = parts
                .iter()
                .map(|(name, own)| own.text(&format!("{name:7}")));
            start + &lines.collect::<String>()
        }
        Form::Json => {
            let mut object = json!({
                "load_us": load,
                "first_token_us": first,
                "threads": subject.threads,
                "isa": subject.isa,
            });
            for (name, own) in &parts {
                object[name] = own.json();
            }
            format!("{object}\n")
        }
    };
    mind_cli::print(host, &printed);
    Ok(())
}

/// Input of an encoder.
enum Input<'t> {
    Text(&'t [u32]),
    /// The elements of audio features or of an image, and the number of positions.
    Sound(Vec<f32>, usize),
    Image(Vec<f32>, usize),
}

impl Input<'_> {
    /// Returns an input for the encoder of `config`: silence or a black image if it does not read tokens.
    fn of(config: Option<Config>, prompt: &[u32]) -> Input<'_> {
        let Some(config) = config else {
            return Input::Text(prompt);
        };
        let positions = config.context_window;
        match (config.audio(), config.image()) {
            (Some(own), _) => Input::Sound(vec![0.0; own.elements()], positions),
            (None, Some(own)) => Input::Image(vec![0.0; own.elements()], positions),
            (None, None) => Input::Text(prompt),
        }
    }

    /// Returns the number of tokens or other positions.
    fn positions(&self) -> usize {
        match self {
            Input::Text(own) => own.len(),
            Input::Sound(_, positions) | Input::Image(_, positions) => *positions,
        }
    }
}

/// The times of the first pass, which compiles code, of further passes over `tokens` positions each, and of decode
/// steps.
struct Times {
    tokens: usize,
    first: Duration,
    read: Vec<Duration>,
    single: Vec<Duration>,
}

/// Repeats passes until their total duration suffices.
fn repeated(mut pass: impl FnMut() -> Result<Duration, Stop>) -> Result<Vec<Duration>, Stop> {
    let (mut read, mut total) = (Vec::new(), Duration::ZERO);
    while read.len() < RUNS.start || total < TARGET && read.len() < RUNS.end {
        let time = pass()?;
        read.push(time);
        total += time;
    }
    Ok(read)
}

/// Times a pass of a session; also returns its logits.
fn pass(
    session: &mut Session<'_>,
    tokens: &[u32],
    host: &dyn Host,
) -> Result<(Duration, Vec<f32>), Stop> {
    let started = host.now();
    let logits = session.prefill(tokens)?;
    Ok((host.now().saturating_sub(started), logits))
}

/// Times `made` decode steps with greedy sampling, the first after `logits`.
fn singles(
    session: &mut Session<'_>,
    mut logits: Vec<f32>,
    made: usize,
    host: &dyn Host,
) -> Result<Vec<Duration>, Stop> {
    let mut single = Vec::new();
    for at in 0..made {
        let (time, last) = pass(session, &[largest(&logits)], host)?;
        // The first step is excluded, because it compiles code.
        if at > 0 || made == 1 {
            single.push(time);
        }
        logits = last;
    }
    Ok(single)
}

fn timed(
    mut session: Session<'_>,
    prompt: &[u32],
    made: usize,
    host: &dyn Host,
) -> Result<Times, Stop> {
    let (first, mut logits) = pass(&mut session, prompt, host)?;
    let read = repeated(|| {
        session.clear();
        let (time, last) = pass(&mut session, prompt, host)?;
        logits = last;
        Ok(time)
    })?;
    let single = singles(&mut session, logits, made, host)?;
    Ok(Times {
        tokens: prompt.len(),
        first,
        read,
        single,
    })
}

fn timed_pair(
    model: &Arc<Model<'_>>,
    input: &Input<'_>,
    (start, capacity, made): (u32, usize, usize),
    host: &dyn Host,
) -> Result<Times, Stop> {
    let behind = || -> Result<_, Stop> {
        let started = host.now();
        let session = match input {
            Input::Text(text) => Session::behind(model.clone(), text, capacity)?,
            Input::Sound(numbers, _) | Input::Image(numbers, _) => {
                Session::behind_audio(model.clone(), numbers, capacity)?
            }
        };
        Ok((host.now().saturating_sub(started), session))
    };
    let (first, mut session) = behind()?;
    let (second, logits) = pass(&mut session, &[start], host)?;
    let read = repeated(|| Ok(behind()?.0))?;
    let single = singles(&mut session, logits, made, host)?;
    Ok(Times {
        tokens: input.positions(),
        first: first + second,
        read,
        single,
    })
}

fn timed_encoder(encoder: &Encoder<'_>, input: &Input<'_>, host: &dyn Host) -> Result<Times, Stop> {
    let run = || -> Result<Duration, Stop> {
        let started = host.now();
        match input {
            Input::Text(text) => encoder.run(text, &[])?,
            Input::Sound(numbers, _) => encoder.run_audio(numbers)?,
            Input::Image(numbers, _) => encoder.run_image(numbers)?,
        };
        Ok(host.now().saturating_sub(started))
    };
    let first = run()?;
    Ok(Times {
        tokens: input.positions(),
        first,
        read: repeated(run)?,
        single: Vec::new(),
    })
}
