//! Log-mel features of audio.

use std::f64::consts::{LOG10_E, TAU};

use mind_ir::scalar::math::{cos_f64, exp_f64, log_f64};

use super::fourier::Fourier;
use super::wav::Sound;

/// Parameters of the log-mel spectrogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spectrogram {
    /// Samples per second.
    pub rate: usize,
    /// Samples per frame, which is the length of the Fourier transform.
    pub window: usize,
    /// Samples between the starts of two frames.
    pub hop: usize,
    /// Length of a clip in seconds.
    pub seconds: usize,
    /// Features per frame.
    pub mel_bins: usize,
}

/// Why features cannot be computed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpectrogramError {
    /// The audio has another sampling rate.
    #[error(
        "the audio has {found} samples per second, the model expects {expected}: convert it, for example with `ffmpeg -i IN.wav -ar {expected} OUT.wav` or `sox IN.wav -r {expected} OUT.wav`"
    )]
    Rate {
        /// The rate of the audio.
        found: u32,
        /// The rate that the model expects.
        expected: usize,
    },
    /// The audio is longer than a clip.
    #[error(
        "the audio has {found} samples, at most {expected} ({seconds} seconds) are supported: split it"
    )]
    Long {
        /// Samples of the audio.
        found: usize,
        /// Samples of a clip.
        expected: usize,
        /// Seconds of a clip.
        seconds: usize,
    },
    /// The parameters do not define any frames.
    #[error("{0}")]
    Sizes(&'static str),
}

/// The upper frequency of the last mel filter, in hertz.
const HIGHEST: f64 = 8000.0;
/// The maximal number of samples of a clip.
const MOST_SAMPLES: usize = 1 << 28;
/// The maximal number of samples of a frame.
const MOST_WINDOW: usize = 1 << 16;

impl Default for Spectrogram {
    /// The parameters of Whisper.
    fn default() -> Spectrogram {
        Spectrogram {
            rate: 16_000,
            window: 400,
            hop: 160,
            seconds: 30,
            mel_bins: 80,
        }
    }
}

impl Spectrogram {
    /// Returns the samples of a clip.
    pub fn samples(&self) -> usize {
        self.rate.saturating_mul(self.seconds)
    }

    /// Returns the frames of a clip.
    pub fn frames(&self) -> usize {
        self.samples().checked_div(self.hop).unwrap_or(0)
    }

    /// Checks the parameters.
    fn check(&self) -> Result<(), SpectrogramError> {
        let fine = |is_fine: bool, why| {
            if is_fine {
                Ok(())
            } else {
                Err(SpectrogramError::Sizes(why))
            }
        };
        fine(
            (2..=MOST_WINDOW).contains(&self.window),
            "a frame has 2 to 65536 samples, as `n_fft` says",
        )?;
        fine(self.hop > 0, "`hop_length` is 0, expected at least 1")?;
        fine(
            self.mel_bins > 0,
            "`feature_size` is 0, expected at least 1",
        )?;
        fine(
            self.samples() <= MOST_SAMPLES,
            "a piece of sound has more than 2^28 samples",
        )?;
        fine(
            self.samples() > self.window / 2,
            "a piece of sound has fewer samples than half a frame",
        )
    }

    /// Returns the log-mel features, `[mel_bins, frames]`: the decimal logarithm of each mel filter's power, clamped to
    /// at most 8 below the maximum, then scaled by (x + 4) / 4. The audio is padded with silence to the length of a
    /// clip.
    ///
    /// # Errors
    ///
    /// The audio has another sampling rate, or is longer than a clip; the parameters do not define any frames.
    pub fn features(&self, sound: &Sound) -> Result<Vec<f32>, SpectrogramError> {
        self.check()?;
        if sound.rate as usize != self.rate {
            return Err(SpectrogramError::Rate {
                found: sound.rate,
                expected: self.rate,
            });
        }
        let (found, count) = (sound.samples.len(), self.samples());
        if found > count {
            return Err(SpectrogramError::Long {
                found,
                expected: count,
                seconds: self.seconds,
            });
        }
        let frames = self.frames();
        let (fourier, filters) = (Fourier::new(self.window), self.filters());
        let window = self.hann();
        let half = self.window / 2;
        // Frames at both ends are padded by reflection.
        let sample = |at: usize| -> f64 {
            let place = at.abs_diff(half);
            let place = if at >= half && place >= count {
                2 * (count - 1) - place
            } else {
                place
            };
            sound.samples.get(place).map_or(0.0, |&x| f64::from(x))
        };
        let mut all = vec![0.0; self.mel_bins * frames];
        let mut piece = vec![0.0; self.window];
        for frame in 0..frames {
            for (at, x) in piece.iter_mut().enumerate() {
                *x = sample(frame * self.hop + at) * window[at];
            }
            let powers = fourier.run(&piece);
            let powers = powers[..=half].iter().map(|[re, im]| re * re + im * im);
            let powers: Vec<f64> = powers.collect();
            for (bin, filter) in filters.iter().enumerate() {
                let terms = filter.shares.iter().zip(&powers[filter.first..]);
                let sum: f64 = terms.map(|(share, power)| share * power).sum();
                all[bin * frames + frame] = log_f64(sum.max(1e-10)) * LOG10_E;
            }
        }
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scaled = all.iter().map(|x| ((x.max(most - 8.0) + 4.0) / 4.0) as f32);
        Ok(scaled.collect())
    }

