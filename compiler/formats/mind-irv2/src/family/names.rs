//! The names of a family's weights in checkpoints.

use std::collections::BTreeMap;

use mind_json::Value;

use crate::codes;
use crate::layout::buffers::Buffer;
use crate::read::field::{Reader, present, shown};

/// The naming scheme of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spelling {
    /// The names of Hugging Face modules.
    HuggingFace,
    /// The names of GGUF.
    Gguf,
}

/// A fused tensor: a checkpoint stores several tensors of the model in it, as consecutive rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fused {
    /// Its key in the tables of names.
    pub(crate) name: String,
    /// The tensors that it contains.
    pub(crate) parts: Vec<String>,
}

/// The layout of a tensor in checkpoints of Hugging Face, if it does not have a row for each output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// A row for each input.
    Transposed,
    /// For each key-value head the rows of every part, one part after the other.
    ByHead,
    /// A vector as a matrix with one row.
    Row,
    /// A matrix or a vector with a leading batch axis of extent 1; a vector has one row.
    Batch,
    /// The elements of an image patch as separate axes: channel, row and column.
    Patches,
    /// The elements of a window, which are a row and its neighbours, as a separate last axis.
    Windows,
}

const LAYOUTS: [(&str, Layout); 6] = [
    ("transposed", Layout::Transposed),
    ("by_head", Layout::ByHead),
    ("row", Layout::Row),
    ("batch", Layout::Batch),
    ("patches", Layout::Patches),
    ("windows", Layout::Windows),
];

/// The names of each tensor in checkpoints, the usual one first.
type Table = BTreeMap<String, Vec<String>>;

/// The names of a family's tensors.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TensorNames {
    optional_prefix: String,
    hugging_face: Table,
    gguf: Table,
    pub(crate) fused: Vec<Fused>,
    layouts: BTreeMap<String, Layout>,
    /// The names of tensors that the model computes from its configuration, for example rotary frequencies.
    computed: Vec<String>,
    /// The names of tensors of training heads. A name that ends with `*` is a prefix.
    heads: Vec<String>,
    /// The names of tensors of task heads, for example the classifier of a reranker.
    task_heads: Vec<String>,
    /// Alternative suffixes of names, each with the suffix in the tables.
    endings: Vec<(String, String)>,
}

