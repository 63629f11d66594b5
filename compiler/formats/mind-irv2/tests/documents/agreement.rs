//! Agreement with the reference runtimes, `transformers` and `llama.cpp`, on configurations and headers that state a
//! value in several places, or in one that a family does not read.

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Document, Families, Family, Parameters, RopeScaling, hf, read, write};
use mind_snapshot::snapshot;
use mind_weights::WeightFile;

use crate::checkpoint::{as_gguf, gguf_keys};
use crate::models::{config, config_json, family, llamas, parameters, tensors};
use crate::writers::{Meta, Tensor, gguf, safetensors};

/// Returns the document, or `None` after an error, and the diagnostics with their codes.
fn outcome(text: Option<&str>, files: &[(&str, Vec<u8>)]) -> (Option<Document>, Vec<String>) {
    let sources: Vec<Source<'_>> = files
        .iter()
        .map(|(name, bytes)| Source {
            name: (*name).to_owned(),
            file: WeightFile::parse(bytes).unwrap(),
        })
        .collect();
    let (document, found) = match hf::document(text, &sources, Families::default()) {
        Ok((document, found)) => (Some(document), found),
        Err(found) => (None, found),
    };
    let lines = found.iter().map(|own| {
        let code = own.code.map(|code| code.to_string()).unwrap_or_default();
        format!("{code} {}", own.message)
    });
    (document, lines.collect())
}

fn of_config(family: Family, more: &str) -> (Option<Document>, Vec<String>) {
    outcome(Some(&config_json(family, more)), &[])
}

/// Returns the diagnostics of descriptions that are rejected.
fn refused<const N: usize>(outcomes: [(Option<Document>, Vec<String>); N]) -> String {
    let shown = outcomes.map(|(document, messages)| {
        assert!(document.is_none(), "{messages:#?}");
        messages.join("\n") + "\n"
    });
    shown.concat()
}

