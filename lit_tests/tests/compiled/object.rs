//! Modules as object files, linked with a program in C: the bits of the interpreter on every instruction set, and its refusals.

use std::path::{Path, PathBuf};

use mind_driver::engine::{c_text, object_file};
use mind_interp::{Arrays, Extents, RunConfig, bind, random_inputs, run};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{Graph, ValueId};
use mind_jit::program::{ObjectConfig, ObjectFile, emit_object};
use mind_testgen::cases::{
    Case, all, choices, gathers, placed_windows, samples, scaled, scatters, systems,
};
use mind_vir::object::Container;
use mind_vir::target::Isa;

use super::control::MODULES;
use super::{AS_C, BROKEN, Bench, Folder, draw, run_linked, same, text};

/// How many drawn modules are linked.
const DRAWN: u64 = 10;

/// How what a module is refused with begins, and the part of it if that is an op that only the compiler evaluates.
const REFUSED: &str = "there is no object file";
const NO_KERNEL: &str = "it has no kernel";

/// The arguments of the C program: `guarded` is memory followed by a page without access.
const GUARDED: &str = "#define _DEFAULT_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <sys/mman.h>\n#include <unistd.h>\nstatic unsigned char *guarded(size_t bytes)\n{\n    \
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;\n    \
    const int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;\n    \
    unsigned char *const start = mmap(0, whole + page, access, kind, -1, 0);\n    \
    if (start == MAP_FAILED || mprotect(start + whole, page, PROT_NONE)) exit(125);\n    \
    return start + whole - bytes;\n}\n";

/// What functions of a file begin at multiples of.
const ALIGN: usize = 64;

/// An object file of a test.
#[derive(Clone)]
struct File {
    /// What its functions begin with.
    name: String,
    /// The instruction sets that it is for.
    isas: Vec<Isa>,
    /// Whether it has the code for processors with VNNI.
    has_vnni: bool,
}

/// Files for each instruction set alone, with and without its extensions, and for all.
fn files() -> Vec<File> {
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let file = |name: String, isas: &[Isa], has_vnni| File {
        name,
        isas: isas.to_vec(),
        has_vnni,
    };
    let mut files = vec![file("m_all".to_owned(), ObjectConfig::ISAS, true)];
    for isa in available {
        files.push(file(format!("m_{isa}"), &[isa], false));
        if isa.may_have_vnni() {
            files.push(file(format!("m_{isa}_vnni"), &[isa], true));
        }
    }
    files
}

/// Returns the bytes of a value.
fn bytes(g: &Graph, value: ValueId) -> usize {
    let ty = g.ty(value);
    ty.count().expect("known extents") as usize * ty.dtype.size()
}

/// Returns a program in C that reads the inputs of `g` from stdin in the order of their declarations, runs each of
/// `files`, and writes the outputs, which must be the same bytes.
fn program(g: &Graph, files: &[File]) -> String {
    let (mut text, mut reads) = (GUARDED.to_owned(), String::new());
    let (mut inputs, mut weights) = (Vec::new(), Vec::new());
    for File { name, .. } in files {
        text += &format!("#include \"{name}.h\"\n");
    }
    for (at, input) in mind_interp::inputs(g).iter().enumerate() {
        let read = bytes(g, g.result(input.op));
        reads += &format!(
            "    unsigned char *const in{at} = guarded({read});\n    if (fread(in{at}, 1, {read}, stdin) != {read}) return 125;\n"
        );
        if input.param {
            &mut weights
        } else {
            &mut inputs
        }
        .push(format!("in{at}"));
    }
    let outputs: Vec<usize> = g.outputs().iter().map(|&value| bytes(g, value)).collect();
    for (at, bytes) in outputs.iter().enumerate() {
        reads += &format!(
            "    unsigned char *const out{at} = guarded({bytes}), *const first{at} = guarded({bytes});\n"
        );
    }
    let list = |names: Vec<String>| match names.is_empty() {
        true => "0".to_owned(),
        false => names.join(", "),
    };
    let outs = list((0..outputs.len()).map(|at| format!("out{at}")).collect());
    text += &format!(
        "int main(void)\n{{\n{reads}    const void *const weights[] = {{{}}};\n    const void *const inputs[] = {{{}}};\n    \
         void *const outputs[] = {{{outs}}};\n",
        list(weights),
        list(inputs)
    );
    for (number, File { name, .. }) in files.iter().enumerate() {
        text += &format!(
            "    {{\n        void *bound = guarded({name}_bound_bytes()), *workspace = guarded({name}_workspace_bytes());\n        \
             int status = {name}_bind(weights, bound, workspace);\n        \
             if (status == 0) status = {name}_run(bound, inputs, outputs, workspace);\n        \
             if (status != 0) return status;\n"
        );
        for (at, bytes) in outputs.iter().enumerate() {
            text += &match number {
                0 => format!("        memcpy(first{at}, out{at}, {bytes});\n"),
                _ => format!("        if (memcmp(first{at}, out{at}, {bytes})) return 124;\n"),
            };
            text += &format!("        memset(out{at}, 0, {bytes});\n");
        }
        text += "    }\n";
    }
    for (at, bytes) in outputs.iter().enumerate() {
        text += &format!("    if (fwrite(first{at}, 1, {bytes}, stdout) != {bytes}) return 125;\n");
    }
    text + "    return 0;\n}\n"
}

