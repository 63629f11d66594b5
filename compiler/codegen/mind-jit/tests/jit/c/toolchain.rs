//! C compilers and their options.

use std::ffi::CString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use mind_vir::c::{self, Symbol};
use mind_vir::ir::{Function, Status, Type};

use crate::harness::{Input, Outcome};
use mind_ir::tensor::Buffer;
use mind_vir::guarded::{Edge, Guarded};

/// Options that must not change any bit of the results.
pub const OPTIONS: &[&[&str]] = &[
    &["-O0"],
    &["-O2", "-std=c11"],
    &["-O3"],
    &["-O3", "-march=native"],
    &["-O2", "-DMIND_ANY_CPU"],
    &[
        "-O1",
        "-fsanitize=undefined",
        "-fsanitize-undefined-trap-on-error",
    ],
];

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Returns `cc`, which every Rust installation needs for linking, and other installed compilers with support for
/// sanitizers.
pub fn compilers() -> &'static [&'static str] {
    static FOUND: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let found = ["cc", "clang"].into_iter().filter(|name| sanitizes(name));
        found.collect()
    });
    assert!(
        FOUND.contains(&"cc"),
        "these tests need a C compiler called `cc`, which linking Rust programs does too, with its sanitizers"
    );
    &FOUND
}

/// Returns whether a compiler is installed and supports sanitizers.
fn sanitizes(compiler: &str) -> bool {
    let mut run = Command::new(compiler);
    run.args(["-fsanitize=address,undefined", "-x", "c", "-", "-o"]);
    run.arg(path(&format!("probe_{compiler}")));
    let run = run.stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    run.is_ok_and(|mut run| {
        let pipe = run.stdin.take();
        let is_given =
            pipe.is_some_and(|mut pipe| pipe.write_all(b"int main(void) { return 0; }").is_ok());
        run.wait().is_ok_and(|status| is_given && status.success())
    })
}

/// Returns the define that emitted code needs on a machine without AVX2 and FMA.
fn any_processor() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("fma") && std::is_x86_feature_detected!("avx2") {
        return &[];
    }
    &["-DMIND_ANY_CPU"]
}

/// Returns a path in the folder that cargo provides for integration tests.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Compiles `text`. Panics with the compiler's output if there is any.
pub fn compile(compiler: &str, text: &str, source: &Path, output: &Path, options: &[&str]) {
    std::fs::write(source, text).expect("a file in the folder for tests");
    // Programs must not need a math library.
    let closed: &[&str] = if cfg!(target_os = "linux") {
        &["-Wl,-z,defs"]
    } else {
        &[]
    };
    let run = Command::new(compiler)
        .args(WARNINGS)
        .args(options)
        .args(any_processor())
        .args(closed)
        .arg("-o")
        .args([output, source])
        .output()
        .expect("the compiler starts");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.success(),
        "{compiler} {options:?} {}:\n{said}",
        source.display()
    );
}

/// Functions compiled as one shared library.
pub struct Library {
    handle: *mut libc::c_void,
    entries: Vec<Entry>,
}

/// The type of each function's entry point.
type Entry = unsafe extern "C" fn(*const u64) -> u64;

impl Library {
    pub fn compile(
        name: &str,
        functions: &[&Function],
        compiler: &str,
        options: &[&str],
    ) -> Library {
        let mut body = String::new();
        for (number, function) in functions.iter().enumerate() {
            let symbol = Symbol::new(&format!("case{number}")).expect("a name");
            body.push('\n');
            c::function(function, &symbol, &mut body).expect("a valid function");
            let args = function.params().iter().enumerate();
            let args: Vec<String> = args
                .map(|(at, &param)| match function.ty(param) {
                    Type::Ptr => format!("(unsigned char *)(uintptr_t)args[{at}]"),
                    _ => format!("(int64_t)args[{at}]"),
                })
                .collect();
            write!(
                body,
                "\nextern uint64_t run{number}(const uint64_t *args);\n\
                 uint64_t run{number}(const uint64_t *args)\n{{\n    return {symbol}({});\n}}\n",
                args.join(", ")
            )
            .expect("writing to a string");
        }
        let text = c::prelude(&body) + &body;
        let tag: String = options.concat().replace(['-', '='], "_");
        let (source, output) = (
            path(&format!("{name}_{compiler}{tag}.c")),
            path(&format!("{name}_{compiler}{tag}.so")),
        );
        let options: Vec<&str> = options
            .iter()
            .copied()
            .chain(["-shared", "-fPIC"])
            .collect();
        compile(compiler, &text, &source, &output, &options);
        Library::open(&output, functions.len())
    }

    fn open(path: &Path, functions: usize) -> Library {
        let file = CString::new(path.to_str().expect("a path in UTF-8")).expect("no zero in it");
        // SAFETY: the library was just built and has no constructors.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{} does not load", path.display());
        let entries = (0..functions).map(|number| {
            let symbol = CString::new(format!("run{number}")).expect("no zero in it");
            // SAFETY: the handle is open.
            let entry = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
            assert!(!entry.is_null(), "run{number} is not in the library");
            // SAFETY: the function was emitted with this type.
            unsafe { std::mem::transmute::<*mut libc::c_void, Entry>(entry) }
        });
        let entries = entries.collect();
        Library { handle, entries }
    }

    /// Calls function `number` with its elements at `edge` of their pages.
    pub fn execute(&self, number: usize, inputs: &[Input], edge: Edge) -> Outcome {
        let mut buffers = Vec::new();
        let args: Vec<u64> = (inputs.iter())
            .map(|input| match input {
                Input::Elements(dtype, bytes) => {
                    buffers.push((*dtype, Guarded::of(bytes, edge).expect("memory for a test")));
                    buffers.last().map_or(0, |(_, bytes)| bytes.start() as u64)
                }
                Input::Index(index) => *index as u64,
            })
            .collect();
        // SAFETY: the interpreter has checked that the function stays inside its buffers.
        let status = unsafe { self.entries[number](args.as_ptr()) };
        let left = (buffers.iter()).map(|(dtype, bytes)| Buffer::from_bytes(*dtype, bytes.bytes()));
        (Status(status), left.collect())
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the library is not used after this.
        unsafe { libc::dlclose(self.handle) };
    }
}
