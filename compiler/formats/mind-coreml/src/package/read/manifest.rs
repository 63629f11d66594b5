//! Finds the model in a package.

use serde_json::Value;

use super::error::{ManifestError, shown};

/// Returns the path of the model relative to the package's folder, separated by `/`.
///
/// # Errors
///
/// A manifest that is not JSON, lacks an entry, or leads out of the package.
pub fn model_path(manifest: &[u8]) -> Result<String, ManifestError> {
    let manifest: Value =
        serde_json::from_slice(manifest).map_err(|error| ManifestError::Json(error.to_string()))?;
    let root = manifest["rootModelIdentifier"].as_str();
    let root = root.ok_or(ManifestError::Missing("rootModelIdentifier"))?;
    let path = manifest["itemInfoEntries"][root]["path"].as_str();
    let path = path.ok_or(ManifestError::Missing("path"))?;
    let leaves = |part: &str| matches!(part, "" | "." | "..") || part.contains(['\\', ':', '\0']);
    if path.split('/').any(leaves) {
        Err(ManifestError::Path(shown(path)))
    } else {
        Ok(format!("Data/{path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_manifest_leads_to_the_model() {
        let own = crate::package::manifest::manifest(b"model", b"weights");
        assert_eq!(
            model_path(own.as_bytes()).as_deref(),
            Ok("Data/com.apple.CoreML/model.mlmodel")
        );
    }

    #[test]
    fn no_manifest_leads_out_of_the_package() {
        let manifest = |path: &str| {
            format!(
                r#"{{"rootModelIdentifier":"a","itemInfoEntries":{{"a":{{"path":"{path}"}}}}}}"#
            )
        };
        assert_eq!(
            model_path(manifest("m/x.mlmodel").as_bytes()).as_deref(),
            Ok("Data/m/x.mlmodel")
        );
        for path in ["../x", "/etc/passwd", "a/../../x", "a//x", "c:/x", ""] {
            let found = model_path(manifest(path).as_bytes());
            assert!(matches!(found, Err(ManifestError::Path(_))), "{path}");
        }
        assert_eq!(
            model_path(b"{}"),
            Err(ManifestError::Missing("rootModelIdentifier"))
        );
        assert!(matches!(model_path(b"{"), Err(ManifestError::Json(_))));
    }
}
