//! Recognises files of other programs, for example weights or compiled models, and names the command that reads them.

use std::path::Path;

use mind_text::foreign::is_mlir;

use super::output::extension;
use super::row::FormatInfo;
use crate::host::FileSystem;

/// A kind of file that module readers do not accept.
#[derive(Debug)]
pub struct ForeignFile {
    /// The kind, as a noun phrase.
    pub what: &'static str,
    /// How it is recognised.
    pub sign: Sign,
    /// The way to use the file; `PATH` is replaced by its path.
    pub help: &'static str,
}

/// Criterion that recognises a kind of file.
#[derive(Clone, Copy, Debug)]
pub enum Sign {
    /// Magic bytes at an offset.
    Magic(usize, &'static [u8]),
    /// A zip archive with an entry whose name is or ends with this.
    Zip(&'static str),
    /// A predicate on the first bytes.
    Header(fn(&[u8]) -> bool),
    /// A file extension, if the contents match no format.
    Extension(&'static [&'static str]),
    /// MLIR text with ops of this dialect and without ops of StableHLO.
    Mlir(&'static str),
    /// A predicate on the text.
    Text(fn(&str) -> bool),
    /// A folder with an entry of this name, or with this extension if it starts with a dot.
    Folder(&'static str),
}

/// How many bytes at either end of a file are searched.
const ENDS: usize = 1 << 18;

/// All kinds of foreign files, the most specific criteria first.
pub static FOREIGN: &[ForeignFile] = &[
    row(
        "a pointer of Git LFS in the place of a file",
        Sign::Text(|text| text.starts_with("version https://git-lfs.github.com/")),
        "`git lfs pull` fetches the file itself",
    ),
    row(
        "a model in the GGUF format",
        Sign::Magic(0, b"GGUF"),
        "`mind-run --model PATH --prompt TEXT` runs it, `mind-translate --from hf --to core PATH` makes a module of it",
    ),
    row(
        "weights in the safetensors format",
        Sign::Header(is_safetensors),
        "a model needs its `config.json` in the same folder: `mind-run --model FOLDER --prompt TEXT` runs it, \
         `mind-translate --from hf --to core FOLDER` makes a module of it",
    ),
    row(
        "a Keras model",
        Sign::Zip("model.weights.h5"),
        "`model.export(\"model.onnx\", format=\"onnx\")` in Keras makes an ONNX model, which is read",
    ),
    row(
        "a program of torch.export",
        Sign::Zip("models/model.json"),
        "`torch.onnx.export(program)` makes an ONNX model, which is read; Python reads the program by `mind_opt.torch`",
    ),
    row(
        "weights or a program of PyTorch",
        Sign::Zip("data.pkl"),
        "`torch.onnx.export` makes an ONNX model, which is read; weights alone need their model's program",
    ),
    row(
        "an archive of NumPy arrays",
        Sign::Zip(".npy"),
        "a module takes its inputs from it: `mind-run MODULE --inputs PATH`",
    ),
    row(
        "a packed Core ML package",
        Sign::Zip("Manifest.json"),
        "unpack it; the folder NAME.mlpackage is read",
    ),
    row(
        "a zip archive",
        Sign::Magic(0, b"PK\x03\x04"),
        "unpack it and name the file in it",
    ),
    row(
        "a NumPy array",
        Sign::Magic(0, b"\x93NUMPY"),
        "inputs come in archives, by name: `numpy.savez(\"in.npz\", x=array)`, then `mind-run MODULE --inputs in.npz`",
    ),
    row(
        "a file compressed by gzip",
        Sign::Magic(0, b"\x1f\x8b"),
        "`gunzip -c PATH | mind-opt` reads its contents",
    ),
    row(
        "a file compressed by zstd",
        Sign::Magic(0, b"\x28\xb5\x2f\xfd"),
        "`zstd -dc PATH | mind-opt` reads its contents",
    ),
    row(
        "a file compressed by xz",
        Sign::Magic(0, b"\xfd7zXZ\0"),
        "`xz -dc PATH | mind-opt` reads its contents",
    ),
    row(
        "a file compressed by bzip2",
        Sign::Header(|bytes| bytes.starts_with(b"BZh") && bytes.get(4..10) == Some(b"1AY&SY")),
        "`bzip2 -dc PATH | mind-opt` reads its contents",
    ),
    row(
        "a tar archive",
        Sign::Magic(257, b"ustar"),
        "unpack it and name the file in it",
    ),
    row(
        "a model of TensorFlow Lite",
        Sign::Magic(4, b"TFL3"),
        "`python -m tf2onnx.convert --tflite PATH --output model.onnx` makes an ONNX model, which is read",
    ),
    row(
        "a model in the format of ONNX Runtime",
        Sign::Magic(4, b"ORTM"),
        "the `.onnx` file that it was made of is read",
    ),
    row(
        "a program of ExecuTorch",
        Sign::Header(|bytes| {
            bytes.get(4..6) == Some(b"ET")
                && bytes
                    .get(6..8)
                    .is_some_and(|own| own.iter().all(u8::is_ascii_digit))
        }),
        "`torch.onnx.export` of the model that it was made of gives an ONNX model, which is read",
    ),
    row(
        "an HDF5 file, as of a Keras model",
        Sign::Magic(0, b"\x89HDF\r\n\x1a\n"),
        "`model.export(\"model.onnx\", format=\"onnx\")` in Keras makes an ONNX model, which is read",
    ),
    row(
        "a Python pickle, as of PyTorch or scikit-learn",
        Sign::Header(|bytes| matches!(bytes, [0x80, 2..=5, ..]) && bytes.len() > 8),
        "pickles run code when they are loaded, so that none is: export the model, by `torch.onnx.export` or skl2onnx",
    ),
    row(
        "a Core ML model in the format before packages",
        Sign::Header(is_mlmodel),
        "`coremltools.models.MLModel(\"PATH\").save(\"NAME.mlpackage\")` makes a package, which is read if it holds an ML program",
    ),
    row(
        "a graph of TensorFlow, by its name",
        Sign::Extension(&["pb", "pbtxt"]),
        "`python -m tf2onnx.convert` makes an ONNX model of it, which is read",
    ),
    row(
        "bytecode of MLIR, as of StableHLO",
        Sign::Magic(0, b"ML\xefR"),
        "the text is read: `stablehlo-translate --deserialize PATH` prints it, in JAX `exported.mlir_module()`",
    ),
    row(
        "bitcode of LLVM",
        Sign::Magic(0, b"BC\xc0\xde"),
        "it is below the level of tensors: the StableHLO or ONNX that it was made of is read",
    ),
    row(
        "machine code",
        Sign::Header(|bytes| {
            let starts: [&[u8]; 5] = [
                b"\x7fELF",
                b"\xcf\xfa\xed\xfe",
                b"\xca\xfe\xba\xbe",
                b"\0asm",
                b"MZ\x90",
            ];
            starts.iter().any(|start| bytes.starts_with(start))
        }),
        "it is not read back: keep the module that it was made of",
    ),
    row(
        "a picture",
        Sign::Header(|bytes| {
            let starts: [&[u8]; 3] = [b"\x89PNG", b"\xff\xd8\xff", b"GIF8"];
            starts.iter().any(|start| bytes.starts_with(start))
        }),
        "a model of images takes pixels: `mind-run --model FOLDER --pixels IN.npz`",
    ),
    row(
        "TOSA, a dialect of MLIR",
        Sign::Mlir("tosa"),
        "StableHLO is read, as is ONNX: export the model as one of them",
    ),
    row(
        "the torch dialect of MLIR",
        Sign::Mlir("torch"),
        "`torch_mlir.fx.export_and_import(model, x, output_type=\"stablehlo\")` gives StableHLO, which is read",
    ),
    row(
        "MHLO, a dialect of MLIR",
        Sign::Mlir("mhlo"),
        "`mlir-hlo-opt --hlo-legalize-to-stablehlo PATH` gives StableHLO, which is read",
    ),
    row(
        "VHLO, the versioned form of StableHLO",
        Sign::Mlir("vhlo"),
        "`stablehlo-opt --vhlo-to-version='target=current' --vhlo-legalize-to-stablehlo PATH` gives StableHLO, which is read",
    ),
    row(
        "the dialect of onnx-mlir",
        Sign::Mlir("onnx"),
        "the `.onnx` file that it was made of is read",
    ),
    row(
        "a dialect of TensorFlow in MLIR",
        Sign::Mlir("tf"),
        "`tf-opt --tf-lower-to-mlprogram-and-hlo PATH` gives StableHLO, which is read",
    ),
    row(
        "a dialect of TensorFlow Lite in MLIR",
        Sign::Mlir("tfl"),
        "`python -m tf2onnx.convert --tflite MODEL.tflite --output model.onnx` makes an ONNX model, which is read",
    ),
    row(
        "MLIR that is lowered to loops or below",
        Sign::Text(|text| {
            let below = [
                "linalg", "affine", "scf", "memref", "vector", "gpu", "llvm", "spirv", "arith",
            ];
            is_mlir(text) && below.iter().any(|dialect| has_op(text, dialect))
        }),
        "the StableHLO or ONNX that it was made of is read",
    ),
    row(
        "HLO text of XLA",
        Sign::Text(|text| text.starts_with("HloModule ")),
        "StableHLO is read: `jax.jit(f).lower(x).as_text()` prints it",
    ),
    row(
        "a jaxpr",
        Sign::Text(|text| text.trim_start().starts_with("{ lambda ")),
        "StableHLO is read: `jax.jit(f).lower(x).as_text()` prints it",
    ),
    row(
        "text of LLVM IR",
        Sign::Text(is_llvm),
        "it is below the level of tensors: the StableHLO or ONNX that it was made of is read",
    ),
    row(
        "a model of OpenVINO",
        Sign::Text(|text| text.starts_with('<') && text.contains("<net ")),
        "the ONNX model that it was made of is read",
    ),
    row(
        "a web page",
        Sign::Text(|text| {
            let start: String = text.trim_start().chars().take(14).collect();
            let start = start.to_ascii_lowercase();
            start.starts_with("<!doctype html") || start.starts_with("<html")
        }),
        "download the file that the page is about",
    ),
    row(
        "the `config.json` of a model of Hugging Face",
        Sign::Text(|text| is_json_with(text, &["\"model_type\"", "\"architectures\""])),
        "`mind-translate --from hf --to core PATH` makes a module of it, `mind-run --model FOLDER` runs the folder with its weights",
    ),
    row(
        "the index of a model's weights",
        Sign::Text(|text| is_json_with(text, &["\"weight_map\""])),
        "`mind-run --model FOLDER --prompt TEXT` runs the model, `mind-translate --from hf --to core FOLDER` makes a module of it",
    ),
    row(
        "a tokenizer",
        Sign::Text(|text| is_json_with(text, &["\"added_tokens\""])),
        "`mind-run --model FOLDER --prompt TEXT` uses that of the model's folder",
    ),
    row(
        "the manifest of a Core ML package",
        Sign::Text(|text| is_json_with(text, &["\"itemInfoEntries\""])),
        "name the package, the folder around it",
    ),
    row(
        "a model of TensorFlow.js",
        Sign::Text(|text| is_json_with(text, &["\"modelTopology\""])),
        "the Keras or TensorFlow model that it was made of gives an ONNX model, which is read",
    ),
    row(
        "a program of Python",
        Sign::Text(|text| {
            let mut code = text
                .lines()
                .map(str::trim_end)
                .filter(|line| !line.is_empty() && !line.starts_with('#'));
            let is_python = |line: &str| {
                line.starts_with("import ")
                    || line.starts_with("from ") && line.contains(" import ")
            };
            code.next().is_some_and(is_python)
        }),
        "export the model that it makes: `torch.onnx.export`, `jax.jit(f).lower(x).as_text()`, or `mind_opt` in Python",
    ),
    row(
        "a compiled Core ML model",
        Sign::Folder("coremldata.bin"),
        "the NAME.mlpackage that it was compiled from is read",
    ),
    row(
        "a Core ML package with another name",
        Sign::Folder("Manifest.json"),
        "`--from mlpackage` reads it",
    ),
    row(
        "a pipeline of diffusers",
        Sign::Folder("model_index.json"),
        "each of its folders is a model of its own, which torch.onnx.export makes an ONNX model of",
    ),
    row(
        "an adapter for a model of Hugging Face",
        Sign::Folder("adapter_config.json"),
        "merge it into its model first: `merge_and_unload()` of peft, then `save_pretrained`",
    ),
    row(
        "a model of Hugging Face",
        Sign::Folder("config.json"),
        "`mind-run --model PATH --prompt TEXT` runs it, `mind-translate --from hf --to core PATH` makes a module of it",
    ),
    row(
        "a SavedModel of TensorFlow",
        Sign::Folder("saved_model.pb"),
        "`python -m tf2onnx.convert --saved-model PATH --output model.onnx` makes an ONNX model, which is read",
    ),
    row(
        "an unpacked file of PyTorch",
        Sign::Folder("data.pkl"),
        "`torch.onnx.export` makes an ONNX model, which is read",
    ),
    row(
        "a folder with GGUF files",
        Sign::Folder(".gguf"),
        "name the file: `mind-run --model PATH/NAME.gguf --prompt TEXT`",
    ),
    row(
        "a folder with weights and no `config.json`",
        Sign::Folder(".safetensors"),
        "a model needs its `config.json` in the folder of the weights",
    ),
    row(
        "a folder with ONNX models",
        Sign::Folder(".onnx"),
        "name the file: `PATH/NAME.onnx`",
    ),
    row(
        "a folder with Core ML packages",
        Sign::Folder(".mlpackage"),
        "name the package: `PATH/NAME.mlpackage`",
    ),
];

const fn row(what: &'static str, sign: Sign, help: &'static str) -> ForeignFile {
    ForeignFile { what, sign, help }
}

impl ForeignFile {
    /// Returns the kind of the file with this path and these bytes; its first and last bytes suffice.
    pub fn of(path: &str, bytes: &[u8]) -> Option<&'static ForeignFile> {
        let text = std::str::from_utf8(bytes).ok();
        let end = extension(path);
        let is = |row: &&ForeignFile| match row.sign {
            Sign::Magic(at, magic) => bytes.get(at..).is_some_and(|rest| rest.starts_with(magic)),
            Sign::Zip(entry) => bytes.starts_with(b"PK\x03\x04") && has_entry(bytes, entry),
            Sign::Header(looks) => looks(bytes),
            Sign::Extension(ends) => {
                let is_own = |end: &str| ends.iter().any(|own| own.eq_ignore_ascii_case(end));
                end.is_some_and(is_own) && FormatInfo::of_bytes(bytes).is_none()
            }
            Sign::Mlir(dialect) => text.is_some_and(|text| is_mlir(text) && has_op(text, dialect)),
            Sign::Text(looks) => {
                text.is_some_and(|text| looks(text.trim_start_matches('\u{feff}')))
            }
            Sign::Folder(_) => false,
        };
        FOREIGN.iter().find(is)
    }

    /// Returns the kind of folder at `path`, by the names of its entries.
    pub fn of_folder(files: &mut dyn FileSystem, path: &Path) -> Option<&'static ForeignFile> {
        let names = files.list(path).ok()?;
        let is = |row: &&ForeignFile| match row.sign {
            Sign::Folder(entry) => names.iter().any(|name| is_named(name, entry)),
            Sign::Magic(..)
            | Sign::Zip(_)
            | Sign::Header(_)
            | Sign::Extension(_)
            | Sign::Mlir(_)
            | Sign::Text(_) => false,
        };
        FOREIGN.iter().find(is)
    }

    /// Returns the help for the file at `path`.
    pub fn help(&self, path: &str) -> String {
        self.help.replace("PATH", path)
    }
}

/// Returns whether `name` is `entry`, or ends with it if `entry` is an extension.
fn is_named(name: &str, entry: &str) -> bool {
    name == entry || entry.starts_with('.') && name.ends_with(entry)
}

/// Returns whether a zip archive has an entry called `entry`, by searching its beginning and its central directory.
fn has_entry(bytes: &[u8], entry: &str) -> bool {
    let ends = [
        &bytes[..bytes.len().min(ENDS)],
        &bytes[bytes.len().saturating_sub(ENDS)..],
    ];
    let entry = entry.as_bytes();
    let mut windows = ends.into_iter().flat_map(|end| end.windows(entry.len()));
    windows.any(|window| window == entry)
}

/// Returns whether bytes begin with a length and a JSON header that long, as safetensors do.
fn is_safetensors(bytes: &[u8]) -> bool {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return false;
    };
    let length = u64::from_le_bytes(*length);
    rest.first() == Some(&b'{') && (2..=rest.len() as u64).contains(&length)
}

