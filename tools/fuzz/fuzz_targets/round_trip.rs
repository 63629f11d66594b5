//! What every parser must hold to on any bytes.

use mind_driver::session::Session;
use mind_text::{Format, Limits};

/// Any text ends in a module or in errors; a module prints to a fixpoint.
pub fn check(format: Format, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let formats = Session::default().formats;
    match formats.parse(format, text, 0, &Limits::default()) {
        Err(found) => assert!(found.has_errors()),
        Ok(graph) => {
            let Ok(printed) = formats.print(format, &graph) else { return };
            let again = formats.parse(format, &printed, 0, &Limits::default()).expect("printed text parses");
            assert_eq!(formats.print(format, &again).expect("it prints again"), printed);
        }
    }
}
