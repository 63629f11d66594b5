//! Module interface in a package's model description: metadata, images, class labels.

use std::collections::BTreeMap;

use mind_diag::{Diagnostic, Span};
use mind_ir::interface::{Classes, Classifier, Color, Interface, MetadataKey};
use mind_ir::types::{Dim, TypeView};
use mind_mil::Element;
use mind_mil::ops::unary::CAST;

use super::proto::{
    Argument, Binding, BindingKind, ConstantDimension, DictionaryFeatureType, DictionaryType,
    Dimension, DimensionKind, Empty, FeatureDescription, FeatureType, ImageFeatureType,
    ImageSizeRange, ImmediateKind, ImmediateValue, KeyType, ListType, ListValue, LongInts,
    Metadata, NamedValueType, Operation, SizeFlexibility, SizeRange, TensorKind, TensorValue,
    Value, ValueKind, ValueType, ValueTypeKind, feature_type,
};
use super::value::{tensor_type, text};

/// The operation that maps probabilities to labels.
pub(crate) const CLASSIFY: &str = "classify";

/// The protobuf numbers of the color spaces.
const COLOR_SPACES: [(Color, i32); 4] = [
    (Color::Gray, 10),
    (Color::Rgb, 20),
    (Color::Bgr, 30),
    (Color::Gray16, 40),
];

/// Returns the color with the protobuf number `number`; `None` if it is unknown.
pub(crate) fn color(number: i32) -> Option<Color> {
    let mut all = COLOR_SPACES.into_iter();
    all.find(|own| own.1 == number).map(|own| own.0)
}

/// Returns the metadata of a model; `None` if there is none.
pub(crate) fn metadata(own: &Interface) -> Option<Metadata> {
    let mut metadata = Metadata::default();
    for (key, value) in &own.metadata {
        let value = value.clone();
        match key {
            MetadataKey::Author => metadata.author = value,
            MetadataKey::Description => metadata.short_description = value,
            MetadataKey::License => metadata.license = value,
            MetadataKey::Version => metadata.version_string = value,
            MetadataKey::User(key) => drop(metadata.user_defined.insert(key.clone(), value)),
        }
    }
    (!own.metadata.is_empty()).then_some(metadata)
}

/// Returns the image type of a tensor of type `ty`, and of `shape` where its extents are flexible.
///
/// # Errors
///
/// If the tensor does not have the type of an image of that color.
pub(crate) fn image(
    name: &str,
    color: Color,
    ty: TypeView<'_>,
    shape: &[i64],
    span: Span,
) -> Result<ImageFeatureType, Box<Diagnostic>> {
    let wanted = match color {
        Color::Gray16 => mind_ir::types::DType::F16,
        Color::Rgb | Color::Bgr | Color::Gray => mind_ir::types::DType::F32,
    };
    let (is_float, channels) = (ty.dtype == wanted, color.channels());
    let size = |height, width, size_flexibility| ImageFeatureType {
        width,
        height,
        color_space: COLOR_SPACES
            .into_iter()
            .find(|own| own.0 == color)
            .map_or(0, |own| own.1),
        size_flexibility,
    };
    match *shape {
        // An output with data-dependent extents.
        [] if is_float && ty.rank() == 4 => {
            let any = || {
                Some(SizeRange {
                    lower_bound: 1,
                    upper_bound: -1,
                })
            };
            let range = ImageSizeRange {
                width_range: any(),
                height_range: any(),
            };
            Ok(size(1, 1, Some(SizeFlexibility::ImageSizeRange(range))))
        }
        [1, own, height, width] if own == channels && is_float => Ok(size(height, width, None)),
        _ => {
            let (word, dtype) = (color.name(), ty.dtype);
            let message = format!(
                "`{name}` is an image in {word} and has the type {dtype}{shape:?}, expected {wanted}[1, {channels}, height, width]"
            );
            let found = Diagnostic::error(span, message);
            Err(Box::new(found.help(
                "give it that type, or remove `image` from its line in Core text",
            )))
        }
    }
}

