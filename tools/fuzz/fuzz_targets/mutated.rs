//! Configurations and headers with known keys and arbitrary values, drawn from bytes.

use mind_irv2::{Family, hf};

/// Draws numbers from bytes; zeros after their end.
struct Draw<'d>(&'d [u8]);

impl Draw<'_> {
    fn byte(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(first)
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.byte() % choices.len()]
    }
}

const VALUES: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "8",
    "32",
    "64",
    "1e-5",
    "1e300",
    "-1",
    "0.5",
    "10000.0",
    "null",
    "true",
    "false",
    "\"silu\"",
    "\"linear\"",
    "[\"sliding_attention\", \"full_attention\"]",
    "\"float16\"",
    "{\"rope_type\": \"linear\", \"factor\": 2.0, \"rope_theta\": 5.0}",
    "{}",
];

const KINDS: [&str; 3] = ["linear", "none", "yarn"];

/// Returns a `config.json` of a tiny model with some known keys set to arbitrary values.
pub fn config(data: &[u8]) -> String {
    let mut draw = Draw(data);
    let family = draw.of(Family::shipped()).name();
    let mut members = vec![("model_type".to_owned(), format!("\"{family}\""))];
    let sizes = [
        ("num_hidden_layers", "2"),
        ("hidden_size", "32"),
        ("intermediate_size", "64"),
        ("num_attention_heads", "4"),
        ("num_key_value_heads", "2"),
        ("vocab_size", "32"),
        ("max_position_embeddings", "64"),
    ];
    members.extend(sizes.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let keys: Vec<&str> = hf::config_keys().map(|(key, _)| key).collect();
    for _ in 0..draw.byte() % 8 {
        let key = (*draw.of(&keys)).to_owned();
        let value = (*draw.of(&VALUES)).to_owned();
        members.retain(|(own, _)| *own != key);
        members.push((key, value));
    }
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// Returns a GGUF file without tensors, whose header has the keys of a tiny model, some of them with arbitrary values.
pub fn header(data: &[u8]) -> Vec<u8> {
    let mut draw = Draw(data);
    let word = *draw.of(&["llama", "qwen2", "qwen3", "phi3"]);
    let number = |value: u32| [&4u32.to_le_bytes()[..], &value.to_le_bytes()].concat();
    let text = |value: &str| {
        let length = (value.len() as u64).to_le_bytes();
        [&length[..], value.as_bytes()].concat()
    };
    let mut keys = vec![(
        "general.architecture".to_owned(),
        [&8u32.to_le_bytes()[..], &text(word)].concat(),
    )];
    let sizes = [
        ("block_count", 2),
        ("embedding_length", 32),
        ("feed_forward_length", 64),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 2),
        ("vocab_size", 32),
        ("context_length", 64),
    ];
    keys.extend(sizes.map(|(key, value)| (format!("{word}.{key}"), number(value))));
    let eps = [&6u32.to_le_bytes()[..], &1e-5f32.to_le_bytes()].concat();
    keys.push((format!("{word}.attention.layer_norm_rms_epsilon"), eps));
    let known: Vec<String> = hf::architecture_keys()
        .map(|(key, _)| format!("{word}.{key}"))
        .collect();
    for _ in 0..draw.byte() % 8 {
        let key = draw.of(&known).clone();
        let value = match draw.byte() % 5 {
            0 => number(draw.byte() as u32),
            1 => [
                &6u32.to_le_bytes()[..],
                &((draw.byte() as f32) / 16.0).to_le_bytes(),
            ]
            .concat(),
            2 => [&7u32.to_le_bytes()[..], &[(draw.byte() % 2) as u8]].concat(),
            3 => {
                let kind: &&str = draw.of(&KINDS);
                [&8u32.to_le_bytes()[..], &text(kind)].concat()
            }
            _ => number(u32::MAX),
        };
        keys.retain(|(own, _)| *own != key);
        keys.push((key, value));
    }
    let mut out = b"GGUF".to_vec();
    out.extend(3u32.to_le_bytes());
    out.extend(0u64.to_le_bytes());
    out.extend((keys.len() as u64).to_le_bytes());
    for (key, value) in keys {
        out.extend(text(&key));
        out.extend(value);
    }
    out
}
