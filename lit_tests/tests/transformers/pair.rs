//! Encoder-decoders beside `transformers`: logits of a sequence behind texts of several lengths, and what is drawn.

use std::path::Path;

use mind_driver::disk::Disk;
use mind_model::{Files as Folder, Session, TextFiles, WeightsAt, largest};

use crate::files::{Files, distance, ids, numbers};

/// Tokens of each text that is read, as the script has them.
const LENGTHS: [usize; 4] = [1, 17, 255, 300];

/// Returns the largest error of the logits of a model, in units of the largest one behind each text.
pub fn compared(family: &str, folder: &Path) -> Result<f64, String> {
    let files = Files::open(folder)?;
    let (model, _) = files.model(family)?;
    let behind = |text: &[u32]| {
        let session = Session::behind(model.clone(), text, 128);
        session.map_err(|why| why.to_string())
    };
    let source = ids(&folder.join("source"))?;
    let tokens = ids(&folder.join("tokens"))?;
    let expected = numbers(&folder.join("pair_logits"))?;
    let vocab = model.config().vocab_size;
    let (mut rest, mut error) = (expected.as_slice(), 0f64);
    for length in LENGTHS {
        let (expected, later) = rest
            .split_at_checked(tokens.len() * vocab)
            .ok_or("fewer logits than tokens")?;
        rest = later;
        let mut session = behind(&source[..length])?;
        let found = session
            .prefill_all(&tokens)
            .map_err(|why| why.to_string())?;
        let own = distance(&found, expected)?;
        if own.is_nan() || own > crate::MOST {
            return Err(format!(
                "a logit behind {length} tokens is off by {own:e} of the largest"
            ));
        }
        error = error.max(own);
    }
    if !folder.join("generated").exists() {
        return Ok(error);
    }
    let mut session = behind(&source[..17])?;
    let opened = Folder::open(folder, WeightsAt::Beside, &mut Disk);
    let opened = opened.map_err(|why| why.to_string())?;
    let text = TextFiles::open(&opened, model.config().family, &mut Disk);
    let text = text.map_err(|why| why.to_string())?;
    let mut token = text.start().map_err(|why| why.to_string())?;
    let forced = text.forced().map_err(|why| why.to_string())?;
    let generated = ids(&folder.join("generated"))?;
    let count = generated.len();
    for (at, expected) in generated.into_iter().enumerate() {
        let logits = session.decode(token).map_err(|why| why.to_string())?;
        let own = forced.token(at, count);
        token = own.unwrap_or_else(|| largest(&logits));
        if token != expected {
            return Err(format!("token {at} drawn is {token}, expected {expected}"));
        }
    }
    Ok(error)
}
