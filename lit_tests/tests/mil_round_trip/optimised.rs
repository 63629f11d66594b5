//! Programs that are optimised between import and lowering.

use mind_ir::Graph;
use mind_testgen::mil::programs;

use crate::optimiser::Optimiser;
use crate::{FLOATS, Fate, NOT_IMPORTED, excuse, fate_through, kept, read};

/// The opsets that programs are read in.
const OPSETS: [&str; 4] = ["ios15", "ios16", "ios17", "ios18"];

#[test]
fn optimised_programs_come_back_equivalent() {
    let optimiser = Optimiser::new();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for program in programs() {
        for opset in OPSETS {
            for (float, error) in FLOATS {
                let Some(source) = read(&program.text_in(float, opset)) else {
                    continue;
                };
                let (op, name) = (program.op, format!("{} {opset} {float}", program.op));
                let passes = |g: &mut Graph| optimiser.run(g);
                match fate_through(op, &source, &passes, &kept(opset), error) {
                    Fate::NotImported(_) if excuse(NOT_IMPORTED, op).is_some() => {}
                    Fate::NotImported(why) => wrong.push(format!("{name}: not imported: {why}")),
                    Fate::NotLowered(why) => wrong.push(format!("{name}: not lowered: {why}")),
                    Fate::Lowered { differs, text, .. } => {
                        ran += 1;
                        wrong.extend(differs.map(|why| format!("{name}: {why}\n{text}")));
                    }
                }
            }
        }
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} programs\n{}", wrong.join("\n"));
    assert!(ran > 1200, "{ran} programs came back");
}
