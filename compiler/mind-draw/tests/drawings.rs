//! Layouts without overlap, folding, overviews, markup.

use std::time::{Duration, Instant};

use mind_draw::{
    Area, BoxLine, Detail, DrawBox, Drawing, Edge, Fill, Layout, Mark, dot, escape, svg,
};
use mind_ir::random::Rng;
use petgraph::graph::NodeIndex;

fn op(drawing: &mut Drawing, title: &str, sources: &[NodeIndex]) -> NodeIndex {
    let fill = if sources.is_empty() {
        Fill::Param
    } else {
        Fill::Op
    };
    let key = format!("%{}", drawing.graph.node_count());
    let node = drawing.add(DrawBox {
        rows: vec![BoxLine::with_aside(title, &key), BoxLine::new("f32[2]")],
        key,
        like: title.to_owned(),
        fill,
        ops: 1,
        ..DrawBox::default()
    });
    drawing.connect(sources.iter().copied(), node, Edge::default());
    node
}

/// A drawing with boxes of many sizes, edges upwards, edges to rows and edges from a box to itself.
fn drawn(seed: u64) -> Drawing {
    let mut rng = Rng::new(seed);
    let mut drawing = Drawing::default();
    let count = 1 + rng.below(60);
    for _ in 0..count {
        let rows = 1 + rng.below(4);
        let text = || BoxLine::new("x".repeat(1 + rng.below(30)));
        drawing.add(DrawBox {
            rows: Vec::new(),
            ..DrawBox::default()
        });
        let last = drawing.graph.node_weights_mut().last().expect("a box");
        last.rows = std::iter::repeat_with(text).take(rows).collect();
    }
    for _ in 0..rng.below(2 * count + 1) {
        let (from, to) = (rng.below(count), rng.below(count));
        let (from, to) = match rng.below(8) {
            0 => (from, to),
            _ => (from.min(to), from.max(to)),
        };
        let (from, to) = (NodeIndex::new(from), NodeIndex::new(to));
        let rows = drawing.graph[to].rows.len();
        let row = (seed.is_multiple_of(3) || from == to).then(|| rng.below(rows));
        let chosen = rng.below(4) == 0;
        drawing.graph.add_edge(from, to, Edge { row, chosen });
    }
    drawing
}

/// `layers` of `ops` each, all reading `mask`, with weights, skipping edges and a result of each.
fn network(layers: usize, ops: usize) -> Drawing {
    let mut drawing = Drawing::default();
    let mask = op(&mut drawing, "Mask", &[]);
    let mut x = op(&mut drawing, "Input", &[]);
    drawing.graph[x].fill = Fill::Input;
    let mut results = Vec::new();
    for _ in 0..layers {
        let skip = x;
        for number in 0..ops {
            let weight = op(&mut drawing, "Weight", &[]);
            let title = format!("Op{number}");
            x = op(&mut drawing, &title, &[x, weight]);
        }
        x = op(&mut drawing, "Add", &[skip, x, mask]);
        results.push(x);
    }
    let end = op(&mut drawing, "outputs", &results);
    drawing.graph[end].fill = Fill::Output;
    drawing
}

#[test]
fn no_edge_runs_under_a_box_that_is_not_its_end() {
    for seed in 0..400 {
        let drawing = drawn(seed);
        let layout = Layout::new(&drawing);
        let faults = layout.faults(&drawing);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        assert_eq!(layout, Layout::new(&drawing), "seed {seed}");
        let (svg, dot) = (svg(&drawing), dot(&drawing));
        assert_eq!(svg.matches("<g ").count(), drawing.graph.node_count());
        assert_eq!(dot.matches(" -> ").count(), drawing.graph.edge_count());
    }
}

#[test]
fn faults_are_found() {
    let drawing = network(1, 2);
    let mut layout = Layout::new(&drawing);
    layout.boxes[5] = layout.boxes[3];
    let faults = layout.faults(&drawing);
    assert!(
        faults.contains(&"boxes 3 and 5 overlap".to_owned()),
        "{faults:?}"
    );
    // The middle of the first edge.
    let [a, .., b] = layout.routes[0][..] else {
        panic!("a route");
    };
    let (x, y) = ((a.x + b.x) / 2 - 4, (a.y + b.y) / 2 - 4);
    layout.boxes[7] = Area {
        x,
        y,
        width: 8,
        height: 8,
    };
    let faults = layout.faults(&drawing);
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("runs under box 7")),
        "{faults:?}"
    );
}

