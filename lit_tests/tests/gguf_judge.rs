//! Compares quantised blocks and split files with the package `gguf`.
//!
//! `MIND_GGUF` names a Python with that package. Without it the group is reported as not run; `MIND_GGUF_REQUIRED=1`
//! makes that a failure. Random blocks of every type must decode to the same bits when read from a split model written
//! by the package. `INSTA_UPDATE=always` records a block of each type, with which mind-weights is tested without a
//! Python; see docs/testing.md.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_ir::random::Rng;
use mind_weights::{WeightFile, WeightType, part_names};

/// The number of blocks of each type, a multiple of those in a row.
const BLOCKS: usize = 4000;

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_GGUF").ok();
    let required = std::env::var("MIND_GGUF_REQUIRED").is_ok_and(|value| value == "1");
    let name = "blocks_and_parts_of_gguf";
    let trial = match python {
        Some(python) => Trial::test(name, move || judged(&python)),
        None if required => Trial::test(name, || {
            Err(Failed::from("`MIND_GGUF` names no Python with gguf"))
        }),
        None => Trial::test(format!("{name} (not run: MIND_GGUF is not set)"), || Ok(()))
            .with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn judged(python: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-gguf-{}", std::process::id()));
    let outcome = judge_in(python, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(Failed::from)
}

fn judge_in(python: &str, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    let types: Vec<WeightType> = WeightType::all()
        .filter(|own| own.block_elements() > 1)
        .collect();
    let mut random = Rng::new(20);
    let mut list = String::new();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).map_err(|why| format!("{name}: {why}"))
    };
    let mut all = Vec::new();
    for &own in &types {
        let size = own.block_bytes();
        let blocks: Vec<u8> = (0..BLOCKS * size)
            .map(|_| random.below(256) as u8)
            .collect();
        write(&format!("{own}.blocks"), &blocks)?;
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{own} {size}");
        all.push(blocks);
    }
    write("types", list.as_bytes())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gguf_judge.py");
    let status = Command::new(python).arg(script).arg(folder).status();
    if !status.map_err(|why| format!("{python}: {why}"))?.success() {
        return Err(format!("{script} failed"));
    }
    let read =
        |name: &str| std::fs::read(folder.join(name)).map_err(|why| format!("{name}: {why}"));
    let count = types.len().div_ceil(3);
    let names = part_names(&format!("model-00001-of-{count:05}.gguf")).ok_or("no parts")?;
    let files = names
        .iter()
        .map(|name| read(name))
        .collect::<Result<Vec<_>, _>>()?;
    let parts = names.iter().zip(&files).map(|(name, bytes)| {
        let file = WeightFile::parse(bytes).map_err(|why| format!("{name}: {why}"))?;
        Ok((name.clone(), file))
    });
    let parts = parts.collect::<Result<Vec<_>, String>>()?;
    let whole = WeightFile::join(parts).map_err(|(name, why)| format!("{name}: {why}"))?;
    let mut record = Vec::new();
    for (own, blocks) in types.into_iter().zip(&all) {
        let theirs = read(&format!("{own}.numbers"))?;
        let (theirs, _) = theirs.as_chunks::<4>();
        let theirs: Vec<f32> = theirs
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        let view = whole.info(own.name()).and_then(|info| whole.view(info));
        let view = view.ok_or_else(|| format!("{own}: no tensor"))?;
        if view.bytes != blocks {
            return Err(format!("{own}: the tensor has other bytes"));
        }
        let mut ours = vec![0.0; view.elements()];
        view.decode_f32(&mut ours)
            .map_err(|why| format!("{own}: {why}"))?;
        let same = |x: f32, y: f32| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
        let mut pairs = ours.iter().zip(&theirs);
        if ours.len() != theirs.len() || !pairs.all(|(x, y)| same(*x, *y)) {
            return Err(format!("{own}: numbers differ"));
        }
        println!("{own}: {} numbers have the same bits", ours.len());
        record.push(entry(own, blocks, &theirs).ok_or_else(|| format!("{own}: no finite block"))?);
    }
    let kept = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../compiler/formats/mind-weights/tests/files/blocks.txt"
    );
    mind_snapshot::check_file(kept, record.join("\n"));
    Ok(())
}

/// Returns the first block whose numbers are all finite, with those numbers in hexadecimal.
fn entry(own: WeightType, blocks: &[u8], numbers: &[f32]) -> Option<String> {
    let blocks = blocks.chunks(own.block_bytes());
    let mut pairs = blocks.zip(numbers.chunks(own.block_elements()));
    let (block, numbers) = pairs.find(|(_, numbers)| numbers.iter().all(|x| x.is_finite()))?;
    let bytes: Vec<String> = block.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut text = format!("{own}\n{}\n", bytes.join(" "));
    for line in numbers.chunks(16) {
        let words: Vec<String> = line
            .iter()
            .map(|x| format!("{:08x}", x.to_bits()))
            .collect();
        text += &words.join(" ");
        text.push('\n');
    }
    Some(text)
}