#[test]
fn a_head_that_differs_from_its_table_is_the_models() {
    let config = config(family("llama"));
    let mut all = tensors(&config, 41);
    let text = config_json(family("llama"), r#", "tie_word_embeddings": true"#);
    let files = [("m.safetensors", safetensors(&all))];
    let (document, messages) = outcome(Some(&text), &files);
    assert!(!document.unwrap().config.tie_word_embeddings);
    let expected = "E4210 `tie_word_embeddings` is true, but the checkpoint has a head that differs from its table of embeddings: the head is used";
    assert_eq!(messages, [expected]);

    // The file contradicts a document with a tied head.
    let tied = Parameters {
        tie_word_embeddings: true,
        ..parameters(family("llama"))
    };
    let tied = mind_irv2::Config::new(tied).unwrap();
    let source = |bytes| Source {
        name: "m.safetensors".to_owned(),
        file: WeightFile::parse(bytes).unwrap(),
    };
    let found = Checkpoint::new(&tied, &[source(&files[0].1)]).unwrap_err();
    assert_eq!(
        found.first_error().unwrap().message,
        "m.safetensors: tensor \"lm_head.weight\" differs from the table of embeddings, to which the model ties its head"
    );

    // A copy of the embedding table is accepted as a tied head.
    let table = all.iter().find(|own| own.name.contains("embed_tokens"));
    let table = table.unwrap().bytes.clone();
    let head = all.iter_mut().find(|own| own.name == "lm_head.weight");
    head.unwrap().bytes = table;
    let files = [("m.safetensors", safetensors(&all))];
    let (document, messages) = outcome(Some(&text), &files);
    assert!(document.unwrap().config.tie_word_embeddings);
    assert_eq!(messages, [""; 0]);
    assert!(Checkpoint::new(&tied, &[source(&files[0].1)]).is_ok());
}

#[test]
fn the_key_beside_a_nested_model_says_whether_its_head_is_tied() {
    let inner = config_json(family("qwen2"), "");
    let text = format!("{{\"tie_word_embeddings\": true, \"text_config\": {inner}}}");
    let (document, _) = outcome(Some(&text), &[]);
    assert!(document.unwrap().config.tie_word_embeddings);
    let inner = config_json(family("qwen2"), r#", "tie_word_embeddings": false"#);
    let text = format!("{{\"tie_word_embeddings\": true, \"text_config\": {inner}}}");
    snapshot!(refused([outcome(Some(&text), &[])]));
}

#[test]
fn types_of_layers_say_which_of_them_have_a_window() {
    let windows = |family, more: &str| {
        let more = format!(", \"sliding_window\": 32{more}");
        let (document, messages) = of_config(family, &more);
        let has = |layer| {
            document
                .as_ref()
                .map(|own| own.config.window(layer) == Some(32))
        };
        has(0).zip(has(1)).ok_or(messages)
    };
    let asked = r#", "use_sliding_window": true"#;
    let mixed = r#", "layer_types": ["full_attention", "sliding_attention"]"#;
    let full = r#", "layer_types": ["full_attention", "full_attention"]"#;
    for family in [family("qwen2"), family("qwen3")] {
        // By default, the first 28 layers of both families have no window.
        assert_eq!(windows(family, asked), Ok((false, false)));
        assert_eq!(
            windows(family, &format!("{asked}, \"max_window_layers\": 1")),
            Ok((false, true))
        );
        assert_eq!(
            windows(family, &format!("{asked}, \"max_window_layers\": 2")),
            Ok((false, false))
        );
        assert_eq!(
            windows(family, &format!("{asked}{mixed}")),
            Ok((false, true))
        );
        assert_eq!(
            windows(family, &format!("{asked}, \"max_window_layers\": 0{full}")),
            Ok((false, false))
        );
        let found = windows(family, mixed).unwrap_err();
        assert_eq!(
            found,
            [
                "E4210 `layer_types` has a layer \"sliding_attention\", but `use_sliding_window` is absent"
            ]
        );
        let short = r#", "layer_types": ["full_attention"]"#;
        let found = windows(family, &format!("{asked}{short}")).unwrap_err();
        assert_eq!(
            found,
            ["E4210 the length of `layer_types` is 1, but `num_hidden_layers` is 2"]
        );
    }
    assert_eq!(windows(family("phi3"), full), Ok((true, true)));
    assert_eq!(windows(family("phi3"), mixed), Ok((true, true)));
    let found = windows(family("llama"), mixed).unwrap_err();
    let expected = "E4211 `layer_types` is \"sliding_attention\", which is not supported: layers of llama have no window";
    assert!(found.contains(&expected.to_owned()), "{found:#?}");
}

#[test]
fn a_rotation_said_twice_is_said_alike() {
    let linear = r#"{"rope_type": "linear", "factor": 2.0}"#;
    let (document, messages) = of_config(
        family("qwen2"),
        &format!(
            r#", "rope_parameters": {{"type": "linear", "factor": 2}}, "rope_scaling": {linear}"#
        ),
    );
    assert_eq!(messages, [""; 0]);
    let scaling = document.unwrap().config.rope.unwrap().scaling;
    assert_eq!(scaling, RopeScaling::Linear { factor: 2.0 });
    snapshot!(refused([
        of_config(
            family("qwen2"),
            &format!(
                r#", "rope_parameters": {{"rope_type": "default"}}, "rope_scaling": {linear}"#
            ),
        ),
        of_config(
            family("qwen2"),
            r#", "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}"#,
        ),
        of_config(family("llama"), r#", "rope_base": 500.0"#),
        of_config(
            family("llama"),
            r#", "rope_scaling": {"rope_type": "default", "type": "linear", "factor": 2.0}"#,
        ),
        of_config(family("llama"), r#", "n_embd": 24"#),
    ]));
}

#[test]
fn the_context_of_llama3_may_stand_beside_its_object() {
    let more = |context: &str, inner: &str| {
        format!(
            r#"{context}, "rope_scaling": {{"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0{inner}}}"#
        )
    };
    let beside = r#", "original_max_position_embeddings": 16"#;
    let (document, _) = of_config(family("llama"), &more(beside, ""));
    let scaling = document.unwrap().config.rope.unwrap().scaling;
    assert!(matches!(
        scaling,
        RopeScaling::Llama3 {
            original_context: 16,
            ..
        }
    ));
    let inner = r#", "original_max_position_embeddings": 32"#;
    snapshot!(refused([of_config(family("llama"), &more(beside, inner))]));
}

#[test]
fn phi3_alone_rotates_a_part_of_a_head() {
    let partial = r#", "partial_rotary_factor": 0.67"#;
    for family in llamas() {
        let (document, messages) = of_config(family, partial);
        let rotary_dims = document.unwrap().config.rope.unwrap().rotary_dims;
        if family.name() == "phi3" {
            assert_eq!((rotary_dims, messages.len()), (4, 0));
            continue;
        }
        let name = family.name();
        let expected = format!(
            "E4203 `partial_rotary_factor` is 0.67, which {name} does not read: whole heads rotate"
        );
        assert_eq!((rotary_dims, messages), (6, vec![expected]));
    }
    let linear =
        r#", "partial_rotary_factor": 0.67, "rope_scaling": {"type": "linear", "factor": 2.0}"#;
    snapshot!(refused([
        of_config(family("qwen2"), linear),
        of_config(
            family("phi3"),
            r#", "rope_scaling": {"type": "linear", "factor": 2.0}"#,
        ),
    ]));
}

/// Returns the outcome of reading a GGUF file of `family` with additional keys and tensors.
fn of_header(
    family: Family,
    word: &str,
    more: &[(&str, Meta)],
    extra: impl IntoIterator<Item = Tensor>,
) -> (Option<Document>, Vec<String>) {
    let config = config(family);
    let mut all = as_gguf(&tensors(&config, 43), &config, word == "llama");
    all.extend(extra);
    let mut keys = gguf_keys(&config, word);
    keys.extend(
        more.iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone())),
    );
    outcome(None, &[("m.gguf", gguf(&keys, &all))])
}

#[test]
fn a_factor_without_a_type_is_linear() {
    let scaling = |keys: &[(&str, Meta)]| {
        let (document, messages) = of_header(family("llama"), "llama", keys, None);
        let document = document.ok_or(messages)?;
        Ok::<_, Vec<String>>(document.config.rope.unwrap().scaling)
    };
    let factor = ("llama.rope.scaling.factor", Meta::F32(2.0));
    let old = ("llama.rope.scale_linear", Meta::F32(4.0));
    let none = ("llama.rope.scaling.type", Meta::Text("none".to_owned()));
    let linear = |factor| Ok(RopeScaling::Linear { factor });
    assert_eq!(scaling(std::slice::from_ref(&factor)), linear(2.0));
    assert_eq!(scaling(std::slice::from_ref(&old)), linear(4.0));
    assert_eq!(scaling(&[factor.clone(), none]), Ok(RopeScaling::None));
    assert_eq!(
        scaling(&[factor, old]).unwrap_err(),
        ["E4210 m.gguf: `llama.rope.scaling.factor` is 2, but `llama.rope.scale_linear` is 4"]
    );
}

#[test]
fn keys_that_make_another_model_are_refused() {
    let of = |key: &str, value: Meta| of_header(family("qwen2"), "qwen2", &[(key, value)], None);
    snapshot!(refused([
        of("qwen2.rope.scaling.attn_factor", Meta::F32(2.0)),
        of("qwen2.attention.causal", Meta::Bool(false)),
        of("split.count", Meta::U32(3)),
        of("split.tensors.count", Meta::U32(3)),
        of("qwen2.attention.value_length", Meta::U32(8)),
    ]));
}

#[test]
fn a_window_is_of_all_layers_where_the_family_says_so() {
    let of = |word: &str| {
        let key = format!("{word}.attention.sliding_window");
        let (document, messages) = of_header(family(word), word, &[(&key, Meta::U32(9))], None);
        let config = document.expect("a model").config;
        (config.context_window, config.window(1), messages)
    };
    let context = config(family("phi3")).context_window;
    assert_eq!(of("phi3"), (context, Some(9), Vec::new()));
    let warning = format!(
        "E4211 m.gguf: `qwen2.attention.sliding_window` is 9, less than the context of {context}: a run has 9 tokens at most"
    );
    assert_eq!(of("qwen2"), (9, None, vec![warning]));
}

#[test]
fn factors_of_a_file_divide_its_frequencies() {
    let factors = |values: &[f32]| Some(Tensor::f32("rope_freqs.weight", &[values.len()], values));
    let (document, messages) = of_header(family("llama"), "llama", &[], factors(&[1.0, 2.5, 8.0]));
    assert_eq!(messages, [""; 0]);
    let document = document.unwrap();
    let own = document.config.rope.unwrap().factors.unwrap();
    assert_eq!(own.as_slice(), [1.0, 2.5, 8.0]);
    let text = write(&document);
    assert!(text.contains("\"rope_factors\": [1.0, 2.5, 8.0]"), "{text}");
    let (again, _) = read(&text, &mind_irv2::ReadOptions::default()).unwrap();
    assert!(again == document);

    let (document, _) = of_header(family("llama"), "llama", &[], factors(&[1.0; 3]));
    assert_eq!(document.unwrap().config.rope.unwrap().factors, None);
    snapshot!(refused([
        of_header(family("llama"), "llama", &[], factors(&[1.0, 2.0])),
        of_header(family("llama"), "llama", &[], factors(&[1.0, -2.0, 1.0])),
        of_header(family("qwen2"), "qwen2", &[], factors(&[1.0, 2.0, 8.0])),
    ]));
}

#[test]
fn two_lists_of_factors_are_those_of_short_and_of_long_sequences() {
    let factors = |kind: &str, values: [f32; 3]| {
        Tensor::f32(&format!("rope_factors_{kind}.weight"), &[3], &values)
    };
    let both = || {
        [
            factors("short", [1.0, 1.1, 1.2]),
            factors("long", [1.0, 3.0, 8.0]),
        ]
    };
    let keys = [
        ("phi3.rope.scaling.attn_factor", Meta::F32(1.25)),
        ("phi3.rope.scaling.original_context_length", Meta::U32(20)),
    ];
    let (document, messages) = of_header(family("phi3"), "phi3", &keys, both());
    assert_eq!(messages, [""; 0]);
    let RopeScaling::LongRope {
        short,
        long,
        attention_factor,
        original_context,
    } = document.unwrap().config.rope.unwrap().scaling
    else {
        panic!("another rotation");
    };
    assert_eq!(short.as_slice(), [1.0, 1.1, 1.2]);
    assert_eq!(long.as_slice(), [1.0, 3.0, 8.0]);
    assert_eq!((attention_factor, original_context), (1.25, 20));
    // The model needs a factor for each pair.
    let [short, _] = both();
    let long = Tensor::f32("rope_factors_long.weight", &[2], &[1.0, 3.0]);
    let (document, messages) = of_header(family("phi3"), "phi3", &keys, [short, long]);
    assert!(document.is_none());
    let expected = "E4205 `rope_scaling` has 2 divisors, expected 3 positive numbers, one for each rotated pair";
    assert_eq!(messages, [expected]);
}

#[test]
fn a_configuration_beside_a_file_with_factors_says_the_same() {
    let config = config(family("llama"));
    let stretched = |factors: [f32; 3]| {
        let mut all = as_gguf(&tensors(&config, 44), &config, true);
        all.push(Tensor::f32("rope_freqs.weight", &[3], &factors));
        let mut keys = gguf_keys(&config, "llama");
        keys.retain(|(key, _)| !key.ends_with("epsilon"));
        let eps = "llama.attention.layer_norm_rms_epsilon".to_owned();
        keys.push((eps, Meta::F32(1e-6)));
        [("m.gguf", gguf(&keys, &all))]
    };
    let llama3 = config_json(
        family("llama"),
        r#", "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32}"#,
    );
    // Wavelengths of 6, 135 and 2916 positions: the first is kept, the others are longer than the context.
    let (document, _) = outcome(Some(&llama3), &stretched([1.0, 8.0, 8.0]));
    let rope = document.unwrap().config.rope.unwrap();
    assert!(matches!(rope.scaling, RopeScaling::Llama3 { .. }) && rope.factors.is_none());
    let plain = config_json(family("llama"), "");
    let of = |text: String| outcome(Some(&text), &stretched([1.0, 2.0, 8.0]));
    snapshot!(refused([llama3, plain].map(of)));
}

#[test]
fn a_configuration_beside_a_header_says_the_same() {
    let config = config(family("qwen2"));
    let all = as_gguf(&tensors(&config, 45), &config, false);
    let keys = gguf_keys(&config, "qwen2");
    let file = [("m.gguf", gguf(&keys, &all))];
    let text = config_json(family("qwen2"), "").replace("1e-06", "1e-05");
    assert!(outcome(Some(&text), &file).0.is_some());
    snapshot!(refused([outcome(
        Some(&config_json(family("qwen2"), "")),
        &file
    )]));
}

#[test]
fn biases_that_only_one_side_has_are_warned_of() {
    let config = config(family("qwen2"));
    let all = tensors(&config, 46);
    let files = [("m.safetensors", safetensors(&all))];
    let text = config_json(family("llama"), "");
    let (document, messages) = outcome(Some(&text), &files);
    assert!(document.unwrap().config.has_bias("bq"));
    assert_eq!(
        messages,
        [
            "E4210 the biases of the checkpoint are added: bq, bk, bv; by the configuration of llama (`attention_bias`, `mlp_bias`) there would be: none"
        ]
    );
    let named = |name: &str| all.iter().any(|own| own.name.contains(name));
    assert!(named("model.layers.0.self_attn.q_proj.bias"));
}

#[test]
fn a_width_that_tensors_alone_say_rotates_whole() {
    let config = config(family("qwen2"));
    let all = as_gguf(&tensors(&config, 47), &config, false);
    let mut keys = gguf_keys(&config, "qwen2");
    keys.retain(|(key, _)| !key.ends_with("key_length"));
    let (document, _) = outcome(None, &[("m.gguf", gguf(&keys, &all))]);
    let own = document.unwrap().config;
    assert_eq!((own.head_dim, own.rope.unwrap().rotary_dims), (6, 6));
}
