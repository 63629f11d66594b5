//! The page of `mind-opt --report` in a browser: it fits a phone and a desk, shows what it promises, and asks for
//! nothing but itself.
//!
//! `MIND_BROWSER` names a Chromium. Without it the group is reported as not run; `MIND_BROWSER_REQUIRED=1` makes that
//! a failure. `MIND_BROWSER_SHOTS=FOLDER` keeps a picture of each width. See docs/testing.md.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use lit_tests::sandbox::Sandbox;
use lit_tests::tool::{Exit, capture};

/// A module with rewrites, a fusion group and kernels to show.
const MODULE: &str = include_str!("../../examples/mlp.mic");
/// How a page around frames begins.
const HEAD: &str = "<!doctype html><meta charset=utf-8>";
/// What measures the page, within it.
const MEASURES: &str = include_str!("browser.js");
/// How many of the passes below change the module, and how many kernels come of it.
const SHOWN: &str = "3 passes drawn, 4 kernels";
/// The widths of a phone and of a desk, in pixels.
const WIDTHS: [u32; 2] = [390, 1280];

fn main() {
    let arguments = Arguments::from_args();
    let browser = std::env::var("MIND_BROWSER").ok();
    let required = std::env::var("MIND_BROWSER_REQUIRED").is_ok_and(|value| value == "1");
    let name = "report_in_a_browser";
    let trial = match browser {
        Some(browser) => Trial::test(name, move || shown(&browser)),
        None if required => Trial::test(name, || {
            Err(Failed::from("`MIND_BROWSER` names no browser"))
        }),
        None => {
            let name = format!("{name} (not run: MIND_BROWSER is not set)");
            Trial::test(name, || Ok(())).with_ignored_flag(true)
        }
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn shown(browser: &str) -> Result<(), Failed> {
    let scratch =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{}", std::process::id()));
    let sandbox = Sandbox::create(&scratch, "report").map_err(|error| error.to_string())?;
    let outcome = shown_in(browser, &sandbox);
    let _ = std::fs::remove_dir_all(&scratch);
    outcome.map_err(Failed::from)
}

fn shown_in(browser: &str, sandbox: &Sandbox) -> Result<(), String> {
    let page = sandbox.dir().join("report.html");
    let report = format!("--report={}", page.display());
    let args = [
        "--canonicalize",
        "--fold",
        "--fuse",
        "--lower-to-tensor",
        "--lower-to-loops",
        &report,
        "-",
    ];
    let module = MODULE.replace("[f32;B,", "[f32;8,");
    let ran = capture(mind_opt::run, &args, &module, sandbox);
    if ran.exit != Exit::Code(0) {
        return Err(ran.stderr);
    }
    let text = std::fs::read_to_string(&page).map_err(|error| error.to_string())?;
    let frames = sandbox.dir().join("frames.html");
    std::fs::write(&frames, framed(&text)).map_err(|error| error.to_string())?;
    let seen = browse(browser, &["--dump-dom"], &frames)?;
    for width in WIDTHS {
        let expected = format!("[{width}: {width} wide, 0 asked for, {SHOWN}, 0 complaints]");
        if !seen.contains(&expected) {
            let found = seen.split("<output>").nth(1).unwrap_or(&seen);
            let found = found.split("</output>").next().unwrap_or_default();
            let found: String = found.chars().take(2000).collect();
            return Err(format!("expected {expected}, found {found}"));
        }
    }
    if let Some(folder) = std::env::var_os("MIND_BROWSER_SHOTS") {
        for width in WIDTHS {
            let shot = Path::new(&folder).join(format!("report-{width}.png"));
            let shot = format!("--screenshot={}", shot.display());
            // A browser makes no window as narrow as a phone, so that the frame of that width is shown.
            let only = sandbox.dir().join(format!("frame-{width}.html"));
            std::fs::write(&only, format!("{HEAD}{}", frame(&text, width)))
                .map_err(|error| error.to_string())?;
            browse(
                browser,
                &[&shot, &format!("--window-size={},1600", width.max(600))],
                &only,
            )?;
        }
    }
    Ok(())
}

/// What the browser prints for `page`, cut off from every network.
fn browse(browser: &str, args: &[&str], page: &Path) -> Result<String, String> {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            // As on a phone, where bars lie over the page and take no width.
            "--hide-scrollbars",
        ])
        .args([
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=5000",
        ])
        .args(args)
        .arg(format!("file://{}", page.display()))
        .output()
        .map_err(|error| format!("{browser}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Returns a page that shows `text` in one frame a width, and writes what became of each.
fn framed(text: &str) -> String {
    let mut page = format!("{HEAD}<output></output>");
    for width in WIDTHS {
        page += &frame(text, width);
    }
    page + "<script>" + MEASURES + "</script>"
}

fn frame(text: &str, width: u32) -> String {
    let text = text.replace('&', "&amp;").replace('"', "&quot;");
    let mut frame = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        frame,
        "<iframe width={width} height=1500 style=\"border:0\" srcdoc=\"{text}\"></iframe>"
    );
    frame
}
