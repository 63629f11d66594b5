//! Crash reproducers: a module with the passes that fail on it and the enabled rules.
//!
//! Everything besides the module is in comments at the top of the file. A rule file is stored as a line `# rules:
//! NAME`, followed by its lines with the prefix `# |`.

use std::fmt::Write;

use mind_pass::{Pipeline, RewriteOptions, RuleSource, Step};

const MARK: &str = "# mind-opt reproducer";
const PIPELINE: &str = "# pipeline: ";
const RULES: &str = "# rules: ";
const RULE_LINE: &str = "# |";

/// Accessor of a list of names in the options.
type Names = fn(&mut RewriteOptions) -> &mut Vec<String>;

/// The lists of names in a reproducer, with their prefixes.
const LISTS: [(&str, Names); 4] = [
    ("# fast-math: ", |rewriting| &mut rewriting.fast_math),
    ("# only-rule: ", |rewriting| &mut rewriting.only),
    ("# disable-rule: ", |rewriting| &mut rewriting.disabled),
    ("# allow-unchecked-rule: ", |rewriting| {
        &mut rewriting.unchecked
    }),
];

/// The contents of a reproducer besides its module.
#[derive(Debug)]
pub(crate) struct Reproduced<'t> {
    /// The pipeline text of the passes to run.
    pub(crate) pipeline: &'t str,
    /// The rewrite options.
    pub(crate) rewriting: RewriteOptions,
}

/// Returns the text of a reproducer: the module before the failing pass, the remaining passes and the rewrite options.
pub(crate) fn render(
    module: &str,
    left: &[Step],
    rewriting: &RewriteOptions,
    version: &str,
    path: &str,
) -> String {
    let pipeline = Pipeline {
        steps: left.to_vec(),
    }
    .text();
    let mut text = format!("{MARK}, version {version}\n{PIPELINE}{pipeline}\n");
    let mut rewriting = rewriting.clone();
    // Writing to a string cannot fail.
    for (mark, list) in LISTS {
        let names = list(&mut rewriting).join(",");
        if !names.is_empty() {
            let _ = writeln!(text, "{mark}{names}");
        }
    }
    for source in &rewriting.rules {
        let _ = writeln!(text, "{RULES}{}", source.name);
        for line in source.text.lines() {
            let _ = writeln!(text, "{RULE_LINE}{line}");
        }
    }
    let _ = writeln!(
        text,
        "# replay: mind-opt --run-reproducer {}\n{module}",
        mind_cli::shell_word(path)
    );
    text
}

/// Parses the comments of a reproducer; returns `None` if `text` is not a reproducer.
pub(crate) fn read(text: &str) -> Option<Reproduced<'_>> {
    let head = text.lines().take_while(|line| line.starts_with('#'));
    head.clone().find(|line| line.starts_with(MARK))?;
    let pipeline = head.clone().find_map(|line| line.strip_prefix(PIPELINE))?;
    let mut rewriting = RewriteOptions::default();
    for line in head {
        if let Some(name) = line.strip_prefix(RULES) {
            let (name, text) = (name.to_owned(), String::new());
            rewriting.rules.push(RuleSource { name, text });
        } else if let (Some(line), Some(source)) =
            (line.strip_prefix(RULE_LINE), rewriting.rules.last_mut())
        {
            source.text.push_str(line);
            source.text.push('\n');
        }
        for (mark, list) in LISTS {
            if let Some(names) = line.strip_prefix(mark) {
                list(&mut rewriting).extend(names.split(',').map(str::to_owned));
            }
        }
    }
    Some(Reproduced {
        pipeline,
        rewriting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_force_is_read_back() {
        let rewriting = RewriteOptions {
            rules: vec![RuleSource {
                name: "my.rules".into(),
                text: "rule a\n# pipeline: none\n\nrule b\n".into(),
            }],
            fast_math: vec!["nsz".into(), "approx".into()],
            disabled: vec!["a".into()],
            ..RewriteOptions::default()
        };
        let text = render("%0 = ...", &[], &rewriting, "1", "r.core");
        let read = read(&text).expect("a reproducer");
        assert_eq!(read.pipeline, "");
        assert_eq!(read.rewriting, rewriting);
    }

    #[test]
    fn only_a_marked_file_is_a_reproducer() {
        let pipeline = |text| read(text).map(|read| read.pipeline);
        assert_eq!(
            pipeline("# mind-opt reproducer\n# pipeline: cse,dce\nmic@1"),
            Some("cse,dce")
        );
        assert_eq!(pipeline("# pipeline: cse\nmic@1"), None);
    }
}
