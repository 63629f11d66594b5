//! Features of audio files.

use std::path::Path;

use mind_driver::host::Host;
use mind_irv2::Audio;
use mind_model::{Sound, TextFiles};

use super::stop::Stop;

/// Limit on the size of a file in bytes.
const LIMIT: u64 = 1 << 30;

/// Computes the features of the WAV file at `path`, with the parameters of the model's files.
pub(super) fn features(
    path: &str,
    audio: Audio,
    beside: &TextFiles<'_>,
    host: &mut dyn Host,
) -> Result<Vec<f32>, Stop> {
    let spectrogram = beside.spectrogram(audio)?;
    let name = path.to_owned();
    let bytes = host.read(Path::new(path), LIMIT);
    let bytes = bytes.map_err(|why| Stop::Stream {
        name: name.clone(),
        why,
    })?;
    let sound = Sound::of_wav(&bytes).map_err(|why| Stop::Wav {
        name: name.clone(),
        why,
    })?;
    let features = spectrogram.features(&sound);
    features.map_err(|why| Stop::Sound { name, why })
}

/// Writes features as little-endian bytes to the file at `path`.
pub(super) fn save(path: &str, features: &[f32], host: &mut dyn Host) -> Result<(), Stop> {
    let bytes: Vec<u8> = features.iter().flat_map(|x| x.to_le_bytes()).collect();
    let written = host.write(Path::new(path), &bytes);
    written.map_err(|why| Stop::Stream {
        name: path.to_owned(),
        why,
    })
}
