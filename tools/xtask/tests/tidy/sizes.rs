//! Files and functions stay small enough for one idea each.

/// The maximal number of lines of a file, without tests.
const FILE_LINES: usize = 800;

/// Longer files, with the reason.
const LONGER: &[(&str, &str)] = &[];

#[test]
fn files_hold_one_idea() {
    let root = xtask::root();
    let mut longer = Vec::new();
    for path in super::files(&root, "rs") {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let lines = text
            .lines()
            .take_while(|line| *line != "#[cfg(test)]")
            .count();
        let name = path
            .strip_prefix(&root)
            .expect("below the root")
            .to_string_lossy()
            .into_owned();
        let is_test = name.contains("/tests/");
        if lines > FILE_LINES && !is_test {
            longer.push((name, lines));
        }
    }
    for (name, lines) in &longer {
        let excused = LONGER
            .iter()
            .any(|(own, reason)| own == name && !reason.is_empty());
        assert!(excused, "{name} has {lines} lines; split it");
    }
    for (name, _) in LONGER {
        assert!(
            longer.iter().any(|(own, _)| own == name),
            "{name} needs no exception any more"
        );
    }
}
