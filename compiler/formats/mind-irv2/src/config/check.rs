//! Validation of hyperparameters.

use super::{
    Config, ConfigError, MAX_COUNT, MAX_ELEMENTS, MAX_EXTENT, Parameters, RopeScaling, align,
};
use crate::attributes::{Activation, Attribute};
use crate::image::Image;
use crate::layout::buffers::Buffer;
use crate::layout::dims::Dim;
use crate::stacks;

/// Returns all errors in `parameters`.
pub(super) fn check(parameters: &Parameters) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    check_extents(parameters, &mut errors);
    check_reals(parameters, &mut errors);
    check_activation(parameters, &mut errors);
    check_experts(parameters, &mut errors);
    stacks::check(parameters, &mut errors);
    if errors.is_empty() {
        check_sizes(parameters, &mut errors);
    }
    errors
}

fn check_extents(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let rows = [
        ("num_layers", p.num_layers, MAX_COUNT),
        ("hidden_size", p.hidden_size, MAX_EXTENT),
        ("intermediate_size", p.intermediate_size, MAX_EXTENT),
        ("num_attention_heads", p.num_attention_heads, MAX_COUNT),
        ("num_kv_heads", p.num_kv_heads, MAX_COUNT),
        ("head_dim", p.head_dim, MAX_EXTENT),
        ("vocab_size", p.vocab_size, MAX_EXTENT),
        ("context_window", p.context_window, MAX_EXTENT),
    ];
    let wrong = rows
        .into_iter()
        .filter(|&(_, value, max)| value == 0 || value > max);
    errors.extend(wrong.map(|(key, value, max)| ConfigError::Range {
        key,
        value,
        min: 1,
        max,
    }));
    let (heads, kv_heads) = (p.num_attention_heads, p.num_kv_heads);
    if kv_heads > 0 && !heads.is_multiple_of(kv_heads) {
        errors.push(ConfigError::Groups { heads, kv_heads });
    }
    let Some(rope) = &p.rope else { return };
    if !p.head_dim.is_multiple_of(2) {
        let value = p.head_dim;
        let key = "head_dim";
        errors.push(ConfigError::Odd { key, value });
        return;
    }
    let (key, value) = ("partial_rotary_factor", rope.rotary_dims);
    if value == 0 || value > p.head_dim {
        let (min, max) = (2, p.head_dim);
        errors.push(ConfigError::Range {
            key,
            value,
            min,
            max,
        });
    } else if !value.is_multiple_of(2) {
        errors.push(ConfigError::Odd { key, value });
    }
}

fn check_reals(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let mut real = |key, value: f64, fine: bool, expected| {
        if !fine {
            errors.push(ConfigError::Real {
                key,
                value,
                expected,
            });
        }
    };
    let eps = p.rms_norm_eps;
    let fine = eps > 0.0 && eps < 1.0;
    real("rms_norm_eps", eps, fine, "a number between 0 and 1");
    for attribute in Attribute::all() {
        let value = p.attributes.get(attribute);
        let problem = attribute.problem(value);
        real(
            attribute.key(),
            value,
            problem.is_none(),
            problem.unwrap_or_default(),
        );
    }
    for (attribute, value) in p.attributes.set_ones() {
        let mut nodes = p.family.all_nodes();
        let is_read = nodes.any(|node| node.reads(attribute));
        real(
            attribute.key(),
            value,
            is_read,
            "none: no step of the family reads it",
        );
    }
    check_tables(p, &mut real);
    let window = p.attributes.get(Attribute::SlidingWindow);
    let key = Attribute::SlidingWindow.key();
    let fine = p.sliding_layers.is_empty() || window >= 1.0;
    real(key, window, fine, "at least 1 where layers have a window");
    let Some(rope) = &p.rope else { return };
    let positive = |value: f64| value > 0.0 && value < 1e30;
    let theta = rope.theta;
    real("rope_theta", theta, positive(theta), "a positive number");
    check_scaling(rope.scaling, &mut real);
    let pairs = rope.rotary_dims / 2;
    let of_scaling = match rope.scaling {
        RopeScaling::LongRope { short, long, .. } => [Some(short), Some(long)],
        RopeScaling::None
        | RopeScaling::Linear { .. }
        | RopeScaling::Llama3 { .. }
        | RopeScaling::Dynamic { .. }
        | RopeScaling::Yarn(_) => [None; 2],
    };
    let all = [("rope_factors", rope.factors)].into_iter();
    let all = all.chain(of_scaling.map(|own| ("rope_scaling", own)));
    for (key, factors) in all {
        if let Some(factors) =
            factors.filter(|own| own.as_slice().len() != pairs || !own.are_positive())
        {
            let found = factors.as_slice().len();
            errors.push(ConfigError::Factors { key, found, pairs });
        }
    }
}

