//! Flexible input shapes in a package's description.

use mind_mil::check::is_name;
use mind_mil::flexible::{Flexible, Shapes};

use crate::package::interface::color;
use crate::package::proto::{
    FeatureDescription, ImageFeatureType, ShapeFlexibility, SizeFlexibility, SizeRange,
    feature_type,
};

/// The default shape of an input and its other shapes.
struct Flexibility {
    default: Vec<i64>,
    others: Others,
}

/// The allowed shapes in addition to the default.
enum Others {
    Ranges(Vec<[i64; 2]>),
    Listed(Vec<Vec<i64>>),
}

/// Returns the shapes of inputs that have several; `None` if every input has one shape.
///
/// If some inputs have ranges, the lists of others are dropped.
pub(super) fn flexible(inputs: &[FeatureDescription]) -> Option<Flexible> {
    let (mut defaults, mut ranges) = (Vec::new(), Vec::new());
    let mut lists: Vec<Vec<(String, Vec<i64>)>> = Vec::new();
    for input in inputs.iter().filter(|own| is_name(&own.name)) {
        let Some(own) = flexibility(input) else {
            continue;
        };
        let name = &input.name;
        match own.others {
            Others::Ranges(all) => ranges.push((name.clone(), all)),
            Others::Listed(all) => {
                for (at, shape) in all.into_iter().enumerate() {
                    if lists.len() <= at {
                        lists.push(Vec::new());
                    }
                    lists[at].push((name.clone(), shape));
                }
            }
        }
        defaults.push((name.clone(), own.default));
    }
    let shapes = match (ranges.is_empty(), lists.is_empty()) {
        (true, true) => return None,
        (false, _) => Shapes::Ranges(ranges),
        (true, false) => Shapes::Listed(lists),
    };
    Some(Flexible { defaults, shapes })
}

/// Returns whether some inputs have ranges and some lists, in which case [`flexible`] keeps only the ranges.
pub(super) fn is_mixed(inputs: &[FeatureDescription]) -> bool {
    let all: Vec<Flexibility> = inputs.iter().filter_map(flexibility).collect();
    let listed = all
        .iter()
        .filter(|own| matches!(own.others, Others::Listed(_)));
    let listed = listed.count();
    listed > 0 && listed < all.len()
}

/// Returns the shapes of an input; `None` if it has only one.
fn flexibility(input: &FeatureDescription) -> Option<Flexibility> {
    let (default, others) = match input.r#type.as_ref()?.r#type.as_ref()? {
        feature_type::Type::MultiArrayType(own) => {
            let others = match own.shape_flexibility.as_ref()? {
                ShapeFlexibility::ShapeRange(all) => {
                    Others::Ranges(all.size_ranges.iter().map(range).collect())
                }
                ShapeFlexibility::EnumeratedShapes(all) => {
                    Others::Listed(all.shapes.iter().map(|own| own.shape.clone()).collect())
                }
            };
            (own.shape.clone(), others)
        }
        feature_type::Type::ImageType(own) => of_image(own)?,
        feature_type::Type::Int64Type(_)
        | feature_type::Type::DoubleType(_)
        | feature_type::Type::StringType(_)
        | feature_type::Type::DictionaryType(_)
        | feature_type::Type::SequenceType(_)
        | feature_type::Type::StateType(_) => return None,
    };
    Some(Flexibility { default, others })
}

/// Returns the shapes of an image's tensor.
fn of_image(own: &ImageFeatureType) -> Option<(Vec<i64>, Others)> {
    let channels = color(own.color_space)?.channels();
    let others = match own.size_flexibility.as_ref()? {
        SizeFlexibility::ImageSizeRange(all) => {
            let (height, width) = (all.height_range.as_ref()?, all.width_range.as_ref()?);
            let fixed = |extent| [extent, extent];
            Others::Ranges(vec![fixed(1), fixed(channels), range(height), range(width)])
        }
        SizeFlexibility::EnumeratedSizes(all) => {
            let extent = |size: u64| i64::try_from(size).unwrap_or(i64::MAX);
            let sizes = all.sizes.iter();
            let shape = sizes.map(|own| vec![1, channels, extent(own.height), extent(own.width)]);
            Others::Listed(shape.collect())
        }
    };
    Some((vec![1, channels, own.height, own.width], others))
}

fn range(size: &SizeRange) -> [i64; 2] {
    [
        i64::try_from(size.lower_bound).unwrap_or(i64::MAX),
        size.upper_bound,
    ]
}
