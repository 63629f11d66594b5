//! The shapes that a package describes its inputs with.

use mind_mil::check::is_name;
use mind_mil::flexible::{Flexible, Shapes};

use crate::package::proto::{ArrayFeatureType, FeatureDescription, ShapeFlexibility, feature_type};

/// The type of an array; `None` for other features, and for those whose name could be taken for syntax.
fn array(feature: &FeatureDescription) -> Option<(&str, &ArrayFeatureType)> {
    match feature.r#type.as_ref()?.r#type.as_ref()? {
        feature_type::Type::MultiArrayType(own) if is_name(&feature.name) => {
            Some((&feature.name, own))
        }
        _ => None,
    }
}

/// The shapes that inputs take beside their own; `None` if every input has one shape.
pub(super) fn flexible(inputs: &[FeatureDescription]) -> Option<Flexible> {
    let (mut defaults, mut ranges) = (Vec::new(), Vec::new());
    let mut lists: Vec<Vec<(String, Vec<i64>)>> = Vec::new();
    for (name, own) in inputs.iter().filter_map(array) {
        match own.shape_flexibility.as_ref() {
            Some(ShapeFlexibility::ShapeRange(all)) => {
                let range = |size: &crate::package::proto::SizeRange| {
                    [
                        i64::try_from(size.lower_bound).unwrap_or(i64::MAX),
                        size.upper_bound,
                    ]
                };
                ranges.push((name.to_owned(), all.size_ranges.iter().map(range).collect()));
            }
            Some(ShapeFlexibility::EnumeratedShapes(all)) => {
                for (at, shape) in all.shapes.iter().enumerate() {
                    if lists.len() <= at {
                        lists.push(Vec::new());
                    }
                    lists[at].push((name.to_owned(), shape.shape.clone()));
                }
            }
            None => continue,
        }
        defaults.push((name.to_owned(), own.shape.clone()));
    }
    let shapes = match (ranges.is_empty(), lists.is_empty()) {
        (true, true) => return None,
        (false, _) => Shapes::Ranges(ranges),
        (true, false) => Shapes::Listed(lists),
    };
    Some(Flexible { defaults, shapes })
}
