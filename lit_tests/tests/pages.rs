//! Pages that add to the tree, followed to the letter in a copy of it.
//!
//! What such a page says to write is written, in the order of the page; what it says to run is run with the tools of
//! the copy, `cargo` among it, and must print what the page shows. `MIND_PAGES=1` asks for it. Where `MIND_LLVM_LIT`
//! names LLVM's lit, the tests of the page also run under it. See docs/testing.md.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use lit_tests::page::{commands, shows};

const PAGES: [&str; 2] = ["add-a-pass.md", "add-an-op.md"];

/// The tools of this project that pages and their tests call.
const TOOLS: [&str; 3] = ["mind-opt", "mind-run", "mind-translate"];

fn main() {
    let mut arguments = Arguments::from_args();
    // The pages share the copy.
    arguments.test_threads = Some(1);
    let asked = std::env::var("MIND_PAGES").is_ok_and(|value| value == "1");
    let trials = PAGES.map(|page| {
        if asked {
            Trial::test(page, move || follow(page))
        } else {
            let name = format!("{page} (not run: MIND_PAGES is not 1)");
            Trial::test(name, || Ok(())).with_ignored_flag(true)
        }
    });
    libtest_mimic::run(&arguments, trials.into()).exit();
}

/// What a page asks its reader to do.
#[derive(Debug)]
enum Step<'t> {
    /// Make a file of this text.
    Write { path: &'t str, text: &'t str },
    /// Insert the text below the line `after`, or at the end of the file.
    Insert {
        path: &'t str,
        after: Option<&'t str>,
        text: &'t str,
    },
    /// Run these commands.
    Run { session: &'t str },
}

/// Follows a page from its first block to its last.
fn follow(page: &str) -> Result<(), Failed> {
    let copy = Copy::fresh()?;
    let text = fs::read_to_string(copy.tree.join("docs").join(page))?;
    let text = text.replace("\r\n", "\n");
    let prose = joined_prose(&text);
    let mut tests = Vec::new();
    let mut built = false;
    for (number, step) in steps(&text, &prose)?.into_iter().enumerate() {
        match step {
            Step::Write { path, text } => {
                let file = copy.tree.join(path);
                if file.exists() {
                    return Err(Failed::from(format!("{path} is in the tree already")));
                }
                fs::create_dir_all(file.parent().unwrap_or(&copy.tree))?;
                fs::write(&file, text)?;
                if text.contains("# RUN: ") {
                    tests.push(file);
                }
                built = false;
            }
            Step::Insert { path, after, text } => {
                insert(&copy.tree.join(path), after, text)
                    .map_err(|error| format!("{path}: {error}"))?;
                built = false;
            }
            Step::Run { session } => {
                for (command, shown) in commands(session) {
                    let command = command.trim_start_matches("$ ").trim_end();
                    if !built && TOOLS.iter().any(|tool| command.starts_with(tool)) {
                        copy.build()?;
                        built = true;
                    }
                    copy.run(command, shown)
                        .map_err(|error| format!("block {number}, `{command}`: {error}"))?;
                }
            }
        }
    }
    if tests.is_empty() {
        return Err(Failed::from("the page shows no lit test"));
    }
    if let Ok(lit) = std::env::var("MIND_LLVM_LIT") {
        copy.build()?;
        copy.judge(&lit, &tests)?;
    }
    Ok(())
}

/// For each block of a page, the paragraph above it as one line.
fn joined_prose(page: &str) -> Vec<String> {
    let prose = page.split("```").step_by(2);
    let last = |text: &str| {
        let paragraph = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    prose.map(last).collect()
}

/// Returns the steps of a page, in its order.
///
/// # Errors
///
/// A block of which the paragraph above does not say in one of the forms of docs/testing.md where it goes.
fn steps<'t>(page: &'t str, prose: &'t [String]) -> Result<Vec<Step<'t>>, String> {
    let blocks = page.split("```").skip(1).step_by(2).zip(prose);
    let mut steps = Vec::new();
    for (block, above) in blocks {
        let (_, text) = block.split_once('\n').ok_or("a block without lines")?;
        if text.starts_with("$ ") {
            steps.push(Step::Run { session: text });
        } else if !above.starts_with("<!-- not written: ") {
            let step = written(above, text);
            steps.push(
                step.ok_or_else(|| format!("`{above}` does not say where this goes:\n{text}"))?,
            );
        }
    }
    Ok(steps)
}

/// Returns the step of which the last sentence of a paragraph says where its text goes.
fn written<'t>(above: &'t str, text: &'t str) -> Option<Step<'t>> {
    let above = above.strip_suffix(':')?;
    if let Some((_, place)) = above.rsplit_once("At the end of `") {
        let path = place.strip_suffix('`')?;
        let after = None;
        return Some(Step::Insert { path, after, text });
    }
    if let Some((_, place)) = above.rsplit_once("In `") {
        let (path, after) = place.strip_suffix('`')?.split_once("`, after `")?;
        let after = Some(after);
        return Some(Step::Insert { path, after, text });
    }
    let path = above.strip_suffix('`')?;
    let start = path.rfind('`')?;
    let (before, path) = (&path[..start], &path[start + 1..]);
    let alone = before.is_empty() || before.ends_with(". ");
    alone.then_some(Step::Write { path, text })
}

/// Inserts a text below the one line of the file that is `after` but for its indentation, or at the end.
fn insert(file: &Path, after: Option<&str>, text: &str) -> Result<(), String> {
    let contents = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let Some(after) = after else {
        let longer = format!("{contents}\n{text}");
        return fs::write(file, longer).map_err(|error| error.to_string());
    };
    let found = contents.lines().filter(|line| line.trim() == after).count();
    if found != 1 {
        return Err(format!("{found} lines are `{after}`, not 1"));
    }
    let mut longer = String::with_capacity(contents.len() + text.len());
    for line in contents.split_inclusive('\n') {
        longer.push_str(line);
        if line.trim() == after {
            longer.push_str(text);
        }
    }
    fs::write(file, longer).map_err(|error| error.to_string())
}

/// A copy of the tree, with a target directory beside it that later runs find again.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
    /// Where the commands of the page that are not cargo's run.
    folder: PathBuf,
}

