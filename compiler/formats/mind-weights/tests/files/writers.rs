//! Writers of weight files, based on the specifications of the formats.

use mind_ir::random::Rng;
use mind_weights::WeightType;

/// A tensor to write.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub name: String,
    pub dtype: WeightType,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// Returns a tensor of `f32`.
    pub fn f32(name: &str, shape: &[usize], values: &[f32]) -> Tensor {
        assert_eq!(shape.iter().product::<usize>(), values.len());
        Tensor {
            name: name.to_owned(),
            dtype: WeightType::F32,
            shape: shape.to_vec(),
            bytes: values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        }
    }
}

/// A value of a GGUF header.
#[derive(Clone, Debug)]
pub enum Meta {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
}

fn safetensors_word(dtype: WeightType) -> &'static str {
    match dtype {
        WeightType::F32 => "F32",
        WeightType::F16 => "F16",
        WeightType::Bf16 => "BF16",
        other => panic!("safetensors have no {other}"),
    }
}

/// Returns a safetensors file.
pub fn safetensors(tensors: &[Tensor]) -> Vec<u8> {
    let mut header = String::from("{\"__metadata__\":{\"format\":\"pt\"}");
    let mut at = 0;
    for tensor in tensors {
        let end = at + tensor.bytes.len();
        let word = safetensors_word(tensor.dtype);
        let (name, shape) = (&tensor.name, &tensor.shape);
        header += &format!(
            ",\"{name}\":{{\"dtype\":\"{word}\",\"shape\":{shape:?},\"data_offsets\":[{at},{end}]}}"
        );
        at = end;
    }
    header.push('}');
    with_header(
        &header,
        tensors.iter().flat_map(|tensor| tensor.bytes.clone()),
    )
}

/// Returns a safetensors file with the header `header`, padded to a multiple of eight bytes.
pub fn with_header(header: &str, data: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let length = header.len().next_multiple_of(8);
    let mut file = (length as u64).to_le_bytes().to_vec();
    file.extend(format!("{header:length$}").into_bytes());
    file.extend(data);
    file
}

fn text(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Returns a GGUF file of version 3.
pub fn gguf(meta: &[(impl AsRef<str>, Meta)], tensors: &[Tensor]) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(3u32.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((meta.len() as u64).to_le_bytes());
    for (key, value) in meta {
        text(key.as_ref(), &mut out);
        match value {
            Meta::U32(value) => {
                out.extend(4u32.to_le_bytes());
                out.extend(value.to_le_bytes());
            }
            Meta::F32(value) => {
                out.extend(6u32.to_le_bytes());
                out.extend(value.to_le_bytes());
            }
            Meta::Bool(value) => {
                out.extend(7u32.to_le_bytes());
                out.push(u8::from(*value));
            }
            Meta::Text(value) => {
                out.extend(8u32.to_le_bytes());
                text(value, &mut out);
            }
            Meta::Texts(values) => {
                out.extend(9u32.to_le_bytes());
                out.extend(8u32.to_le_bytes());
                out.extend((values.len() as u64).to_le_bytes());
                for value in values {
                    text(value, &mut out);
                }
            }
        }
    }
    let mut offset = 0usize;
    for tensor in tensors {
        text(&tensor.name, &mut out);
        out.extend((tensor.shape.len() as u32).to_le_bytes());
        for &extent in tensor.shape.iter().rev() {
            out.extend((extent as u64).to_le_bytes());
        }
        out.extend(tensor.dtype.gguf_code().to_le_bytes());
        out.extend((offset as u64).to_le_bytes());
        offset = (offset + tensor.bytes.len()).next_multiple_of(32);
    }
    for tensor in tensors {
        out.resize(out.len().next_multiple_of(32), 0);
        out.extend(&tensor.bytes);
    }
    out
}

/// Returns a corrupted copy of `file`: truncated, with flipped, overwritten, inserted or removed bytes, or with a huge
/// number.
pub fn corrupt(file: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = file.to_vec();
    // Most corruptions are in the first bytes, because these are the header, which is the most vulnerable part.
    let place = |random: &mut Rng, len: usize| {
        let end = if random.below(4) == 0 {
            len
        } else {
            len.min(600)
        };
        random.below(end.max(1))
    };
    match random.below(6) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            for _ in 0..1 + random.below(4) {
                let at = place(random, bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        2 => {
            let at = place(random, bytes.len());
            bytes[at] = random.bits() as u8;
        }
        3 => {
            let at = place(random, bytes.len());
            let huge = [u64::MAX, 1 << 63, 1 << 40, 1 << 32, 0][random.below(5)];
            let end = (at + 8).min(bytes.len());
            bytes[at..end].copy_from_slice(&huge.to_le_bytes()[..end - at]);
        }
        4 => {
            let at = place(random, bytes.len());
            let digits: &[u8] =
                [&b"99999999999999999999"[..], b"0", b"-1", b"]", b"\"", b"{"][random.below(6)];
            bytes.splice(at..at, digits.iter().copied());
        }
        _ => {
            let at = place(random, bytes.len());
            let end = (at + 1 + random.below(32)).min(bytes.len());
            bytes.drain(at..end);
        }
    }
    bytes
}
