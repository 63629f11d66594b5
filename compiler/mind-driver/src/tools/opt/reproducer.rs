//! Reproducers: a module with the passes that fail on it.

use mind_pass::{Pipeline, Step};

const MARK: &str = "# mind-opt reproducer";
const PIPELINE: &str = "# pipeline: ";

/// A file that replays a failure: the module before the failing pass and the passes from there on.
pub(super) fn render(module: &str, left: &[Step], version: &str, path: &str) -> String {
    let pipeline = Pipeline {
        steps: left.to_vec(),
    }
    .text();
    format!(
        "{MARK}, version {version}\n{PIPELINE}{pipeline}\n# replay: mind-opt --run-reproducer {path}\n{module}\n"
    )
}

/// The pipeline that stands in a reproducer.
pub(super) fn pipeline_of(text: &str) -> Option<&str> {
    let mut head = text.lines().take_while(|line| line.starts_with('#'));
    head.clone().find(|line| line.starts_with(MARK))?;
    head.find_map(|line| line.strip_prefix(PIPELINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_is_read_back() {
        let text = render("%0 = ...", &[], "1", "r.core");
        assert_eq!(pipeline_of(&text), Some(""));
        assert_eq!(
            pipeline_of("# mind-opt reproducer\n# pipeline: cse,dce\nmic@1"),
            Some("cse,dce")
        );
        assert_eq!(pipeline_of("# pipeline: cse\nmic@1"), None);
    }
}