impl Copy {
    /// Returns the copy as the tree is now; files that did not change stay untouched, so that cargo does not build them
    /// again.
    fn fresh() -> Result<Copy, Failed> {
        let tmp = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        let copy = Copy {
            tree: tmp.join("tree"),
            target: tmp.join("target"),
            folder: tmp.join("folder"),
        };
        mirror(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
            &copy.tree,
        )?;
        if copy.folder.exists() {
            fs::remove_dir_all(&copy.folder)?;
        }
        fs::create_dir_all(&copy.folder)?;
        Ok(copy)
    }

    fn build(&self) -> Result<(), Failed> {
        let packages = TOOLS.map(|tool| format!("-p {tool}")).join(" ");
        let (success, text) = self.shell(&format!("cargo build {packages}"))?;
        if success {
            Ok(())
        } else {
            Err(Failed::from(text))
        }
    }

    /// Runs a command of the page, which must print what the page shows, and which may fail only if that is an error.
    ///
    /// Cargo prints that among other lines.
    fn run(&self, command: &str, shown: &str) -> Result<(), String> {
        if command.contains(" -p xtask") {
            // It would build the whole workspace once more; what it prints is what the freshness tests print.
            return Ok(());
        }
        if let Some(file) = command.strip_prefix("cat ") {
            return fs::write(self.folder.join(file), shown).map_err(|error| error.to_string());
        }
        let (success, mut printed) = self.shell(command).map_err(|error| error.to_string())?;
        // A page shows whole lines; Core text ends without one.
        if !printed.is_empty() && !printed.ends_with('\n') {
            printed.push('\n');
        }
        let as_shown = if command.starts_with("cargo ") {
            let fails = shown.lines().any(|line| line.starts_with("error: "));
            success != fails && shows(&format!("…\n{shown}…\n"), &printed)
        } else {
            shows(shown, &printed)
        };
        if as_shown {
            Ok(())
        } else {
            Err(format!("the page shows\n{shown}\nand it prints\n{printed}"))
        }
    }

    /// Returns whether a command succeeds, and all that it prints: of cargo in the tree, of others in the folder of the
    /// page.
    fn shell(&self, command: &str) -> std::io::Result<(bool, String)> {
        let of_cargo = command.starts_with("cargo ");
        let folder = if of_cargo { &self.tree } else { &self.folder };
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} 2>&1")]);
        shell.current_dir(folder).stdin(Stdio::null());
        shell.env("PATH", self.path(std::env::var_os("PATH"))?);
        shell.env("CARGO_TARGET_DIR", &self.target);
        for variable in ["INSTA_UPDATE", "MIND_PAGES", "RUST_BACKTRACE"] {
            shell.env_remove(variable);
        }
        let output = shell.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((output.status.success(), text))
    }

    /// Returns a search path with the tools of the copy first.
    fn path(&self, rest: Option<OsString>) -> std::io::Result<OsString> {
        let mut folders = vec![self.target.join("debug")];
        folders.extend(rest.iter().flat_map(std::env::split_paths));
        std::env::join_paths(folders).map_err(std::io::Error::other)
    }

    /// Runs the tests of the page under LLVM's lit.
    fn judge(&self, lit: &str, tests: &[PathBuf]) -> Result<(), Failed> {
        let bin = self.path(std::env::var_os("MIND_LLVM_BIN"))?;
        let bin = format!("bin={}", bin.to_string_lossy());
        let output = Command::new(lit)
            .args(["-v", "--param", &bin])
            .args(tests)
            .output();
        let output = output.map_err(|error| format!("{lit}: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Failed::from(text + &errors));
        }
        eprint!("{text}");
        Ok(())
    }
}

/// Makes a folder equal to the tree, but for `.git` and folders that cargo or npm write.
fn mirror(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    let mut kept = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, source) = (entry.file_name(), entry.path());
        let made = [".git", "target", "node_modules", "__pycache__"];
        if made.iter().any(|made| name == *made) || source.join("CACHEDIR.TAG").exists() {
            continue;
        }
        let copied = to.join(&name);
        if source.is_dir() {
            mirror(&source, &copied)?;
        } else {
            let contents = fs::read(&source)?;
            if fs::read(&copied).ok().as_ref() != Some(&contents) {
                fs::write(&copied, contents)?;
            }
        }
        kept.push(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if kept.contains(&entry.file_name()) {
            continue;
        }
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
