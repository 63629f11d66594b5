//! Configuration of speech models: feature extraction and decoder prompt.

use mind_irv2::Audio;
use mind_json::Value;

use crate::error::ModelError;
use crate::folder::FolderError;
use crate::json_file::Json;
use crate::language;
use crate::sample::largest;
use crate::session::Session;
use crate::sound::Spectrogram;
use crate::suppressed::Suppressed;
use crate::text_files::TextFiles;

/// Language and task of a transcription. They override the files of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hearing<'t> {
    /// The spoken language, for example `en` or `english`.
    pub language: Option<&'t str>,
    /// The task, for example `transcribe` or `translate`.
    pub task: Option<&'t str>,
}

/// The decoder prompt of a speech model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Speech {
    start: u32,
    language: Language,
    /// The tokens after the language.
    behind: Vec<u32>,
    /// Tokens that are never drawn.
    pub suppressed: Suppressed,
}

/// The language token of the prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Language {
    /// A fixed token, or none.
    Known(Option<u32>),
    /// The most likely one of these.
    AmongThese(Vec<u32>),
}

impl Speech {
    /// Returns the decoder prompt. If no language is given, it is detected: the language token with the largest logit
    /// after the start token is used. `session` must be empty, and is empty afterwards.
    ///
    /// # Errors
    ///
    /// A token is outside of the vocabulary; out of memory.
    pub fn tokens(&self, session: &mut Session<'_>) -> Result<Vec<u32>, ModelError> {
        let language = match &self.language {
            Language::Known(own) => *own,
            Language::AmongThese(all) => {
                let logits = session.decode(self.start)?;
                session.clear();
                let mut scores = vec![f32::NEG_INFINITY; logits.len()];
                for &token in all {
                    let vocab_size = logits.len();
                    let own = logits.get(token as usize);
                    let own = own.ok_or(ModelError::Token { token, vocab_size })?;
                    scores[token as usize] = *own;
                }
                Some(largest(&scores))
            }
        };
        let mut tokens = vec![self.start];
        tokens.extend(language);
        tokens.extend(&self.behind);
        Ok(tokens)
    }

    /// Returns the number of tokens of the decoder prompt.
    pub fn count(&self) -> usize {
        let language = match self.language {
            Language::Known(None) => 0,
            Language::Known(Some(_)) | Language::AmongThese(_) => 1,
        };
        1 + language + self.behind.len()
    }
}

/// Keys of `generation_config.json` that change how `generate` draws tokens, with the reason why they are not
/// supported.
const REFUSED: [(&str, &str); 6] = [
    ("return_timestamps", "timestamps are not generated"),
    ("return_token_timestamps", "timestamps are not generated"),
    ("no_speech_threshold", "silence is transcribed like speech"),
    (
        "logprob_threshold",
        "a text is generated once, however unlikely it is",
    ),
    (
        "compression_ratio_threshold",
        "a text is generated once, however often it repeats itself",
    ),
    (
        "condition_on_prev_tokens",
        "every clip is transcribed on its own",
    ),
];

