//! Tensors in the layouts of checkpoints, derived from the descriptions of the families.

use mind_irv2::Config;

use crate::random::{self, Tensors, of_expert};
use crate::writers::Tensor;

/// Returns the transposed matrix, with a row per input.
pub fn transposed(name: &str, own: &random::Tensor) -> Tensor {
    let &[outputs, inputs] = own.shape.as_slice() else {
        panic!("{name} is not a matrix");
    };
    let column =
        |input: usize| (0..outputs).map(move |output| own.elements[output * inputs + input]);
    let elements: Vec<f32> = (0..inputs).flat_map(column).collect();
    Tensor::f32(name, &[inputs, outputs], &elements)
}

/// Returns the fused tensors.
pub fn held_together(config: &Config, tensors: &Tensors) -> Vec<Tensor> {
    let family = config.family.name();
    let mut all = Vec::new();
    for layer in 0..config.num_layers {
        let get = |part: &str| tensors.tensors.get(&(part.to_owned(), Some(layer)));
        for (parts, end) in [(["wq", "wk", "wv"], "weight"), (["bq", "bk", "bv"], "bias")] {
            let Some(parts) = parts.map(get).into_iter().collect::<Option<Vec<_>>>() else {
                continue;
            };
            let rows: usize = parts.iter().map(|own| own.shape[0]).sum();
            let shape = [&[rows], &parts[0].shape[1..]].concat();
            let below = || parts.iter().flat_map(|own| own.elements.clone()).collect();
            match family {
                "gpt2" => {
                    let name = format!("transformer.h.{layer}.attn.c_attn.{end}");
                    let whole = random::Tensor {
                        shape,
                        elements: below(),
                        ..parts[0].clone()
                    };
                    all.push(if end == "weight" {
                        transposed(&name, &whole)
                    } else {
                        Tensor::f32(&name, &whole.shape, &whole.elements)
                    });
                }
                "mpt" => {
                    let name = format!("transformer.blocks.{layer}.attn.Wqkv.{end}");
                    let elements: Vec<f32> = below();
                    all.push(Tensor::f32(&name, &shape, &elements));
                }
                "gpt_neox" | "bloom" => {
                    let path = match family {
                        "bloom" => format!("transformer.h.{layer}.self_attention"),
                        _ => format!("gpt_neox.layers.{layer}.attention"),
                    };
                    let name = format!("{path}.query_key_value.{end}");
                    let heads = config.num_kv_heads;
                    let of_head = |head: usize| {
                        parts.iter().flat_map(move |own| {
                            let count = own.elements.len() / heads;
                            own.elements[head * count..][..count].to_vec()
                        })
                    };
                    let elements: Vec<f32> = (0..heads).flat_map(of_head).collect();
                    all.push(Tensor::f32(&name, &shape, &elements));
                }
                _ => {}
            }
        }
    }
    all
}

/// Returns the matrices of all experts of a layer in one tensor, gate before up.
pub fn stacked(config: &Config, tensors: &Tensors) -> Vec<Tensor> {
    let count = config.experts.expect("experts").count;
    let mut all = Vec::new();
    for layer in (0..config.num_layers).filter(|&layer| config.has_experts(layer)) {
        for (name, parts) in [
            ("gate_up_proj", &["we_gate", "we_up"][..]),
            ("down_proj", &["we2"]),
        ] {
            let get = |part: &str, expert| {
                let key = (of_expert(part, expert), Some(layer));
                &tensors.tensors[&key]
            };
            let of = |expert| {
                parts
                    .iter()
                    .flat_map(move |part| get(part, expert).elements.clone())
            };
            let elements: Vec<f32> = (0..count).flat_map(of).collect();
            let &[rows, columns] = get(parts[0], 0).shape.as_slice() else {
                panic!("{name} is not a matrix");
            };
            let name = format!("model.layers.{layer}.mlp.experts.{name}");
            let shape = [count, rows * parts.len(), columns];
            all.push(Tensor::f32(&name, &shape, &elements));
        }
    }
    all
}
