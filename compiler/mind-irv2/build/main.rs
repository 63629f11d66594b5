//! Lists the shipped families and plans, so that one more is a folder and nothing else.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("families");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut text = String::from("static PLANS: &[(&str, Architecture, [&str; 3])] = &[\n");
    for folder in folders(&root.join("plans"))? {
        let encoder = "encoder_layer_plan.json";
        let (architecture, layers) = if folder.join(encoder).exists() {
            ("Architecture::Encoder, ", encoder)
        } else {
            ("Architecture::Decoder, ", "decoder_layer_plan.json")
        };
        let plan = ["global_buffers.json", layers, "tensors.json"];
        entry(&mut text, &folder, architecture, &plan);
    }
    text += "];\n\nstatic FAMILIES: &[(&str, [&str; 1])] = &[\n";
    for folder in folders(&root)? {
        if folder.join("family.json").exists() {
            entry(&mut text, &folder, "", &["family.json"]);
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

/// A row with the name of a folder, `more` and the texts of its files.
fn entry(text: &mut String, folder: &Path, more: &str, files: &[&str]) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let _ = write!(text, "    ({name:?}, {more}[");
    for file in files {
        let path = folder.join(file);
        println!("cargo:rerun-if-changed={}", path.display());
        let _ = write!(text, "include_str!({:?}), ", path.display());
    }
    *text += "]),\n";
}

/// The folders in a folder, by name.
fn folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(parent)?.map(|entry| entry.map(|entry| entry.path()));
    let mut all = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    all.retain(|path| path.is_dir());
    all.sort();
    Ok(all)
}
