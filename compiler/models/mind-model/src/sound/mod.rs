//! Audio input: WAV files and log-mel features.

mod features;
mod fourier;
mod wav;

pub use features::{Spectrogram, SpectrogramError};
pub use wav::{Sound, WavError};