/// Returns the object file of a module.
fn object(
    bench: &Bench,
    g: &Graph,
    file: &File,
    container: Container,
) -> Result<ObjectFile, String> {
    let config = ObjectConfig {
        name: &file.name,
        isas: &file.isas,
        container,
        ..ObjectConfig::default()
    };
    if file.has_vnni {
        let object = object_file(&bench.session, g.clone(), &config);
        return object.map_err(|found| format!("{REFUSED}: {found}"));
    }
    let [engine, ..] = &bench.engines[..] else {
        unreachable!("every machine runs portable code")
    };
    assert_eq!(
        engine.target().isa,
        Isa::Portable,
        "it lowers for targets without extensions"
    );
    let mut low = g.clone();
    let lowered = engine.lower(&mut low);
    lowered.map_err(|found| format!("{REFUSED}: {found}"))?;
    emit_object(&low, None, &config).map_err(|why| format!("{REFUSED}: {why}"))
}

/// Returns the outputs of a module as object files, which all compute the same.
///
/// # Errors
///
/// What it is refused with; the status that the functions return; a program that cannot be linked, or breaks.
pub(super) fn run_as_objects(
    bench: &Bench,
    g: &Graph,
    arrays: &Arrays,
    folder: &Path,
) -> Result<Vec<Tensor>, String> {
    let files = files();
    let mut objects: Vec<PathBuf> = Vec::new();
    for file in &files {
        let object = object(bench, g, file, Container::HOST)?;
        let path = folder.join(&file.name).with_extension("o");
        let header = path.with_extension("h");
        let written = std::fs::write(&path, &object.bytes);
        let written = written.and_then(|()| std::fs::write(header, &object.header));
        written.map_err(|why| why.to_string())?;
        objects.push(path);
    }
    run_linked(&program(g, &files), &objects, g, arrays, folder)
}

/// Compares a module as object files with what it means; `false` if it has no object file.
///
/// # Errors
///
/// The first difference; a program that cannot be linked, or breaks.
pub(super) fn check(
    bench: &Bench,
    g: &Graph,
    arrays: &Arrays,
    folder: &Path,
) -> Result<bool, String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let expected = run(g, &bound, &RunConfig::default());
    let found = run_as_objects(bench, g, arrays, folder);
    match &found {
        // An index that is out of bounds in every run is found when lowering.
        Err(why) if why.starts_with(REFUSED) => {
            match why.contains(NO_KERNEL) || expected.is_err() {
                true => Ok(false),
                false => Err(why.clone()),
            }
        }
        Err(why) if why.starts_with(BROKEN) => Err(why.clone()),
        _ => same(&expected, found).map(|()| true),
    }
}

