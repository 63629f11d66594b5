//! C tables for layers with experts (mixture of experts).

use std::fmt::Write;

use mind_irv2::Config;
use mind_irv2::graph::routed;

use super::CError;

/// Returns the number of experts and the arrays that connect the parts before and after the experts.
pub(super) fn tables(config: &Config) -> Result<String, CError> {
    let Some(experts) = config.experts else {
        return Ok("\n#define EXPERTS 0\n".to_owned());
    };
    let cut = routed::cut(config)?;
    let mut text = format!(
        "\n#define EXPERTS {}\n#define CROSSINGS {}\n#define MERGED {}\n\n\
         /* Outputs of the router: the experts' input, their weights, and values that are read after the experts. */\n",
        experts.count,
        cut.left.len(),
        cut.read.len()
    );
    for (at, own) in cut.left.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "static float left_{at}[CHUNK * {}];", own.width);
    }
    let names: Vec<String> = (0..cut.left.len()).map(|at| format!("left_{at}")).collect();
    let _ = writeln!(
        text,
        "static float *const left[CROSSINGS] = {{{}}};",
        names.join(", ")
    );
    let read: Vec<String> = cut.read.iter().map(usize::to_string).collect();
    let _ = writeln!(
        text,
        "\n/* Those that are read after the experts. */\n\
         static const int merged[MERGED] = {{{}}};",
        read.join(", ")
    );
    Ok(text)
}
