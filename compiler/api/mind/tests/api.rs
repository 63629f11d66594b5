//! Tests of the public API: results and error messages.

use std::sync::Arc;
use std::thread;

use mind::decoder::{Decoder, Files, Generation, Hearing, Sampling, largest};
use mind::encoder::Encoder;
use mind::ops::contract::MatMul;
use mind::{
    Config, Engine, Error, ExecutionError, Extent, FastMath, Format, Level, Module, Optimizer,
    ReadOptions, Tensor, Type, View, ViewMut, Written,
};

/// The product `x w`, for a symbolic number of rows.
const PRODUCT: &str = "mic@2\nS B\nT0 f32 B 2\nT1 f32 2 2\na x T0\np w T1\nm 0 1\nO 2";

fn array(shape: &[usize], elements: &[f32]) -> Tensor {
    Tensor::of(shape.to_vec(), elements.to_vec())
}

fn identity() -> Tensor {
    array(&[2, 2], &[1.0, 0.0, 0.0, 1.0])
}

#[test]
fn a_built_module_is_the_parsed_one() -> Result<(), Error> {
    let mut built = Module::new();
    let x = built.input(
        "x",
        Type::new(mind::DType::F32, [Extent::from("B"), 2.into()]),
    )?;
    let w = built.param("w", "f32[2, 2]")?;
    let y = MatMul::build(&mut built, x, w)?;
    built.output(y);
    built.verify()?;
    let parsed = Module::parse(PRODUCT)?;
    assert_eq!(built.to_string(), parsed.to_string());
    assert_eq!(built.inputs(), parsed.inputs());
    assert_eq!(built.params(), parsed.params());
    assert_eq!(built.outputs(), parsed.outputs());
    assert_eq!(parsed.outputs()[0].ty.to_string(), "f32[B, 2]");
    Ok(())
}

#[test]
fn builders_refuse_what_shape_rules_refuse() -> Result<(), Error> {
    let mut module = Module::new();
    let x = module.input("x", "f32[2, 3]")?;
    let refused = MatMul::build(&mut module, x, x).map_err(Error::from);
    let Err(Error::Op(rule)) = refused else {
        panic!("a 2x3 matrix cannot be multiplied by a 2x3 matrix");
    };
    assert!(rule.to_string().contains('3'), "{rule}");
    let refused = module
        .input("y", "f31[2]")
        .map_err(|error| error.to_string());
    assert_eq!(
        refused.unwrap_err(),
        "error: `f31[2]`: unknown element type `f31`\n--> <type>"
    );
    Ok(())
}

#[test]
fn errors_show_the_lines_they_are_about() {
    let error = Module::parse("mic@2\nT0 f32 4\na x T0\nm 0\nO 1").unwrap_err();
    let found = error.diagnostics().expect("diagnostics");
    assert_eq!(found.error_count(), 1);
    assert!(error.to_string().contains("4 | m 0"), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());

    let error = Module::parse(PRODUCT)
        .unwrap()
        .run_passes("fuse,fold{")
        .unwrap_err();
    assert!(error.to_string().contains("fuse,fold{"), "{error}");

    let rules = "rule r\n  class exact\n  core.abs(?x) => core.abs(?y)\n";
    let error = Optimizer::new("fold")
        .unwrap()
        .rules("mine.rules", rules)
        .err()
        .unwrap();
    assert!(error.to_string().contains(" --> mine.rules:3:"), "{error}");

    let error = Module::from_file("no/such/file.mic").unwrap_err();
    assert!(
        error.to_string().starts_with("no/such/file.mic: "),
        "{error}"
    );
}

#[test]
fn arrays_that_do_not_fit_are_named() -> Result<(), Error> {
    let module = Module::parse(PRODUCT)?;
    let executable = module.compile(&Config::default())?;
    let (w, x) = (identity(), array(&[1, 2], &[1.0, 2.0]));
    let bound = |arrays: &[(&str, &Tensor)]| {
        let run = executable.run(arrays.iter().copied());
        run.unwrap_err().to_string()
    };
    assert_eq!(
        bound(&[("x", &x)]),
        "no array is given for weight `w` of type f32[2, 2]"
    );
    assert_eq!(
        bound(&[("w", &w)]),
        "no array is given for input `x` of type f32[B, 2]"
    );
    assert_eq!(
        bound(&[("w", &w), ("x", &x), ("z", &x)]),
        "the module has no input `z`; it has x"
    );
    assert_eq!(
        bound(&[("w", &w), ("x", &x), ("x", &x)]),
        "two arrays are given for input `x`"
    );
    let wide = array(&[1, 3], &[0.0; 3]);
    assert_eq!(
        bound(&[("w", &w), ("x", &wide)]),
        "`x` is f32[B, 2], found shape [1, 3]"
    );
    let integers = Tensor::of(vec![1, 2], vec![1i32, 2]);
    assert_eq!(
        bound(&[("w", &w), ("x", &integers)]),
        "`x` is f32, found i32"
    );
    let error = module.interpret([("x", &x)]).unwrap_err().to_string();
    assert!(error.contains("no array is given for input `w`"), "{error}");
    Ok(())
}

