//! A whole model as one module, against the parts that a session runs.

use mind_interp::{Arrays, Extents, RunConfig};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_irv2::graph::distance::Distances;
use mind_irv2::graph::document::{self, Padding};
use mind_irv2::graph::rope;
use mind_irv2::layout::buffers::{Scope, TensorForm};
use mind_irv2::{Config, Document, Families, Parameters, ReadOptions, WeightTypes};
use mind_model::Session;
use mind_weights::WeightType;

use crate::random::{Tensors, family, jit, llama, model, of_expert, tokens};
use crate::{described, families};

/// Returns the document of a model whose matrices have type `stored`.
pub fn of(config: Config, stored: WeightType) -> Document {
    Document {
        config,
        dtypes: WeightTypes::uniform(&config, stored, WeightType::F32),
        fused_qkv: false,
        notes: Vec::new(),
        foreign: Default::default(),
    }
}

/// Returns the document of the model `called`, whose matrices have type `stored`, after a round trip through its text.
pub fn read_back(config: Config, stored: WeightType, families: Families, called: &str) -> Document {
    let document = of(config, stored);
    let written = mind_irv2::write(&document);
    let options = ReadOptions {
        families,
        ..Default::default()
    };
    let read = mind_irv2::read(&written, &options);
    let (again, found) = read.unwrap_or_else(|why| panic!("{called}: {why:?}"));
    assert!(found.is_empty() && again == document, "{called}: {found:?}");
    assert_eq!(mind_irv2::write(&again), written, "{called}");
    again
}

/// Embeds a matrix `[rows, columns]` in one of `[outer, inner]` that is filled with `padding`.
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

/// Returns the buffers of a document with the weights of a model, padded with `padding`.
pub fn arrays(config: &Config, tensors: &Tensors, padding: f32) -> Arrays {
    let padded = |elements: &[f32], from, to| padded(elements, from, to, padding);
    let mut arrays = Arrays::new();
    for buffer in config.family.buffers() {
        let is_alias = buffer.name == "lm_head_weight" && config.tie_word_embeddings;
        if !config.has(buffer) || buffer.parts().is_empty() || is_alias {
            continue;
        }
        let shape = buffer
            .resolved(config, config.context_window)
            .expect("a shape");
        let parts = buffer.parts().len();
        let layers = match buffer.scope {
            Scope::Global => vec![None],
            Scope::Layer | Scope::Encoder | Scope::Cross => {
                let layers = 0..buffer.scope.count(config);
                let has = |layer: &usize| config.of_layer(*layer).has(buffer);
                layers.filter(has).map(Some).collect()
            }
        };
        for layer in layers {
            if !config.has_in(buffer, layer) {
                continue;
            }
            let part = |part: &str, shape: &[usize]| -> Vec<f32> {
                let own = tensors.get(part, layer);
                match buffer.form(config) {
                    TensorForm::Vector { count } => padded(own, [1, count], [1, shape[0] / parts]),
                    TensorForm::Matrix { rows, columns } => {
                        padded(own, [rows, columns], [shape[0] / parts, shape[1]])
                    }
                    TensorForm::HeadVector { heads, head } => {
                        padded(own, [heads, head], [heads, shape[1]])
                    }
                    TensorForm::HeadRows { head, columns, .. } => {
                        let all = own.chunks(head * columns);
                        let to = [shape[1], shape[2]];
                        all.flat_map(|own| padded(own, [head, columns], to))
                            .collect()
                    }
                    TensorForm::HeadColumns { heads, rows, head } => {
                        let of_head = |at: usize| -> Vec<f32> {
                            let columns = at * head..(at + 1) * head;
                            let all = own.chunks(heads * head);
                            let own = all.flat_map(|row| row[columns.clone()].to_vec());
                            let own: Vec<f32> = own.collect();
                            padded(&own, [rows, head], [shape[1], shape[2]])
                        };
                        (0..heads).flat_map(of_head).collect()
                    }
                }
            };
            let elements: Vec<f32> = match config.experts.filter(|_| buffer.is_of_experts()) {
                Some(own) => {
                    let of = |expert: usize| -> Vec<f32> {
                        let own = buffer.parts().iter();
                        own.flat_map(|name| part(&of_expert(name, expert), &shape[1..]))
                            .collect()
                    };
                    (0..own.count).flat_map(of).collect()
                }
                None => {
                    let own = buffer.parts().iter();
                    own.flat_map(|name| part(name, &shape)).collect()
                }
            };
            let name = match layer {
                Some(layer) => format!("layer{layer}.{}", buffer.name),
                None => buffer.name.clone(),
            };
            arrays.insert(name, Tensor::of(shape.clone(), elements));
        }
    }
    arrays
}

