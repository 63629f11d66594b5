//! Encoder-decoders that hear beside `transformers`: features of sound, logits of a sequence behind it, and what is drawn.

use std::path::Path;

use mind_driver::disk::Disk;
use mind_model::{Files as Folder, Hearing, Session, Sound, TextFiles, WeightsAt, largest};

use crate::files::{Files, distance, ids, messages, numbers};

/// Returns the largest error of the features of a sound, and of the logits of a model in units of the largest one.
pub fn compared(family: &str, folder: &Path) -> Result<f64, String> {
    let files = Files::open(folder)?;
    let (model, warnings) = files.model(family)?;
    if !warnings.is_empty() {
        return Err(messages(&warnings));
    }
    let config = *model.config();
    let audio = config.encoder().and_then(|own| own.audio());
    let audio = audio.ok_or("the model hears nothing")?;
    let opened = Folder::open(folder, WeightsAt::Beside, &mut Disk);
    let opened = opened.map_err(|why| why.to_string())?;
    let text = TextFiles::open(&opened, config.family, &mut Disk);
    let text = text.map_err(|why| why.to_string())?;
    let spectrogram = text.spectrogram(audio).map_err(|why| why.to_string())?;
    let bytes = std::fs::read(folder.join("sound.wav")).map_err(|why| why.to_string())?;
    let sound = Sound::of_wav(&bytes).map_err(|why| why.to_string())?;
    let features = spectrogram.features(&sound);
    let features = features.map_err(|why| why.to_string())?;
    let expected = numbers(&folder.join("features"))?;
    let error = distance(&features, &expected)?;
    if error.is_nan() || error > crate::MOST {
        return Err(format!("a feature is off by {error:e}"));
    }
    // What the model makes of sound is measured apart from the features.
    let session = || {
        let session = Session::behind_audio(model.clone(), &expected, config.context_window);
        session.map_err(|why| why.to_string())
    };
    let tokens = ids(&folder.join("tokens"))?;
    let logits = session()?.prefill_all(&tokens);
    let logits = logits.map_err(|why| why.to_string())?;
    let error = distance(&logits, &numbers(&folder.join("audio_logits"))?)?;
    if error.is_nan() || error > crate::MOST {
        return Err(format!("a logit is off by {error:e} of the largest"));
    }
    if !folder.join("generated").exists() {
        return Ok(error);
    }
    let asked = std::fs::read_to_string(folder.join("asked")).map_err(|why| why.to_string())?;
    let mut words = asked.split_whitespace();
    let speech = text.speech(Hearing {
        language: words.next(),
        task: words.next(),
    });
    let speech = speech.map_err(|why| why.to_string())?;
    let session = Session::behind_audio(model.clone(), &features, config.context_window);
    let mut session = session.map_err(|why| why.to_string())?;
    let start = speech.tokens(&mut session);
    let start = start.map_err(|why| why.to_string())?;
    let mut logits = session.prefill(&start).map_err(|why| why.to_string())?;
    for (at, expected) in ids(&folder.join("generated"))?.into_iter().enumerate() {
        speech.suppressed.apply(at, &mut logits);
        let token = largest(&logits);
        if token != expected {
            return Err(format!("token {at} drawn is {token}, expected {expected}"));
        }
        logits = session.decode(token).map_err(|why| why.to_string())?;
    }
    Ok(error)
}