/// Checks that tables have a row for each position and each token type.
fn check_tables(p: &Parameters, real: &mut impl FnMut(&'static str, f64, bool, &'static str)) {
    let types = p.attributes.get(Attribute::TypeVocabSize);
    let fine = types >= 1.0 || !Dim::TypeVocab.is_of(p.family);
    let key = Attribute::TypeVocabSize.key();
    real(key, types, fine, "at least 1");
    let buckets = p.attributes.get(Attribute::RelativeBuckets);
    let distance = p.attributes.get(Attribute::RelativeDistance);
    let has_classes = Dim::RelativeBuckets.is_of(p.family);
    // On either side of a position, half of the buckets hold a single distance each.
    let fine = !has_classes || buckets >= 4.0 && buckets % 4.0 == 0.0;
    let key = Attribute::RelativeBuckets.key();
    real(key, buckets, fine, "a multiple of 4");
    let fine = !has_classes || distance > buckets / 2.0;
    let key = Attribute::RelativeDistance.key();
    real(key, distance, fine, "above half of `relative_buckets`");
    let bins = p.attributes.get(Attribute::MelBins);
    let fine = bins >= 1.0 || !Dim::MelBins.is_of(p.family);
    let key = Attribute::MelBins.key();
    real(key, bins, fine, "at least 1");
    if let Some(image) = Config::of(*p).image() {
        check_image(p, image, real);
    }
    let first = p.attributes.get(Attribute::PositionOffset);
    let fine = first < p.context_window as f64;
    let key = Attribute::PositionOffset.key();
    real(key, first, fine, "less than `context_window`");
}

/// Checks that the positions of a model that reads images are the patches of an image and one for the whole image.
fn check_image(
    p: &Parameters,
    image: Image,
    real: &mut impl FnMut(&'static str, f64, bool, &'static str),
) {
    let Image {
        size,
        patch,
        channels,
    } = image;
    let key = Attribute::PatchSize.key();
    real(key, patch as f64, patch > 0, "at least 1");
    let key = Attribute::NumChannels.key();
    real(key, channels as f64, channels > 0, "at least 1");
    if patch == 0 {
        return;
    }
    let fine = size > 0 && size.is_multiple_of(patch);
    let key = Attribute::ImageSize.key();
    real(key, size as f64, fine, "a multiple of `patch_size`");
    let context = p.context_window;
    let fine = !fine || context == image.positions();
    let expected = "one more than the patches of an image";
    real("context_window", context as f64, fine, expected);
}

fn check_activation(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let mut nodes = p.family.all_nodes();
    let is_read = nodes.any(|node| node.kernel.reads_activation);
    if !is_read && p.activation != Activation::default() {
        let activation = p.activation.name();
        errors.push(ConfigError::Activation { activation });
    }
}

fn check_experts(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let Some(experts) = &p.experts else { return };
    let has_shared = p.family.has_dim(Dim::AlignedSharedIntermediate);
    let most_experts = if p.family.has_dim(Dim::NumExperts) {
        MAX_COUNT
    } else {
        0
    };
    let shared = if has_shared { (1, MAX_EXTENT) } else { (0, 0) };
    let rows = [
        ("num_experts", experts.count, (1, most_experts)),
        ("experts_per_token", experts.per_token, (1, experts.count)),
        ("expert_intermediate_size", experts.width, (1, MAX_EXTENT)),
        ("shared_intermediate_size", experts.shared_width, shared),
    ];
    let wrong = rows
        .into_iter()
        .filter(|&(_, value, (min, max))| value < min || value > max);
    errors.extend(wrong.map(|(key, value, (min, max))| ConfigError::Range {
        key,
        value,
        min,
        max,
    }));
}

