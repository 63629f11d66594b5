//! Families of models, each described by files.
//!
//! | file | contents |
//! |---|---|
//! | `family.json` | the name, the rules for reading a `config.json`, and the plan of the family |
//! | `global_buffers.json` | the buffers that the model has once |
//! | `decoder_layer_plan.json` | the buffers of a layer, and the steps before, in and after the layers |
//! | `encoder_layer_plan.json` | the same for an encoder, alone or before a decoder |
//! | `tensors.json` | the names of the weights in checkpoints |
//!
//! All files but the first make a plan, which several families may share. A description is read once and kept for the
//! life of the process, so the same files give the same family.

mod architecture;
mod complete;
mod experts;
mod names;
mod plan;
mod rules;
mod shared;
mod shipped;

use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use mind_diag::{Diagnostics, SourceFile};
use mind_json::{Limits, Value};

pub use architecture::{Architecture, Stack};
pub(crate) use experts::Count;
pub(crate) use names::{Fused, Layout, Match, Spelling, TensorNames};
pub(crate) use rules::{Base, How, NoRope, Rules, WindowLayers, WindowRule};
pub(crate) use shared::{SharedKeyHandling, is_one_of, shared_keys};

use self::plan::Plan;
use self::shipped::{PlanFiles, PlanText};
use crate::config::Biases;
use crate::layout::buffers::Buffer;
use crate::layout::dims::Dim;
use crate::layout::nodes::Node;
use crate::read::field::Reader;

/// A family of models, which share their hyperparameters, their tensor names and the computation of their layers.
#[derive(Clone, Copy)]
pub struct Family {
    own: &'static Description,
    /// The stack of layers that is selected.
    stack: Stack,
}

/// The contents of a family's files.
pub(crate) struct Description {
    name: String,
    plan: Plan,
    names: TensorNames,
    rules: Rules,
}

impl PartialEq for Family {
    fn eq(&self, other: &Family) -> bool {
        std::ptr::eq(self.own, other.own) && self.stack == other.stack
    }
}

impl Eq for Family {}

