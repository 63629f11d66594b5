//! Checks that lowering and cleaning up the modules of the regression suite keeps results bit-identical.

use std::path::{Path, PathBuf};

use mind_cli::MemoryHost;
use mind_driver::equivalence::same_results;
use mind_driver::session::Session;

const FOLDERS: [&str; 4] = [
    "mind-core/ops",
    "mind-core/canonicalize",
    "mind-transforms/fold",
    "mind-transforms/fuse",
];

const PIPELINES: [&str; 3] = [
    "lower-to-tensor,canonicalize,cse,dce",
    "canonicalize,cse,fuse,lower-to-tensor,canonicalize,cse,canonicalize",
    "lower-to-tensor,fold,fuse",
];

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit_tests");
    let entries = std::fs::read_dir(root.join(folder)).expect("a folder of the suite");
    let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|own| own == "core"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn the_suites_modules_keep_their_bits_at_the_tensor_level() {
    let session = Session::default();
    let mut ran = 0;
    for path in FOLDERS.into_iter().flat_map(files) {
        let text = std::fs::read_to_string(&path).expect("a file of the suite");
        for chunk in text.split("\n# -----") {
            // The text after a separator on the same line is a comment.
            let chunk = format!("# {chunk}");
            for pipeline in PIPELINES {
                let mut host = MemoryHost::with(&chunk);
                let args = [format!("--pass-pipeline={pipeline}"), "m.core".to_owned()];
                if mind_opt::run(&args, &mut host) != 0 {
                    // Modules that are rejected must be rejected without passes, too.
                    let mut plain = MemoryHost::with(&chunk);
                    let code = mind_opt::run(&["m.core".to_owned()], &mut plain);
                    assert_eq!(code, 1, "{}: {pipeline}: {}", path.display(), host.error());
                    continue;
                }
                let output = String::from_utf8(host.stdout).expect("text");
                if let Err(why) = same_results(&session, &chunk, None, &output) {
                    panic!("{}: {pipeline}: {why}\n{chunk}\n{output}", path.display());
                }
                ran += 1;
            }
        }
    }
    assert!(ran > 200, "only {ran} runs");
}
