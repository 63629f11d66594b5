//! Writes documents, in the document dialect.

use mind_json::{Member, Value, ValueKind};
use mind_weights::WeightType;

use crate::attributes::Activation;
use crate::config::{Config, Rope, RopeScaling};
use crate::layout::arena::ALIGNMENT;
use crate::layout::buffers::{Buffer, When, bytes_of};
use crate::layout::dims::{Dim, Extent};
use crate::layout::nodes::{Node, PlanSection, layer_nodes, nodes};
use crate::schema::Document;

/// Returns the text of `document`, from which [`read`](fn@crate::read) returns an equal document.
pub fn write(document: &Document) -> String {
    let config = &document.config;
    let dims = Dim::ALL.into_iter().filter(|dim| dim.is_of(config.family));
    let dims = dims.map(|dim| {
        let value = dim.value(config, config.context_window);
        object([
            ("id", dim.id().into()),
            ("name", dim.name().into()),
            ("value", value.into()),
        ])
    });
    let buffers = config.family.buffers().iter();
    let buffers: Vec<Value> = buffers.map(|row| buffer(row, document)).collect();
    let notes = document.notes.iter().map(String::as_str);
    let mut members = vec![
        Member::new("version", 2usize),
        Member::new("notes", Value::array(notes)),
        Member::new("config", config_value(document)),
        Member::new("dimensions", Value::array(dims)),
        Member::new("buffers", Value::array(buffers)),
        Member::new("nodes", Value::array(node_values(config))),
        Member::new("meta", meta_value(document)),
    ];
    members.extend(document.foreign.document.iter().cloned());
    Value::from(ValueKind::Object(members)).print()
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::object(members)
}

/// Returns a member if it has a value.
fn maybe(key: &str, value: Option<Value>) -> Option<Member> {
    value.map(|value| Member::new(key, value))
}

fn config_value(document: &Document) -> Value {
    let config = &document.config;
    let theta = config.rope.map_or(0.0, |rope| rope.theta);
    let mut members = vec![
        Member::new("num_layers", config.num_layers),
        Member::new("hidden_size", config.hidden_size),
        Member::new("intermediate_size", config.intermediate_size),
        Member::new("num_attention_heads", config.num_attention_heads),
        Member::new("num_kv_heads", config.num_kv_heads),
        Member::new("head_dim", config.head_dim),
        Member::new("vocab_size", config.vocab_size),
        Member::new("context_window", config.context_window),
        Member::new("rms_norm_eps", config.rms_norm_eps),
        Member::new("rope_theta", theta),
    ];
    members.extend(maybe("rope_scaling", config.rope.and_then(scaling)));
    let factors = config.rope.and_then(|rope| rope.factors);
    let factors = factors.map(|own| Value::array(own.as_slice().iter().map(shortest)));
    members.extend(maybe("rope_factors", factors));
    let partial = config
        .rope
        .filter(|rope| rope.rotary_dims != config.head_dim);
    members.extend(maybe(
        "rotary_dims",
        partial.map(|rope| rope.rotary_dims.into()),
    ));
    members.push(Member::new(
        "tie_word_embeddings",
        config.tie_word_embeddings,
    ));
    if config.activation != Activation::default() {
        members.push(Member::new("hidden_act", config.activation.name()));
    }
    for (attribute, value) in config.attributes.set_ones() {
        let value = if attribute.is_count() {
            (value as usize).into()
        } else {
            Value::from(value)
        };
        members.push(Member::new(attribute.key(), value));
    }
    for (key, layers) in [
        ("sliding_layers", &config.sliding_layers),
        ("no_rope_layers", &config.no_rope_layers),
    ] {
        if !layers.is_empty() {
            members.push(Member::new(key, Value::array(layers.iter())));
        }
    }
    if let Some(own) = &config.encoder {
        members.extend([
            Member::new("encoder_layers", own.num_layers),
            Member::new("encoder_intermediate_size", own.intermediate_size),
            Member::new("encoder_attention_heads", own.num_attention_heads),
            Member::new("encoder_head_dim", own.head_dim),
            Member::new("source_window", own.context_window),
        ]);
    }
    if let Some(own) = &config.experts {
        members.extend([
            Member::new("num_experts", own.count),
            Member::new("experts_per_token", own.per_token),
            Member::new("expert_intermediate_size", own.width),
        ]);
        if own.shared_width > 0 {
            members.push(Member::new("shared_intermediate_size", own.shared_width));
        }
        members.push(Member::new("normalised_shares", own.normalised));
        if !own.dense_layers.is_empty() {
            let layers = Value::array(own.dense_layers.iter());
            members.push(Member::new("dense_layers", layers));
        }
    }
    members.extend(document.foreign.config.iter().cloned());
    ValueKind::Object(members).into()
}

