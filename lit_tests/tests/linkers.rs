//! Object files for macOS and Windows are linked by LLVM's linker and run from the resulting library. Results must have
//! the bits of the interpreter, and calls must follow the calling conventions of these systems.
//!
//! The linker is the `rust-lld` of the toolchain, or the one in `MIND_LLD`. Without one the group is reported as not
//! run; `MIND_LLD_REQUIRED=1` makes that a failure. Libraries are run only if they are for the processor of this
//! machine. See docs/testing.md.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_driver::engine::object_file;
use mind_driver::formats::Format;
use mind_driver::session::Session;
use mind_ir::verify::{VerifyConfig, verify};
use mind_jit::program::ObjectConfig;
use mind_text::Limits;
use mind_vir::object::Container;

#[cfg_attr(
    all(target_os = "linux", target_arch = "x86_64"),
    path = "linkers/execution.rs"
)]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    path = "linkers/absent.rs"
)]
mod execution;
#[path = "linkers/library.rs"]
mod library;

/// Modules with weights, large constants, control flow, byte products, many steps, and ops without a kernel.
const MODULES: &[&str] = &[
    "%0 = Input {name=x} : tensor<bf16[5, 7]>\n%1 = Input {name=w, role=param} : tensor<bf16[7, 9]>\n\
     %2 = MatMul (%0, %1)\n%3 = Gelu (%2)\n%4 = Transpose (%3)\noutputs: %4",
    "%0 = Input {name=x} : tensor<f32[3, 70]>\n%1 = ConstTensor {data=[0.5, -2.0, 3.0], dtype=f32, shape=[3, 1]}\n\
     %2 = Mul (%0, %1)\n%3 = Slice (%2) {starts=[0, 1], ends=[3, 70], steps=[1, 1]}\n%4 = Softmax (%3) {axis=0}\n\
     %5 = Input {name=i} : tensor<i64[0]>\n%6 = Gather (%4, %5) {axis=1}\noutputs: %3, %4, %6",
    "%0 = Input {name=n} : tensor<i64[]>\n%1 = ConstI64 {value=7}\n%2 = Remainder (%0, %1)\n\
     %3 = ConstI64 {value=0}\n%4 = Input {name=x} : tensor<f32[3, 20]>\n\
     %5 = Input {name=w, role=param} : tensor<f32[20, 20]>\n%6, %7 = While (%3, %4, %2, %5) {carried=2} {\n\
     \x20 args: %8, %9, %10, %11\n  %12 = Compare (%8, %10) {direction=lt}\n  yield: %12\n} {\n\
     \x20 args: %13, %14, %15, %16\n  %17 = ConstI64 {value=1}\n  %18 = Add (%13, %17)\n  %19 = MatMul (%14, %16)\n\
     \x20 %20 = Tanh (%19)\n  yield: %18, %20\n}\noutputs: %6, %7",
    "%0 = Input {name=x} : tensor<u8[5, 70]>\n%1 = Input {name=w, role=param} : tensor<i8[70, 33]>\n\
     %2 = DotGeneral (%0, %1) {lhs_contract=[1], rhs_contract=[0], dtype=i32}\noutputs: %2",
    "%0 = Input {name=x} : tensor<f16[3, 300]>\n%1, %2 = Sort (%0) {descending=true}\n\
     %3 = Input {name=u} : tensor<f16[3, 4]>\n%4 = ConstTensor {data=[[0, 2, 2, 9], [1, 1, 0, 3], [3, 0, 0, 0]], dtype=i32, shape=[3, 4]}\n\
     %5 = ScatterElements (%1, %4, %3) {axis=1, kind=add}\noutputs: %1, %2, %5",
    "%0 = Input {name=x} : tensor<f32[1, 2, 6, 5]>\n%1 = Input {name=g} : tensor<f32[1, 4, 3, 2]>\n\
     %2 = GridSample (%0, %1) {mode=cubic, padding=reflect}\noutputs: %2",
];

fn main() {
    let arguments = Arguments::from_args();
    let required = std::env::var("MIND_LLD_REQUIRED").is_ok_and(|value| value == "1");
    let trials = match linker() {
        Some(linker) => Container::ALL
            .into_iter()
            .filter(|&container| container != Container::Elf)
            .map(|container| {
                let linker = linker.clone();
                let done = if execution::RUNS {
                    "linked_and_run"
                } else {
                    "linked"
                };
                let name = format!("{container}_files_are_{done}");
                Trial::test(name, move || linked(&linker, container))
            })
            .collect(),
        None if required => vec![Trial::test("object_files_are_linked", || {
            Err(Failed::from(
                "the toolchain has no rust-lld, and `MIND_LLD` names none",
            ))
        })],
        None => {
            let name = "object_files_are_linked (not run: the toolchain has no rust-lld, and MIND_LLD is not set)";
            vec![Trial::test(name, || Ok(())).with_ignored_flag(true)]
        }
    };
    libtest_mimic::run(&arguments, trials).exit();
}

/// Returns LLVM's linker, if there is one.
fn linker() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MIND_LLD") {
        return Some(named.into());
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(output.ok()?.stdout).ok()?;
    let targets = std::fs::read_dir(Path::new(sysroot.trim()).join("lib/rustlib")).ok()?;
    let mut linkers = targets.filter_map(|target| Some(target.ok()?.path().join("bin/rust-lld")));
    linkers.find(|linker| linker.is_file())
}

fn linked(linker: &Path, container: Container) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-{container}-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let session = Session::default();
    let result = MODULES.iter().enumerate().try_for_each(|(seed, text)| {
        let checked = check(&session, linker, container, (text, seed as u64), &folder);
        checked.map_err(|why| Failed::from(format!("{why}\n{text}")))
    });
    std::fs::remove_dir_all(&folder)?;
    result
}

/// Links the object file of a module and runs it where possible.
///
/// # Errors
///
/// If the linker fails or warns, or if the results differ from those of the interpreter.
fn check(
    session: &Session,
    linker: &Path,
    container: Container,
    (text, seed): (&str, u64),
    folder: &Path,
) -> Result<(), String> {
    let g = session
        .formats
        .parse(Format::Core, text, 0, &Limits::default());
    let mut g = g.map_err(|found| format!("{found:?}"))?;
    let found = verify(&mut g, &VerifyConfig::default());
    if found.has_errors() {
        return Err(format!("{found:?}"));
    }
    let config = ObjectConfig {
        container,
        ..ObjectConfig::default()
    };
    let object = object_file(session, g.clone(), &config).map_err(|found| format!("{found:?}"))?;
    let library = library::link(linker, container, &object.bytes, folder)?;
    execution::check(&g, container, &library, seed)
}
