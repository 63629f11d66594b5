//! Sound, as models read it: files of samples, and features of short pieces of them.

mod features;
mod fourier;
mod wav;

pub use features::{Spectrogram, SpectrogramError};
pub use wav::{Sound, WavError};