/// Adds the inputs of the layers of `config` for `prompt` other than weights.
pub fn read(arrays: &mut Arrays, config: &Config, prompt: &[u32]) {
    let named = |name: &str| document::input_name(config.family.stack(), name);
    let count = prompt.len();
    let ids: Vec<i32> = prompt.iter().map(|&token| token as i32).collect();
    arrays.insert(named("tokens"), Tensor::of(vec![count], ids));
    let positions: Vec<f32> = (0..count).map(|at| at as f32).collect();
    arrays.insert(named("positions"), Tensor::of(vec![count], positions));
    if let Some(distances) = Distances::of(config) {
        let class = |at: usize| distances.class(at / count, at % count) as i32;
        let classes: Vec<i32> = (0..count * count).map(class).collect();
        let classes = Tensor::of(vec![count, count], classes);
        arrays.insert(named("position_classes"), classes);
    }
    for (names, turning) in document::rotations(config) {
        let frequencies = rope::frequencies_of(config, turning, count);
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        for position in 0..count {
            rope::append_row(position, &frequencies, &mut cos, &mut sin);
        }
        let shape = vec![count, frequencies.each.len()];
        for (name, rows) in names.into_iter().zip([cos, sin]) {
            arrays.insert(named(name), Tensor::of(shape.clone(), rows));
        }
    }
    if config.rope.is_none() {
        let rows = config.position_rows(prompt).into_iter();
        let positions: Vec<i32> = rows.map(|row| row as i32).collect();
        let positions = Tensor::of(vec![count], positions);
        arrays.insert(named("position_ids"), positions);
    }
    let kinds = Tensor::of(vec![count], vec![0i32; count]);
    arrays.insert(named("token_types"), kinds);
}

/// Returns the outputs of a module for `prompt`.
pub fn outputs(g: &Graph, mut arrays: Arrays, config: &Config, prompt: &[u32]) -> Vec<Vec<f32>> {
    read(&mut arrays, config, prompt);
    // Arrays that do not match an input are rejected, so they are removed.
    let inputs = mind_interp::inputs(g);
    arrays.retain(|name, _| inputs.iter().any(|input| input.name == name));
    let bound = mind_interp::bind(g, &arrays, Extents::default());
    let bound = bound.unwrap_or_else(|why| panic!("{why:?}"));
    let results = mind_interp::run(g, &bound, &RunConfig::default());
    let results = results.expect("a run");
    let elements = |own: &Tensor| own.elements::<f32>().to_vec();
    results.iter().map(elements).collect()
}

fn logits(g: &Graph, arrays: Arrays, config: &Config, prompt: &[u32]) -> Vec<f32> {
    outputs(g, arrays, config, prompt).swap_remove(0)
}

fn check(change: impl FnOnce(&mut Parameters)) {
    let mut parameters = llama();
    change(&mut parameters);
    check_config(Config::new(parameters).expect("a description"));
}

fn check_config(config: Config) {
    let tensors = Tensors::random(&config, mind_weights::WeightType::F32, 21);
    let document = of(config, WeightType::F32);
    let prompt = tokens(&config, 5);
    // Padding that is cut off may have any value.
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
    check(|p| p.rope = None);
    check(|p| {
        p.attributes.set(mind_irv2::Attribute::SlidingWindow, 2.0);
        p.sliding_layers = mind_irv2::Layers::of([1]);
        p.no_rope_layers = mind_irv2::Layers::of([0]);
    });
    check(|p| {
        p.family = family("qwen3");
        p.biases = p.family.biases(&["bq", "bk", "bv", "bo", "b1", "b2"]);
        p.head_dim = 8;
        p.rope = p.rope.map(|rope| mind_irv2::Rope {
            rotary_dims: 4,
            ..rope
        });
    });
    check(|p| (p.hidden_size, p.intermediate_size, p.head_dim) = (32, 48, 16));
}

#[test]
fn a_document_of_every_family_gives_the_logits_of_its_model() {
    for (name, more) in families::FAMILIES {
        let config = families::config(name, more);
        check_config(config);
        read_back(config, WeightType::Bf16, described::families(name), name);
    }
}

#[test]
fn an_expert_that_is_not_chosen_changes_no_bit_whatever_it_holds() {
    let is_mixtral = |row: &&(&str, &str)| row.0 == "mixtral";
    let found = families::FAMILIES.iter().find(is_mixtral);
    let &(name, more) = found.expect("a family");
    let config = families::config(name, more);
    let tensors = Tensors::random(&config, WeightType::F32, 33);
    let document = of(config, WeightType::F32);
    let g = document::model(&document, Padding::Stripped).expect("a module");
    let prompt = tokens(&config, 1);
    let run = |tensors: &Tensors| {
        let model = model(config, tensors, jit(1));
        let mut session = Session::new(model, 5).unwrap();
        let own = session.prefill_all(&prompt).unwrap();
        let of_module = logits(&g, arrays(&config, tensors, 0.0), &config, &prompt);
        let bits = |logits: &[f32]| -> Option<Vec<u32>> {
            let is_finite = logits.iter().all(|x| x.is_finite());
            is_finite.then(|| logits.iter().map(|x| x.to_bits()).collect())
        };
        assert_eq!(bits(&own), bits(&of_module));
        bits(&own)
    };
    let plain = run(&tensors);
    let changed = (0..5).map(|expert| {
        let mut tensors = tensors.clone();
        let key = (of_expert("we2", expert), Some(1));
        let own = tensors.tensors.get_mut(&key).expect("an expert");
        own.elements.fill(f32::INFINITY);
        own.bytes = own.elements.iter().flat_map(|x| x.to_le_bytes()).collect();
        run(&tensors)
    });
    let unchanged = changed.filter(|own| *own == plain).count();
    // Each token is routed to two of five experts, so three experts do not change the result.
    assert_eq!((plain.is_some(), unchanged), (true, 3));
}