impl Hash for Family {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.own, state);
        self.stack.hash(state);
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Family {
    /// Returns the families that are part of this crate, sorted by name.
    pub fn shipped() -> &'static [Family] {
        shipped::families()
    }

    /// The `family.json` of a shipped family.
    pub fn shipped_file(self) -> Option<SourceFile> {
        shipped::family_file(self.name())
    }

    /// Returns the shipped family called `name`.
    pub fn named(name: &str) -> Option<Family> {
        Families::default().named(name)
    }

    /// Returns its name in `model_type` and in `meta.family`.
    pub fn name(self) -> &'static str {
        &self.own.name
    }

    /// Returns the architecture of the selected stack.
    pub fn architecture(self) -> Architecture {
        match self.stack {
            Stack::Source => Architecture::Encoder,
            Stack::Main => self.own.plan.architecture,
        }
    }

    /// Returns the selected stack of layers. Buffers are those of both stacks.
    pub fn stack(self) -> Stack {
        self.stack
    }

    /// Returns the encoder of an encoder-decoder, as a family of encoders.
    pub fn encoder(self) -> Option<Family> {
        let stack = Stack::Source;
        (self.architecture() == Architecture::EncoderDecoder).then_some(Family { stack, ..self })
    }

    /// Returns whether it is an encoder, which has bidirectional attention and no language model head.
    pub fn is_encoder(self) -> bool {
        self.architecture() == Architecture::Encoder
    }

    /// Returns its buffers, in the order in which documents list them.
    pub fn buffers(self) -> &'static [Buffer] {
        &self.own.plan.buffers
    }

    /// Returns the buffer called `name`.
    pub fn buffer(self, name: &str) -> Option<&'static Buffer> {
        self.buffers().iter().find(|own| own.name == name)
    }

    /// Returns whether a buffer has an extent of `dim`.
    pub(crate) fn has_dim(self, dim: Dim) -> bool {
        let mut extents = self.buffers().iter().flat_map(|own| &own.shape);
        extents.any(|extent| extent.dim == dim)
    }

    /// Returns the steps of the selected stack: those before the layers, those of a layer, and those after the layers.
    pub fn nodes(self) -> impl Iterator<Item = &'static Node> {
        let nodes = self.own.plan.nodes.iter();
        nodes.filter(move |node| node.stack == self.stack)
    }

    /// Returns the steps of all stacks, the encoder of an encoder-decoder first.
    pub fn all_nodes(self) -> impl Iterator<Item = &'static Node> {
        self.own.plan.nodes.iter()
    }

    /// Returns the optional weights, which a checkpoint may lack.
    pub fn optional(self) -> impl Iterator<Item = &'static Buffer> {
        self.buffers().iter().filter(|own| own.optional)
    }

    /// Returns the index of a weight among the optional ones.
    pub(crate) fn optional_index(self, name: &str) -> Option<usize> {
        self.optional().position(|own| own.name == name)
    }

    /// Returns the set of these optional weights; other names are ignored.
    pub fn biases(self, names: &[&str]) -> Biases {
        let indices = names.iter().filter_map(|name| self.optional_index(name));
        indices.fold(Biases::default(), Biases::with)
    }

    /// Returns the buffer of which the tensor `part` is a part, and its index among the parts.
    pub(crate) fn buffer_of(self, part: &str) -> Option<(&'static Buffer, usize)> {
        self.buffers().iter().find_map(|buffer| {
            let at = buffer.parts().iter().position(|own| own == part)?;
            Some((buffer, at))
        })
    }

    /// Returns the name of the tensor `part` of `layer`, or of the whole model, in checkpoints of Hugging Face; `None`
    /// if they only have it fused with others.
    pub fn tensor_name(self, part: &str, layer: Option<usize>) -> Option<String> {
        self.names().name(Spelling::HuggingFace, part, layer, None)
    }

    /// Returns the name of the tensor `part` of an expert of `layer` in checkpoints of Hugging Face; `None` if they
    /// only have it fused with others.
    pub fn expert_tensor_name(self, part: &str, layer: usize, expert: usize) -> Option<String> {
        let names = self.names();
        names.name(Spelling::HuggingFace, part, Some(layer), Some(expert))
    }

    /// Returns the default of the token `key`, for example `eos_token_id`, for a `config.json` without it.
    pub fn silent_token(self, key: &str) -> Option<u32> {
        self.rules().token_of(key)
    }

    /// Returns whether its checkpoints fuse q, k and v in one matrix.
    pub(crate) fn is_fused(self) -> bool {
        self.own.rules.is_fused
    }

    /// Returns whether its MLP may have a gate.
    pub(crate) fn is_gated(self) -> bool {
        let fills = |own: &Buffer| own.name == "w1" && own.parts().len() == 2;
        self.buffers().iter().any(fills)
    }

    pub(crate) fn names(self) -> &'static TensorNames {
        &self.own.names
    }

    pub(crate) fn rules(self) -> &'static Rules {
        &self.own.rules
    }
}

/// The known families: the shipped ones, and one from a user's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Families {
    own: Option<Family>,
}

impl Families {
    /// Returns the shipped families and `own`, which takes precedence over a shipped one of the same name.
    pub fn with(own: Family) -> Families {
        Families { own: Some(own) }
    }

    /// Returns every family, the user's first.
    pub fn iter(self) -> impl Iterator<Item = Family> {
        let shipped = Family::shipped().iter().copied();
        self.own.into_iter().chain(shipped)
    }

    /// Returns the family called `name`.
    pub fn named(self, name: &str) -> Option<Family> {
        let own = self.own.filter(|family| family.name() == name);
        own.or_else(|| shipped::named(name))
    }

    /// Returns the names of all families, for messages.
    pub(crate) fn names(self) -> String {
        let names: Vec<&str> = self.iter().map(Family::name).collect();
        names.join(", ")
    }
}

/// The files of a family. A file in the folder of `family.json` replaces the corresponding one of the plan, or completes it.
#[derive(Debug)]
pub struct FamilyFiles {
    /// `family.json`.
    pub family: SourceFile,
    /// `global_buffers.json`, if there is one.
    pub global_buffers: Option<SourceFile>,
    /// `decoder_layer_plan.json`, if there is one.
    pub layer_plan: Option<SourceFile>,
    /// `encoder_layer_plan.json`, if there is one; an encoder-decoder has both.
    pub encoder_layer_plan: Option<SourceFile>,
    /// `tensors.json`, if there is one.
    pub tensors: Option<SourceFile>,
    /// Whether the files complete those of the plan instead of replacing them: buffers by name, steps by their list.
    pub completes_plan: bool,
}

