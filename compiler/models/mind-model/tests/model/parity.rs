//! Decoders of every kind against the reference.

use mind_irv2::{
    Attribute, Config, Family, FrequencyFactors, Layers, Parameters, Rope, RopeScaling, Yarn,
};
use mind_model::{Session, largest};
use mind_weights::WeightType;

use crate::random::{Tensors, family, jit, llama, model, tokens};
use crate::{gguf, reference, table};

/// Compares the logits after every token with the reference. Returns the largest error, relative to the largest logit.
fn check(name: &str, change: impl FnOnce(&mut Parameters), stored: WeightType) {
    let mut parameters = llama();
    change(&mut parameters);
    let config = Config::new(parameters).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    let tensors = Tensors::random(&config, stored, 11);
    let prompt = tokens(&config, 11);
    let model = model(config, &tensors, jit(1));
    let mut session = Session::new(model, 20).unwrap();
    let mut found = session.prefill_all(&prompt[..9]).unwrap();
    for &token in &prompt[9..] {
        found.extend(session.decode(token).unwrap());
    }
    let expected = reference::logits(&config, &tensors, &prompt, 20);
    for (at, (found, expected)) in found.chunks(config.vocab_size).zip(&expected).enumerate() {
        let most = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let errors = found
            .iter()
            .zip(expected)
            .map(|(&x, y)| (f64::from(x) - y).abs());
        let error = errors.fold(0.0, f64::max);
        assert!(
            error <= 1e-4 * most,
            "{name}, token {at}: {error} of {most}"
        );
        let narrow: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
        assert_eq!(largest(found), largest(&narrow), "{name}, token {at}");
    }
}

#[test]
fn every_kind_of_model_computes_what_its_formulas_say() {
    let f32 = WeightType::F32;
    check("grouped heads", |_| {}, f32);
    check("one head a group", |p| p.num_kv_heads = 6, f32);
    check("one group", |p| p.num_kv_heads = 1, f32);
    check("tied", |p| p.tie_word_embeddings = true, f32);
    check("heads wider than the stream", |p| p.head_dim = 14, f32);
    check(
        "one layer of one head",
        |p| {
            (p.num_layers, p.num_attention_heads, p.num_kv_heads) = (1, 1, 1);
        },
        f32,
    );
    check(
        "qwen2",
        |p| {
            p.family = family("qwen2");
            p.biases = p.family.biases(&["bq", "bk", "bv"]);
        },
        f32,
    );
    check(
        "every bias",
        |p| {
            p.biases = p.family.biases(&["bq", "bk", "bv", "bo", "b1", "b2"]);
        },
        f32,
    );
    check(
        "qwen3",
        |p| (p.family, p.head_dim) = (family("qwen3"), 8),
        f32,
    );
    check(
        "multiples of 16",
        |p| {
            (p.hidden_size, p.intermediate_size, p.head_dim) = (64, 128, 16);
        },
        f32,
    );
    check("learned positions", |p| p.rope = None, f32);
    check(
        "a window in one layer",
        |p| {
            p.attributes.set(Attribute::SlidingWindow, 4.0);
            p.sliding_layers = Layers::of([1]);
        },
        f32,
    );
    check(
        "a layer that does not rotate",
        |p| p.no_rope_layers = Layers::of([0]),
        f32,
    );
}