impl TextFiles<'_> {
    /// Returns the decoder prompt of a speech model, as `generate` of the reference builds it without timestamps:
    /// `decoder_start_token_id`, the language token, the task token, and `no_timestamps_token_id`. Without a language
    /// and a task, the tokens of `forced_decoder_ids` are used instead of those two.
    ///
    /// # Errors
    ///
    /// The model does not have the language or the task; a value has another type than its key requires; a key asks for
    /// timestamps or another way of drawing.
    pub fn speech(&self, asked: Hearing<'_>) -> Result<Speech, FolderError> {
        let start = self.start()?;
        let config = self.config();
        let generation = self.generation.as_ref();
        if let Some(own) = generation {
            refuse(own)?;
        }
        let word = |given: Option<&str>, key: &str| -> Result<Option<String>, FolderError> {
            let said = generation.map(|own| own.word(key)).transpose()?.flatten();
            Ok(given.or(said).map(str::to_owned))
        };
        let language = word(asked.language, "language")?;
        let task = word(asked.task, "task")?;
        let tokens = |key: &str| -> Result<Vec<(&str, u32)>, FolderError> {
            generation.map_or(Ok(Vec::new()), |own| own.named_tokens(key))
        };
        let (languages, tasks) = (tokens("lang_to_id")?, tokens("task_to_id")?);
        let mut forced: Vec<Option<u32>> = Vec::new();
        if language.is_none() && task.is_none() {
            for file in generation.into_iter().chain(&config) {
                if let Some(found) = file.get("forced_decoder_ids") {
                    forced = forced_tokens(file, found)?;
                    break;
                }
            }
        }
        let mut behind: Vec<Option<u32>> = forced.get(1..).unwrap_or_default().to_vec();
        let own = forced.first().copied().flatten();
        let says_language = language.is_some();
        let language = match &language {
            Some(word) => {
                let code = language::code(word).map_or_else(|| word.to_lowercase(), str::to_owned);
                let bracketed = format!("<|{code}|>");
                let is_it = |name: &str| name == bracketed || name == word.as_str();
                Language::Known(Some(self.named("language", word, &languages, is_it)?))
            }
            None if own.is_none() && !languages.is_empty() => {
                Language::AmongThese(languages.iter().map(|(_, token)| *token).collect())
            }
            None => Language::Known(own),
        };
        match &task {
            Some(word) => {
                behind.push(Some(self.named("task", word, &tasks, |name| name == word)?));
            }
            // If only a language is given, the task is transcription.
            None if says_language => {
                let usual = tasks.iter().find(|(name, _)| *name == "transcribe");
                behind.push(usual.map(|(_, token)| *token));
            }
            None => {}
        }
        let mut behind: Vec<u32> = behind.into_iter().flatten().collect();
        let key = "no_timestamps_token_id";
        let without_times = generation.map(|own| own.token(key)).transpose()?.flatten();
        if let Some(token) = without_times
            && behind.last() != Some(&token)
        {
            behind.push(token);
        }
        let suppressed = |key: &str| -> Result<Vec<u32>, FolderError> {
            let file = generation.or(config.as_ref());
            let all = file.map(|own| own.tokens(key)).transpose()?;
            Ok(all.flatten().unwrap_or_default())
        };
        Ok(Speech {
            start,
            language,
            behind,
            suppressed: Suppressed {
                always: suppressed("suppress_tokens")?,
                first: suppressed("begin_suppress_tokens")?,
            },
        })
    }

    /// Returns the token of the language or the task `word`.
    fn named(
        &self,
        what: &str,
        word: &str,
        all: &[(&str, u32)],
        is_it: impl Fn(&str) -> bool,
    ) -> Result<u32, FolderError> {
        let own = all.iter().find(|(name, _)| is_it(name));
        own.map(|(_, token)| *token).ok_or_else(|| {
            let trimmed = |name: &str| name.trim_matches(['<', '|', '>']).to_owned();
            let names: Vec<String> = all.iter().map(|(name, _)| trimmed(name)).collect();
            FolderError::NoWord {
                path: self.folder().to_owned(),
                what: what.to_owned(),
                word: word.to_owned(),
                names,
            }
        })
    }

    /// Returns the parameters of the features that the model reads: those of `preprocessor_config.json`, else of
    /// `feature_extractor` of `processor_config.json`, else those of Whisper.
    ///
    /// # Errors
    ///
    /// The feature extractor is not supported; a value has another type than its key requires; the numbers of features
    /// or frames are not those the model reads.
    pub fn spectrogram(&self, audio: Audio) -> Result<Spectrogram, FolderError> {
        let usual = Spectrogram {
            mel_bins: audio.mel_bins,
            ..Spectrogram::default()
        };
        let silent = self.config();
        let Some(file) = self.extractor.as_ref().or(silent.as_ref()) else {
            return Ok(usual);
        };
        let mut own = usual;
        if self.extractor.is_some() {
            own = said(file, usual)?;
        }
        if own.mel_bins != audio.mel_bins {
            let (found, expected) = (own.mel_bins, audio.mel_bins);
            let why = format!(
                "`feature_size` is {found}, but the model reads {expected} features of each frame"
            );
            return Err(file.contradicts("feature_size", why));
        }
        if own.frames() != audio.frames {
            let (found, expected) = (own.frames(), audio.frames);
            let why = format!(
                "{} seconds of sound have {found} frames, but the model reads {expected}",
                own.seconds
            );
            return Err(file.contradicts("chunk_length", why));
        }
        Ok(own)
    }
}

/// Returns the parameters of a feature extractor configuration.
fn said(file: &Json, usual: Spectrogram) -> Result<Spectrogram, FolderError> {
    let key = "feature_extractor_type";
    if let Some(found) = file.get(key)
        && found.text() != Some("WhisperFeatureExtractor")
    {
        let reason = "features are those of `WhisperFeatureExtractor`";
        return Err(file.unsupported(key, found, reason));
    }
    let says_nothing = |found: &Value| found.truth() == Some(false) || found.real() == Some(0.0);
    for (key, reason) in [
        ("do_normalize", "samples are read as they are"),
        ("dither", "nothing is added to samples"),
        ("padding_value", "silence follows the sound"),
    ] {
        if let Some(found) = file.get(key).filter(|own| !says_nothing(own)) {
            return Err(file.unsupported(key, found, reason));
        }
    }
    let number = |key: &str, usual: usize| Ok(file.natural(key)?.unwrap_or(usual));
    Ok(Spectrogram {
        rate: number("sampling_rate", usual.rate)?,
        window: number("n_fft", usual.window)?,
        hop: number("hop_length", usual.hop)?,
        seconds: number("chunk_length", usual.seconds)?,
        mel_bins: number("feature_size", usual.mel_bins)?,
    })
}

/// Rejects keys that change how tokens are drawn.
fn refuse(file: &Json) -> Result<(), FolderError> {
    for (key, reason) in REFUSED {
        let found = file.get(key);
        if let Some(found) = found.filter(|own| own.truth() != Some(false)) {
            return Err(file.unsupported(key, found, reason));
        }
    }
    Ok(())
}

/// Returns the tokens of `forced_decoder_ids`, pairs of a position and a token, from position 1 on.
fn forced_tokens(file: &Json, found: &Value) -> Result<Vec<Option<u32>>, FolderError> {
    let key = "forced_decoder_ids";
    let expected = "pairs of a place and a token, or `null`";
    let pair = |own: &Value| -> Option<(i64, Option<u32>)> {
        let [place, token] = own.elements()? else {
            return None;
        };
        let token = if token.is_null() {
            None
        } else {
            Some(u32::try_from(token.integer()?).ok()?)
        };
        Some((place.integer()?, token))
    };
    let pairs = found.elements().map(|all| all.iter().map(pair));
    let pairs: Option<Vec<_>> = pairs.and_then(Iterator::collect);
    let pairs = pairs.ok_or_else(|| file.wrong(key, found, expected))?;
    // The reference ignores a list that starts at another position.
    if pairs.first().is_none_or(|(place, _)| *place != 1) {
        return Ok(Vec::new());
    }
    let mut places = (1..).zip(&pairs);
    if places.any(|(expected, (place, _))| expected != *place) {
        let reason = "places follow each other from 1 on";
        return Err(file.unsupported(key, found, reason));
    }
    Ok(pairs.into_iter().map(|(_, token)| token).collect())
}