/// The errors in a file of a family.
#[derive(Debug)]
pub struct FamilyError {
    /// The file.
    pub file: SourceFile,
    /// The errors, with their locations.
    pub found: Diagnostics,
}

/// The families that were read, by the texts of their files.
static READ: Mutex<Vec<(String, Family)>> = Mutex::new(Vec::new());

impl Family {
    /// Reads the files of a family.
    ///
    /// # Errors
    ///
    /// Returns the errors in the first file that has any: E4201 if it is not JSON, E4202 for a missing key, E4203 for
    /// an unknown key, E4204 for a value of the wrong type, E4206 for an unknown name, E4207 for a duplicate, E4209 for
    /// steps that do not fit together.
    pub fn read(files: &FamilyFiles) -> Result<Family, Box<FamilyError>> {
        let texts = [
            Some(&files.family),
            files.global_buffers.as_ref(),
            files.layer_plan.as_ref(),
            files.encoder_layer_plan.as_ref(),
            files.tensors.as_ref(),
        ];
        let texts = texts.map(|file| file.map_or("", |file| file.text()));
        let key = format!("{}\0{}", files.completes_plan, texts.join("\0"));
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, family)) = read.iter().find(|(own, _)| *own == key) {
            return Ok(*family);
        }
        let family = Family {
            own: Box::leak(Box::new(description(files)?)),
            stack: Stack::Main,
        };
        read.push((key, family));
        Ok(family)
    }
}

/// A file, and the one that it completes, if any.
struct Source {
    file: SourceFile,
    base: Option<SourceFile>,
}

impl Source {
    fn of(file: &SourceFile) -> Source {
        let file = SourceFile::new(file.name(), file.text());
        Source { file, base: None }
    }
}

/// Reads one file with `read`, which reports errors to the reader.
fn checked<T>(
    Source { file, base }: &Source,
    read: impl FnOnce(&Value, &mut Reader) -> Option<T>,
) -> Result<T, Box<FamilyError>> {
    let fail = |file: &SourceFile, found: Diagnostics| {
        let file = SourceFile::new(file.name(), file.text());
        Box::new(FamilyError { file, found })
    };
    let parse = |file: &SourceFile| {
        let root = mind_json::parse(file.text(), &Limits::default());
        root.map_err(|found| fail(file, (*found).into()))
    };
    let root = parse(file)?;
    let mut reader = Reader::of_family();
    if root.members().is_none() {
        reader.wrong("file", &root, "an object");
    }
    let value = match base {
        Some(base) => read(&complete::complete(&root, &parse(base)?), &mut reader),
        None => read(&root, &mut reader),
    };
    let mut found = reader.found;
    match value {
        Some(value) if !found.has_errors() => Ok(value),
        _ => {
            found.sort_by_place();
            Err(fail(file, mind_json::locate(&root, found)))
        }
    }
}

/// The plan of a family, and the switches that select its variant.
struct Head {
    name: String,
    plan: Option<&'static PlanFiles>,
    switches: Vec<String>,
}

