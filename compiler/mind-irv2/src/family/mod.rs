//! Families of models, each a description in files.
//!
//! | file | says |
//! |---|---|
//! | `family.json` | the name, how a `config.json` is read, and which plan the family follows |
//! | `global_buffers.json` | the buffers that the model has once |
//! | `decoder_layer_plan.json` | the buffers of a layer and the steps in front of, in and behind the layers |
//! | `encoder_layer_plan.json` | the same of an encoder, instead |
//! | `tensors.json` | what checkpoints call the weights |
//!
//! The last three make a plan, which families share. A description is read once and kept for the life of the process:
//! the same files give the same family.

mod architecture;
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

pub use architecture::Architecture;
pub(crate) use experts::Count;
pub(crate) use names::{Fused, Layout, Match, Spelling, TensorNames};
pub(crate) use rules::{Base, How, NoRope, Rules, WindowLayers, WindowRule};
pub(crate) use shared::{Becomes, is_one_of, shared_keys};

use self::plan::Plan;
use crate::config::Biases;
use crate::layout::buffers::Buffer;
use crate::layout::dims::Dim;
use crate::layout::nodes::Node;
use crate::read::field::Reader;

/// A family of models: those whose hyperparameters and tensors are read, and whose layers are computed, alike.
#[derive(Clone, Copy)]
pub struct Family(&'static Description);

/// What the files of a family say.
pub(crate) struct Description {
    name: String,
    plan: Plan,
    names: TensorNames,
    rules: Rules,
}

impl PartialEq for Family {
    fn eq(&self, other: &Family) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Family {}

impl Hash for Family {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Family {
    /// The families that are part of this crate, by name.
    pub fn shipped() -> &'static [Family] {
        shipped::families()
    }

    /// The shipped family called `name`.
    pub fn named(name: &str) -> Option<Family> {
        Families::default().named(name)
    }

    /// The word for it in `model_type` and in `meta.family`.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// What its layers are for.
    pub fn architecture(self) -> Architecture {
        self.0.plan.architecture
    }

    /// Whether its positions see all others, and it has no head that draws tokens.
    pub fn is_encoder(self) -> bool {
        self.architecture() == Architecture::Encoder
    }

    /// Its buffers, in the order in which documents list them.
    pub fn buffers(self) -> &'static [Buffer] {
        &self.0.plan.buffers
    }

    /// The buffer called `name`.
    pub fn buffer(self, name: &str) -> Option<&'static Buffer> {
        self.buffers().iter().find(|own| own.name == name)
    }

    /// Whether a buffer has an extent of `dim`.
    pub(crate) fn has_dim(self, dim: Dim) -> bool {
        let mut extents = self.buffers().iter().flat_map(|own| &own.shape);
        extents.any(|extent| extent.dim == dim)
    }

    /// The steps of its plan: those in front of the layers, those of a layer, those behind the layers.
    pub fn nodes(self) -> &'static [Node] {
        &self.0.plan.nodes
    }

    /// The weights that a checkpoint may lack.
    pub fn optional(self) -> impl Iterator<Item = &'static Buffer> {
        self.buffers().iter().filter(|own| own.optional)
    }

    /// The place of a weight among those that a checkpoint may lack.
    pub(crate) fn optional_index(self, name: &str) -> Option<usize> {
        self.optional().position(|own| own.name == name)
    }

    /// The set of these weights, of those that a checkpoint may lack; other names are left out.
    pub fn biases(self, names: &[&str]) -> Biases {
        let indices = names.iter().filter_map(|name| self.optional_index(name));
        indices.fold(Biases::default(), Biases::with)
    }

    /// The buffer that the tensor `part` fills, and its place among those that do.
    pub(crate) fn buffer_of(self, part: &str) -> Option<(&'static Buffer, usize)> {
        self.buffers().iter().find_map(|buffer| {
            let at = buffer.parts().iter().position(|own| own == part)?;
            Some((buffer, at))
        })
    }

    /// What checkpoints of Hugging Face call the tensor `part` of `layer`, or of no layer; `None` if they have it in a
    /// tensor with others alone.
    pub fn tensor_name(self, part: &str, layer: Option<usize>) -> Option<String> {
        self.names().name(Spelling::HuggingFace, part, layer, None)
    }

    /// What checkpoints of Hugging Face call the tensor `part` of an expert of `layer`; `None` if they have it in a
    /// tensor with others alone.
    pub fn expert_tensor_name(self, part: &str, layer: usize, expert: usize) -> Option<String> {
        let names = self.names();
        names.name(Spelling::HuggingFace, part, Some(layer), Some(expert))
    }

    /// Whether its checkpoints keep q, k and v in one matrix.
    pub(crate) fn is_fused(self) -> bool {
        self.0.rules.is_fused
    }

    /// Whether its MLP has a gate.
    pub(crate) fn is_gated(self) -> bool {
        let fills = |own: &Buffer| own.name == "w1" && own.parts().len() == 2;
        self.buffers().iter().any(fills)
    }

    pub(crate) fn names(self) -> &'static TensorNames {
        &self.0.names
    }

    pub(crate) fn rules(self) -> &'static Rules {
        &self.0.rules
    }
}

