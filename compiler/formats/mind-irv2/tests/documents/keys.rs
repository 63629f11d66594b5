//! Every key of a configuration or header is accounted for: changing its value changes the model, or a diagnostic names
//! the key, or the tables have a reason why it has no effect.

use mind_irv2::checkpoint::Source;
use mind_irv2::{Families, Family, hf, write};
use mind_weights::WeightFile;

use crate::checkpoint::{as_gguf, gguf_keys};
use crate::models::{config, family, llamas, parameters, tensors};
use crate::writers::{Meta, gguf};

/// The outcome of reading a description: the model, if it is accepted, and diagnostics.
#[derive(PartialEq, Debug)]
struct Outcome {
    model: Option<String>,
    messages: Vec<String>,
}

impl Outcome {
    fn of(
        read: Result<(mind_irv2::Document, mind_diag::Diagnostics), mind_diag::Diagnostics>,
    ) -> Outcome {
        let (model, found) = match read {
            Ok((document, found)) => (Some(write(&document)), found),
            Err(found) => (None, found),
        };
        let messages = found.iter().map(|own| own.message.clone()).collect();
        Outcome { model, messages }
    }

    fn naming(&self, key: &str) -> Vec<&String> {
        let quoted = |message: &&String| message.contains(key);
        self.messages.iter().filter(quoted).collect()
    }

    /// Returns whether `other` has another model, or other diagnostics about `key`.
    fn is_told_from(&self, other: &Outcome, key: &str) -> bool {
        self.model != other.model || self.naming(key) != other.naming(key)
    }
}

/// Returns the members of a `config.json` in which every key that can have an effect has one.
fn members(family: Family) -> Vec<(String, String)> {
    let p = parameters(family);
    let scaling = match family.name() {
        "phi3" => "null",
        _ => {
            r#"{"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 32}"#
        }
    };
    let name = format!("\"{}\"", family.name());
    let number = |number: usize| number.to_string();
    [
        ("model_type", name),
        ("num_hidden_layers", number(p.num_layers)),
        ("hidden_size", number(p.hidden_size)),
        ("intermediate_size", number(p.intermediate_size)),
        ("num_attention_heads", number(p.num_attention_heads)),
        ("num_key_value_heads", number(p.num_kv_heads)),
        ("head_dim", number(p.head_dim)),
        ("vocab_size", number(p.vocab_size)),
        ("max_position_embeddings", number(p.context_window)),
        ("rms_norm_eps", "1e-5".to_owned()),
        ("rope_theta", "10000.0".to_owned()),
        ("rope_scaling", scaling.to_owned()),
        ("tie_word_embeddings", "false".to_owned()),
        ("dtype", "\"float32\"".to_owned()),
        ("use_sliding_window", "true".to_owned()),
        ("sliding_window", "40".to_owned()),
        ("max_window_layers", "1".to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec()
}

fn json(members: &[(String, String)]) -> String {
    let members = members
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(",\n "))
}

/// Returns a value of `key` with another meaning than that in `members`.
fn another(key: &str) -> &'static str {
    match key {
        "model_type" => "\"perceiver\"",
        "num_hidden_layers" | "max_window_layers" => "3",
        "hidden_size" | "intermediate_size" | "head_dim" => "32",
        "num_key_value_heads" | "num_kv_heads" => "4",
        "num_attention_heads" => "6",
        "vocab_size" => "41",
        "max_position_embeddings" => "39",
        "rms_norm_eps" => "1e-4",
        "sliding_window" => "30",
        "rope_scaling" => r#"{"rope_type": "linear", "factor": 2.0}"#,
        "rope_parameters" => r#"{"rope_type": "default", "rope_theta": 500.0}"#,
        "partial_rotary_factor" => "0.5",
        "use_sliding_window" | "is_causal" => "false",
        "layer_types" => r#"["full_attention", "sliding_attention", "full_attention"]"#,
        "dtype" | "torch_dtype" => "\"float16\"",
        "tie_word_embeddings"
        | "attention_bias"
        | "mlp_bias"
        | "is_encoder_decoder"
        | "add_cross_attention" => "true",
        "hidden_act" | "hidden_activation" => "\"gelu\"",
        "quantization_config" => "{\"bits\": 4}",
        "no_rope_layers" => "[0, 1]",
        _ => "5",
    }
}