fn description(files: &FamilyFiles) -> Result<Description, Box<FamilyError>> {
    let family = Source::of(&files.family);
    let head = checked(&family, |root, r| {
        let (name, span) = r.text(root, "family")?;
        if name.is_empty() {
            r.push(
                crate::codes::NAME,
                span,
                "`family` is empty, expected a name",
            );
        }
        let plan = match r.maybe_text(root, "plan") {
            Some((plan, span)) => {
                let found = shipped::plan(plan);
                if found.is_none() {
                    let message =
                        format!("no plan is called `{}`", crate::read::field::shown(plan));
                    let help = format!("plans are {}", shipped::plan_names());
                    r.push_with_help(crate::codes::NAME, span, message, help);
                }
                found
            }
            None => None,
        };
        let has_layers = files.layer_plan.is_some() || files.encoder_layer_plan.is_some();
        let has_all = has_layers && files.global_buffers.is_some() && files.tensors.is_some();
        if plan.is_none() && !has_all && !r.found.has_errors() {
            let message = "`plan` is missing";
            let help = "a family without `plan` has the files `global_buffers.json`, `decoder_layer_plan.json` or `encoder_layer_plan.json`, and `tensors.json`";
            r.push_with_help(crate::codes::MISSING, root.span, message, help);
        }
        Some(Head {
            name: name.to_owned(),
            plan,
            switches: r.texts(root, "switches"),
        })
    })?;
    let source = |own: &Option<SourceFile>, of: PlanText| {
        let of_plan = head.plan.as_ref().and_then(|plan| plan.file(of));
        match own {
            Some(own) => Source {
                base: of_plan.filter(|_| files.completes_plan),
                ..Source::of(own)
            },
            // Every file is in the folder or in the plan, as was checked, so the empty file is never used.
            None => Source::of(&of_plan.unwrap_or_else(|| SourceFile::new("", ""))),
        }
    };
    let globals = source(&files.global_buffers, PlanText::Globals);
    let tensors = source(&files.tensors, PlanText::Tensors);
    let mut layers = Vec::new();
    let architecture = architecture(files, head.plan);
    for &stack in architecture.stacks() {
        let (own, of) = match (architecture, stack) {
            (Architecture::Encoder, Stack::Main)
            | (
                Architecture::Decoder | Architecture::Encoder | Architecture::EncoderDecoder,
                Stack::Source,
            ) => (&files.encoder_layer_plan, PlanText::Encoder),
            (Architecture::Decoder | Architecture::EncoderDecoder, Stack::Main) => {
                (&files.layer_plan, PlanText::Decoder)
            }
        };
        layers.push((stack, source(own, of)));
    }
    let mut declared: Vec<String> = Vec::new();
    for (_, file) in &layers {
        let own = checked(file, plan::switches)?;
        let new: Vec<String> = own
            .into_iter()
            .filter(|own| !declared.contains(own))
            .collect();
        declared.extend(new);
    }
    let switches = (declared.as_slice(), head.switches.as_slice());
    let mut buffers = checked(&globals, |root, r| {
        plan::globals(root, architecture, switches, r)
    })?;
    let mut nodes = Vec::new();
    for (stack, file) in &layers {
        let (own, steps) = checked(file, |root, r| {
            plan::layers(root, (architecture, *stack), switches, &buffers, r)
        })?;
        buffers.extend(own);
        nodes.extend(steps);
    }
    let plan = Plan {
        architecture,
        buffers,
        nodes,
    };
    let mut names = checked(&tensors, |root, r| names::read(root, &plan.buffers, r))?;
    let rules = checked(&family, |root, r| {
        let unknown = head.switches.iter().find(|own| !declared.contains(own));
        if let Some(unknown) = unknown {
            let message = format!(
                "the plan has no switch `{}`",
                crate::read::field::shown(unknown)
            );
            let span = crate::read::field::span_of(root, "switches");
            let help = format!("its switches are {}", declared.join(", "));
            r.push_with_help(crate::codes::NAME, span, message, help);
        }
        names::refine(&mut names, root, &plan.buffers, r);
        names::settle(&mut names);
        names::check(&names, root, &plan.buffers, r);
        rules::read(root, &plan, r)
    })?;
    Ok(Description {
        name: head.name,
        plan,
        names,
        rules,
    })
}

/// Returns the architecture of a family: that of the layer plans in its folder or, without them, that of its plan. For
/// an encoder-decoder, a single layer plan in the folder only replaces that of the same stack. A layer plan of an encoder
/// that completes the plan of a decoder makes an encoder-decoder.
fn architecture(files: &FamilyFiles, plan: Option<&PlanFiles>) -> Architecture {
    let of_plan = plan.map(|plan| plan.architecture);
    match (&files.layer_plan, &files.encoder_layer_plan, of_plan) {
        (Some(_), Some(_), _) | (_, _, Some(Architecture::EncoderDecoder)) => {
            Architecture::EncoderDecoder
        }
        (None, Some(_), Some(Architecture::Decoder))
        | (Some(_), None, Some(Architecture::Encoder))
            if files.completes_plan =>
        {
            Architecture::EncoderDecoder
        }
        (Some(_), None, _) => Architecture::Decoder,
        (None, Some(_), _) => Architecture::Encoder,
        (None, None, of_plan) => of_plan.unwrap_or(Architecture::Decoder),
    }
}

/// The file names in the folder of a family, which has a plan of decoder layers, of encoder layers, or both.
pub const FILE_NAMES: [&str; 5] = [
    "family.json",
    "global_buffers.json",
    "decoder_layer_plan.json",
    "encoder_layer_plan.json",
    "tensors.json",
];