/// The families that a model may be of: the shipped ones, and one whose files a user names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Families {
    own: Option<Family>,
}

impl Families {
    /// The shipped families and `own`, which wins over a shipped one of its name.
    pub fn with(own: Family) -> Families {
        Families { own: Some(own) }
    }

    /// Every family, a user's first.
    pub fn iter(self) -> impl Iterator<Item = Family> {
        let shipped = Family::shipped().iter().copied();
        self.own.into_iter().chain(shipped)
    }

    /// The family called `name`.
    pub fn named(self, name: &str) -> Option<Family> {
        self.iter().find(|family| family.name() == name)
    }

    /// The names of all, for messages.
    pub(crate) fn names(self) -> String {
        let names: Vec<&str> = self.iter().map(Family::name).collect();
        names.join(", ")
    }
}

/// The files of a family. A file in the folder of `family.json` replaces that of the plan that it names.
#[derive(Debug)]
pub struct FamilyFiles {
    /// `family.json`.
    pub family: SourceFile,
    /// `global_buffers.json`, if there is one.
    pub global_buffers: Option<SourceFile>,
    /// `decoder_layer_plan.json`, if there is one.
    pub layer_plan: Option<SourceFile>,
    /// `encoder_layer_plan.json`, if there is one; a family has one of the two.
    pub encoder_layer_plan: Option<SourceFile>,
    /// `tensors.json`, if there is one.
    pub tensors: Option<SourceFile>,
}

/// What is wrong with a file of a family.
#[derive(Debug)]
pub struct FamilyError {
    /// The file.
    pub file: SourceFile,
    /// What is wrong with it, each with the place.
    pub found: Diagnostics,
}

/// The families that were read, with the texts of their files.
static READ: Mutex<Vec<(String, Family)>> = Mutex::new(Vec::new());

impl Family {
    /// Reads the files of a family.
    ///
    /// # Errors
    ///
    /// What is wrong with the first file that something is wrong with: E4201 no JSON, E4202 a missing key, E4203 an
    /// unknown one, E4204 a value of another kind, E4206 a name that nothing has, E4207 one that is there twice, E4209
    /// steps that do not fit each other.
    pub fn read(files: &FamilyFiles) -> Result<Family, Box<FamilyError>> {
        let texts = [
            Some(&files.family),
            files.global_buffers.as_ref(),
            files.layer_plan.as_ref(),
            files.encoder_layer_plan.as_ref(),
            files.tensors.as_ref(),
        ];
        let texts = texts.map(|file| file.map_or("", |file| file.text()));
        let key = texts.join("\0");
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, family)) = read.iter().find(|(own, _)| *own == key) {
            return Ok(*family);
        }
        let family = Family(Box::leak(Box::new(description(files)?)));
        read.push((key, family));
        Ok(family)
    }
}

