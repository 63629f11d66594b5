//! Properties of every parser, for any bytes.

use std::sync::LazyLock;

use mind_driver::session::Session;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::Limits;
use mind_driver::formats::{Format, Formats};

/// All formats, prepared once for all inputs.
pub static FORMATS: LazyLock<Formats> = LazyLock::new(|| Session::default().formats);

/// Any text gives a module or errors, and printing a module reaches a fixed point. MIL is verified before it is
/// printed, because it prints inferred types.
pub fn check(format: Format, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match FORMATS.parse(format, text, 0, &Limits::default()) {
        Err(found) => assert!(found.has_errors()),
        Ok(mut graph) => {
            let written = matches!(format, Format::Mil | Format::MilPrimer);
            if written && verify(&mut graph, &VerifyConfig::default()).has_errors() {
                return;
            }
            let Ok(printed) = FORMATS.print(format, &graph) else { return };
            let mut again = FORMATS.parse(format, &printed, 0, &Limits::default()).expect("printed text parses");
            if written {
                assert!(!verify(&mut again, &VerifyConfig::default()).has_errors());
            }
            assert_eq!(FORMATS.print(format, &again).expect("it prints again"), printed);
        }
    }
}
