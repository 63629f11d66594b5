//! Reader of WAV files.

/// Mono audio.
#[derive(Clone, PartialEq, Debug)]
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    /// The samples, nominally from -1 to 1. Files with floating-point samples may exceed that range.
    pub samples: Vec<f32>,
}

/// Why a WAV file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WavError {
    /// The file is not a WAV file.
    #[error("not a WAV file: it does not begin with RIFF and WAVE")]
    Foreign,
    /// The file is truncated.
    #[error("the file ends within {what}, at byte {at}")]
    Short {
        /// The structure that is cut off.
        what: &'static str,
        /// The length of the file.
        at: usize,
    },
    /// A required chunk is missing.
    #[error("the file has no `{0}` chunk")]
    Lacks(&'static str),
    /// The sample format is not supported.
    #[error(
        "samples of format {format} with {bits} bits are not read; PCM of 8, 16, 24 and 32 bits and floating-point numbers of 32 and 64 bits are"
    )]
    Format {
        /// The format code.
        format: u16,
        /// Bits per sample.
        bits: u16,
    },
    /// The numbers of the header contradict each other.
    #[error("the header says {channels} channels of {bits} bits in blocks of {block} bytes")]
    Block {
        /// Channels.
        channels: u16,
        /// Bits per sample.
        bits: u16,
        /// Bytes per block, which has a sample of each channel.
        block: u16,
    },
}

/// Encoding of a sample.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    /// An unsigned byte.
    Unsigned,
    /// A signed little-endian integer of this many bytes.
    Signed(usize),
    Single,
    Double,
}

/// The format code of integer samples.
const PCM: u16 = 1;
/// The format code of floating-point samples.
const FLOAT: u16 = 3;
/// The format code for extensible headers, which have the actual code at byte 24.
const EXTENSIBLE: u16 = 0xfffe;

/// The content of the `fmt ` chunk.
#[derive(Clone, Copy, Debug)]
struct Header {
    rate: u32,
    channels: usize,
    encoding: Encoding,
}