fn check_text(bench: &Bench, text: &str, seed: u64, folder: &Path) {
    let g = bench
        .read(text)
        .unwrap_or_else(|| panic!("not valid: {text}"));
    let arrays = random_inputs(&g, seed, Extents::default()).expect("small arrays");
    let checked = check(bench, &g, &arrays, folder);
    assert_eq!(checked, Ok(true), "{text}");
}

#[test]
fn object_files_compute_the_bits_of_the_interpreter() {
    let (bench, folder) = (Bench::new(), Folder::new("objects"));
    let constants = "%0 = Input {name=x} : tensor<f32[3, 70]>\n\
         %1 = ConstTensor {data=[0.5, -2.0, 3.0], dtype=f32, shape=[3, 1]}\n%2 = Mul (%0, %1)\n\
         %3 = Input {name=i} : tensor<i64[4]>\n%4 = Gather (%2, %3) {axis=1}\noutputs: %2, %4";
    for (seed, text) in AS_C.into_iter().chain([constants]).enumerate() {
        check_text(&bench, text, seed as u64, &folder.0);
    }
    // Large constants are packed when the program is bound.
    let elements: Vec<String> = (0..64 * 48).map(|at| format!("{}.5", at % 7)).collect();
    let large = format!(
        "%0 = Input {{name=x}} : tensor<f32[5, 64]>\n%1 = ConstTensor {{data=[{}], dtype=f32, shape=[64, 48]}}\n\
         %2 = MatMul (%0, %1)\n%3 = Sum (%1) {{axes=[0]}}\n%4 = Add (%2, %3)\noutputs: %4",
        elements.join(", ")
    );
    check_text(&bench, &large, 1, &folder.0);
}