#[test]
fn every_kind_of_rotation_computes_what_its_formulas_say() {
    let rope = |scaling, rotary_dims| {
        move |p: &mut Parameters| {
            p.head_dim = 12;
            let theta = 300.0;
            p.rope = Some(Rope {
                theta,
                scaling,
                factors: None,
                rotary_dims,
            });
        }
    };
    let llama3 = RopeScaling::Llama3 {
        factor: 4.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_context: 200,
    };
    check(
        "all of a head",
        rope(RopeScaling::None, 12),
        WeightType::F32,
    );
    check(
        "part of a head",
        rope(RopeScaling::None, 4),
        WeightType::F32,
    );
    check(
        "factors of pairs",
        |p: &mut Parameters| {
            rope(RopeScaling::Linear { factor: 3.0 }, 12)(p);
            let factors = FrequencyFactors::new(&[1.0, 1.0, 1.5, 3.0, 7.5, 8.0]);
            p.rope = p.rope.map(|rope| Rope { factors, ..rope });
        },
        WeightType::F32,
    );
    check(
        "linear",
        rope(RopeScaling::Linear { factor: 3.0 }, 12),
        WeightType::F32,
    );
    check("llama3", rope(llama3, 12), WeightType::F32);
    let dynamic = RopeScaling::Dynamic { factor: 3.0 };
    check("dynamic", rope(dynamic, 12), WeightType::F32);
    for truncate in [true, false] {
        let yarn = RopeScaling::Yarn(Yarn {
            factor: 4.0,
            attention_factor: 1.3,
            beta_fast: 8.0,
            beta_slow: 1.0,
            original_context: 100,
            truncate,
        });
        check("yarn", rope(yarn, 12), WeightType::F32);
    }
    // The sequences of these tests have a capacity of 20 tokens.
    for original_context in [19, 20] {
        let factors = |of: [f32; 6]| FrequencyFactors::new(&of).expect("factors");
        let longrope = RopeScaling::LongRope {
            short: factors([1.0, 1.0, 1.1, 1.2, 1.3, 1.5]),
            long: factors([1.0, 1.5, 2.0, 3.0, 5.0, 8.0]),
            attention_factor: 1.2,
            original_context,
        };
        check("longrope", rope(longrope, 12), WeightType::F32);
    }
}

#[test]
fn narrow_weights_are_widened_and_nothing_else() {
    check("bf16", |_| {}, WeightType::Bf16);
    check("f16", |p| p.tie_word_embeddings = true, WeightType::F16);
}

/// Returns the largest error of the logits after each token, relative to the largest logit of that token.
pub fn error(config: Config, tensors: &Tensors, count: usize) -> f64 {
    let prompt = tokens(&config, count);
    let mut session = Session::new(model(config, tensors, jit(1)), count).unwrap();
    let mut found = session.prefill_all(&prompt[..count - 1]).unwrap();
    found.extend(session.decode(prompt[count - 1]).unwrap());
    let expected = reference::logits(&config, tensors, &prompt, count);
    let rows = found.chunks(config.vocab_size).zip(&expected);
    let errors = rows.map(|(found, expected)| {
        let most = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let pairs = found.iter().zip(expected);
        let errors = pairs.map(|(&x, y)| (f64::from(x) - y).abs() / most);
        errors.fold(0.0, f64::max)
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn every_family_in_every_format_computes_what_its_formulas_say() {
    let formats = [
        WeightType::F32,
        WeightType::F16,
        WeightType::Bf16,
        WeightType::Q8_0,
        WeightType::Q5_0,
        WeightType::Q4_0,
        WeightType::Q4K,
        WeightType::Q6K,
    ];
    let names = formats.map(|format| format!("{format} |"));
    let mut table = format!(
        "| family | {}\n|---|{}\n",
        names.join(" "),
        "---|".repeat(8)
    );
    for name in ["llama", "qwen2", "mistral", "qwen3", "phi3"] {
        let family = family(name);
        let config = one_layer(family);
        table += &format!("| {} |", family.name());
        for stored in formats {
            let error = error(config, &Tensors::random(&config, stored, 11), 6);
            assert!(error < 1e-4, "{family:?} in {stored}: {error}");
            table += &format!(" {error:.0e} |");
        }
        table += "\n";
    }
    table::check("parity", &table);
}

/// Returns a model with one layer of a family, whose rows are whole blocks of every format.
fn one_layer(family: Family) -> Config {
    let p = Parameters {
        num_layers: 1,
        ..*gguf::wide(family)
    };
    Config::new(p).unwrap_or_else(|why| panic!("{why:?}"))
}

#[test]
fn formats_without_a_column_compute_what_their_formulas_say() {
    let config = one_layer(family("llama"));
    for stored in [
        WeightType::Q4_1,
        WeightType::Q5_1,
        WeightType::Q5K,
        WeightType::Q2K,
        WeightType::Q3K,
        WeightType::Iq4Nl,
        WeightType::Mxfp4,
        WeightType::Tq1_0,
        WeightType::Tq2_0,
    ] {
        let error = error(config, &Tensors::random(&config, stored, 11), 4);
        assert!(error < 1e-4, "{stored}: {error}");
    }
}
