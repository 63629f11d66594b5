//! Entries of a package's model description.

use mind_diag::{Diagnostic, Span};
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::interface::Feature;
use mind_mil::Element;
use mind_mil::call::{element_of, is_state};
use mind_mil::check::name_of;
use mind_mil::flexible::{Flexible, Shapes};
use mind_mil::structure::Input;

use crate::package::interface::image;
use crate::package::proto::{
    ArrayFeatureType, DictionaryType, DictionaryValue, EnumeratedImageSizes, EnumeratedShapes,
    FeatureDescription, FeatureShape, FeatureType, ImageFeatureType, ImageSize, ImageSizeRange,
    ImmediateKind, ImmediateValue, KeyValuePair, ShapeFlexibility, ShapeRange, SizeFlexibility,
    SizeRange, StateFeatureType, Value, ValueKind, ValueType, ValueTypeKind, feature_type,
};
use crate::package::value::{tensor_type, text};

/// Returns the description of an input, output or state.
///
/// # Errors
///
/// If descriptions do not support the element type or an open extent, or if an image's tensor does not have the type of
/// one.
pub(crate) fn feature(
    g: &Graph,
    value: ValueId,
    flexible: Option<&Flexible>,
    known: Option<&Feature>,
) -> Result<FeatureDescription, Box<Diagnostic>> {
    let (name, ty) = (name_of(g, value), g.ty(value));
    let refused = |message: String, help: &str| {
        let span = g.defining_op(value).map_or(Span::FILE, |op| g.span(op));
        Box::new(Diagnostic::error(span, message).help(help))
    };
    let data_type = match element_of(g, value) {
        Element::Fp16 => 65552,
        Element::Fp32 => 65568,
        Element::Int32 => 131_104,
        Element::Int8 => 131_080,
        other => {
            let message = format!(
                "`{name}` is {}, which a package cannot describe",
                other.name()
            );
            let help = "packages take and give fp16, fp32, int32 and int8; lower with io=coreml";
            return Err(refused(message, help));
        }
    };
    let default = flexible.and_then(|own| own.defaults.iter().find(|(input, _)| *input == name));
    let shape = match (ty.static_shape(), default) {
        (Some(shape), _) => shape,
        (None, Some((_, shape))) => shape.clone(),
        // Like coremltools, describes an output with data-dependent extents without a shape.
        (None, None) if !is_input(g, value) => Vec::new(),
        (None, None) => {
            let message = format!("`{name}` has an extent that is not known");
            let help =
                "a package is written for known shapes, or for those of `--flexible B=1..32`";
            return Err(refused(message, help));
        }
    };
    let shape_flexibility = flexible.and_then(|own| flexibility(&own.shapes, &name));
    let color = known.and_then(|known| known.image);
    let ty = if let Some(color) = color {
        let span = g.defining_op(value).map_or(Span::FILE, |op| g.span(op));
        let image = image(&name, color, ty, &shape, span)?;
        feature_type::Type::ImageType(ImageFeatureType {
            size_flexibility: shape_flexibility
                .and_then(|own| sizes(&own))
                .or(image.size_flexibility),
            ..image
        })
    } else {
        let array = ArrayFeatureType {
            shape,
            data_type,
            shape_flexibility,
            default_value: None,
        };
        match is_state(g, value) {
            true => feature_type::Type::StateType(StateFeatureType {
                array_type: Some(array),
            }),
            false => feature_type::Type::MultiArrayType(array),
        }
    };
    Ok(FeatureDescription {
        name,
        short_description: known.map_or(String::new(), |known| known.description.clone()),
        r#type: Some(FeatureType {
            r#type: Some(ty),
            is_optional: false,
        }),
    })
}

/// Returns the sizes of an image from the shapes of its tensor.
fn sizes(shapes: &ShapeFlexibility) -> Option<SizeFlexibility> {
    Some(match shapes {
        ShapeFlexibility::ShapeRange(own) => {
            let [.., height, width] = &own.size_ranges[..] else {
                return None;
            };
            SizeFlexibility::ImageSizeRange(ImageSizeRange {
                width_range: Some(*width),
                height_range: Some(*height),
            })
        }
        ShapeFlexibility::EnumeratedShapes(own) => {
            let size = |own: &FeatureShape| match own.shape[..] {
                [.., height, width] => Some(ImageSize {
                    width: width.max(0) as u64,
                    height: height.max(0) as u64,
                }),
                _ => None,
            };
            let sizes = own.shapes.iter().map(size).collect::<Option<_>>()?;
            SizeFlexibility::EnumeratedSizes(EnumeratedImageSizes { sizes })
        }
    })
}

fn is_input(g: &Graph, value: ValueId) -> bool {
    g.defining_op(value).is_none_or(|op| g.is::<Input>(op))
}

/// Returns the allowed shapes of one input in addition to its default.
fn flexibility(shapes: &Shapes, name: &str) -> Option<ShapeFlexibility> {
    match shapes {
        Shapes::Ranges(ranges) => {
            let (_, own) = ranges.iter().find(|(input, _)| input == name)?;
            let range = |&[least, most]: &[i64; 2]| SizeRange {
                lower_bound: least.max(0) as u64,
                upper_bound: most,
            };
            let size_ranges = own.iter().map(range).collect();
            Some(ShapeFlexibility::ShapeRange(ShapeRange { size_ranges }))
        }
        Shapes::Listed(lists) => {
            let own = |list: &Vec<(String, Vec<i64>)>| {
                let (_, shape) = list.iter().find(|(input, _)| input == name)?;
                let shape = shape.clone();
                Some(FeatureShape { shape })
            };
            // The shapes of different inputs are paired by index, so every input lists equally many.
            let shapes = lists.iter().filter_map(own).collect();
            let listed = EnumeratedShapes { shapes };
            (!listed.shapes.is_empty()).then_some(ShapeFlexibility::EnumeratedShapes(listed))
        }
    }
}

/// Returns the attribute `buildInfo` of a program, parsed from its attributes as text, as pairs of strings.
pub(crate) fn build_info(attributes: &str) -> Option<Value> {
    let (_, pairs) = attributes
        .split_once("buildInfo = dict<")?
        .1
        .split_once("({")?;
    let words: Vec<&str> = pairs
        .split("})")
        .next()?
        .split('"')
        .skip(1)
        .step_by(2)
        .collect();
    let pair = |pair: &[&str]| KeyValuePair {
        key: Some(text(pair[0])),
        value: Some(text(pair[1])),
    };
    let string = || Some(Box::new(tensor_type(Element::String, &[])));
    let ty = DictionaryType {
        key_type: string(),
        value_type: string(),
    };
    let dictionary = DictionaryValue {
        values: words.chunks_exact(2).map(pair).collect(),
    };
    let value = ImmediateValue {
        value: Some(ImmediateKind::Dictionary(dictionary)),
    };
    Some(Value {
        r#type: Some(ValueType {
            r#type: Some(ValueTypeKind::DictionaryType(Box::new(ty))),
        }),
        value: Some(ValueKind::ImmediateValue(value)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_info_is_pairs_of_words() {
        let text = "buildInfo = dict<string, string>({{\"a\", \"1\"}, {\"b, c\", \"}\"}})";
        let value = build_info(text).expect("pairs");
        let Some(ValueKind::ImmediateValue(ImmediateValue {
            value: Some(ImmediateKind::Dictionary(dictionary)),
        })) = value.value
        else {
            panic!("a dictionary");
        };
        assert_eq!(dictionary.values.len(), 2);
        assert_eq!(build_info(""), None);
    }
}