/// The meaning of a tensor name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Match {
    /// A tensor of the plan or a fused tensor, of a layer or of the whole model.
    Tensor(&'static str, Option<usize>),
    /// A tensor of an expert of a layer.
    OfExpert(&'static str, usize, usize),
    /// A tensor that the model computes itself, or that of a training head.
    Unread,
    /// A tensor of a task head, which the model does not compute.
    TaskHead,
}

const LAYER: &str = "{layer}";
const EXPERT: &str = "{expert}";
/// The placeholder of the prefix that a checkpoint may lack.
const PREFIX: &str = "{prefix}";

const KEYS: &[&str] = &[
    "optional_prefix",
    "names",
    "gguf_names",
    "fused",
    "layouts",
    "computed",
    "heads",
    "task_heads",
    "endings",
];

/// Reads `tensors.json`.
pub(super) fn read(root: &Value, buffers: &[Buffer], r: &mut Reader) -> Option<TensorNames> {
    r.foreign(root, KEYS);
    let mut names = TensorNames {
        optional_prefix: String::new(),
        hugging_face: Table::new(),
        gguf: Table::new(),
        fused: Vec::new(),
        layouts: BTreeMap::new(),
        computed: Vec::new(),
        heads: Vec::new(),
        task_heads: Vec::new(),
        endings: Vec::new(),
    };
    tables(&mut names, root, buffers, r);
    Some(names)
}

/// Reads the alternative suffixes of names.
fn endings(root: &Value, r: &mut Reader) -> Vec<(String, String)> {
    let Some(value) = present(root, "endings") else {
        return Vec::new();
    };
    let Some(members) = value.members() else {
        r.wrong(
            "endings",
            value,
            "an object from ends of names to those of the tables",
        );
        return Vec::new();
    };
    let ends = members.iter().filter_map(|member| {
        let (text, _) = r.text(value, &member.key)?;
        Some((member.key.clone(), text.to_owned()))
    });
    ends.collect()
}

/// Replaces the placeholder in the names by the prefix of the family.
pub(super) fn settle(names: &mut TensorNames) {
    let prefix = names.optional_prefix.clone();
    let tables = names.hugging_face.values_mut().flatten();
    let lists = [&mut names.computed, &mut names.heads, &mut names.task_heads];
    let lists = lists.into_iter().flatten();
    for pattern in tables.chain(lists) {
        if let Some(rest) = pattern.strip_prefix(PREFIX) {
            *pattern = format!("{prefix}{rest}");
        }
    }
}

/// Checks that each weight has a name in checkpoints of Hugging Face, alone or fused.
pub(super) fn check(names: &TensorNames, root: &Value, buffers: &[Buffer], r: &mut Reader) {
    let is_named = |part: &str| names.hugging_face.contains_key(part);
    for part in buffers.iter().flat_map(|own| own.parts()) {
        if names.layouts.get(part) == Some(&Layout::ByHead) {
            let message = format!("`{part}` is kept by head, but holds one tensor");
            r.push(codes::CONTRADICTION, root.span, message);
        }
        if !is_named(part) && !names.fused_with(part).any(|own| is_named(&own.name)) {
            let message = format!("the weight `{part}` has no name in checkpoints");
            let help = "`names` of `tensors.json`, or of `tensors` in `family.json`, says one";
            r.push_with_help(codes::MISSING, root.span, message, help);
        }
    }
}

/// Applies `tensors` of `family.json`, which overrides the names of the plan.
pub(super) fn refine(names: &mut TensorNames, root: &Value, buffers: &[Buffer], r: &mut Reader) {
    let Some(own) = present(root, "tensors") else {
        return;
    };
    if own.members().is_none() {
        r.wrong("tensors", own, "an object");
        return;
    }
    r.foreign(own, KEYS);
    let fused = own
        .get("fused")
        .and_then(Value::members)
        .unwrap_or_default();
    let fused: Vec<&str> = fused.iter().map(|own| own.key.as_str()).collect();
    for table in ["names", "gguf_names", "layouts"] {
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
    if let Some((prefix, _)) = r.maybe_text(root, "optional_prefix") {
        names.optional_prefix = prefix.to_owned();
    }
    for (key, list) in [
        ("computed", &mut names.computed),
        ("heads", &mut names.heads),
        ("task_heads", &mut names.task_heads),
    ] {
        if present(root, key).is_some() {
            *list = r.texts(root, key);
        }
    }
    if present(root, "endings").is_some() {
        names.endings = endings(root, r);
    }
    layouts(names, root, r);
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
            let own = buffers.iter().find(|own| own.parts().contains(&member.key));
            let fused = names.fused.iter().find(|own| own.name == member.key);
            let held = fused.and_then(|fused| fused.parts.first());
            let of = |part: &String| buffers.iter().find(|own| own.parts().contains(part));
            let Some(buffer) = own.or_else(|| held.and_then(of)) else {
                // Tables serve all variants of a plan, and a variant may lack some weights.
                continue;
            };
            let patterns = match member.value.elements() {
                Some([]) | None => vec![&member.value],
                Some(all) => all.iter().collect(),
            };
            let expected = usize::from(buffer.scope.is_layered());
            let most_experts = usize::from(buffer.is_of_experts());
            let mut all = Vec::new();
            for own in patterns {
                let Some(pattern) = own.text() else {
                    r.wrong(&member.key, own, "a name, or an array of names");
                    continue;
                };
                let experts = pattern.matches(EXPERT).count();
                let is_in_order = experts == 0 || pattern.find(LAYER) < pattern.find(EXPERT);
                if pattern.matches(LAYER).count() != expected
                    || experts > most_experts
                    || !is_in_order
                {
                    let message = format!("`{}` is {:?}", shown(&member.key), shown(pattern));
                    let help = if experts > 0 {
                        "the name of an expert's tensor has `{layer}` once and then `{expert}` once"
                    } else {
                        "the name of a layer's tensor has `{layer}` once, another one has none"
                    };
                    r.push_with_help(codes::NAME, own.span, message, help);
                    continue;
                }
                all.push(pattern.to_owned());
            }
            table.insert(member.key.clone(), all);
        }
    }
}

fn layouts(names: &mut TensorNames, root: &Value, r: &mut Reader) {
    let Some(value) = present(root, "layouts") else {
        return;
    };
    let Some(members) = value.members() else {
        r.wrong("layouts", value, "an object from weights to layouts");
        return;
    };
    for member in members {
        let Some((word, span)) = r.text(value, &member.key) else {
            continue;
        };
        match LAYOUTS.iter().find(|(own, _)| *own == word) {
            Some((_, layout)) => drop(names.layouts.insert(member.key.clone(), *layout)),
            None => {
                let message = format!("no layout is called `{}`", shown(word));
                let words: Vec<&str> = LAYOUTS.iter().map(|(word, _)| *word).collect();
                let help = format!("layouts are {}", words.join(", "));
                r.push_with_help(codes::NAME, span, message, help);
            }
        }
    }
}

impl TensorNames {
    fn table(&self, spelling: Spelling) -> &Table {
        match spelling {
            Spelling::HuggingFace => &self.hugging_face,
            Spelling::Gguf => &self.gguf,
        }
    }

    /// Returns the layout of a tensor; `None` for a row for each output, which GGUF files always have.
    pub(crate) fn layout(&self, spelling: Spelling, part: &str) -> Option<Layout> {
        let own = self.layouts.get(part).copied();
        own.filter(|_| spelling == Spelling::HuggingFace)
    }

    /// Returns the usual name of a tensor in a checkpoint, with the numbers of the layer and the expert; `None` if
    /// checkpoints of this scheme do not name it.
    pub(crate) fn name(
        &self,
        spelling: Spelling,
        part: &str,
        layer: Option<usize>,
        expert: Option<usize>,
    ) -> Option<String> {
        let pattern = self.table(spelling).get(part)?.first()?;
        let numbered = |pattern: &str, word: &str, number: Option<usize>| match number {
            Some(number) => pattern.replacen(word, &number.to_string(), 1),
            None => pattern.to_owned(),
        };
        Some(numbered(&numbered(pattern, LAYER, layer), EXPERT, expert))
    }

