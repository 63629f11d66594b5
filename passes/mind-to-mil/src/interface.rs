//! Lowers inputs and outputs.

use mind_convert::Refusal;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::index::Gather;
use mind_core::ops::input::Input as CoreInput;
use mind_ir::attr::Attr;
use mind_ir::interface::Color;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::{Graph, OpId, ValueId};
use mind_mil::check::Interface;
use mind_mil::names::legal;
use mind_mil::ops::tensor::IDENTITY;
use mind_mil::ops::unary::CAST;
use mind_mil::structure::Input;
use mind_mil::{Element, Opset};
use mind_tensor::ops::index::Gather as TensorGather;
use rustc_hash::FxHashSet;

use crate::constant::narrowed;
use crate::emit::Argument::{Value, Word};
use crate::emit::{Emit, Lowered};
use crate::flexible::is_described;

/// The help for an input or output type that programs for the neural engine do not have.
const IO_HELP: &str = "fp32 and int32 go in and out with `--lower-to-mil='io=coreml'` of mind-opt, `--io coreml` of mind-translate";

/// Lowers an input under a legal name and with a supported type; a scalar becomes a list of one element.
///
/// # Errors
///
/// A dtype that the program's interface lacks, or an unknown extent.
pub(crate) fn input(op: OpId, e: &mut Emit<'_, '_>, taken: &mut FxHashSet<String>) -> Lowered {
    let value = e.g().result(op);
    let ty = e.g().ty(value);
    if !is_described(e.g(), e.config, ty) {
        e.shape(value)?;
    }
    let shape: Shape = ty.shape.iter().copied().collect();
    let core = e.g().name(CoreInput::from_id(op).name(e.g())).to_owned();
    if e.dtype(value) == DType::F64 {
        return Err(Refusal::unsupported(
            "no op of MIL takes f64",
            "make the input f32, and cast it where the module needs f64",
        ));
    }
    let inner = narrowed(e.dtype(value), e.float())?;
    let image = e.g().interface.inputs.get(&core).and_then(|own| own.image);
    let dtype = match image {
        Some(color) => image_dtype(color),
        None => input_dtype(e, value, inner)?,
    };
    let name = legal(&core, taken);
    rename(e, &core, &name);
    let outer = if shape.is_empty() {
        [Dim::Fixed(1)].into_iter().collect()
    } else {
        shape.clone()
    };
    let g = &mut *e.b.graph;
    let ty = g.intern_type(TensorType::new(dtype, outer).view());
    let attrs = [Attr::Str(g.intern(&name)), Attr::Bool(false)];
    let new = e.b.create_typed(Input::DEF, &[], &attrs, &[ty]);
    let mut new = e.g().result(new);
    // Ops that read `uint16` indices take them without a cast.
    if dtype != inner && dtype != DType::U16 {
        new = cast(e, new, inner)?;
    }
    if shape.is_empty() {
        crate::movement::element(e, new, &[0])
    } else {
        Ok(new)
    }
}

/// Returns the dtype of images in inputs and outputs.
fn image_dtype(color: Color) -> DType {
    match color {
        Color::Gray16 => DType::F16,
        Color::Rgb | Color::Bgr | Color::Gray => DType::F32,
    }
}

fn cast(e: &mut Emit<'_, '_>, value: ValueId, dtype: DType) -> Lowered {
    let word = Word(Element::of(dtype).name());
    e.op(&CAST, &[("x", Value(value)), ("dtype", word)])
}

/// Moves the interface properties of the input `old` to its new name.
fn rename(e: &mut Emit<'_, '_>, old: &str, new: &str) {
    let inputs = &mut e.b.graph.interface.inputs;
    if let Some(feature) = inputs.remove(old) {
        inputs.insert(new.to_owned(), feature);
    }
}

/// Returns the inputs and outputs of a module of core whose names are illegal in MIL, with the names that
/// [`lower`](crate::lower) gives them.
pub fn renamed(g: &Graph) -> Vec<Renamed<'_>> {
    let mut taken = FxHashSet::default();
    let inputs = g.ops(g.body()).filter_map(|op| g.view::<CoreInput>(op));
    let inputs = inputs.map(|input| ("input", g.name(input.name(g))));
    let classifier = g.interface.classifier.as_ref();
    let kept = classifier.map(|own| &own.probabilities[..]);
    let outputs = g.interface.outputs.iter();
    let outputs = outputs.filter_map(|own| Some(("output", own.name.as_deref()?)));
    let outputs = outputs.filter(|(_, name)| Some(*name) != kept);
    let mut all = Vec::new();
    for (kind, name) in inputs.chain(outputs) {
        let legal = legal(name, &mut taken);
        if legal != name {
            all.push(Renamed { kind, name, legal });
        }
    }
    all
}

/// An input or output with another name in MIL.
pub struct Renamed<'g> {
    /// `input` or `output`.
    pub kind: &'static str,
    /// Its name in the module.
    pub name: &'g str,
    /// Its name in MIL.
    pub legal: String,
}

