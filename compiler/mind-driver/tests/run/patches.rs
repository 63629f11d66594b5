//! Random edits: the edited module verifies, or the edits are refused.

use mind_draw::{Detail, Layout};
use mind_driver::draw;
use mind_driver::formats::Format;
use mind_driver::graph_diff::difference;
use mind_driver::patch::{Edit, NewBody, NewStatement, PatchError, Place, apply};
use mind_driver::session::{Session, registry};
use mind_ir::Graph;
use mind_ir::random::Rng;
use mind_ir::verify::{VerifyConfig, verify};
use mind_testgen::{Config, module};

/// A generator of random edits.
struct Draws(Rng);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound as usize) as u64
    }

    fn edit(&mut self, ids: u64) -> Edit {
        let id = self.below(ids);
        let statement = |draws: &mut Draws| NewStatement {
            id: (draws.below(3) == 0).then(|| draws.below(2 * ids)),
            op: ["Relu", "Add", "Sum", "nosuch", "Fused", "Input", "ConstI64"]
                [draws.below(7) as usize]
                .to_owned(),
            operands: (0..draws.below(3)).map(|_| draws.below(ids)).collect(),
            attributes: match draws.below(3) {
                0 => vec![("axes".to_owned(), serde_json::json!([0]))],
                1 => vec![("name".to_owned(), serde_json::json!("fresh"))],
                _ => Vec::new(),
            },
            ty: (draws.below(4) == 0).then(|| "f32[2, B]".to_owned()),
            body: (draws.below(3) == 0).then(|| NewBody {
                arguments: (0..draws.below(3)).map(|_| draws.below(2 * ids)).collect(),
                statements: vec![NewStatement {
                    op: ["Relu", "ConstTensor"][draws.below(2) as usize].to_owned(),
                    operands: (0..draws.below(2)).map(|_| draws.below(2 * ids)).collect(),
                    ..NewStatement::default()
                }],
                outputs: (0..draws.below(3)).map(|_| draws.below(2 * ids)).collect(),
            }),
        };
        match self.below(7) {
            0 => Edit::Insert {
                statement: statement(self),
                place: Place::After(id),
            },
            1 => Edit::Insert {
                statement: statement(self),
                place: Place::Before(id),
            },
            2 => Edit::Delete {
                id,
                instead: (self.below(2) == 0).then(|| self.below(ids)),
            },
            3 => Edit::Replace {
                id,
                statement: statement(self),
            },
            4 => Edit::SetType {
                id,
                ty: Some("f16[?]".to_owned()),
            },
            5 => Edit::Rename {
                id,
                to: self.below(2 * ids),
            },
            _ => Edit::SetOutputs(vec![id]),
        }
    }
}

#[test]
fn edits_leave_a_valid_module_or_are_refused() {
    let (session, registry) = (Session::default(), registry());
    let (mut made, mut refused) = (0, 0);
    for seed in 0..300 {
        let g = module(seed, &Config::default());
        let mut draws = Draws(Rng::new(seed));
        let edits: Vec<Edit> = (0..1 + seed % 3).map(|_| draws.edit(24)).collect();
        match apply(&g, &edits, &registry, &VerifyConfig::default()) {
            Ok(mut after) => {
                assert!(
                    !verify(&mut after, &VerifyConfig::default()).has_errors(),
                    "{edits:?}"
                );
                assert!(
                    session.formats.print(Format::Core, &after).is_ok(),
                    "{edits:?}"
                );
                made += 1;
            }
            Err(PatchError::Json { .. }) => panic!("nothing is read here"),
            Err(_) => refused += 1,
        }
    }
    assert!(made > 20 && refused > 20, "{made} made, {refused} refused");
}

fn parsed(session: &Session, text: &str) -> Graph {
    let parsed = session
        .formats
        .parse(Format::Core, text, 0, &mind_text::Limits::default());
    let mut g = parsed.unwrap_or_else(|found| panic!("{found:?}"));
    assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
    g
}

#[test]
fn a_module_read_back_does_not_differ_and_one_output_less_does() {
    let session = Session::default();
    let mut explained = 0;
    for seed in 0..100 {
        let g = module(seed, &Config::default());
        let again = parsed(
            &session,
            &session.formats.print(Format::Core, &g).expect("Core text"),
        );
        let none = difference(&session.formats, &g, &again);
        assert!(none.is_empty(), "{}", none.text("before", "after"));
        if g.outputs().len() > 1 {
            let mut less = g.clone();
            let (end, first) = (
                less.terminator(less.body()).expect("outputs"),
                less.outputs()[0],
            );
            less.set_operands(end, &[first]);
            assert!(!difference(&session.formats, &g, &less).is_empty());
            explained += 1;
        }
    }
    assert!(explained > 10);
}

#[test]
fn drawings_have_a_box_for_every_op() {
    for seed in 0..50 {
        let g = module(seed, &Config::default());
        let drawing = draw::module(&g);
        assert_eq!(drawing.graph.node_count(), g.ops(g.body()).count());
        let edges = drawing.graph.raw_edges();
        assert!(edges.iter().all(|edge| edge.source() < edge.target()));
    }
}

#[test]
fn no_edge_of_a_drawn_module_runs_under_a_box() {
    for seed in 0..50 {
        let g = module(seed, &Config::default());
        for detail in [Detail::Folded, Detail::Complete] {
            let drawing = draw::module(&g).simplified(detail);
            let faults = Layout::new(&drawing).faults(&drawing);
            assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        }
    }
}
