//! The manifest of a package.

use serde_json::json;

/// Returns the manifest of a package with these files. It is deterministic: equal contents give equal bytes.
pub(crate) fn manifest(model: &[u8], weights: &[u8]) -> String {
    let (model, weights) = (identifier(model, "model"), identifier(weights, "weights"));
    let entry = |description: &str, name: &str| {
        json!({
            "author": "com.apple.CoreML",
            "description": description,
            "name": name,
            "path": format!("com.apple.CoreML/{name}"),
        })
    };
    let manifest = json!({
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {
            model.clone(): entry("CoreML Model Specification", "model.mlmodel"),
            weights: entry("CoreML Model Weights", "weights"),
        },
        "rootModelIdentifier": model,
    });
    format!("{manifest:#}\n")
}

/// Returns a UUID derived from the contents.
fn identifier(bytes: &[u8], salt: &str) -> String {
    let hash = |start: u64| {
        let all = salt.bytes().chain(bytes.iter().copied());
        all.fold(start, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let (high, low) = (hash(0xcbf2_9ce4_8422_2325), hash(0x8422_2325_cbf2_9ce4));
    let high = high & !0xf000 | 0x4000;
    let low = low & !(3 << 62) | 2 << 62;
    format!(
        "{:08X}-{:04X}-{:04X}-{:04X}-{:012X}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