/// Returns the boolean inputs and outputs of a core module, each with `input` or `output` and its name.
/// [`lower`](crate::lower) converts them to integers in a program whose interface permits these.
pub fn truth_values(g: &Graph) -> Vec<(&'static str, String)> {
    let is_truth = |value: ValueId| g.ty(value).dtype == DType::Bool;
    let inputs = g.ops(g.body()).filter_map(|op| g.view::<CoreInput>(op));
    let inputs = inputs.filter(|input| is_truth(input.result(g)));
    let inputs = inputs.map(|input| ("input", g.name(input.name(g)).to_owned()));
    let outputs = g.outputs().iter().enumerate();
    let outputs = outputs.filter(|&(_, &value)| is_truth(value));
    let name = |at: usize| g.interface.output_name(at).map(str::to_owned);
    let outputs = outputs.map(|(at, _)| ("output", name(at).unwrap_or_else(|| at.to_string())));
    inputs.chain(outputs).collect()
}

/// Returns the dtype of a program's input that its ops read as `dtype`. Booleans are passed as integers, because
/// packages cannot describe booleans.
fn input_dtype(e: &Emit<'_, '_>, value: ValueId, dtype: DType) -> Result<DType, Refusal> {
    if dtype == DType::Bool && e.config.interface == Interface::Any {
        return Ok(DType::I32);
    }
    let taken = e.config.interface.elements();
    if taken.contains(Element::of(dtype)) {
        return Ok(dtype);
    }
    let indexes = dtype == DType::I32 && e.config.opset >= Opset::Ios17 && only_indices(e, value);
    match indexes {
        true => Ok(DType::U16),
        false => {
            let help = match e.config.interface {
                Interface::Ane => IO_HELP,
                Interface::Any => {
                    "a program takes fp16, fp32, int8, uint8, int16, uint16 and int32"
                }
            };
            let element = Element::of(dtype).name();
            Err(Refusal::unsupported(
                format!("a program takes no {element} from outside"),
                help,
            ))
        }
    }
}

/// Returns whether all uses of a value are indices of gathers along axes whose extents fit in 16 bits.
fn only_indices(e: &Emit<'_, '_>, value: ValueId) -> bool {
    let g = e.g();
    let reaches = |data: ValueId, axis: i64| {
        let shape = g.ty(data).shape;
        let axis = if axis < 0 {
            axis + shape.len() as i64
        } else {
            axis
        };
        let dim = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
        dim.and_then(|dim| dim.fixed())
            .is_some_and(|extent| extent <= 65536)
    };
    g.uses(value).all(|(user, index)| {
        index == 1
            && match (g.view::<Gather>(user), g.view::<TensorGather>(user)) {
                (Some(gather), _) => {
                    let is_strict = gather.bounds(g) == Bounds::Strict;
                    is_strict && reaches(gather.data(g), gather.axis(g))
                }
                (_, Some(gather)) => reaches(gather.data(g), gather.axis(g)),
                _ => false,
            }
    })
}

/// Returns whether an output has the probabilities of a classifier, which packages require in fp32.
fn is_classified(e: &Emit<'_, '_>, at: usize) -> bool {
    let interface = &e.g().interface;
    let classifier = interface.classifier.as_ref();
    let position = classifier.and_then(|own| interface.output_position(&own.probabilities));
    position == Some(at) && e.config.interface == Interface::Any
}

/// Returns distinct values for the outputs. An input or a repeated output goes through `identity`, a scalar becomes a
/// list of one element, and unsupported dtypes are rejected.
pub(crate) fn outputs(values: &[ValueId], e: &mut Emit<'_, '_>) -> Result<Vec<ValueId>, Refusal> {
    let mut given: Vec<ValueId> = Vec::with_capacity(values.len());
    for (at, &value) in values.iter().enumerate() {
        let feature = e.g().interface.output_feature(at);
        let wanted = match feature.and_then(|own| own.image) {
            Some(color) => image_dtype(color),
            None if is_classified(e, at) => DType::F32,
            None if e.dtype(value) == DType::Bool && e.config.interface == Interface::Any => {
                DType::I32
            }
            None => e.dtype(value),
        };
        let is_converted = wanted != e.dtype(value);
        let value = match is_converted {
            true => cast(e, value, wanted)?,
            false => value,
        };
        let element = Element::of(wanted);
        if !is_converted && !e.config.interface.elements().contains(element) {
            let help = IO_HELP;
            return Err(Refusal::unsupported(
                format!("a program gives no {} away", element.name()),
                help,
            ));
        }
        let mut own = value;
        if e.g().ty(value).rank() == 0 {
            own = e.reshape(value, &[1])?;
        }
        let named = e
            .g()
            .defining_op(own)
            .is_some_and(|op| !e.g().is::<Input>(op) && e.elements(own).is_none());
        if !named || given.contains(&own) {
            own = e.op(&IDENTITY, &[("x", Value(own))])?;
        }
        given.push(own);
    }
    Ok(given)
}