impl Sound {
    /// Reads a WAV file. Several channels are averaged.
    ///
    /// # Errors
    ///
    /// See [`WavError`].
    pub fn of_wav(bytes: &[u8]) -> Result<Sound, WavError> {
        let is_wav = bytes.get(..4) == Some(b"RIFF") && bytes.get(8..12) == Some(b"WAVE");
        let mut rest = bytes
            .get(12..)
            .filter(|_| is_wav)
            .ok_or(WavError::Foreign)?;
        let mut header = None;
        while !rest.is_empty() {
            let short = |what| WavError::Short {
                what,
                at: bytes.len(),
            };
            let (start, behind) = rest
                .split_at_checked(8)
                .ok_or(short("the start of a chunk"))?;
            let length = u32_at(start, 4) as usize;
            let (content, padded) = behind.split_at_checked(length).ok_or(short("a chunk"))?;
            match (&start[..4], header) {
                (b"fmt ", _) => header = Some(header_of(content, bytes.len())?),
                (b"data", Some(own)) => return Ok(samples(content, own)),
                _ => {}
            }
            // Chunks are padded to an even length.
            rest = padded.get(length % 2..).unwrap_or_default();
        }
        Err(WavError::Lacks(if header.is_some() {
            "data"
        } else {
            "fmt "
        }))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn header_of(content: &[u8], end: usize) -> Result<Header, WavError> {
    let short = WavError::Short {
        what: "the chunk `fmt `",
        at: end,
    };
    if content.len() < 16 {
        return Err(short);
    }
    let mut format = u16_at(content, 0);
    if format == EXTENSIBLE {
        if content.len() < 26 {
            return Err(short);
        }
        format = u16_at(content, 24);
    }
    let [channels, block, bits] = [2, 12, 14].map(|at| u16_at(content, at));
    let encoding = match (format, bits) {
        (PCM, 8) => Encoding::Unsigned,
        (PCM, 16 | 24 | 32) => Encoding::Signed(usize::from(bits) / 8),
        (FLOAT, 32) => Encoding::Single,
        (FLOAT, 64) => Encoding::Double,
        _ => return Err(WavError::Format { format, bits }),
    };
    if channels == 0 || u32::from(block) != u32::from(channels) * u32::from(bits) / 8 {
        return Err(WavError::Block {
            channels,
            bits,
            block,
        });
    }
    Ok(Header {
        rate: u32_at(content, 4),
        channels: usize::from(channels),
        encoding,
    })
}

/// Decodes the samples of a chunk. An incomplete block at its end is ignored.
fn samples(content: &[u8], header: Header) -> Sound {
    let Header {
        rate,
        channels,
        encoding,
    } = header;
    let width = match encoding {
        Encoding::Unsigned => 1,
        Encoding::Signed(bytes) => bytes,
        Encoding::Single => 4,
        Encoding::Double => 8,
    };
    let number = |own: &[u8]| -> f64 {
        match encoding {
            Encoding::Unsigned => (f64::from(own[0]) - 128.0) / 128.0,
            Encoding::Signed(bytes) => {
                let mut word = [0; 4];
                word[4 - bytes..].copy_from_slice(own);
                f64::from(i32::from_le_bytes(word)) / 2_147_483_648.0
            }
            Encoding::Single => f64::from(f32::from_bits(u32_at(own, 0))),
            Encoding::Double => {
                let bits = u64::from(u32_at(own, 0)) | u64::from(u32_at(own, 4)) << 32;
                f64::from_bits(bits)
            }
        }
    };
    let mean = |block: &[u8]| {
        let sum: f64 = block.chunks_exact(width).map(number).sum();
        (sum / channels as f64) as f32
    };
    Sound {
        rate,
        samples: content.chunks_exact(width * channels).map(mean).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file with an unknown chunk before the samples.
    fn wav([format, channels, bits]: [u16; 3], data: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
        let block = channels * bits / 8;
        for word in [format, channels] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(16_000u32.to_le_bytes());
        bytes.extend((16_000 * u32::from(block)).to_le_bytes());
        for word in [block, bits] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(b"data");
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes
    }

    fn read(head: [u16; 3], data: &[u8]) -> Vec<f32> {
        let sound = Sound::of_wav(&wav(head, data)).unwrap();
        assert_eq!(sound.rate, 16_000);
        sound.samples
    }

    #[test]
    fn samples_of_every_format_are_read() {
        assert_eq!(read([PCM, 1, 8], &[0, 128, 192]), [-1.0, 0.0, 0.5]);
        let halves = [0x00, 0x40, 0x00, 0x80];
        assert_eq!(read([PCM, 1, 16], &halves), [0.5, -1.0]);
        assert_eq!(read([PCM, 2, 16], &halves), [-0.25]);
        assert_eq!(
            read([PCM, 1, 24], &[0, 0, 0x20, 1, 0, 0]),
            [0.25, 1.0 / 8_388_608.0]
        );
        assert_eq!(read([PCM, 1, 32], &[0, 0, 0, 0xe0]), [-0.25]);
        assert_eq!(read([FLOAT, 1, 32], &1.5f32.to_le_bytes()), [1.5]);
        assert_eq!(read([FLOAT, 1, 64], &(-0.1f64).to_le_bytes()), [-0.1]);
        // The odd byte at the end is ignored.
        assert_eq!(read([PCM, 1, 16], &[0, 0x40, 7]), [0.5]);
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        let whole = wav([PCM, 1, 16], &[1, 2, 3, 4]);
        let why = |bytes: &[u8]| Sound::of_wav(bytes).unwrap_err().to_string();
        assert_eq!(
            why(b"RIFF"),
            "not a WAV file: it does not begin with RIFF and WAVE"
        );
        for end in 13..whole.len() {
            assert!(Sound::of_wav(&whole[..end]).is_err(), "{end}");
        }
        assert_eq!(why(&whole[..24]), "the file has no `fmt ` chunk");
        assert_eq!(why(&whole[..48]), "the file has no `data` chunk");
        assert_eq!(
            why(&whole[..whole.len() - 1]),
            "the file ends within a chunk, at byte 59"
        );
        let other = why(&wav([6, 1, 8], &[1]));
        assert!(
            other.starts_with("samples of format 6 with 8 bits are not read; "),
            "{other}"
        );
        let mut wide = whole.clone();
        wide[44] = 3;
        assert_eq!(
            why(&wide),
            "the header says 1 channels of 16 bits in blocks of 3 bytes"
        );
    }
}