#[test]
fn control_flow_in_object_files() {
    let (bench, folder) = (Bench::new(), Folder::new("control-objects"));
    for (text, draws) in MODULES {
        for seed in 0..*draws {
            check_text(&bench, text, seed, &folder.0);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_shared_library_runs_in_this_process() {
    let (bench, folder) = (Bench::new(), Folder::new("shared-object"));
    let g = bench.read(AS_C[1]).expect("a module");
    let arrays = random_inputs(&g, 3, Extents::default()).expect("small arrays");
    let bound = bind(&g, &arrays, Extents::default()).expect("they fit");
    let expected = run(&g, &bound, &RunConfig::default()).expect("it runs");
    let object = object_file(&bench.session, g.clone(), &ObjectConfig::default());
    let (file, library) = (folder.0.join("module.o"), folder.0.join("module.so"));
    std::fs::write(&file, object.expect("an object file").bytes).expect("a file");
    // A relocation in the code would be an error, as would be a stack that can be executed.
    let linked = std::process::Command::new("cc")
        .args(["-shared", "-Wl,-z,text,--fatal-warnings", "-o"])
        .args([&library, &file])
        .output()
        .expect("the linker of this test");
    let said = String::from_utf8_lossy(&linked.stderr);
    assert!(linked.status.success(), "{said}");

    let [x, w] = ["x", "w"].map(|name| arrays[name].buffer().to_bytes());
    let mut y = vec![0u8; bytes(&g, g.outputs()[0])];
    let library = std::ffi::CString::new(library.to_str().expect("a path")).expect("a path");
    // SAFETY: the header of the library declares functions of these types; arrays have the bytes that it says.
    let statuses = unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        assert!(!library.is_null(), "it cannot be loaded");
        let function = |name: &std::ffi::CStr| {
            let found = libc::dlsym(library, name.as_ptr());
            assert!(!found.is_null(), "{name:?}");
            found
        };
        type Bytes = extern "C" fn() -> usize;
        type Bind = unsafe extern "C" fn(*const *const u8, *mut u8, *mut u8) -> i32;
        type Run =
            unsafe extern "C" fn(*const u8, *const *const u8, *const *mut u8, *mut u8) -> i32;
        let bound_bytes: Bytes = std::mem::transmute(function(c"module_bound_bytes"));
        let workspace_bytes: Bytes = std::mem::transmute(function(c"module_workspace_bytes"));
        let bind: Bind = std::mem::transmute(function(c"module_bind"));
        let run: Run = std::mem::transmute(function(c"module_run"));
        let mut bound = vec![0u8; bound_bytes()];
        let mut workspace = vec![0u8; workspace_bytes()];
        let (weights, inputs, outputs) = ([w.as_ptr()], [x.as_ptr()], [y.as_mut_ptr()]);
        let at = (bound.as_mut_ptr(), workspace.as_mut_ptr());
        let statuses = (
            bind(weights.as_ptr(), at.0, at.1),
            run(at.0, inputs.as_ptr(), outputs.as_ptr(), at.1),
        );
        libc::dlclose(library);
        statuses
    };
    assert_eq!(statuses, (0, 0));
    assert_eq!(y, expected[0].buffer().to_bytes());
}

/// Products of bytes: of matrices, of a convolution, of blocks, and in a loop.
const PRODUCTS_OF_BYTES: [&str; 4] = [
    "%0 = Input {name=x} : tensor<u8[5, 70]>\n%1 = Input {name=w, role=param} : tensor<i8[70, 33]>\n\
     %2 = DotGeneral (%0, %1) {lhs_contract=[1], rhs_contract=[0], dtype=i32}\n%3 = Add (%2, %2)\noutputs: %3",
    "%0 = Input {name=x} : tensor<u8[1, 7, 6, 3]>\n%1 = Input {name=f} : tensor<i8[3, 2, 3, 16]>\n\
     %2 = Conv (%0, %1) {dilations=[1, 2], dtype=i32, pads=[1, 0, 0, 1], strides=[2, 1]}\noutputs: %2",
    "%0 = Input {name=x} : tensor<i8[3, 64]>\n%1 = Input {name=s} : tensor<f32[3, 2]>\n\
     %2 = Input {name=w, role=param} : tensor<u8[9, 68]>\n%3 = BlockMatMul (%0, %1, %2) {format=q8_0}\noutputs: %3",
    "%0 = Input {name=h} : tensor<i32[5, 16]>\n%1 = Input {name=a} : tensor<i8[4, 5, 40]>\n\
     %2 = Input {name=w, role=param} : tensor<i8[40, 16]>\n%3 = Scan (%0, %1, %2) {carried=1, scanned=1} {\n\
     \x20 args: %4, %5, %6\n  %7 = DotGeneral (%5, %6) {lhs_contract=[1], rhs_contract=[0], dtype=i32}\n  %8 = Add (%4, %7)\n  yield: %8\n}\noutputs: %3",
];

#[test]
fn products_of_bytes_have_code_for_processors_with_vnni() {
    let (bench, folder) = (Bench::new(), Folder::new("byte-objects"));
    for text in PRODUCTS_OF_BYTES {
        for seed in 0..2 {
            check_text(&bench, text, seed, &folder.0);
        }
    }
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let file = |text: &str, isas: &[Isa]| {
        let config = ObjectConfig {
            isas,
            ..ObjectConfig::default()
        };
        let g = bench.read(text).expect("a module");
        let object = object_file(&bench.session, g, &config);
        object.expect("an object file")
    };
    let all = ObjectConfig::ISAS;
    let says = |object: &ObjectFile, targets: &str| {
        let line = format!("compiled for {targets}.\n");
        assert!(object.header.contains(&line), "{}", object.header);
    };
    for text in PRODUCTS_OF_BYTES {
        says(
            &file(text, all),
            "avx512 with VNNI, avx512, avx2 with VNNI, avx2, portable",
        );
    }
    says(
        &file(PRODUCTS_OF_BYTES[0], &[Isa::Avx2]),
        "avx2 with VNNI, avx2",
    );
    // The instruction is in the file with the code for these processors, and in no other.
    for text in PRODUCTS_OF_BYTES {
        let g = bench.read(text).expect("a module");
        for has_vnni in [false, true] {
            let file = File {
                name: "m".to_owned(),
                isas: vec![Isa::Avx512],
                has_vnni,
            };
            let object = object(&bench, &g, &file, Container::Elf).expect("an object file");
            let starts = (0..object.bytes.len()).step_by(ALIGN);
            let mut listed = starts.map(|at| mind_vir::disassemble(&object.bytes[at..]));
            let found = listed.any(|text| text.contains("vpdpbusd"));
            assert_eq!(found, has_vnni, "{text}");
        }
    }
    // Bytes that nothing multiplies, and products of other numbers.
    let bytes = "%0 = Input {name=x} : tensor<u8[5, 70]>\n%1 = Sum (%0) {axes=[0]}\noutputs: %1";
    for text in [bytes, AS_C[1]] {
        says(&file(text, all), "avx512, avx2, portable");
    }
}

#[test]
fn object_files_say_what_c_says() {
    let bench = Bench::new();
    let first = &ObjectConfig::ISAS[ObjectConfig::ISAS.len() - 1..];
    let config = ObjectConfig {
        isas: first,
        ..ObjectConfig::default()
    };
    let (mut both, mut neither) = (0, Vec::new());
    let mut compare = |case: &Case, dtype: DType, indices: DType| {
        let text = text(case, dtype, indices, false);
        let Some(g) = bench.read(&text) else { return };
        let c = c_text(&bench.session, g.clone(), "module", false).is_ok();
        let object = object_file(&bench.session, g, &config);
        assert_eq!(c, object.is_ok(), "{object:?}\n{text}");
        if c {
            both += 1
        } else {
            neither.push(case.end())
        }
    };
    for case in all().into_iter().chain(samples()).chain(systems()) {
        compare(&case, DType::F32, DType::F32);
        compare(&case, DType::I32, DType::I32);
    }
    for case in gathers()
        .into_iter()
        .chain(scatters())
        .chain(placed_windows())
    {
        compare(&case, DType::F16, DType::I64);
    }
    for case in choices() {
        compare(&case, DType::U8, DType::Bool);
    }
    for case in scaled() {
        compare(&case, DType::I8, DType::F32);
    }
    assert!(
        both > 500,
        "only {both} cases have both; neither: {neither:?}"
    );
}

#[test]
fn drawn_modules_as_object_files() {
    let (bench, folder) = (Bench::new(), Folder::new("drawn-objects"));
    let config = mind_testgen::Config {
        symbols: false,
        ..mind_testgen::Config::default()
    };
    let linked = std::cell::Cell::new(0);
    draw(&bench, (DRAWN, &config), &|g, arrays| {
        let is_linked = check(&bench, g, arrays, &folder.0)?;
        linked.set(linked.get() + u64::from(is_linked));
        Ok(())
    });
    assert!(linked.get() > DRAWN / 2, "{} of {DRAWN}", linked.get());
}

#[test]
fn object_files_are_the_same_bytes_and_of_every_format() {
    let bench = Bench::new();
    let g = bench.read(AS_C[1]).expect("a module");
    let file = |container| {
        let config = ObjectConfig {
            container,
            ..ObjectConfig::default()
        };
        object_file(&bench.session, g.clone(), &config).expect("an object file")
    };
    let starts = [
        (Container::Elf, &b"\x7fELF"[..]),
        (Container::MachO, &b"\xcf\xfa\xed\xfe"[..]),
        (Container::Coff, &b"\x64\x86"[..]),
    ];
    for (container, start) in starts {
        let found = file(container);
        if cfg!(target_arch = "x86_64") {
            assert!(found.bytes.starts_with(start), "{container}");
        }
        assert!(found == file(container), "{container}");
    }
}

#[test]
fn what_has_no_code_is_refused_with_its_place() {
    let bench = Bench::new();
    let text = "%0 = Input {name=x} : tensor<f32[3, 4]>\n%1 = Input {name=scales} : tensor<f32[1]>\n\
                %2, %3 = Sort (%0)\n%4 = Resize (%2, %1) {axes=[1], sizes=[9]}\noutputs: %4";
    let g = bench.read(text).expect("a module");
    let object = object_file(&bench.session, g, &ObjectConfig::default());
    let found = object.expect_err("only the compiler evaluates a resize by computed scales");
    let first = found.first_error().expect("an error");
    assert_eq!(
        first.message,
        "`core.resize` cannot be written to an object file: it has no kernel, and runs by the compiler's own evaluation"
    );
    let place = &text[first.span.start as usize..first.span.end as usize];
    assert!(place.starts_with("%4 = Resize"), "{place}");
}
