//! What checkpoints call the weights of a family.

use std::collections::BTreeMap;

use mind_json::Value;

use crate::codes;
use crate::layout::buffers::{Buffer, Scope};
use crate::read::field::{Reader, present, shown};

/// Whose names a checkpoint has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spelling {
    /// Those of Hugging Face's modules.
    HuggingFace,
    /// Those of GGUF.
    Gguf,
}

/// Tensors of the model that a checkpoint keeps in one, the rows of each below those of the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fused {
    /// What the tables of names call it.
    pub(crate) name: String,
    /// The tensors that it holds.
    pub(crate) parts: Vec<String>,
}

/// The names of a family's tensors.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TensorNames {
    optional_prefix: String,
    hugging_face: BTreeMap<String, String>,
    gguf: BTreeMap<String, String>,
    pub(crate) fused: Vec<Fused>,
    /// Names of what the model computes from its configuration.
    computed: Vec<String>,
}

/// What a tensor of a file is in the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Match {
    /// A tensor of the plan, or one that holds several, of a layer.
    Tensor(&'static str, Option<usize>),
    /// What the model computes itself.
    Computed,
}

const LAYER: &str = "{layer}";

/// `tensors.json`.
pub(super) fn read(root: &Value, buffers: &[Buffer], r: &mut Reader) -> Option<TensorNames> {
    r.foreign(
        root,
        &[
            "optional_prefix",
            "names",
            "gguf_names",
            "fused",
            "computed",
        ],
    );
    let prefix = r.maybe_text(root, "optional_prefix");
    let mut names = TensorNames {
        optional_prefix: prefix.map_or("", |(text, _)| text).to_owned(),
        hugging_face: BTreeMap::new(),
        gguf: BTreeMap::new(),
        fused: Vec::new(),
        computed: r.texts(root, "computed"),
    };
    tables(&mut names, root, buffers, r);
    Some(names)
}

/// Checks that checkpoints of Hugging Face have a name for each weight, or for one that holds it.
pub(super) fn check(names: &TensorNames, root: &Value, buffers: &[Buffer], r: &mut Reader) {
    let is_named = |part: &str| names.hugging_face.contains_key(part);
    for part in buffers.iter().flat_map(|own| own.parts()) {
        if !is_named(part) && !names.fused_with(part).any(|own| is_named(&own.name)) {
            let message = format!("the weight `{part}` has no name in checkpoints");
            let help = "`names` of `tensors.json`, or of `tensors` in `family.json`, says one";
            r.push_with_help(codes::MISSING, root.span, message, help);
        }
    }
}

/// What `tensors` of `family.json` says otherwise than the plan.
pub(super) fn refine(names: &mut TensorNames, root: &Value, buffers: &[Buffer], r: &mut Reader) {
    let Some(own) = present(root, "tensors") else {
        return;
    };
    if own.members().is_none() {
        r.wrong("tensors", own, "an object");
        return;
    }
    r.foreign(own, &["names", "gguf_names", "fused"]);
    let fused = own
        .get("fused")
        .and_then(Value::members)
        .unwrap_or_default();
    let fused: Vec<&str> = fused.iter().map(|own| own.key.as_str()).collect();
    for table in ["names", "gguf_names"] {
        let members = own.get(table).and_then(Value::members).unwrap_or_default();
        let is_known = |key: &str| {
            buffers
                .iter()
                .any(|own| own.parts().iter().any(|part| part == key))
                || names.fused.iter().any(|own| own.name == key)
                || fused.contains(&key)
        };
        for member in members.iter().filter(|own| !is_known(&own.key)) {
            let message = format!("the family has no weight `{}`", shown(&member.key));
            r.push(codes::NAME, member.key_span, message);
        }
    }
    tables(names, own, buffers, r);
}