/// Returns the `f64` with the shortest decimal representation that reads back as `real`.
fn shortest(real: &f32) -> f64 {
    // Every printed float can be parsed.
    real.to_string().parse().unwrap_or(f64::from(*real))
}

fn scaling(rope: Rope) -> Option<Value> {
    match rope.scaling {
        RopeScaling::None => None,
        RopeScaling::Linear { factor } => Some(object([
            ("rope_type", "linear".into()),
            ("factor", factor.into()),
        ])),
        RopeScaling::Llama3 {
            factor,
            low_freq_factor,
            high_freq_factor,
            original_context,
        } => Some(object([
            ("rope_type", "llama3".into()),
            ("factor", factor.into()),
            ("low_freq_factor", low_freq_factor.into()),
            ("high_freq_factor", high_freq_factor.into()),
            ("original_max_position_embeddings", original_context.into()),
        ])),
        RopeScaling::Dynamic { factor } => Some(object([
            ("rope_type", "dynamic".into()),
            ("factor", factor.into()),
        ])),
        RopeScaling::Yarn(own) => Some(object([
            ("rope_type", "yarn".into()),
            ("factor", own.factor.into()),
            ("attention_factor", own.attention_factor.into()),
            ("beta_fast", own.beta_fast.into()),
            ("beta_slow", own.beta_slow.into()),
            (
                "original_max_position_embeddings",
                own.original_context.into(),
            ),
            ("truncate", own.truncate.into()),
        ])),
        RopeScaling::LongRope {
            short,
            long,
            attention_factor,
            original_context,
        } => Some(object([
            ("rope_type", "longrope".into()),
            ("attention_factor", attention_factor.into()),
            ("original_max_position_embeddings", original_context.into()),
            (
                "short_factor",
                Value::array(short.as_slice().iter().map(shortest)),
            ),
            (
                "long_factor",
                Value::array(long.as_slice().iter().map(shortest)),
            ),
        ])),
    }
}

fn extent(extent: &Extent) -> Value {
    object([
        ("dim", extent.dim.id().into()),
        ("mult", extent.mult.into()),
        ("div", extent.div.into()),
    ])
}

fn buffer(row: &Buffer, document: &Document) -> Value {
    let config = &document.config;
    let tied = row.name == "lm_head_weight" && config.tie_word_embeddings;
    let dtype = match row.parts() {
        _ if !row.is_weight() => WeightType::F32,
        // Weights that inference does not read are written with the type of the vectors that it does.
        [] => document.dtypes.of("final_ln_weight", None),
        [_, ..] if tied => document.dtypes.of("token_emb", None),
        [part, ..] => document.dtypes.of(part, None),
    };
    let shape = row.resolved(config, config.context_window);
    let bytes = shape.and_then(|shape| bytes_of(&shape, dtype));
    let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT));
    let role = if row.is_weight() {
        "weight"
    } else {
        "activation"
    };
    let text = |text: Option<&str>| text.map_or(Value::NULL, Value::from);
    object([
        ("name", row.name.as_str().into()),
        ("scope", row.scope.name(config.family.architecture()).into()),
        ("role", role.into()),
        ("dtype", dtype.name().into()),
        ("shape", Value::array(row.shape.iter().map(extent))),
        // The extents of a checked configuration do not overflow.
        ("resolved_shape", Value::array(bytes)),
        ("alias_of", text(tied.then_some("token_emb"))),
        ("condition", condition(row.when.as_ref())),
    ])
}

