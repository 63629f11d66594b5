//! A whole model as one module, against the parts that a session runs.

use mind_interp::{Arrays, Extents, RunConfig};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_irv2::graph::document::{self, Padding};
use mind_irv2::graph::parts::names;
use mind_irv2::graph::rope;
use mind_irv2::{Biases, Config, Document, Parameters, WeightTypes, align};
use mind_model::Session;
use mind_weights::WeightType;

use crate::random::{Tensors, jit, llama, model, tokens};

/// A matrix `[rows, columns]` in one of `[outer, inner]`, its elements elsewhere being `padding`.
fn padded(
    elements: &[f32],
    [rows, columns]: [usize; 2],
    [outer, inner]: [usize; 2],
    padding: f32,
) -> Vec<f32> {
    let mut all = vec![padding; outer * inner];
    for row in 0..rows {
        let own = &elements[row * columns..][..columns];
        all[row * inner..][..columns].copy_from_slice(own);
    }
    all
}

/// The buffers of a document, filled with the weights of a model and with `padding`.
fn arrays(config: &Config, tensors: &Tensors, padding: f32) -> Arrays {
    let padded = |elements: &[f32], from, to| padded(elements, from, to, padding);
    let (d, ad) = (config.hidden_size, align(config.hidden_size));
    let (head, ah) = (config.head_dim, align(config.head_dim));
    let (inner, ai) = (config.intermediate_size, align(config.intermediate_size));
    let vocab = config.vocab_size;
    let mut arrays = Arrays::new();
    let mut add = |name: String, shape: Vec<usize>, elements: Vec<f32>| {
        arrays.insert(name, Tensor::of(shape, elements));
    };
    let table = |name| padded(tensors.get(name, None), [vocab, d], [vocab, ad]);
    let vector = |elements: &[f32], n: usize| padded(elements, [1, n], [1, align(n)]);
    add("token_emb".to_owned(), vec![vocab, ad], table("token_emb"));
    if !config.tie_word_embeddings {
        add(
            "lm_head_weight".to_owned(),
            vec![vocab, ad],
            table(names::LM_HEAD),
        );
    }
    let last = vector(tensors.get(names::FINAL_LN, None), d);
    add("final_ln_weight".to_owned(), vec![ad], last);
    for layer in 0..config.num_layers {
        let get = |name: &str| tensors.get(name, Some(layer));
        let name = |name: &str| format!("layer{layer}.{name}");
        add(name("ln1_gamma"), vec![ad], vector(get(names::LN1), d));
        add(name("ln2_gamma"), vec![ad], vector(get(names::LN2), d));
        let (heads, kv_heads) = (config.num_attention_heads, config.num_kv_heads);
        let rows = [
            (names::WQ, names::BQ, heads, config.biases.q),
            (names::WK, names::BK, kv_heads, config.biases.k),
            (names::WV, names::BV, kv_heads, config.biases.v),
        ];
        for (weight, bias, heads, has_bias) in rows {
            let own = get(weight).chunks(head * d);
            let all = own.flat_map(|own| padded(own, [head, d], [ah, ad]));
            add(name(weight), vec![heads, ah, ad], all.collect());
            if has_bias {
                let all = padded(get(bias), [heads, head], [heads, ah]);
                add(name(bias), vec![heads, ah], all);
            }
        }
        let output = get(names::WO);
        let of_head = |at: usize| -> Vec<f32> {
            let columns = at * head..(at + 1) * head;
            let rows = output.chunks(heads * head);
            let own: Vec<f32> = rows.flat_map(|row| row[columns.clone()].to_vec()).collect();
            padded(&own, [d, head], [ad, ah])
        };
        add(
            name("wo"),
            vec![heads, ad, ah],
            (0..heads).flat_map(of_head).collect(),
        );
        let halves = [names::GATE, names::UP].map(|half| padded(get(half), [inner, d], [ai, ad]));
        add(name("w1"), vec![2 * ai, ad], halves.concat());
        if config.biases.gate_up {
            let halves = [names::GATE_BIAS, names::UP_BIAS].map(|half| vector(get(half), inner));
            add(name("b1"), vec![2 * ai], halves.concat());
        }
        add(
            name("w2"),
            vec![ad, ai],
            padded(get(names::DOWN), [d, inner], [ad, ai]),
        );
        for (buffer, has_one) in [
            (names::BO, config.biases.o),
            (names::DOWN_BIAS, config.biases.down),
        ] {
            if has_one {
                add(name(buffer), vec![ad], vector(get(buffer), d));
            }
        }
        if config.qk_norm {
            add(name("q_norm"), vec![ah], vector(get(names::Q_NORM), head));
            add(name("k_norm"), vec![ah], vector(get(names::K_NORM), head));
        }
    }
    arrays
}

fn logits(g: &Graph, mut arrays: Arrays, config: &Config, prompt: &[u32]) -> Vec<f32> {
    let count = prompt.len();
    let ids: Vec<i32> = prompt.iter().map(|&token| token as i32).collect();
    arrays.insert("tokens".to_owned(), Tensor::of(vec![count], ids));
    let positions: Vec<f32> = (0..count).map(|at| at as f32).collect();
    arrays.insert("positions".to_owned(), Tensor::of(vec![count], positions));
    let rope = config.rope.expect("heads rotate");
    let frequencies = rope::frequencies(&rope);
    let (mut cos, mut sin) = (Vec::new(), Vec::new());
    for position in 0..count {
        rope::append_row(position, &frequencies, &mut cos, &mut sin);
    }
    let shape = vec![count, frequencies.len()];
    arrays.insert("rope_cos_cache".to_owned(), Tensor::of(shape.clone(), cos));
    arrays.insert("rope_sin_cache".to_owned(), Tensor::of(shape, sin));
    let bound = mind_interp::bind(g, &arrays, Extents::default());
    let bound = bound.unwrap_or_else(|why| panic!("{why:?}"));
    let results = mind_interp::run(g, &bound, &RunConfig::default());
    results.expect("a run")[0].elements::<f32>().to_vec()
}

fn check(change: impl FnOnce(&mut Parameters)) {
    let mut parameters = llama();
    change(&mut parameters);
    let config = Config::new(parameters).expect("a description");
    let tensors = Tensors::random(&config, mind_weights::WeightType::F32, 21);
    let document = Document {
        config,
        dtypes: WeightTypes::uniform(WeightType::F32, WeightType::F32),
        fused_qkv: false,
        notes: Vec::new(),
        foreign: Default::default(),
    };
    let prompt = tokens(&config, 5);
    // Padding that is cut off may hold anything.
    let found = [(Padding::Stripped, 9.0), (Padding::Kept, 0.0)].map(|(padding, filled)| {
        let g = document::model(&document, padding).expect("a module");
        logits(&g, arrays(&config, &tensors, filled), &config, &prompt)
    });
    let model = model(config, &tensors, jit(1));
    let expected = Session::new(model, 5)
        .unwrap()
        .prefill_all(&prompt)
        .unwrap();
    let bits = |logits: &[f32]| logits.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for found in &found {
        assert_eq!(bits(found), bits(&expected));
    }
}

#[test]
fn a_document_gives_the_logits_of_its_model() {
    check(|_| {});
    check(|p| p.tie_word_embeddings = true);
    check(|p| {
        p.biases = Biases {
            q: true,
            k: true,
            v: true,
            o: true,
            gate_up: true,
            down: true,
        };
        (p.qk_norm, p.head_dim) = (true, 8);
    });
    check(|p| (p.hidden_size, p.intermediate_size, p.head_dim) = (32, 48, 16));
}
