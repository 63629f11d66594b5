//! Modules as object files, linked with a program in C: the bits of the interpreter on every instruction set, and its refusals.

use std::path::{Path, PathBuf};

use mind_driver::engine::object_file;
use mind_interp::{Arrays, Extents, RunConfig, bind, random_inputs, run};
use mind_ir::{Graph, ValueId};
use mind_jit::program::ObjectConfig;
use mind_vir::object::Container;
use mind_vir::target::Isa;

use super::control::MODULES;
use super::{AS_C, BROKEN, Bench, Folder, draw, run_linked, same};

/// How many drawn modules are linked.
const DRAWN: u64 = 10;

/// What an op without a kernel is refused with.
const NO_KERNEL: &str = "it has no kernel";

/// What the functions of an object file begin with, and the instruction sets that it is for.
fn files() -> Vec<(String, Vec<Isa>)> {
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let mut files: Vec<_> = available
        .map(|isa| (format!("m_{isa}"), vec![isa]))
        .collect();
    files.push(("m_all".to_owned(), ObjectConfig::ISAS.to_vec()));
    files
}

/// The bytes of a value.
fn bytes(g: &Graph, value: ValueId) -> usize {
    let ty = g.ty(value);
    ty.count().expect("known extents") as usize * ty.dtype.size()
}

/// A program in C that reads the inputs of `g` from stdin in the order of their declarations, runs each of `files`, and writes
/// the outputs, which must be the same bytes.
fn program(g: &Graph, files: &[(String, Vec<Isa>)]) -> String {
    let (mut text, mut reads) = (String::new(), String::new());
    let (mut inputs, mut weights) = (Vec::new(), Vec::new());
    text += "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    for (name, _) in files {
        text += &format!("#include \"{name}.h\"\n");
    }
    for (at, input) in mind_interp::inputs(g).iter().enumerate() {
        let read = bytes(g, g.result(input.op));
        text += &format!("static unsigned char in{at}[{}];\n", read.max(1));
        reads += &format!("    if (fread(in{at}, 1, {read}, stdin) != {read}) return 125;\n");
        if input.param {
            &mut weights
        } else {
            &mut inputs
        }
        .push(format!("in{at}"));
    }
    let outputs: Vec<usize> = g.outputs().iter().map(|&value| bytes(g, value)).collect();
    for (at, &bytes) in outputs.iter().enumerate() {
        // An array has at least one element.
        let bytes = bytes.max(1);
        text += &format!("static unsigned char out{at}[{bytes}], first{at}[{bytes}];\n");
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
    for (number, (name, _)) in files.iter().enumerate() {
        text += &format!(
            "    {{\n        void *bound = malloc({name}_bound_bytes()), *workspace = malloc({name}_workspace_bytes());\n        \
             int status = {name}_bind(weights, bound, workspace);\n        \
             if (status == 0) status = {name}_run(bound, inputs, outputs, workspace);\n        \
             if (status != 0) return status;\n        free(bound);\n        free(workspace);\n"
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

/// Compares a module as object files with what it means; `false` if it has an op without a kernel.
///
/// # Errors
///
/// The first difference; a program that cannot be linked, or breaks.
fn check(bench: &Bench, g: &Graph, arrays: &Arrays, folder: &Path) -> Result<bool, String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let expected = run(g, &bound, &RunConfig::default());
    let files = files();
    let mut objects: Vec<PathBuf> = Vec::new();
    for (name, isas) in &files {
        let config = ObjectConfig {
            name,
            isas,
            ..ObjectConfig::default()
        };
        let object = match object_file(&bench.session, g.clone(), &config) {
            Ok(object) => object,
            Err(found) if format!("{found}").contains(NO_KERNEL) => return Ok(false),
            // An index that is out of bounds in every run is found when lowering.
            Err(_) if expected.is_err() => return Ok(false),
            Err(found) => return Err(format!("{BROKEN}: {found}")),
        };
        let path = folder.join(name).with_extension("o");
        let header = path.with_extension("h");
        let written = std::fs::write(&path, &object.bytes);
        let written = written.and_then(|()| std::fs::write(header, &object.header));
        written.map_err(|why| why.to_string())?;
        objects.push(path);
    }
    let found = run_linked(&program(g, &files), &objects, g, arrays, folder);
    match &found {
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
    // Scatters have no kernel.
    assert_eq!(checked, Ok(!text.contains("Scatter")), "{text}");
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
    // A relocation in the code would be an error.
    let linked = std::process::Command::new("cc")
        .args(["-shared", "-Wl,-z,text", "-o"])
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
    let text = "%0 = Input {name=x} : tensor<f32[3, 70]>\n%1, %2 = Sort (%0)\noutputs: %1";
    let g = bench.read(text).expect("a module");
    let object = object_file(&bench.session, g, &ObjectConfig::default());
    let found = object.expect_err("a sort is no kernel");
    let first = found.first_error().expect("an error");
    assert_eq!(
        first.message,
        "`core.sort` cannot be written to an object file: it has no kernel"
    );
    let place = &text[first.span.start as usize..first.span.end as usize];
    assert!(place.starts_with("%1, %2 = Sort"), "{place}");
}
