//! Keys of `meta` that reading and writing share.

use crate::family::Family;

/// Returns the tensors of a layer that a key of `weight_dtypes` denotes. The name of a buffer denotes all its tensors.
pub(crate) fn parts_of(family: Family, key: &str) -> Vec<&'static str> {
    let layered = family.buffers().iter();
    let layered = layered.filter(|own| own.scope.is_layered());
    for buffer in layered {
        let parts = buffer.parts();
        if buffer.name == key {
            return parts.iter().map(String::as_str).collect();
        }
        let named = (1..parts.len()).find(|&at| buffer.part_key(at) == key);
        if let Some(at) = named {
            return vec![parts[at].as_str()];
        }
    }
    Vec::new()
}
