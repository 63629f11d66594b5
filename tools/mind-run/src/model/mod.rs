//! Runs models.

pub(crate) mod args;
mod bench;
mod chat;
mod draw;
mod embed;
mod generate;
mod image;
mod output;
mod packing;
mod sound;
mod stop;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use mind_cli::{DONE, REJECTED};
use mind_diag::SourceFile;
use mind_driver::engine::{self, Engine};
use mind_driver::host::Host;
use mind_irv2::Config;
use mind_model::{
    CheckpointWeights, Files, FolderError, Forced, Hearing, MappedWeights, Model, ModelError,
    Runner, Speech, Text, TextFiles, WeightsAt, most_tokens,
};

use self::args::{ModelArgs, Start};
use self::generate::{Beginning, Read};
use self::stop::Stop;
use crate::args::Form;
use crate::cache;

/// Runs the model of the command line; returns the exit code.
pub(super) fn run(matches: &ArgMatches, host: &mut dyn Host) -> u8 {
    let args = match ModelArgs::of(matches) {
        Ok(args) => args,
        Err(message) => return mind_cli::usage_error(host, message),
    };
    let started = host.now();
    let files = match open(&args, host) {
        Ok(files) => files,
        Err(why) => {
            Stop::Files(why).report(&args, &SourceFile::new("", ""), host);
            return REJECTED;
        }
    };
    match execute(&args, &files, started, host) {
        Ok(()) => DONE,
        Err(why) => {
            why.report(&args, &files.config, host);
            REJECTED
        }
    }
}

/// Opens the files of the model, with the user's kernel maps, if any.
fn open(args: &ModelArgs, host: &mut dyn Host) -> Result<Files, FolderError> {
    let files = Files::open(Path::new(&args.model), WeightsAt::Beside, host)?;
    match &args.kernel_maps {
        Some(folder) => files.with_kernel_maps(Path::new(folder), host),
        None => Ok(files),
    }
}

/// Returns the tokenizer of the model, if the input needs one.
fn tokenizer(args: &ModelArgs, files: &Files) -> Result<Option<Text>, Stop> {
    let what = match args.start {
        Start::Tokens(_) | Start::Pixels(_) | Start::Any => return Ok(None),
        // Audio is transcribed to token ids without a tokenizer.
        Start::Audio(_) if files.tokenizer.is_none() => return Ok(None),
        Start::Audio(_) => "the sound",
        Start::Prompt(_) => "the prompt",
        Start::Chat(_) => "the conversation",
        Start::Texts(_) => "the texts",
    };
    let Some(json) = &files.tokenizer else {
        let model = args.model.clone();
        return Err(Stop::NoTokenizer { model, what });
    };
    Ok(Some(Text::new(json)?))
}