/// Returns the descriptions of a classifier's outputs: the label, and the probability of each class.
pub(crate) fn classified(own: &Classifier, probabilities: &str) -> [FeatureDescription; 2] {
    let (label, key) = match own.classes {
        Classes::Words(_) => (
            feature_type::Type::StringType(Empty {}),
            KeyType::String(Empty {}),
        ),
        Classes::Numbers(_) => (
            feature_type::Type::Int64Type(Empty {}),
            KeyType::Int64(Empty {}),
        ),
    };
    let dictionary = feature_type::Type::DictionaryType(DictionaryFeatureType {
        key_type: Some(key),
    });
    let feature = |name: &str, description: &str, ty| FeatureDescription {
        name: name.to_owned(),
        short_description: description.to_owned(),
        r#type: Some(FeatureType {
            r#type: Some(ty),
            is_optional: false,
        }),
    };
    [
        feature(&own.label, &own.description, label),
        feature(&own.probabilities, probabilities, dictionary),
    ]
}

/// Returns a `cast` to fp32 of the value `read` of this shape, under the name `name`, because `classify` only takes
/// fp32.
pub(crate) fn widened(read: &str, name: &str, shape: &[Dim]) -> Operation {
    let kinds = [
        ("dtype", BindingKind::Value(text(Element::Fp32.name()))),
        ("x", BindingKind::Name(read.to_owned())),
    ];
    let result = NamedValueType {
        name: name.to_owned(),
        r#type: Some(tensor_type(Element::Fp32, shape)),
    };
    Operation {
        r#type: CAST.name.to_owned(),
        inputs: kinds
            .map(|(name, kind)| (name.to_owned(), bound(kind)))
            .into(),
        outputs: vec![result],
        blocks: Vec::new(),
        attributes: BTreeMap::from([("name".to_owned(), text(name))]),
    }
}

/// Returns an argument that is bound to a single value.
fn bound(kind: BindingKind) -> Argument {
    let binding = Binding {
        binding: Some(kind),
    };
    Argument {
        arguments: vec![binding],
    }
}

/// Returns the operation of a classifier whose probabilities are the value `probabilities`.
pub(crate) fn classify(own: &Classifier, probabilities: &str) -> Operation {
    let element = match own.classes {
        Classes::Words(_) => Element::String,
        Classes::Numbers(_) => Element::Int64,
    };
    let scalar = || Some(Box::new(tensor_type(element, &[])));
    let dictionary = DictionaryType {
        key_type: scalar(),
        value_type: Some(Box::new(tensor_type(Element::Fp64, &[]))),
    };
    let named = |name: &str, ty: ValueTypeKind| NamedValueType {
        name: name.to_owned(),
        r#type: Some(ValueType { r#type: Some(ty) }),
    };
    let label = NamedValueType {
        name: own.label.clone(),
        r#type: Some(tensor_type(element, &[])),
    };
    let kinds = [
        ("classes", BindingKind::Value(classes(&own.classes))),
        ("probabilities", BindingKind::Name(probabilities.to_owned())),
    ];
    Operation {
        r#type: CLASSIFY.to_owned(),
        inputs: kinds
            .map(|(name, kind)| (name.to_owned(), bound(kind)))
            .into(),
        outputs: vec![
            label,
            named(
                &own.probabilities,
                ValueTypeKind::DictionaryType(Box::new(dictionary)),
            ),
        ],
        blocks: Vec::new(),
        attributes: BTreeMap::from([("name".to_owned(), text(&own.label))]),
    }
}

/// Returns the labels as a list.
fn classes(own: &Classes) -> Value {
    let (element, values): (Element, Vec<Value>) = match own {
        Classes::Words(all) => (Element::String, all.iter().map(|word| text(word)).collect()),
        Classes::Numbers(all) => (
            Element::Int64,
            all.iter().map(|&number| integer(number)).collect(),
        ),
    };
    let length = Dimension {
        dimension: Some(DimensionKind::Constant(ConstantDimension {
            size: values.len() as u64,
        })),
    };
    let ty = ListType {
        r#type: Some(Box::new(tensor_type(element, &[]))),
        length: Some(length),
    };
    immediate(
        ValueType {
            r#type: Some(ValueTypeKind::ListType(Box::new(ty))),
        },
        ImmediateKind::List(ListValue { values }),
    )
}

fn integer(number: i64) -> Value {
    let numbers = LongInts {
        values: vec![number],
    };
    let tensor = TensorValue {
        value: Some(TensorKind::LongInts(numbers)),
    };
    immediate(
        tensor_type(Element::Int64, &[]),
        ImmediateKind::Tensor(tensor),
    )
}

fn immediate(ty: ValueType, value: ImmediateKind) -> Value {
    let own = ImmediateValue { value: Some(value) };
    Value {
        r#type: Some(ty),
        value: Some(ValueKind::ImmediateValue(own)),
    }
}