    /// Returns the Hann window.
    fn hann(&self) -> Vec<f64> {
        let share = |at: usize| 0.5 - 0.5 * cos_f64(TAU * at as f64 / self.window as f64);
        (0..self.window).map(share).collect()
    }

    /// Returns triangular filters that are equally spaced on Slaney's mel scale, each normalised to area 1.
    fn filters(&self) -> Vec<Filter> {
        let half = self.window / 2;
        let nyquist = (self.rate / 2) as f64;
        let frequency = |at: usize| nyquist * at as f64 / half as f64;
        let step = mel_of_hertz(HIGHEST) / (self.mel_bins + 1) as f64;
        let corner = |at: usize| hertz_of_mel(step * at as f64);
        let filter = |bin: usize| {
            let [low, middle, high] = [bin, bin + 1, bin + 2].map(corner);
            let share = |at: usize| {
                let own = frequency(at);
                let (up, down) = ((own - low) / (middle - low), (high - own) / (high - middle));
                up.min(down).max(0.0) * 2.0 / (high - low)
            };
            let inside = |at: &usize| share(*at) > 0.0;
            let first = (0..=half).find(inside).unwrap_or(0);
            let shares = (first..=half).map(share).take_while(|share| *share > 0.0);
            Filter {
                first,
                shares: shares.collect(),
            }
        };
        (0..self.mel_bins).map(filter).collect()
    }
}

/// A mel filter: the weights of the power of each frequency bin from `first` on.
struct Filter {
    first: usize,
    shares: Vec<f64>,
}

/// The mel value and frequency at which the scale becomes logarithmic.
const LOG_FROM: [f64; 2] = [15.0, 1000.0];

/// The logarithm of the ratio of consecutive mels' frequencies in the logarithmic part.
fn log_step() -> f64 {
    log_f64(6.4) / 27.0
}

fn mel_of_hertz(hertz: f64) -> f64 {
    let [mel, from] = LOG_FROM;
    if hertz < from {
        return 3.0 * hertz / 200.0;
    }
    mel + log_f64(hertz / from) / log_step()
}

fn hertz_of_mel(mel: f64) -> f64 {
    let [from, hertz] = LOG_FROM;
    if mel < from {
        return 200.0 * mel / 3.0;
    }
    hertz * exp_f64(log_step() * (mel - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short() -> Spectrogram {
        Spectrogram {
            seconds: 1,
            mel_bins: 20,
            ..Spectrogram::default()
        }
    }

    fn sound(samples: Vec<f32>) -> Sound {
        Sound {
            rate: 16_000,
            samples,
        }
    }

    #[test]
    fn a_tone_is_in_the_feature_of_its_frequency() {
        let own = short();
        let tone = |hertz: f64| {
            let sample = |at: usize| (TAU * hertz * at as f64 / 16_000.0).sin() as f32 * 0.5;
            let all = own.features(&sound((0..16_000).map(sample).collect()));
            let all = all.unwrap();
            assert_eq!(all.len(), 20 * 100);
            let numbers: Vec<f32> = all.chunks(100).map(|row| row[50]).collect();
            let most = numbers.iter().copied().fold(f32::MIN, f32::max);
            let best = numbers.iter().position(|x| *x == most).unwrap();
            let least = all.iter().copied().fold(f32::MAX, f32::min);
            // The dynamic range is 8 before scaling, hence 2 after it.
            let loudest = all.iter().copied().fold(f32::MIN, f32::max);
            assert!(least >= loudest - 2.0 - 1e-6);
            best
        };
        let corner = mel_of_hertz(HIGHEST) / 21.0;
        for hertz in [300.0, 1200.0, 5000.0] {
            let expected = (mel_of_hertz(hertz) / corner).round() as usize - 1;
            assert_eq!(tone(hertz), expected, "{hertz}");
        }
    }

    #[test]
    fn silence_follows_a_short_sound() {
        let own = short();
        let whole: Vec<f32> = (0..9000)
            .map(|at| ((at * 31 % 97) as f32 - 48.0) / 97.0)
            .collect();
        let mut padded = whole.clone();
        padded.resize(16_000, 0.0);
        assert_eq!(own.features(&sound(whole)), own.features(&sound(padded)));
        let silent = own.features(&sound(Vec::new())).unwrap();
        assert!(silent.iter().all(|x| *x == -1.5));
    }

    #[test]
    fn what_makes_no_features_is_refused() {
        let why = |own: Spectrogram, sound: &Sound| own.features(sound).unwrap_err().to_string();
        let other = Sound {
            rate: 44_100,
            samples: vec![0.0; 10],
        };
        let rate = why(short(), &other);
        assert!(
            rate.starts_with(
                "the audio has 44100 samples per second, the model expects 16000: convert it"
            ),
            "{rate}"
        );
        let long = why(short(), &sound(vec![0.0; 16_001]));
        assert!(
            long.starts_with(
                "the audio has 16001 samples, at most 16000 (1 seconds) are supported"
            )
        );
        let none = sound(Vec::new());
        for own in [
            Spectrogram { hop: 0, ..short() },
            Spectrogram {
                window: 1,
                ..short()
            },
            Spectrogram {
                window: 1 << 17,
                ..short()
            },
            Spectrogram {
                seconds: 0,
                ..short()
            },
            Spectrogram {
                seconds: usize::MAX,
                ..short()
            },
            Spectrogram {
                mel_bins: 0,
                ..short()
            },
        ] {
            assert!(matches!(
                own.features(&none),
                Err(SpectrogramError::Sizes(_))
            ));
        }
    }
}
