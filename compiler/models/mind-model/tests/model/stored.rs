//! Storage types of weights are part of the module, and code depends only on them.

use mind_driver::engine::{CTiles, Config, Engine, c_functions};
use mind_driver::formats::LoadOptions;
use mind_driver::load::load_module;
use mind_ir::Graph;
use mind_ir::types::QuantFormat;
use mind_jit::program::PanelChoice;
use mind_vir::c::{SharedFunctions, written};

/// Returns a product with a weight of the storage type `stored`.
fn module(engine: &Engine, stored: &str) -> Graph {
    let text = format!(
        "%0 = Input {{name=x}} : tensor<f32[3, 256]>\n\
         %1 = Input {{name=w, role=param{stored}}} : tensor<f32[40, 256]>\n\
         %2 = Transpose (%1) {{permutation=[1, 0]}}\n%3 = MatMul (%0, %2)\noutputs: %3"
    );
    let formats = &engine.session().formats;
    let loaded = load_module(
        formats,
        "module",
        text.to_owned().into(),
        &LoadOptions::default(),
    );
    loaded.unwrap_or_else(|_| panic!("`{stored}`")).graph
}

#[test]
fn one_text_is_one_code_and_another_format_is_another_kernel() {
    let config = Config {
        panels: PanelChoice::Shared,
        ..Config::default()
    };
    let engine = Engine::new(&config).unwrap();
    let code = |stored: &str| {
        let mut functions = SharedFunctions::new("kernel").unwrap();
        let part = c_functions(
            engine.session(),
            module(&engine, stored),
            "f",
            CTiles::default(),
            &mut functions,
        )
        .unwrap();
        let texts = [part.text, part.bind_text];
        (written(&functions, &texts), part.params[0].format)
    };
    let plain = code("");
    assert_eq!(plain.1, None);
    let mut codes = vec![plain.0];
    for &format in QuantFormat::ALL {
        let stored = format!(", stored={}", format.name());
        let (text, found) = code(&stored);
        assert_eq!(found, Some(format));
        assert_eq!(text, code(&stored).0, "{stored}");
        let mut lowered = module(&engine, &stored);
        engine.lower(&mut lowered).unwrap();
        let program = engine.program(&lowered).unwrap();
        let port = &program.params()[0];
        assert_eq!(port.format, Some(format));
        assert_eq!(
            port.bytes(),
            40 * 256 / format.elements() * format.block_bytes()
        );
        codes.push(text);
    }
    for (at, text) in codes.iter().enumerate() {
        assert!(
            !codes[..at].contains(text),
            "format {at} has the code of another"
        );
    }
}
