//! Reads the member `meta`.

use mind_diag::Span;
use mind_json::{Member, Value};
use mind_weights::WeightType;

use super::field::{Reader, present, shown, span_of};
use crate::codes;
use crate::config::{Biases, Config};
use crate::family::{Families, Family};
use crate::meta::parts_of;

/// The contents of `meta`.
#[derive(Default)]
pub(super) struct Meta<'v> {
    pub(super) fused_qkv: bool,
    pub(super) biases: Option<Biases>,
    pub(super) dtypes: Vec<(usize, &'static str, WeightType)>,
    pub(super) foreign: Vec<Member>,
    value: Option<&'v Value>,
    tied: Option<bool>,
    has_pos_emb: Option<bool>,
    gated_mlp: Option<bool>,
    has_lm_head: Option<bool>,
}

const KEYS: &[&str] = &[
    "family",
    "fused_qkv",
    "gated_mlp",
    "has_pos_emb",
    "has_lm_head",
    "tie_word_embeddings",
    "biases",
    "weight_dtypes",
];

/// Returns the family that `meta` names; `None` if it names none.
pub(super) fn family(root: &Value, families: Families, r: &mut Reader) -> Option<Family> {
    let meta = present(root, "meta").filter(|meta| meta.members().is_some())?;
    let (word, span) = r.maybe_text(meta, "family")?;
    let family = families.named(word);
    if family.is_none() {
        let message = format!("no supported family is called `{}`", shown(word));
        let help = format!("families are {}", families.names());
        r.push_with_help(codes::UNSUPPORTED, span, message, help);
    }
    family
}

/// Reads the member; `null` means unknown.
pub(super) fn read<'v>(root: &'v Value, family: Family, r: &mut Reader) -> Meta<'v> {
    let Some(value) = present(root, "meta") else {
        return Meta::default();
    };
    if value.members().is_none() {
        r.wrong("meta", value, "an object");
        return Meta::default();
    }
    Meta {
        fused_qkv: r.maybe_truth(value, "fused_qkv").unwrap_or(false),
        biases: biases(value, family, r),
        dtypes: dtypes(value, family, r),
        foreign: r.foreign(value, KEYS),
        value: Some(value),
        tied: r.maybe_truth(value, "tie_word_embeddings"),
        has_pos_emb: r.maybe_truth(value, "has_pos_emb"),
        gated_mlp: r.maybe_truth(value, "gated_mlp"),
        has_lm_head: r.maybe_truth(value, "has_lm_head"),
    }
}

fn biases(meta: &Value, family: Family, r: &mut Reader) -> Option<Biases> {
    present(meta, "biases")?;
    let mut biases = Biases::default();
    for value in r.list(meta, "biases") {
        let known = value.text().and_then(|name| family.optional_index(name));
        match known {
            Some(index) => biases = biases.with(index),
            None => {
                let message = format!("no bias is {}", value.describe());
                let names: Vec<&str> = family.optional().map(|own| own.name.as_str()).collect();
                let help = format!("biases are {}", names.join(", "));
                r.push_with_help(codes::NAME, value.span, message, help);
            }
        }
    }
    Some(biases)
}

/// Returns the storage types of layers that differ from the usual ones: `{layer: {buffer: dtype}}`.
fn dtypes(meta: &Value, family: Family, r: &mut Reader) -> Vec<(usize, &'static str, WeightType)> {
    let Some(layers) = present(meta, "weight_dtypes") else {
        return Vec::new();
    };
    let Some(members) = layers.members() else {
        r.wrong("weight_dtypes", layers, "an object");
        return Vec::new();
    };
    let mut dtypes = Vec::new();
    for member in members {
        let layer = member.key.parse::<usize>().ok();
        let (Some(layer), Some(own)) = (layer, member.value.members()) else {
            let message = "`weight_dtypes` goes from layers to buffers to dtypes";
            r.push(codes::KIND, member.key_span, message);
            continue;
        };
        for entry in own {
            let parts = parts_of(family, &entry.key);
            if parts.is_empty() {
                let message = format!("no weight of a layer is called `{}`", shown(&entry.key));
                r.push(codes::NAME, entry.key_span, message);
            }
            match entry.value.text().and_then(WeightType::parse) {
                Some(dtype) => dtypes.extend(parts.into_iter().map(|part| (layer, part, dtype))),
                None => {
                    let message = format!("no dtype is {}", entry.value.describe());
                    r.push(codes::NAME, entry.value.span, message);
                }
            }
        }
    }
    dtypes
}

/// Checks `meta` against the configuration.
pub(super) fn check(meta: &Meta<'_>, config: &Config, r: &mut Reader) {
    let Some(value) = meta.value else { return };
    let mut contradicts = |key: &str, said: Option<bool>, is: bool| {
        if let Some(said) = said.filter(|said| *said != is) {
            let message = format!("`{key}` is {said}, which the rest of the document contradicts");
            r.push(codes::CONTRADICTION, span_of(value, key), message);
        }
    };
    let tied = config.tie_word_embeddings;
    contradicts("tie_word_embeddings", meta.tied, tied);
    contradicts("has_pos_emb", meta.has_pos_emb, config.has_positions());
    // Some files state that a model with a tied head has none, because the head is not a separate tensor.
    let has_head = !config.family.is_encoder();
    contradicts("has_lm_head", meta.has_lm_head.filter(|_| !tied), has_head);
    contradicts("gated_mlp", meta.gated_mlp, config.has_gate());
    for &(layer, _, _) in &meta.dtypes {
        let span: Span = span_of(value, "weight_dtypes");
        let layers = config.most_layers();
        if layer >= layers {
            let message = format!("`weight_dtypes` names layer {layer}, of {layers}");
            r.push(codes::RANGE, span, message);
            return;
        }
    }
}