    /// Returns the meaning of the tensor `name`; `None` if the family does not have it.
    pub(crate) fn find(&'static self, spelling: Spelling, name: &str) -> Option<Match> {
        let mut ends = self.endings.iter();
        let other = ends.find_map(|(end, own)| Some((name.strip_suffix(end.as_str())?, own)));
        let other = other.filter(|_| spelling == Spelling::HuggingFace);
        let renamed = other.map(|(start, own)| format!("{start}{own}"));
        let name = renamed.as_deref().unwrap_or(name);
        let matched = |pattern: &str| {
            let short = pattern.strip_prefix(self.optional_prefix.as_str());
            let short = short.filter(|_| spelling == Spelling::HuggingFace);
            matching(pattern, name).or_else(|| matching(short?, name))
        };
        let found = self.table(spelling).iter().find_map(|(part, patterns)| {
            let [layer, expert] = patterns.iter().find_map(|pattern| matched(pattern))?;
            Some(match (layer, expert) {
                (Some(layer), Some(expert)) => Match::OfExpert(part, layer, expert),
                (layer, _) => Match::Tensor(part, layer),
            })
        });
        let unread = || {
            let is_computed = self.computed.iter().any(|own| matched(own).is_some());
            let is_head = |own: &String| match own.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == own,
            };
            if self.task_heads.iter().any(is_head) {
                return Some(Match::TaskHead);
            }
            let is_unread = is_computed || self.heads.iter().any(is_head);
            is_unread.then_some(Match::Unread)
        };
        found.or_else(unread)
    }

    /// Returns the fused tensors that contain `part`.
    pub(crate) fn fused_with(&self, part: &str) -> impl Iterator<Item = &Fused> {
        let part = part.to_owned();
        let all = self.fused.iter();
        all.filter(move |own| own.parts.contains(&part))
    }
}

/// Returns the layer and the expert in `name` if it matches `pattern`; `None` for those without a placeholder in the
/// pattern.
fn matching(pattern: &str, name: &str) -> Option<[Option<usize>; 2]> {
    let Some((before, after)) = pattern.split_once(LAYER) else {
        return (pattern == name).then_some([None; 2]);
    };
    let rest = name.strip_prefix(before)?;
    let Some((between, end)) = after.split_once(EXPERT) else {
        return Some([Some(number(rest.strip_suffix(after)?)?), None]);
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (layer, rest) = rest.split_at(digits);
    let expert = rest.strip_prefix(between)?.strip_suffix(end)?;
    Some([Some(number(layer)?), Some(number(expert)?)])
}

/// Returns the number that `digits` spell; `None` if they are not its only spelling, for example with a leading zero.
fn number(digits: &str) -> Option<usize> {
    let number: usize = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use crate::family::{Family, Match, Spelling};

    #[test]
    fn names_lead_back_to_their_tensor() {
        for &family in Family::shipped() {
            let names = family.names();
            for spelling in [Spelling::HuggingFace, Spelling::Gguf] {
                for (part, patterns) in names.table(spelling) {
                    let layer = patterns[0].contains("{layer}").then_some(17);
                    let expert = patterns[0].contains("{expert}").then_some(3);
                    let name = names.name(spelling, part, layer, expert);
                    let name = name.expect("a name");
                    let found = names.find(spelling, &name);
                    let expected = match expert {
                        Some(expert) => Match::OfExpert(part, 17, expert),
                        None => Match::Tensor(part, layer),
                    };
                    assert_eq!(found, Some(expected), "{family:?} {name}");
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
        assert_eq!(find(inverse), Some(Match::Unread));
        assert_eq!(names.find(Spelling::Gguf, "blk.0."), None);
    }

    #[test]
    fn prefixes_heads_and_old_ends_are_known() {
        let names = Family::named("bert").expect("a family").names();
        let find = |name| names.find(Spelling::HuggingFace, name);
        let gain = Some(Match::Tensor("ln2_gamma", Some(3)));
        for name in [
            "bert.encoder.layer.3.output.LayerNorm.weight",
            "bert.encoder.layer.3.output.LayerNorm.gamma",
            "encoder.layer.3.output.LayerNorm.gamma",
        ] {
            assert_eq!(find(name), gain, "{name}");
        }
        for name in [
            "cls.predictions.transform.LayerNorm.gamma",
            "bert.embeddings.position_ids",
            "embeddings.position_ids",
        ] {
            assert_eq!(find(name), Some(Match::Unread), "{name}");
        }
        assert_eq!(find("classifier.weight"), Some(Match::TaskHead));
        assert_eq!(
            find("roberta.encoder.layer.3.output.LayerNorm.weight"),
            None
        );
        assert_eq!(find("encoder.layer.3.output.LayerNorm.delta"), None);
    }
}