fn node_values(config: &Config) -> Vec<Value> {
    let stacks = config.stacks();
    stacks.flat_map(|(_, own)| stack_values(&own)).collect()
}

fn stack_values(config: &Config) -> Vec<Value> {
    let first = nodes(config, PlanSection::First).map(|row| node(row, -1, config));
    let layers = (0..config.num_layers as i64).flat_map(|layer| {
        let own = config.of_layer(layer as usize);
        let rows = layer_nodes(&own, config.has_experts(layer as usize));
        let rows: Vec<&Node> = rows.collect();
        rows.into_iter().map(move |row| node(row, layer, &own))
    });
    let last = nodes(config, PlanSection::Last).map(|row| node(row, -1, config));
    first.chain(layers).chain(last).collect()
}

fn node(row: &Node, layer: i64, config: &Config) -> Value {
    let listed = row.args.iter().filter(|arg| arg.is_listed(config));
    let bindings = listed.map(|arg| {
        object([
            ("arg", arg.name.into()),
            ("buffer", arg.buffer.as_str().into()),
        ])
    });
    let mut members = vec![Member::new("layer", Value::from(layer))];
    if config.encoder.is_some() {
        members.push(Member::new("scope", row.stack.name()));
    }
    members.extend([
        Member::new("op", row.op()),
        Member::new("kernel", row.kernel.symbol),
        Member::new("flags", 0usize),
        Member::new("condition", condition(row.when.as_ref())),
        Member::new("bindings", Value::array(bindings)),
    ]);
    ValueKind::Object(members).into()
}

fn condition(when: Option<&When>) -> Value {
    when.map_or(Value::NULL, |own| own.text.as_str().into())
}

fn meta_value(document: &Document) -> Value {
    let config = &document.config;
    let biases = config.family.optional().map(|own| own.name.as_str());
    let biases = biases.filter(|name| config.has_bias(name));
    let mut members = vec![
        Member::new("family", config.family.name()),
        Member::new("fused_qkv", document.fused_qkv),
        Member::new("gated_mlp", config.has_gate()),
        Member::new("has_pos_emb", config.has_positions()),
        Member::new("has_lm_head", !config.family.is_encoder()),
        Member::new("tie_word_embeddings", config.tie_word_embeddings),
        Member::new("biases", Value::array(biases)),
    ];
    let layers = (0..config.most_layers()).filter_map(|layer| {
        let own = layer_types(layer, document);
        (!own.is_empty()).then(|| Member::new(layer.to_string(), ValueKind::Object(own)))
    });
    let layers: Vec<Member> = layers.collect();
    if !layers.is_empty() {
        members.push(Member::new("weight_dtypes", ValueKind::Object(layers)));
    }
    members.extend(document.foreign.meta.iter().cloned());
    ValueKind::Object(members).into()
}

/// Returns the storage types of `layer` that differ from those of the buffers.
fn layer_types(layer: usize, document: &Document) -> Vec<Member> {
    let dtypes = &document.dtypes;
    let mut own = Vec::new();
    let layered = document.config.family.buffers().iter();
    for row in layered.filter(|row| row.scope.is_layered()) {
        let Some((first, parts)) = row.parts().split_first() else {
            continue;
        };
        let stored = dtypes.of(first, Some(layer));
        if stored != dtypes.of(first, None) {
            own.push(Member::new(row.name.as_str(), stored.name()));
        }
        for (at, part) in parts.iter().enumerate() {
            let part_stored = dtypes.of(part, Some(layer));
            if part_stored != stored {
                own.push(Member::new(row.part_key(1 + at), part_stored.name()));
            }
        }
    }
    own
}
