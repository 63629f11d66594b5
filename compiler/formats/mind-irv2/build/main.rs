//! Generates the table of shipped families and plans, so that adding one only takes a new folder.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("families");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut text = String::from("static PLANS: &[PlanFiles] = &[\n");
    for folder in folders(&root.join("plans"))? {
        plan(&mut text, &folder);
    }
    text += "];\n\nstatic FAMILIES: &[(&str, [&str; 1])] = &[\n";
    for folder in folders(&root)? {
        if folder.join("family.json").exists() {
            entry(&mut text, &folder, "family.json");
        }
    }
    text += "];\n";
    let keys = root.join("config_keys.json");
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\nstatic CONFIG_KEYS: &str = include_str!({:?});",
        keys.display()
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("shipped.rs"), text)
}

/// Appends a row with the texts of a plan.
fn plan(text: &mut String, folder: &Path) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let layers = |file: &str| {
        let path = folder.join(file);
        if path.exists() {
            format!("Some({})", included(&path))
        } else {
            "None".to_owned()
        }
    };
    let decoder = layers("decoder_layer_plan.json");
    let encoder = layers("encoder_layer_plan.json");
    let architecture = match (decoder.as_str(), encoder.as_str()) {
        (_, "None") => "Decoder",
        ("None", _) => "Encoder",
        (_, _) => "EncoderDecoder",
    };
    let globals = included(&folder.join("global_buffers.json"));
    let tensors = included(&folder.join("tensors.json"));
    let _ = writeln!(
        text,
        "    PlanFiles {{ name: {name:?}, architecture: Architecture::{architecture}, globals: {globals}, \
         decoder: {decoder}, encoder: {encoder}, tensors: {tensors} }},"
    );
}

/// Appends a row with the name of a folder and the text of its file.
fn entry(text: &mut String, folder: &Path, file: &str) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let _ = writeln!(text, "    ({name:?}, [{}]),", included(&folder.join(file)));
}

/// Returns an expression for the text of a file, and makes cargo watch the file.
fn included(path: &Path) -> String {
    println!("cargo:rerun-if-changed={}", path.display());
    format!("include_str!({:?})", path.display())
}

/// Returns the folders in a folder, sorted by name.
fn folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(parent)?.map(|entry| entry.map(|entry| entry.path()));
    let mut all = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    all.retain(|path| path.is_dir());
    all.sort();
    Ok(all)
}