#[test]
fn symbols_that_contradict_each_other_are_refused() -> Result<(), Error> {
    let text = "mic@2\nS B\nT0 f32 B\na x T0\na y T0\n+ 0 1\nO 2";
    let executable = Module::parse(text)?.compile(&Config::default())?;
    let (x, y) = (array(&[2], &[1.0, 2.0]), array(&[3], &[0.0; 3]));
    let error = executable.run([("x", &x), ("y", &y)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error: dimension B is 2 in one array and 3 in another"
    );
    Ok(())
}

#[test]
fn one_engine_serves_modules_and_threads() -> Result<(), Error> {
    let engine = Arc::new(Engine::new(&Config::default()).expect("an engine for this machine"));
    let product = Module::parse(PRODUCT)?.compile_on(&engine)?;
    let relu = Module::parse("mic@2\nT0 f32 2\na x T0\nr 0\nO 1")?.compile_on(&engine)?;
    let w = identity();
    let model = product.bind([("w", &w)])?;
    thread::scope(|scope| {
        for rows in 1..5 {
            let (model, relu) = (&model, &relu);
            scope.spawn(move || {
                let x = array(&[rows, 2], &vec![-1.5; 2 * rows]);
                let y = model.run([("x", &x)]).expect("a run");
                assert!(y[0].same_bits(&x));
                let x = array(&[2], &[-1.0, rows as f32]);
                let y = relu.run([("x", &x)]).expect("a run");
                assert_eq!(y[0].elements::<f32>(), [0.0, rows as f32]);
            });
        }
    });
    Ok(())
}

#[test]
fn views_are_read_and_written_where_they_are() -> Result<(), Error> {
    let executable = Module::parse(PRODUCT)?.compile(&Config::default())?;
    let w = [0.0f32, 1.0, 1.0, 0.0];
    let model = executable.bind_views(&[View::new(&[2, 2], &w)])?;
    let mut y = [0f32; 2];
    let x = View::new(&[1, 2], &[3.0f32, 4.0]);
    model.run_into(&[x], &mut [ViewMut::new(&mut y)])?;
    assert_eq!(y, [4.0, 3.0]);
    let mut short = [0f32; 1];
    let refused = model.run_into(&[x], &mut [ViewMut::new(&mut short)]);
    assert!(matches!(
        refused,
        Err(Error::Execution(ExecutionError::Run(_)))
    ));
    let program = model.bound_for(&[x])?;
    assert_eq!(program.program().outputs()[0].shape, [1, 2]);
    let wide = View::new(&[1, 2], &[3.0f64, 4.0]);
    let flat = View::new(&[2], &[3.0f32, 4.0]);
    for (inputs, expected) in [
        (&[wide][..], "`x` is f32, found f64"),
        (&[flat][..], "`x` is f32[B, 2], found shape [2]"),
    ] {
        let refused = model.bound_for(inputs).err();
        assert_eq!(
            refused.map(|why| why.to_string()).as_deref(),
            Some(expected)
        );
    }
    assert!(model.bound_for(&[]).is_err());
    Ok(())
}

#[test]
fn optimising_keeps_bits_unless_asked() -> Result<(), Error> {
    let text = "%0 = Input {name=x} : tensor<f32[4, 4]>\n%1 = Transpose (%0)\n%2 = Transpose (%1)\n\
                %3 = Relu (%2)\n%4 = Relu (%3)\noutputs: %4";
    for level in [Level::O0, Level::O1, Level::O2, Level::O3] {
        let mut module = Module::parse(text)?;
        let report = module.optimize(level)?;
        let changed = report.passes().iter().any(|pass| pass.changed);
        assert_eq!(changed, level != Level::O0, "{level:?}");
        let x = array(&[4, 4], &[-1.0; 16]);
        let outputs = module.interpret([("x", &x)])?;
        assert_eq!(outputs[0].elements::<f32>(), [0.0; 16]);
    }
    // (x + 1) + -1 folds to x only if reassociation is allowed.
    let text = "%0 = Input {name=x} : tensor<f32[2]>\n%1 = ConstF32 {value=1} : tensor<f32[]>\n\
                %2 = ConstF32 {value=-1} : tensor<f32[]>\n%3 = Add (%0, %1)\n%4 = Add (%3, %2)\noutputs: %4";
    let folded = |classes: FastMath| -> Result<String, Error> {
        let mut module = Module::parse(text)?;
        Optimizer::new("fold,dce")?
            .fast_math(classes)
            .run(&mut module)?;
        Ok(module.to_string())
    };
    assert!(folded(FastMath::EXACT)?.contains("Add"));
    assert!(
        !folded(FastMath::ALL)?.contains("Add"),
        "{}",
        folded(FastMath::ALL)?
    );
    Ok(())
}

#[test]
fn a_rule_that_is_switched_off_does_not_act() -> Result<(), Error> {
    let text = "%0 = Input {name=x} : tensor<f32[2]>\n%1 = Relu (%0)\n%2 = Relu (%1)\noutputs: %2";
    let relus = |optimizer: Optimizer| -> Result<usize, Error> {
        let mut module = Module::parse(text)?;
        optimizer.run(&mut module)?;
        Ok(module.to_string().matches("Relu").count())
    };
    assert_eq!(relus(Optimizer::new("canonicalize")?)?, 1);
    assert_eq!(
        relus(Optimizer::new("canonicalize")?.disable("relu-relu"))?,
        2
    );
    Ok(())
}

#[test]
fn what_is_saved_is_read_back() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("mind-api-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("product.mic");
    let module = Module::parse(PRODUCT)?;
    module.save(&path)?;
    let read = Module::from_file(&path)?;
    assert_eq!(read.print(Format::Mic2)?, PRODUCT);
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), PRODUCT);
    for (name, start) in [
        ("m.core", "%0 = Input"),
        ("m.svg", "<svg"),
        ("m.dot", "digraph"),
    ] {
        module.save(folder.join(name))?;
        let text = std::fs::read_to_string(folder.join(name)).expect("the file");
        assert!(text.starts_with(start), "{name}: {text}");
    }
    for name in ["m.onnx", "m.mlpackage"] {
        let fixed = Module::parse("mic@2\nT0 f32 1 2\na x T0\nth 0\nO 1")?;
        fixed.save(folder.join(name))?;
        let read = Module::from_file(folder.join(name))?;
        assert_eq!(
            (read.inputs().len(), read.outputs().len()),
            (1, 1),
            "{name}"
        );
    }
    let refused = module.save(folder.join("m.zip")).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("no format has the extension of"),
        "{refused}"
    );

    let relu = Module::parse("mic@2\nT0 f32 1 2\na x T0\nr 0\nO 1")?;
    let path = folder.join("relu.mil");
    relu.save(&path)?;
    let program = Module::from_file(&path)?;
    let executable = program.compile(&Config::default())?;
    assert_eq!(executable.inputs()[0].ty.to_string(), "f16[1, 2]");
    assert_eq!(executable.outputs()[0].ty.to_string(), "f16[1, 2]");
    let missing = module.save(folder.join("no/folder.mic")).unwrap_err();
    assert!(matches!(missing, Error::File(_)), "{missing}");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    Ok(())
}

