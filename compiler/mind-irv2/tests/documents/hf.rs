//! From `config.json` to documents.

use mind_irv2::{Document, Family, RopeScaling, hf, write};
use mind_weights::{Role, WeightType};

use crate::models::{config_json, parameters};
use crate::round_trip::read_silently;

fn built(text: &str) -> Document {
    match hf::document(Some(text), &[]) {
        Ok((document, found)) => {
            assert!(found.is_empty(), "{found:?}");
            document
        }
        Err(found) => panic!("{found:#?}"),
    }
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let found = hf::document(Some(text), &[]).unwrap_err();
    let messages: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
    assert!(messages.contains(&expected), "{messages:#?}");
}

#[test]
fn every_family_becomes_its_document() {
    for family in Family::ALL {
        let own = built(&config_json(family, ""));
        let mut expected = parameters(family);
        // Mistral's window is 4096 by default, more than this context.
        expected.rms_norm_eps = 1e-6;
        assert_eq!(*own.config, expected, "{family:?}");
        assert_eq!(own.fused_qkv, family == Family::Phi3);
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
            config.biases.q,
        )
    };
    assert_eq!(shape("llama"), (32, 128, 1e4, 1e-6, false));
    assert_eq!(shape("qwen2"), (32, 128, 1e4, 1e-6, true));
    assert_eq!(shape("mistral"), (8, 128, 1e4, 1e-6, false));
    assert_eq!(shape("qwen3"), (32, 128, 1e4, 1e-6, false));
    assert_eq!(shape("phi3"), (32, 128, 1e4, 1e-5, false));
    limited(
        &bare("mistral", 8192),
        4096,
        "`sliding_window` is 4096 by default, less than the context of 8192: a run has 4096 tokens at most",
    );
    assert_eq!(built(&bare("qwen2", 8192)).config.context_window, 8192);
}

#[test]
fn dtypes_are_a_hint() {
    let own = built(&config_json(
        Family::Llama,
        r#", "torch_dtype": "bfloat16""#,
    ));
    assert_eq!(own.dtypes.of(Role::Query, Some(1)), WeightType::Bf16);
    refused(
        &config_json(Family::Llama, r#", "dtype": "float8""#),
        "`dtype` is \"float8\", which is not supported: weights are float32, float16 or bfloat16",
    );
}

#[test]
fn rotation_is_said_in_several_ways() {
    let nested = config_json(
        Family::Llama,
        r#", "rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 5e5}"#,
    );
    let rope = built(&nested.replace("\"rope_theta\": 10000.0, ", ""))
        .config
        .rope
        .unwrap();
    assert_eq!((rope.theta, rope.rotary_dims), (5e5, 6));
    assert_eq!(rope.scaling, RopeScaling::Linear { factor: 4.0 });
    let llama3 = config_json(
        Family::Llama,
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
    refused(
        &config_json(
            Family::Llama,
            r#", "rope_scaling": {"type": "yarn", "factor": 4.0}"#,
        ),
        "`rope_scaling.rope_type` is \"yarn\", supported are \"default\", \"linear\" and \"llama3\"",
    );
    refused(
        &config_json(
            Family::Llama,
            r#", "rope_parameters": {"full_attention": {"rope_theta": 1e4}}"#,
        ),
        "`rope_parameters` is an object, which is not supported: layers have one kind of rotation",
    );
}

#[test]
fn what_is_another_model_is_refused_by_key_and_value() {
    let cases = [
        (
            r#", "hidden_act": "gelu""#,
            "`hidden_act` is \"gelu\", which is not supported: the MLP is gated by silu",
        ),
        (
            r#", "quantization_config": {"bits": 4}"#,
            "`quantization_config` is an object, which is not supported: weights are read from plain tensors or GGUF",
        ),
        (
            r#", "num_local_experts": 8"#,
            "`num_local_experts` is 8, which is not supported: mixtures of experts are not",
        ),
        (
            r#", "layer_types": ["full_attention", "linear_attention"]"#,
            "`layer_types` is \"linear_attention\", which is not supported: layers attend to everything or through a window",
        ),
    ];
    for (more, expected) in cases {
        let text = config_json(Family::Qwen2, more);
        let text = if more.contains("hidden_act") {
            text.replacen("\"hidden_act\": \"silu\", ", "", 1)
        } else {
            text
        };
        refused(&text, expected);
    }
    refused(
        &config_json(Family::Llama, "").replace("\"llama\"", "\"mixtral\""),
        "`model_type` is \"mixtral\", which is not supported",
    );
    refused(
        &config_json(Family::Llama, "").replace("\"vocab_size\": 37,", ""),
        "`vocab_size` is missing",
    );
    refused(
        &config_json(Family::Llama, "")
            .replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2.5"),
        "`num_hidden_layers` is 2.5, expected a whole number",
    );
    refused("{\"a\": 1, \"a\": 2}", "the key \"a\" twice");
}

/// Checks that a configuration is read with a warning, and a context as long as a window.
fn limited(text: &str, context: usize, expected: &str) {
    let (document, warnings) = hf::document(Some(text), &[]).expect("a document");
    assert_eq!(document.config.context_window, context);
    let messages: Vec<&str> = warnings
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert_eq!(messages, [expected]);
}

#[test]
fn a_window_limits_the_context() {
    let asked = r#", "use_sliding_window": true, "sliding_window": 32, "max_window_layers": 0"#;
    limited(
        &config_json(Family::Qwen2, asked),
        32,
        "`sliding_window` is 32, less than the context of 50: a run has 32 tokens at most",
    );
    let not_asked = r#", "use_sliding_window": false, "sliding_window": 32"#;
    let document = built(&config_json(Family::Qwen2, not_asked));
    assert_eq!(document.config.context_window, 50);
}

#[test]
fn a_nested_text_model_is_found() {
    let text = format!(
        "{{\"model_type\": \"vision\", \"text_config\": {}}}",
        config_json(Family::Qwen2, "")
    );
    assert_eq!(*built(&text).config, parameters(Family::Qwen2));
}
