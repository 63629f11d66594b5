//! Properties of every weight file.

use mind_irv2::checkpoint::Source;
use mind_irv2::{Families, hf};
use mind_weights::WeightFile;

/// Any bytes give an error, or tensors that decode within the given bytes.
pub fn check(bytes: &[u8]) {
    let Ok(file) = WeightFile::parse(bytes) else { return };
    for info in file.tensors() {
        let Some(view) = file.view(info) else { continue };
        let mut out = vec![0.0; view.elements()];
        view.decode_f32(&mut out).expect("a checked tensor decodes");
    }
    let source = Source { name: "file".to_owned(), file };
    if let Err(found) = hf::document(None, &[source], Families::default()) {
        assert!(found.has_errors());
    }
}