#[test]
fn a_model_is_read_with_extents_and_constants() -> Result<(), Error> {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/");
    let model = format!("{examples}classifier.onnx");
    let read = |options: &ReadOptions| Module::from_file_with(&model, options);
    let pixels: Vec<f32> = (0..64).map(|at| at as f32 / 64.0).collect();
    let image = Tensor::of(vec![1, 1, 8, 8], pixels);

    let open = Module::from_file(&model)?.interpret([("image", &image)])?;
    let one = read(&ReadOptions::new().dim("batch", 1))?;
    assert_eq!(one.inputs()[0].ty.to_string(), "f32[1, 1, 8, 8]");
    let bound = read(&ReadOptions::new().bind("image", image.clone()))?;
    assert!(bound.inputs().is_empty());
    let none: [(&str, &Tensor); 0] = [];
    for outputs in [one.interpret([("image", &image)])?, bound.interpret(none)?] {
        assert!(outputs[0].same_bits(&open[0]));
    }

    let unknown = read(&ReadOptions::new().dim("bach", 1)).unwrap_err();
    let text = "the model has no dimension `bach`; its open dimensions are `batch`";
    assert!(unknown.to_string().contains(text), "{unknown}");
    let unknown = read(&ReadOptions::new().bind("x", image.clone())).unwrap_err();
    let text = "the model has no input `x`; its inputs are `image`";
    assert!(unknown.to_string().contains(text), "{unknown}");
    let mlp = format!("{examples}mlp.mic");
    let refused = Module::from_file_with(&mlp, &ReadOptions::new().bind("x", image)).unwrap_err();
    let text = "only of ONNX and StableHLO files";
    assert!(refused.to_string().contains(text), "{refused}");
    let refused = Module::from_file_with(&mlp, &ReadOptions::new().dim("batch", 1)).unwrap_err();
    let text = "the module has no dimension `batch`";
    assert!(refused.to_string().contains(text), "{refused}");
    let as_mic = Module::from_file_with(&mlp, &ReadOptions::new().format(Format::Mic2));
    assert!(matches!(as_mic, Err(Error::Rejected(_))));
    Ok(())
}