/// Returns whether bytes are a Core ML model: field 1, a version, followed by field 2, a description that begins with
/// an input. The first field of ONNX is a version too, but its second is text.
fn is_mlmodel(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"\x08") else {
        return false;
    };
    let Some([0x12, rest @ ..]) = rest.get(1..) else {
        return false;
    };
    let length = rest
        .iter()
        .take(5)
        .take_while(|byte| **byte >= 0x80)
        .count()
        + 1;
    rest.get(length) == Some(&0x0a)
}

/// Returns whether the beginning of MLIR text contains an op of `dialect`.
fn has_op(text: &str, dialect: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
    let end = (0..=ENDS.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at));
    let text = &text[..end.unwrap_or(0)];
    let mut places = text.match_indices(dialect);
    places.any(|(at, _)| {
        let rest = &text[at + dialect.len()..];
        let is_op = rest
            .strip_prefix('.')
            .is_some_and(|name| name.starts_with(char::is_alphabetic));
        is_op && !text[..at].ends_with(is_word)
    })
}

/// Returns whether a text begins like printed LLVM IR.
fn is_llvm(text: &str) -> bool {
    let starts = [
        "; ModuleID = ",
        "source_filename = ",
        "target datalayout = ",
        "target triple = ",
    ];
    starts.iter().any(|start| text.starts_with(start))
}