fn with(members: &[(String, String)], key: &str, value: &str) -> Vec<(String, String)> {
    let mut members: Vec<_> = members
        .iter()
        .filter(|(own, _)| own != key)
        .cloned()
        .collect();
    members.push((key.to_owned(), value.to_owned()));
    members
}

fn of_config(members: &[(String, String)]) -> Outcome {
    Outcome::of(hf::document(Some(&json(members)), &[], Families::default()))
}

/// Keys that a family only reads in configurations that it rejects for another reason.
const EXCUSED: [(&str, &str, &str); 1] = [(
    "phi3",
    "original_max_position_embeddings",
    "it acts in rotations of type longrope alone",
)];

#[test]
fn every_key_of_a_configuration_is_read_or_reported_or_ignored_for_a_reason() {
    for family in llamas() {
        let base = members(family);
        let plain = of_config(&base);
        assert!(plain.model.is_some(), "{family:?} {:#?}", plain.messages);
        for (key, reason) in hf::config_keys() {
            let value = another(key);
            let changed = of_config(&with(&base, key, value));
            let noticed = changed.is_told_from(&plain, key);
            let excused = EXCUSED
                .iter()
                .any(|&(own, of, _)| (own, of) == (family.name(), key));
            if reason.is_some() || excused {
                assert!(!noticed, "{family:?} {key}: {:#?}", changed.messages)
            } else {
                assert!(noticed, "{family:?} {key}: {value} changes nothing")
            }
        }
        for (key, value) in [
            ("logit_scale", "2.0"),
            ("use_qk_norm", "true"),
            ("text_config", "{}"),
        ] {
            let changed = of_config(&with(&base, key, value));
            assert!(changed.is_told_from(&plain, key), "{family:?} {key}");
        }
    }
}