/// Runs the model of `files`; `started` is the time before they were opened.
fn execute(
    args: &ModelArgs,
    files: &Files,
    started: Duration,
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let (document, checkpoint, warnings) = files.model()?;
    mind_cli::report(host, &warnings, &files.config, args.form);
    let family = document.config.family;
    let unused = if family.is_encoder() {
        args.of_decoders
    } else {
        args.of_encoders
    };
    if let Some(option) = unused {
        return Err(Stop::Unused {
            option,
            family: family.name(),
            models: family.architecture().name(),
            is_encoder: family.is_encoder(),
        });
    }
    let text = tokenizer(args, files)?;
    if args.has_form && args.bench.is_none() && !family.is_encoder() {
        return Err(Stop::Usage(args::FORMAT));
    }
    if family.is_encoder() {
        let how = match args.bench {
            Some(_) => None,
            None => Some(embed::how(args, files, host)?),
        };
        let weights = CheckpointWeights(checkpoint);
        let (model, threads, isa) = packed(args, files, (document.config, weights), host)?;
        let Some(how) = how else {
            let tokens = match &args.start {
                Start::Tokens(tokens) => Some(tokens.clone()),
                Start::Prompt(_)
                | Start::Chat(_)
                | Start::Any
                | Start::Texts(_)
                | Start::Pixels(_)
                | Start::Audio(_) => None,
            };
            let subject = bench::Subject {
                load: host.now().saturating_sub(started),
                threads,
                isa,
            };
            let form = args.bench.unwrap_or(Form::Text);
            let work = (form, bench::Work::Encoder);
            return bench::run(args, work, model, tokens, &subject, host);
        };
        if let Start::Pixels(path) = &args.start {
            let beside = TextFiles::open(files, family, host)?;
            return image::run(args, model, (path.as_str(), &beside, how), host);
        }
        let most = most_tokens(files, host)?;
        return embed::run(args, model, (text.as_ref(), how, most), host);
    }
    let is_pair = family.encoder().is_some();
    if is_pair && matches!(args.start, Start::Chat(_)) {
        return Err(Stop::Usage(args::CHAT));
    }
    let beside = TextFiles::open(files, family, host)?;
    let heard = match &args.start {
        Start::Audio(path) => Some(heard(args, path, &document.config, &beside, host)?),
        Start::Tokens(_)
        | Start::Prompt(_)
        | Start::Chat(_)
        | Start::Any
        | Start::Texts(_)
        | Start::Pixels(_) => None,
    };
    let start = is_pair.then(|| beside.start()).transpose()?;
    let mut forced = if is_pair {
        beside.forced()?
    } else {
        Forced::default()
    };
    let ends = if args.ignores_ends {
        forced.last = None;
        Vec::new()
    } else {
        beside.ends()?
    };
    let means = match (&args.start, &text) {
        (Start::Chat(system), Some(text)) => Some(chat::Means {
            text,
            template: {
                let mut template = beside.template(text)?;
                template.now = host.wall_clock();
                template
            },
            ends: &ends,
            system: system.as_deref(),
        }),
        _ => None,
    };
    let weights = CheckpointWeights(checkpoint);
    let (model, threads, isa) = packed(args, files, (document.config, weights), host)?;
    if let Some(means) = &means {
        return chat::run(args, model, means, host);
    }
    let prompt = match (&args.start, &text) {
        (Start::Tokens(tokens), _) => Some(tokens.clone()),
        (Start::Prompt(prompt), Some(text)) => Some(text.encode(prompt)?),
        _ => None,
    };
    if let Some(form) = args.bench {
        let subject = bench::Subject {
            load: host.now().saturating_sub(started),
            threads,
            isa,
        };
        let work = match start {
            Some(start) => bench::Work::Pair(start),
            None => bench::Work::Decoder,
        };
        return bench::run(args, (form, work), model, prompt, &subject, host);
    }
    let prompt = prompt.unwrap_or_default();
    let (read, prompt) = match (&heard, &start) {
        (Some((features, speech)), _) => (Read::Sound(features, speech), &[][..]),
        (None, Some(start)) => (Read::Text(&prompt), std::slice::from_ref(start)),
        (None, None) => (Read::Nothing, prompt.as_slice()),
    };
    let beginning = Beginning {
        read,
        prompt,
        forced,
    };
    generate::run(args, model, (beginning, text.as_ref()), &ends, host)
}

/// Returns the features of the audio file at `path`, and the decoder's prompt for it.
fn heard(
    args: &ModelArgs,
    path: &str,
    config: &Config,
    beside: &TextFiles<'_>,
    host: &mut dyn Host,
) -> Result<(Vec<f32>, Speech), Stop> {
    let audio = config.encoder().and_then(|own| own.audio());
    let Some(audio) = audio else {
        let family = config.family.name();
        return Err(ModelError::ReadsNoAudio { family }.into());
    };
    let speech = beside.speech(Hearing {
        language: args.language.as_deref(),
        task: args.task.as_deref(),
    })?;
    let features = sound::features(path, audio, beside, host)?;
    if let Some(path) = &args.features {
        sound::save(path, &features, host)?;
    }
    Ok((features, speech))
}

/// Builds the model and packs its weights; also returns the number of threads and the name of the engine.
fn packed<'f>(
    args: &ModelArgs,
    files: &'f Files,
    (config, weights): (Config, CheckpointWeights<'f>),
    host: &mut dyn Host,
) -> Result<(Arc<Model<'f>>, usize, &'static str), Stop> {
    let (runner, threads, isa) = runner(args, files, host)?;
    let weights = MappedWeights {
        weights,
        files: files.contents(),
    };
    let kept = args.packs.then(|| files.weight_paths());
    let how = (args.products, kept.as_deref());
    let model = packing::model(config, weights, runner, how, host)?;
    Ok((model, threads, isa))
}

/// Returns the engine, its number of threads and its name.
fn runner(
    args: &ModelArgs,
    files: &Files,
    host: &mut dyn Host,
) -> Result<(Runner, usize, &'static str), Stop> {
    if args.is_interpreted {
        return Ok((Runner::Interpreter, 1, "interp"));
    }
    let config = engine::Config {
        cache: if args.is_cached {
            cache::open(host)
        } else {
            None
        },
        ..args.config.clone()
    };
    let engine = Engine::new(&config).map_err(|found| {
        mind_cli::report(host, &found, &files.config, args.form);
        Stop::Reported
    })?;
    let (threads, isa) = (engine.pool().threads(), engine.target().isa.name());
    Ok((Runner::Jit(Arc::new(engine)), threads, isa))
}