/// Returns whether a text is a JSON object that contains one of `keys`.
fn is_json_with(text: &str, keys: &[&str]) -> bool {
    text.trim_start().starts_with('{') && keys.iter().any(|key| text.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(path: &str, bytes: &[u8]) -> Option<&'static str> {
        ForeignFile::of(path, bytes).map(|row| row.what)
    }

    #[test]
    fn files_are_told_by_what_they_hold() {
        let safetensors = [&2u64.to_le_bytes()[..], b"{}"].concat();
        let zip = |entry: &str| [b"PK\x03\x04\x14\0", entry.as_bytes()].concat();
        let mlir = |op: &str| format!("module {{\n  func.func @f() {{\n    %0 = {op}\n  }}\n}}\n");
        let cases: Vec<(Vec<u8>, &str)> = vec![
            (safetensors, "weights in the safetensors format"),
            (b"GGUF\x03\0\0\0".to_vec(), "a model in the GGUF format"),
            (zip("archive/data.pkl"), "weights or a program of PyTorch"),
            (zip("x.npy"), "an archive of NumPy arrays"),
            (zip("model.weights.h5"), "a Keras model"),
            (zip("a.txt"), "a zip archive"),
            (b"\x1f\x8b\x08".to_vec(), "a file compressed by gzip"),
            (b"\x1c\0\0\0TFL3".to_vec(), "a model of TensorFlow Lite"),
            (
                b"\x89HDF\r\n\x1a\n\0".to_vec(),
                "an HDF5 file, as of a Keras model",
            ),
            (
                b"\x80\x04\x95\0\0\0\0\0\0\0".to_vec(),
                "a Python pickle, as of PyTorch or scikit-learn",
            ),
            (b"ML\xefR\x01".to_vec(), "bytecode of MLIR, as of StableHLO"),
            (b"BC\xc0\xde".to_vec(), "bitcode of LLVM"),
            (b"; ModuleID = 'a'\n".to_vec(), "text of LLVM IR"),
            (mlir("tosa.add %a, %a").into(), "TOSA, a dialect of MLIR"),
            (
                mlir("\"tosa.add\"(%a, %a)").into(),
                "TOSA, a dialect of MLIR",
            ),
            (
                mlir("torch.aten.relu %a").into(),
                "the torch dialect of MLIR",
            ),
            (
                mlir("linalg.matmul").into(),
                "MLIR that is lowered to loops or below",
            ),
            (b"HloModule m\n".to_vec(), "HLO text of XLA"),
            (b"import torch\nx = 1\n".to_vec(), "a program of Python"),
            (
                b"{\"model_type\": \"llama\"}".to_vec(),
                "the `config.json` of a model of Hugging Face",
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(what("-", &bytes), Some(expected));
        }
        let mlmodel = b"\x08\x05\x12\x90\x01\x0a\x05\x0a\x03abc";
        assert_eq!(
            what("m", mlmodel),
            Some("a Core ML model in the format before packages")
        );
        assert_eq!(
            what("m.PB", b"\x0a\x01"),
            Some("a graph of TensorFlow, by its name")
        );
    }

    #[test]
    fn modules_are_not_foreign() {
        let texts = [
            "mic@1\n",
            "mic@2\n",
            "%0 = Input {name=tosa.x}\n",
            "program(1.3)\n",
            "module {\n  stablehlo.add\n}\n",
            "",
            "{",
            "# from tosa.add\n%0 = ConstI64 {value=1}\n",
        ];
        for text in texts {
            assert_eq!(what("m", text.as_bytes()), None, "{text:?}");
        }
        for bytes in [&[][..], &[0], &[0; 7], &[0xff; 300], b"PK", &[8, 9, 18]] {
            assert_eq!(what("m", bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn every_row_says_what_to_do() {
        for row in FOREIGN {
            assert!(!row.what.is_empty() && !row.help.is_empty(), "{row:?}");
            assert!(!row.help("m.bin").contains("PATH"), "{row:?}");
        }
    }
}