#[test]
fn products_of_dequantised_bytes_are_kept_where_asked() -> Result<(), Error> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../lit_tests/mind-onnx/inputs/dequantised.onnx"
    );
    let exact = Module::from_file(path)?.to_string();
    let kept = ReadOptions::new().keeps_dequantized(true);
    let kept = Module::from_file_with(path, &kept)?.to_string();
    assert!(
        exact.contains("DotGeneral") && !kept.contains("DotGeneral"),
        "{exact}\n{kept}"
    );
    Ok(())
}

fn tiny(name: &str) -> std::path::PathBuf {
    let inputs = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../lit_tests/mind-run/inputs"
    );
    std::path::Path::new(inputs).join(name)
}

#[test]
fn a_decoder_completes_a_prompt() -> Result<(), Error> {
    let files = Files::open(tiny("tiny-qwen2"))?;
    let decoder = Decoder::new(&files, &Config::default())?;
    let text = decoder.complete("a cat dog", 12, Sampling::default())?;
    assert_eq!(text, ". . . . it a dog . . . sat a");
    let tokens = decoder.generate(&[1, 2, 3], 12, Sampling::default())?;
    assert_eq!(tokens, [15, 15, 15, 15, 12, 1, 3, 15, 15, 15, 4, 1]);
    let mut session = decoder.session(6)?;
    let mut logits = session.prefill(&[1, 2])?;
    logits = session
        .decode(3)
        .inspect(|next| assert_eq!(next.len(), logits.len()))?;
    for token in &tokens[..3] {
        assert_eq!(largest(&logits), *token);
        logits = session.decode(*token)?;
    }
    assert_eq!(largest(&logits), tokens[3]);
    Ok(())
}

/// Expected outputs are those of the tools on the same models: lit_tests/mind-run/{pair,speech,generate}.test.
#[test]
fn texts_end_where_models_and_callers_say() -> Result<(), Error> {
    let files = Files::open(tiny("tiny-t5"))?;
    let pair = Decoder::new(&files, &Config::default())?;
    assert_eq!((pair.start(), pair.ends()), (Some(0), &[1][..]));
    let said = |how: Generation| pair.complete("Cat dog sat", 9, how);
    let all = said(Generation::default())?;
    assert!(all.starts_with("a dog dog say"), "{all}");
    let stops = vec![" say".to_owned()];
    let shorter = Generation {
        stops,
        ..Generation::default()
    };
    assert_eq!(said(shorter.clone())?, "a dog dog");
    let prompt = pair.encode("Cat dog sat")?;
    let tokens = pair.generate(&prompt, 9, Sampling::default())?;
    assert_eq!(pair.generate(&prompt, 9, shorter)?, tokens[..4]);
    let without = Generation {
        stop_tokens: vec![tokens[3]],
        ..Generation::default()
    };
    assert_eq!(pair.generate(&prompt, 9, without)?, tokens[..3]);
    let warm = Sampling {
        temperature: 6.0,
        ..Sampling::default()
    };
    let further = Generation {
        ignores_ends: true,
        ..warm.into()
    };
    let ended = pair.generate(&prompt, 40, warm)?;
    assert!(ended.len() < 40 && ended.last() == Some(&1), "{ended:?}");
    let further = pair.generate(&prompt, 40, further)?;
    assert!(further.len() == 40 && further.starts_with(&ended));
    assert!(matches!(pair.session(4).err(), Some(Error::Model(_))));
    let none = pair.hear(&[], Hearing::default(), None, Sampling::default());
    assert!(matches!(none, Err(Error::Model(_))));

    let files = Files::open(tiny("tiny-whisper"))?;
    let model = Decoder::new(&files, &Config::default())?;
    let wav = std::fs::read(tiny("tiny-whisper").join("sound.wav")).expect("a file");
    let hear = |how: Hearing<'_>| model.transcribe(&wav, how, Some(10), Sampling::default());
    assert_eq!(
        hear(Hearing::default())?,
        "sat sat the ran sat ran sat sat ran sat"
    );
    let klingon = Hearing {
        language: Some("tlh"),
        task: None,
    };
    assert!(matches!(hear(klingon), Err(Error::Files(_))));
    let refused = model.complete("cat", 1, Sampling::default()).unwrap_err();
    assert!(refused.to_string().contains("read audio"), "{refused}");
    Ok(())
}