fn tables(names: &mut TensorNames, root: &Value, buffers: &[Buffer], r: &mut Reader) {
    if let Some(fused) = present(root, "fused") {
        for member in fused.members().unwrap_or_default() {
            r.foreign(&member.value, &["parts"]);
            let parts = r.texts(&member.value, "parts");
            names.fused.retain(|own| own.name != member.key);
            names.fused.push(Fused {
                name: member.key.clone(),
                parts,
            });
        }
    }
    for (key, table) in [
        ("names", &mut names.hugging_face),
        ("gguf_names", &mut names.gguf),
    ] {
        let Some(value) = present(root, key) else {
            continue;
        };
        let Some(members) = value.members() else {
            r.wrong(key, value, "an object from weights to names");
            continue;
        };
        for member in members {
            if member.value.is_null() {
                table.remove(&member.key);
                continue;
            }
            let Some((pattern, span)) = r.text(value, &member.key) else {
                continue;
            };
            let own = buffers.iter().find(|own| own.parts().contains(&member.key));
            let fused = names.fused.iter().find(|own| own.name == member.key);
            let held = fused.and_then(|fused| fused.parts.first());
            let of = |part: &String| buffers.iter().find(|own| own.parts().contains(part));
            let Some(buffer) = own.or_else(|| held.and_then(of)) else {
                // Tables serve every variant of a plan, and a variant lacks some of the weights.
                continue;
            };
            let is_layered = buffer.scope == Scope::Layer;
            if is_layered != (pattern.matches(LAYER).count() == 1) {
                let message = format!("`{}` is {:?}", shown(&member.key), shown(pattern));
                let help = "the name of a layer's tensor has `{layer}` once, another one has none";
                r.push_with_help(codes::NAME, span, message, help);
                continue;
            }
            table.insert(member.key.clone(), pattern.to_owned());
        }
    }
}

impl TensorNames {
    fn table(&self, spelling: Spelling) -> &BTreeMap<String, String> {
        match spelling {
            Spelling::HuggingFace => &self.hugging_face,
            Spelling::Gguf => &self.gguf,
        }
    }

    /// The name of a tensor in a checkpoint; `None` if such checkpoints have no name for it.
    pub(crate) fn name(
        &self,
        spelling: Spelling,
        part: &str,
        layer: Option<usize>,
    ) -> Option<String> {
        let pattern = self.table(spelling).get(part)?;
        Some(match layer {
            Some(layer) => pattern.replacen(LAYER, &layer.to_string(), 1),
            None => pattern.clone(),
        })
    }

    /// What the tensor `name` is; `None` for a name that the family does not have.
    pub(crate) fn find(&'static self, spelling: Spelling, name: &str) -> Option<Match> {
        let matched = |pattern: &str| {
            let short = pattern.strip_prefix(self.optional_prefix.as_str());
            let short = short.filter(|_| spelling == Spelling::HuggingFace);
            matching(pattern, name).or_else(|| matching(short?, name))
        };
        let found = self.table(spelling).iter().find_map(|(part, pattern)| {
            let layer = matched(pattern)?;
            Some(Match::Tensor(part, layer))
        });
        let computed = || {
            let is_computed = self.computed.iter().any(|own| matched(own).is_some());
            is_computed.then_some(Match::Computed)
        };
        found.or_else(computed)
    }

    /// The tensor that holds `part` and others.
    pub(crate) fn fused_with(&self, part: &str) -> impl Iterator<Item = &Fused> {
        let part = part.to_owned();
        let all = self.fused.iter();
        all.filter(move |own| own.parts.contains(&part))
    }
}

/// The layer of `name` where it matches `pattern`, which has none if the inner value is `None`.
fn matching(pattern: &str, name: &str) -> Option<Option<usize>> {
    let Some((before, after)) = pattern.split_once(LAYER) else {
        return (pattern == name).then_some(None);
    };
    let digits = name.strip_prefix(before)?.strip_suffix(after)?;
    let layer: usize = digits.parse().ok()?;
    // One layer has one spelling.
    (layer.to_string() == digits).then_some(Some(layer))
}

#[cfg(test)]
mod tests {
    use crate::family::{Family, Match, Spelling};

    #[test]
    fn names_lead_back_to_their_tensor() {
        for &family in Family::shipped() {
            let names = family.names();
            for spelling in [Spelling::HuggingFace, Spelling::Gguf] {
                for (part, pattern) in names.table(spelling) {
                    let layer = pattern.contains("{layer}").then_some(17);
                    let name = names.name(spelling, part, layer).expect("a name");
                    let found = names.find(spelling, &name);
                    assert_eq!(found, Some(Match::Tensor(part, layer)), "{family:?} {name}");
                }
            }
        }
    }

    #[test]
    fn foreign_names_belong_nowhere() {
        let names = Family::named("llama").expect("a family").names();
        let find = |name| names.find(Spelling::HuggingFace, name);
        let wq = Some(Match::Tensor("wq", Some(3)));
        assert_eq!(find("model.layers.3.self_attn.q_proj.weight"), wq);
        assert_eq!(find("layers.3.self_attn.q_proj.weight"), wq);
        assert_eq!(find("model.layers.03.self_attn.q_proj.weight"), None);
        assert_eq!(find("model.layers.3.block_sparse_moe.gate.weight"), None);
        let inverse = "model.layers.3.self_attn.rotary_emb.inv_freq";
        assert_eq!(find(inverse), Some(Match::Computed));
        assert_eq!(names.find(Spelling::Gguf, "blk.0."), None);
    }
}