/// Reads one file with `read`, which reports what is wrong with it.
fn checked<T>(
    file: &SourceFile,
    read: impl FnOnce(&Value, &mut Reader) -> Option<T>,
) -> Result<T, Box<FamilyError>> {
    let fail = |found: Diagnostics| {
        let file = SourceFile::new(file.name(), file.text());
        Box::new(FamilyError { file, found })
    };
    let root = mind_json::parse(file.text(), &Limits::default());
    let root = root.map_err(|found| fail((*found).into()))?;
    let mut reader = Reader::of_family();
    if root.members().is_none() {
        reader.wrong("file", &root, "an object");
    }
    let value = read(&root, &mut reader);
    let mut found = reader.found;
    match value {
        Some(value) if !found.has_errors() => Ok(value),
        _ => {
            found.sort_by_place();
            Err(fail(mind_json::locate(&root, found)))
        }
    }
}

/// Which plan a family follows, and which of its variants.
struct Head {
    name: String,
    plan: Option<shipped::PlanFiles>,
    switches: Vec<String>,
}

fn description(files: &FamilyFiles) -> Result<Description, Box<FamilyError>> {
    let own_layers = own_layers(files)?;
    let head = checked(&files.family, |root, r| {
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
        let own = [
            &files.global_buffers,
            &own_layers.map(|(_, own)| own.clone()),
            &files.tensors,
        ];
        if plan.is_none() && own.iter().any(|own| own.is_none()) && !r.found.has_errors() {
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
    let file = |own: &Option<SourceFile>, of: fn(&shipped::PlanFiles) -> SourceFile| {
        let own = own.as_ref();
        let own = own.map(|own| SourceFile::new(own.name(), own.text()));
        own.or_else(|| head.plan.as_ref().map(of))
            .unwrap_or_else(|| SourceFile::new("", ""))
    };
    let globals = file(&files.global_buffers, |plan| plan.file(0));
    let of_plan = head.plan.as_ref().map(|plan| plan.architecture);
    let architecture = own_layers.map(|(architecture, _)| architecture).or(of_plan);
    let architecture = architecture.unwrap_or(Architecture::Decoder);
    let layer = file(&own_layers.map(|(_, own)| own.clone()), |plan| plan.file(1));
    let tensors = file(&files.tensors, |plan| plan.file(2));
    let declared = checked(&layer, plan::switches)?;
    let mut buffers = checked(&globals, |root, r| {
        plan::globals(root, architecture, (&declared, &head.switches), r)
    })?;
    let (own, nodes) = checked(&layer, |root, r| {
        plan::layers(root, architecture, (&declared, &head.switches), &buffers, r)
    })?;
    buffers.extend(own);
    let plan = Plan {
        architecture,
        buffers,
        nodes,
    };
    let mut names = checked(&tensors, |root, r| names::read(root, &plan.buffers, r))?;
    let rules = checked(&files.family, |root, r| {
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

/// The plan of layers in the folder of `family.json`.
///
/// # Errors
///
/// Plans of a decoder's and of an encoder's layers.
fn own_layers(
    files: &FamilyFiles,
) -> Result<Option<(Architecture, &SourceFile)>, Box<FamilyError>> {
    match (&files.layer_plan, &files.encoder_layer_plan) {
        (Some(_), Some(file)) => {
            let message = "`decoder_layer_plan.json` is there too: models of an encoder and a decoder are not supported";
            let found = mind_diag::Diagnostic::error(mind_diag::Span::FILE, message);
            let file = SourceFile::new(file.name(), file.text());
            let found = found.code(crate::codes::UNSUPPORTED).into();
            Err(Box::new(FamilyError { file, found }))
        }
        (Some(own), None) => Ok(Some((Architecture::Decoder, own))),
        (None, Some(own)) => Ok(Some((Architecture::Encoder, own))),
        (None, None) => Ok(None),
    }
}

/// The names of files, as a folder of a family of decoders has them; one of encoders has
/// [`Architecture::plan_file`] instead.
pub const FILE_NAMES: [&str; 4] = [
    "family.json",
    "global_buffers.json",
    "decoder_layer_plan.json",
    "tensors.json",
];