fn check_scaling(
    scaling: RopeScaling,
    real: &mut impl FnMut(&'static str, f64, bool, &'static str),
) {
    let positive = |value: f64| value > 0.0 && value < 1e30;
    let key = "rope_scaling";
    let stretch = |factor: f64| (1.0..1e30).contains(&factor);
    let original = |context: usize, real: &mut dyn FnMut(_, _, _, _)| {
        let fine = (1..=MAX_EXTENT).contains(&context);
        real(key, context as f64, fine, "a positive original context");
    };
    match scaling {
        RopeScaling::None => {}
        RopeScaling::Linear { factor } => {
            real(key, factor, stretch(factor), "a factor of at least 1");
        }
        RopeScaling::Llama3 {
            factor,
            low_freq_factor: low,
            high_freq_factor: high,
            original_context,
        } => {
            real(key, factor, stretch(factor), "a factor of at least 1");
            real(key, low, positive(low), "a positive low_freq_factor");
            let fine = positive(high) && high > low;
            real(key, high, fine, "a high_freq_factor above low_freq_factor");
            original(original_context, real);
        }
        RopeScaling::Dynamic { factor } => {
            real(key, factor, stretch(factor), "a factor of at least 1");
        }
        RopeScaling::Yarn(own) => {
            real(
                key,
                own.factor,
                stretch(own.factor),
                "a factor of at least 1",
            );
            let (slow, fast) = (own.beta_slow, own.beta_fast);
            real(key, slow, positive(slow), "a positive beta_slow");
            let fine = positive(fast) && fast >= slow;
            real(key, fast, fine, "a beta_fast of at least beta_slow");
            let own_factor = own.attention_factor;
            real(
                key,
                own_factor,
                positive(own_factor),
                "a positive attention_factor",
            );
            original(own.original_context, real);
        }
        RopeScaling::LongRope {
            attention_factor: own_factor,
            original_context,
            ..
        } => {
            real(
                key,
                own_factor,
                positive(own_factor),
                "a positive attention_factor",
            );
            original(original_context, real);
        }
    }
}

/// Checks padded sizes. Each factor is at most 2^27 and each term has at most four, so that nothing overflows.
fn check_sizes(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let wide = |n: usize| n as u128;
    let config = Config::of(*p);
    let size = |buffer: &Buffer| -> u128 {
        let Some(extents) = buffer.resolved(&config, p.context_window) else {
            return u128::MAX;
        };
        let count = buffer.scope.count(p);
        let extents = extents.into_iter().map(wide);
        extents.fold(wide(count), u128::saturating_mul)
    };
    let buffers = p.family.buffers().iter().filter(|own| own.is_weight());
    let weights = buffers.map(size).fold(0, u128::saturating_add);
    let embed = wide(align(p.hidden_size));
    let head = wide(align(p.head_dim));
    let inner = wide(align(p.intermediate_size));
    let context = wide(align(p.context_window));
    let source = p.encoder.map_or(0, |own| align(own.context_window));
    let rows = context + wide(source);
    let cache = 2 * wide(p.num_layers) * wide(p.num_kv_heads) * rows * head;
    let widest = embed.max(2 * inner).max(wide(p.vocab_size));
    let widest = widest.max(wide(p.num_attention_heads) * head);
    let of_experts = p.experts.map_or(0, |own| own.width.max(own.shared_width));
    let widest = widest.max(2 * wide(align(of_experts)));
    let of_encoder = p.encoder.map_or(0, |own| {
        let heads = wide(own.num_attention_heads) * wide(align(own.head_dim));
        heads.max(2 * wide(align(own.intermediate_size)))
    });
    let parts = [
        ("weights", weights),
        ("key-value cache", cache),
        ("widest activation", context * widest),
        ("widest activation", wide(source) * embed.max(of_encoder)),
    ];
    let large = parts
        .into_iter()
        .filter(|&(_, elements)| elements > u128::from(MAX_ELEMENTS));
    errors.extend(large.map(|(what, elements)| ConfigError::TooLarge { what, elements }));
}