#[test]
fn a_chain_is_straight() {
    let mut drawing = Drawing::default();
    let mut x = op(&mut drawing, "Input", &[]);
    for title in ["Exp", "SomethingLong", "Neg"] {
        x = op(&mut drawing, title, &[x]);
    }
    let layout = Layout::new(&drawing);
    assert!(
        layout.routes.iter().all(|route| route.len() == 2),
        "{:?}",
        layout.routes
    );
}

#[test]
fn equal_layers_are_drawn_once() {
    for layers in [2, 3, 12, 200] {
        let drawing = network(layers, 8);
        let folded = drawing.simplified(Detail::Folded);
        assert_eq!(folded.frames, [layers]);
        // The mask, the input, the outputs, and a layer of 8 ops with weights and a sum.
        assert_eq!(folded.graph.node_count(), 3 + 2 * 8 + 1, "{layers} layers");
        let framed = folded.boxes().filter(|own| own.frame == Some(0)).count();
        assert_eq!(framed, 2 * 8 + 1, "what all layers share is outside");
        let layout = Layout::new(&folded);
        assert_eq!(layout.faults(&folded), Vec::<String>::new());
        assert!(svg(&folded).contains(&format!(">× {layers}</text>")));
        assert!(dot(&folded).contains(&format!("label=<× {layers}>")));
    }
    let complete = network(12, 8).simplified(Detail::Complete);
    assert_eq!(
        (complete.graph.node_count(), complete.frames.len()),
        (3 + 12 * 17, 0)
    );
}

#[test]
fn layers_of_equal_ops_are_told_apart_by_their_operands() {
    let mut drawing = Drawing::default();
    let mut x = op(&mut drawing, "Input", &[]);
    drawing.graph[x].fill = Fill::Input;
    for _ in 0..4 {
        let weight = op(&mut drawing, "Weight", &[]);
        let scaled = op(&mut drawing, "Mul", &[x, weight]);
        let squared = op(&mut drawing, "Mul", &[scaled]);
        x = op(&mut drawing, "Mul", &[x, squared]);
    }
    op(&mut drawing, "outputs", &[x]);
    let folded = drawing.simplified(Detail::Folded);
    assert_eq!((folded.frames, folded.graph.node_count()), (vec![4], 6));
}

#[test]
fn no_edge_runs_under_a_box_in_a_frame() {
    for seed in 0..200u64 {
        let mut rng = Rng::new(seed);
        let mut drawing = Drawing::default();
        let shared: Vec<NodeIndex> = (0..3).map(|_| op(&mut drawing, "Shared", &[])).collect();
        let mut layer = vec![(0, 0, 0); 4 + rng.below(8)];
        for own in &mut layer {
            *own = (rng.bits() as usize, rng.bits() as usize, rng.below(6));
        }
        let mut all = vec![shared[0]];
        for _ in 0..5 {
            let carried = all[all.len() - 1];
            all = vec![carried];
            for (number, &(a, b, other)) in layer.iter().enumerate() {
                let mut reads = vec![all[all.len() - 1], all[a % all.len()], all[b % all.len()]];
                reads.extend(shared.get(1 + other));
                all.push(op(&mut drawing, &format!("Op{number}"), &reads));
            }
        }
        op(
            &mut drawing,
            "outputs",
            &[all[all.len() - 1], all[1], shared[1]],
        );
        let folded = drawing.simplified(Detail::Folded);
        assert_eq!(folded.frames, [5], "seed {seed}");
        let faults = Layout::new(&folded).faults(&folded);
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
    }
}

#[test]
fn what_differs_is_not_folded() {
    // A type, a mark, and who reads a value.
    let same = network(4, 8).simplified(Detail::Folded);
    let mut other = network(4, 8);
    let fifth = other
        .graph
        .node_indices()
        .filter(|&node| other.graph[node].like == "Op5");
    let fifth = fifth.max().expect("an op");
    other.graph[fifth].like.push('!');
    assert_eq!(other.simplified(Detail::Folded).frames, [3]);
    let mut marked = network(4, 8);
    marked.graph[fifth].mark = Mark::New;
    assert_eq!(marked.simplified(Detail::Folded).frames, [3]);
    let mut crossed = network(4, 8);
    let first = crossed
        .graph
        .node_indices()
        .find(|&node| crossed.graph[node].like == "Op2");
    crossed
        .graph
        .add_edge(first.expect("an op"), fifth, Edge::default());
    assert_eq!(crossed.simplified(Detail::Folded).frames, [3]);
    assert_eq!(same.frames, [4]);
}