#[test]
fn every_key_of_a_rotation_is_read_or_reported() {
    for family in llamas() {
        let base = members(family);
        let object = |members: &[(&str, &str)]| {
            let members = members
                .iter()
                .map(|(key, value)| format!("\"{key}\": {value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        };
        let kinds: [&[(&str, &str)]; 3] = [
            &[("rope_type", "\"default\"")],
            &[("type", "\"linear\""), ("factor", "2.0")],
            &[
                ("rope_type", "\"llama3\""),
                ("factor", "8.0"),
                ("low_freq_factor", "1.0"),
                ("high_freq_factor", "4.0"),
                ("original_max_position_embeddings", "32"),
            ],
        ];
        for kind in kinds {
            let plain = of_config(&with(&base, "rope_scaling", &object(kind)));
            let keys = [
                ("rope_type", "\"yarn\""),
                ("type", "\"yarn\""),
                ("factor", "3.0"),
                ("low_freq_factor", "2.0"),
                ("high_freq_factor", "5.0"),
                ("original_max_position_embeddings", "16"),
                ("rope_theta", "77.0"),
                ("partial_rotary_factor", "0.5"),
                ("attention_factor", "2.0"),
                ("mscale", "2.0"),
            ];
            for (key, value) in keys {
                let mut other: Vec<_> = kind.iter().filter(|own| own.0 != key).copied().collect();
                other.push((key, value));
                let changed = of_config(&with(&base, "rope_scaling", &object(&other)));
                let both_refused = plain.model.is_none() && changed.model.is_none();
                let noticed = changed.is_told_from(&plain, key);
                assert!(noticed || both_refused, "{family:?} {kind:?} {key}");
            }
        }
    }
}

/// Architectures of headers, each with a shipped family of the same name.
const HEADERS: [&str; 4] = ["llama", "qwen2", "qwen3", "phi3"];

fn of_header(family: Family, word: &str, keys: &[(String, Meta)]) -> Outcome {
    let config = config(family);
    let file = gguf(
        keys,
        &as_gguf(&tensors(&config, 31), &config, word == "llama"),
    );
    let file = match WeightFile::parse(&file) {
        Ok(file) => file,
        Err(error) => {
            let (model, messages) = (None, vec![error.to_string()]);
            return Outcome { model, messages };
        }
    };
    let name = "m.gguf".to_owned();
    Outcome::of(hf::document(
        None,
        &[Source { name, file }],
        Families::default(),
    ))
}

fn header(family: Family, word: &str) -> Vec<(String, Meta)> {
    let p = config(family);
    let mut keys = gguf_keys(&p, word);
    let more = [
        ("attention.value_length", Meta::U32(p.head_dim as u32)),
        ("attention.sliding_window", Meta::U32(40)),
        ("rope.dimension_count", Meta::U32(p.head_dim as u32)),
        ("rope.scaling.type", Meta::Text("linear".to_owned())),
        ("rope.scaling.factor", Meta::F32(2.0)),
        ("vocab_size", Meta::U32(p.vocab_size as u32)),
    ];
    keys.extend(more.map(|(key, value)| (format!("{word}.{key}"), value)));
    keys
}

/// Returns a value of `key` with another meaning than that in `header`.
fn another_meta(key: &str) -> Meta {
    match key {
        "rope.scaling.type" => Meta::Text("none".to_owned()),
        "general.architecture" => Meta::Text("gpt2".to_owned()),
        "general.type" => Meta::Text("adapter".to_owned()),
        "attention.causal" => Meta::Bool(false),
        "use_parallel_residual" => Meta::Bool(true),
        "classifier.output_labels" => Meta::Texts(vec!["yes".to_owned()]),
        "rope.dimension_count" => Meta::U32(4),
        "rope.scaling.original_context_length" => Meta::U32(5),
        "general.alignment" => Meta::U32(512),
        "attention.sliding_window" => Meta::U32(30),
        "context_length" => Meta::U32(39),
        "attention.layer_norm_rms_epsilon" => Meta::F32(1e-3),
        key if key.starts_with("rope") => Meta::F32(5.0),
        key if key.contains("scal") || key.contains("cap") || key.contains("clamp") => {
            Meta::F32(5.0)
        }
        key if key.contains("alibi") => Meta::F32(5.0),
        _ => Meta::U32(5),
    }
}

#[test]
fn every_key_of_a_header_is_read_or_reported_or_ignored_for_a_reason() {
    for word in HEADERS {
        let family = family(word);
        let base = header(family, word);
        let plain = of_header(family, word, &base);
        assert!(plain.model.is_some(), "{word} {:#?}", plain.messages);
        let changed = |key: &str, value: Meta| {
            let mut keys: Vec<_> = base.iter().filter(|(own, _)| own != key).cloned().collect();
            keys.push((key.to_owned(), value));
            of_header(family, word, &keys)
        };
        let own =
            hf::architecture_keys().map(|(key, reason)| (format!("{word}.{key}"), key, reason));
        let others = hf::header_keys().map(|(key, reason)| {
            if key.ends_with('.') {
                (format!("{key}other"), key, reason)
            } else {
                (key.to_owned(), key, reason)
            }
        });
        for (full, key, reason) in own.chain(others) {
            let other = changed(&full, another_meta(key));
            let noticed = other.is_told_from(&plain, &full);
            match reason {
                Some(_) => assert!(!noticed, "{full}: {:#?}", other.messages),
                None => assert!(noticed, "{full} changes nothing"),
            }
        }
        for (key, value) in &base {
            if !matches!(value, Meta::Text(_)) {
                let other = changed(key, Meta::Text("x".to_owned()));
                assert!(
                    other.model.is_none() && !other.naming(key).is_empty(),
                    "{key}"
                );
            }
        }
        for key in [
            "attention.sliding_window_pattern",
            "rope.freq_base_swa",
            "other",
        ] {
            let full = format!("{word}.{key}");
            let other = changed(&full, Meta::U32(5));
            let expected = format!("m.gguf: `{full}` is not read: {word} has no such key");
            assert!(other.messages.contains(&expected), "{:#?}", other.messages);
        }
    }
}
