//! Conversion of `config.json` to documents.

use mind_irv2::{Document, Families, RopeScaling, hf, write};
use mind_snapshot::snapshot;
use mind_weights::WeightType;

use crate::models::{config_json, family, llamas, parameters};
use crate::round_trip::read_silently;

fn built(text: &str) -> Document {
    match hf::document(Some(text), &[], Families::default()) {
        Ok((document, found)) => {
            assert!(found.is_empty(), "{found:?}");
            document
        }
        Err(found) => panic!("{found:#?}"),
    }
}

/// Returns the errors in each configuration.
fn refused<const N: usize>(texts: [String; N]) -> String {
    let shown = texts.map(|text| {
        let found = hf::document(Some(&text), &[], Families::default()).unwrap_err();
        let messages: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
        messages.join("\n") + "\n"
    });
    shown.concat()
}

#[test]
fn every_family_becomes_its_document() {
    for family in llamas() {
        let own = built(&config_json(family, ""));
        let mut expected = parameters(family);
        // The default window of Mistral, 4096, is larger than this context.
        expected.rms_norm_eps = 1e-6;
        assert_eq!(*own.config, expected, "{family:?}");
        assert_eq!(own.fused_qkv, family.name() == "phi3");
        let text = write(&own);
        assert!(read_silently(&text) == own);
    }
}

#[test]
fn families_have_their_own_defaults() {
    let bare = |model_type: &str, context: usize| {
        format!(
            r#"{{"model_type": "{model_type}", "num_hidden_layers": 2, "hidden_size": 4096, "intermediate_size": 64,
               "num_attention_heads": 32, "vocab_size": 100, "max_position_embeddings": {context}}}"#
        )
    };
    let shape = |model_type: &str| {
        let config = built(&bare(model_type, 4096)).config;
        let theta = config.rope.unwrap().theta;
        (
            config.num_kv_heads,
            config.head_dim,
            theta,
            config.rms_norm_eps,
            config.has_bias("bq"),
        )
    };
    assert_eq!(shape("llama"), (32, 128, 1e4, 1e-6, false));
    assert_eq!(shape("qwen2"), (32, 128, 1e4, 1e-6, true));
    assert_eq!(shape("mistral"), (8, 128, 1e4, 1e-6, false));
    assert_eq!(shape("qwen3"), (32, 128, 1e4, 1e-6, false));
    assert_eq!(shape("phi3"), (32, 128, 1e4, 1e-5, false));
    let mistral = built(&bare("mistral", 8192)).config;
    assert_eq!(
        (mistral.context_window, mistral.window(0)),
        (8192, Some(4096))
    );
    assert_eq!(built(&bare("qwen2", 8192)).config.context_window, 8192);
}

#[test]
fn dtypes_are_a_hint() {
    let own = built(&config_json(
        family("llama"),
        r#", "torch_dtype": "bfloat16""#,
    ));
    assert_eq!(own.dtypes.of("wq", Some(1)), WeightType::Bf16);
    let float8 = config_json(family("llama"), r#", "dtype": "float8""#);
    snapshot!(refused([float8]));
}

#[test]
fn rotation_is_said_in_several_ways() {
    let nested = config_json(
        family("llama"),
        r#", "rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 5e5}"#,
    );
    let rope = built(&nested.replace("\"rope_theta\": 10000.0, ", ""))
        .config
        .rope
        .unwrap();
    assert_eq!((rope.theta, rope.rotary_dims), (5e5, 6));
    assert_eq!(rope.scaling, RopeScaling::Linear { factor: 4.0 });
    let llama3 = config_json(
        family("llama"),
        r#", "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192}"#,
    );
    let scaling = RopeScaling::Llama3 {
        factor: 8.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_context: 8192,
    };
    assert_eq!(built(&llama3).config.rope.unwrap().scaling, scaling);
    let others = [
        r#", "rope_scaling": {"type": "proportional", "factor": 4.0}"#,
        r#", "rope_parameters": {"full_attention": {"rope_theta": 1e4}}"#,
    ];
    snapshot!(refused(
        others.map(|more| config_json(family("llama"), more))
    ));
}

#[test]
fn what_is_another_model_is_refused_by_key_and_value() {
    let qwen2 = |more| config_json(family("qwen2"), more);
    let llama = config_json(family("llama"), "");
    snapshot!(refused([
        qwen2(r#", "hidden_act": "gelu""#).replacen("\"hidden_act\": \"silu\", ", "", 1),
        qwen2(r#", "quantization_config": {"bits": 4}"#),
        qwen2(r#", "num_local_experts": 8"#),
        qwen2(r#", "layer_types": ["full_attention", "linear_attention"]"#),
        llama.replace("\"llama\"", "\"mamba\""),
        llama.replace("\"vocab_size\": 37,", ""),
        llama.replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2.5"),
        "{\"a\": 1, \"a\": 2}".to_owned(),
    ]));
}

#[test]
fn layers_have_windows() {
    let windows = |text: &str| {
        let config = built(text).config;
        (0..2).map(|layer| config.window(layer)).collect::<Vec<_>>()
    };
    let asked = r#", "use_sliding_window": true, "sliding_window": 32, "max_window_layers": 1"#;
    let text = config_json(family("qwen2"), asked);
    assert_eq!(windows(&text), [None, Some(32)]);
    assert_eq!(built(&text).config.context_window, 50);
    let text = config_json(family("mistral"), r#", "sliding_window": 7"#);
    assert_eq!(windows(&text), [Some(7); 2]);
    let not_asked = r#", "use_sliding_window": false, "sliding_window": 32"#;
    let document = built(&config_json(family("qwen2"), not_asked));
    assert_eq!(document.config.context_window, 50);
}

#[test]
fn a_nested_text_model_is_found() {
    let text = format!(
        "{{\"model_type\": \"vision\", \"text_config\": {}}}",
        config_json(family("qwen2"), "")
    );
    assert_eq!(*built(&text).config, parameters(family("qwen2")));
}