#[test]
fn folding_does_not_depend_on_the_order_of_independent_boxes() {
    // Weights first, as mic@1 has them.
    let mut drawing = Drawing::default();
    let weights: Vec<NodeIndex> = (0..40).map(|_| op(&mut drawing, "Weight", &[])).collect();
    let mut x = op(&mut drawing, "Input", &[]);
    for layer in weights.chunks(4) {
        for (number, &weight) in layer.iter().enumerate() {
            x = op(&mut drawing, &format!("Op{number}"), &[x, weight]);
        }
    }
    let folded = drawing.simplified(Detail::Folded);
    assert_eq!((folded.frames, folded.graph.node_count()), (vec![10], 9));
}

#[test]
fn more_than_a_hundred_boxes_get_an_overview() {
    let mut drawing = Drawing::default();
    let mut x = op(&mut drawing, "Input", &[]);
    drawing.graph[x].fill = Fill::Input;
    for number in 0..300 {
        let weight = op(&mut drawing, "Weight", &[]);
        x = op(
            &mut drawing,
            &format!("Op{}", number * number % 211),
            &[x, weight],
        );
    }
    let overview = drawing.simplified(Detail::Folded);
    let count = overview.graph.node_count();
    assert!((20..=40).contains(&count), "{count} boxes");
    assert_eq!(
        overview.boxes().skip(1).map(|own| own.ops).sum::<usize>(),
        300
    );
    assert_eq!(overview.note.as_deref(), Some("An overview of 300 ops"));
    assert!(svg(&overview).contains(" ops</text>"));
    assert!(Layout::new(&overview).faults(&overview).is_empty());
    assert_eq!(drawing.simplified(Detail::Complete).graph.node_count(), 601);
}

#[test]
fn an_overview_of_100_000_ops_is_quick() {
    for drawing in [network(2_500, 40), network(1, 100_000), network(50_000, 1)] {
        let start = Instant::now();
        let overview = drawing.simplified(Detail::Complete);
        let text = svg(&overview);
        assert!(
            overview.graph.node_count() <= 120,
            "{}",
            overview.graph.node_count()
        );
        assert!(text.len() < 200_000);
        // About a tenth of a second on a quiet machine.
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn drawings_of_a_hundred_boxes_that_read_all_before_are_quick() {
    let mut drawing = Drawing::default();
    let mut all = Vec::new();
    for number in 0..100 {
        let node = op(&mut drawing, &format!("Op{number}"), &all);
        all.push(node);
    }
    let start = Instant::now();
    assert!(Layout::new(&drawing).faults(&drawing).is_empty());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn text_is_escaped_and_measured() {
    assert_eq!(
        escape("<a b=\"c\">&'\u{7}"),
        "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}"
    );
    let mut drawing = Drawing::default();
    op(&mut drawing, "a<b", &[]);
    op(&mut drawing, "漢字漢字漢字漢字漢字漢字", &[]);
    op(&mut drawing, "aaaaaaaaaaaaaaaaaaaaaaaa", &[]);
    let layout = Layout::new(&drawing);
    assert_eq!(layout.boxes[1].width, layout.boxes[2].width);
    assert!(svg(&drawing).contains("a&lt;b") && dot(&drawing).contains("a&lt;b"));
}

#[test]
fn changes_are_marked() {
    let (mut before, mut after) = (network(1, 2), network(1, 3));
    after.graph[NodeIndex::new(0)]
        .rows
        .push(BoxLine::new("more"));
    Drawing::mark_changes(&mut before, &mut after);
    let marks = |drawing: &Drawing| drawing.boxes().map(|own| own.mark).collect::<Vec<Mark>>();
    let (same, new, changed) = (Mark::Same, Mark::New, Mark::Changed);
    assert_eq!(
        marks(&before),
        [changed, same, same, same, same, same, changed, changed]
    );
    assert_eq!(
        marks(&after),
        [
            changed, same, same, same, same, same, changed, changed, new, new
        ]
    );
}