#[test]
fn an_encoder_makes_vectors() -> Result<(), Error> {
    let files = Files::open(tiny("tiny-bert"))?;
    assert!(files.is_encoder()? && !Files::open(tiny("tiny-qwen2"))?.is_encoder()?);
    let encoder = Encoder::new(&files, &Config::default())?;
    let (cat, dog) = (encoder.embed("a cat")?, encoder.embed("a dog")?);
    assert_eq!(cat.len(), encoder.width());
    assert!(cat != dog && cat == encoder.embed("a cat")?);
    let long = encoder.embed(&"cat ".repeat(10_000)).unwrap_err();
    assert!(matches!(long, Error::Model(_)), "{long}");
    Ok(())
}

/// A user of the library may overwrite the file while the module is in use.
#[test]
fn a_file_that_was_read_may_change() -> Result<(), Error> {
    let original = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../examples/classifier.onnx"
    );
    let name = format!("mind-api-{}.onnx", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::copy(original, &path).expect("a copy");
    let module = Module::from_file(&path)?;
    std::fs::write(&path, b"").expect("an empty file");
    std::fs::remove_file(&path).expect("the file is ours");
    let expected = Module::from_file(original)?;
    assert_eq!(module.to_string(), expected.to_string());
    Ok(())
}

#[test]
fn outputs_keep_the_names_of_their_file() -> Result<(), Error> {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../examples/classifier.onnx"
    );
    let mut module = Module::from_file(model)?;
    module.optimize(Level::O1)?;
    let Written::Bytes(bytes) = module.write("onnx")? else {
        panic!("an ONNX model is bytes");
    };
    let again = Module::from_bytes("again.onnx", bytes, &ReadOptions::new())?;
    assert_eq!(again.output_names(), ["classes"]);
    assert_eq!(module.bit_difference(&again, 3)?, None);
    // The names of the old outputs are dropped.
    module.set_outputs(&[]);
    assert!(module.output_names().is_empty());
    Ok(())
}

#[test]
fn files_that_are_no_model_say_why() {
    let missing = Files::open(tiny("no-such-model")).err().expect("no files");
    assert!(missing.to_string().contains("no-such-model"), "{missing}");
    let files = Files::open(tiny("tiny-llama.gguf")).expect("a file");
    let decoder = Decoder::new(&files, &Config::default()).expect("a model");
    let refused = decoder.complete("tea", 1, Sampling::default()).unwrap_err();
    assert!(
        refused.to_string().contains("no tokenizer.json"),
        "{refused}"
    );
    let refused = decoder
        .generate(&[1 << 20], 1, Sampling::default())
        .unwrap_err();
    assert!(matches!(refused, Error::Model(_)), "{refused}");
}

#[test]
fn rules_that_are_wrong_never_act() -> Result<(), Error> {
    let rules = "rule hasty\n  class exact\n  core.maximum(?x, core.neg(?x)) => core.neg(?x)\n";
    let refused = Optimizer::new("fold")?.rules("hasty.rules", rules).err();
    let shown = refused.expect("an unsound rule").to_string();
    assert!(
        shown.starts_with("error: rule `hasty` is not `exact`: "),
        "{shown}"
    );
    assert!(shown.contains(" --> hasty.rules:1:6"), "{shown}");
    Ok(())
}

#[test]
fn a_report_says_what_was_rewritten_and_what_was_not() -> Result<(), Error> {
    let text = "mic@2\nT0 f32 4\na x T0\nr 0\nr 1\nO 2";
    let mut module = Module::parse(text)?;
    let report = Optimizer::new("canonicalize")?.missed().run(&mut module)?;
    let acted: Vec<_> = report
        .remarks()
        .iter()
        .filter(|remark| remark.acted)
        .collect();
    assert_eq!(acted.len(), 1, "{acted:?}");
    assert_eq!((acted[0].line, acted[0].pass), (Some(5), "canonicalize"));
    assert!(report.remarks().iter().any(|remark| !remark.acted));
    let quiet = Optimizer::new("canonicalize")?.run(&mut Module::parse(text)?)?;
    assert!(quiet.remarks().iter().all(|remark| remark.acted));
    Ok(())
}
