//! Generated modules with all ops of the tables, and texts derived from them.

use mind_diag::Span;
use mind_ir::attr::{Attr, AttrKind, Literal, Padding};
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::random::Rng;
use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::{BlockId, Ty, ValueId};
use mind_text::{Format, Limits};
use proptest::prelude::*;

use crate::{FORMATS, dump, print, read, registry};

/// Source of random parts of modules.
struct Draw(Rng);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn int(&mut self) -> i64 {
        match self.below(8) {
            0 => i64::MIN,
            1 => i64::MAX - 1,
            _ => self.below(7) as i64 - 2,
        }
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        self.0.pick(all)
    }

    fn dim(&mut self, g: &mut Graph, open: bool) -> Dim {
        match self.below(5) {
            0 => Dim::Symbol(g.intern(["B", "seq", "_x1"][self.below(3)])),
            1 if open => Dim::Dynamic,
            _ => Dim::Fixed(self.int()),
        }
    }

    fn ty(&mut self, g: &mut Graph) -> Ty {
        let dims: Shape = (0..self.below(4)).map(|_| self.dim(g, true)).collect();
        let dtype = *self.pick(DType::ALL);
        g.intern_type(TypeView {
            dtype,
            shape: &dims,
        })
    }

    fn ints(&mut self) -> Vec<i64> {
        (0..self.below(4)).map(|_| self.int()).collect()
    }

    /// Returns the bytes of `count` elements whose spelling is unique: no NaN with a payload.
    fn elements(&mut self, dtype: DType, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..count {
            let text = match dtype {
                DType::Bool => ["true", "false"][self.below(2)].to_owned(),
                dtype if dtype.is_float() => {
                    ["0.1", "-0.0", "nan", "-inf", "1e-5", "3.0"][self.below(6)].to_owned()
                }
                _ => self.below(128).to_string(),
            };
            mind_text::number::read_element(&text, dtype, &mut bytes).unwrap();
        }
        bytes
    }
}

/// The insertion block and the values that are visible in it.
struct Scope {
    block: BlockId,
    values: Vec<ValueId>,
}

/// Maximum nesting of bodies.
const DEPTH: usize = 3;

/// Appends a random op of kind `def`.
fn push(
    g: &mut Graph,
    rng: &mut Draw,
    def: &'static OpDef,
    scope: &mut Scope,
    (format, depth): (Format, usize),
) {
    if def.regions > 0 && depth == DEPTH {
        return;
    }
    let values = scope.values.clone();
    let extra = def.variadic.map_or(0, |_| 1 + rng.below(3));
    let extra = extra + def.optional.map_or(0, |_| rng.below(2));
    let count = def.operands.len() + extra;
    if values.is_empty() && count > 0 {
        return;
    }
    let operands: Vec<ValueId> = (0..count).map(|_| *rng.pick(&values)).collect();
    let ty = rng.ty(g);
    let dtype = g.types().get(ty).dtype;
    let (lists, dims, pads) = (
        [rng.ints(), rng.ints(), rng.ints()],
        (0..rng.below(4))
            .map(|_| rng.dim(g, false))
            .collect::<Shape>(),
        [1, 2, 3, rng.int()],
    );
    let length = lists.iter().map(Vec::len).min().unwrap_or(0);
    let splat = rng.below(2) == 0;
    let elements = if splat { 1 } else { rng.below(4) };
    let bytes = rng.elements(dtype, elements);
    let literal = Literal {
        dtype,
        count: (!splat).then_some(elements),
        bytes: &bytes,
    };
    let name = g.intern(["x", "w1", "_b"][rng.below(3)]);
    let several = def
        .attrs
        .iter()
        .filter(|attr| attr.kind == AttrKind::Ints)
        .count()
        > 1;
    let mut attrs: Vec<Attr<'_>> = Vec::new();
    for (index, attr) in def.attrs.iter().enumerate() {
        attrs.push(match attr.kind {
            AttrKind::Int => Attr::Int(rng.int()),
            AttrKind::Bool => Attr::Bool(rng.below(2) == 0),
            AttrKind::Float => Attr::float([0.5, -0.0, f64::NAN, f64::INFINITY][rng.below(4)]),
            AttrKind::Str => Attr::Str(name),
            AttrKind::Ints if several => Attr::Ints(&lists[index % lists.len()][..length]),
            AttrKind::Ints => Attr::Ints(&lists[index % lists.len()]),
            AttrKind::Dims => Attr::Dims(&dims),
            AttrKind::LiteralData => Attr::Literal(&literal),
            AttrKind::ElementType => Attr::DType(dtype),
            // Neither format can express how a weight is stored.
            AttrKind::Word(_) if def.has(Trait::Interface) => attr.default.unwrap(),
            AttrKind::Word(words) => Attr::Word(words[rng.below(words.len())]),
            AttrKind::Pad => Attr::Padding(match rng.below(3) {
                0 => Padding::Valid,
                1 => Padding::Same,
                _ => Padding::Custom(&pads),
            }),
        });
    }
    if format == Format::Mic2 {
        match def.name {
            "core.split" => (attrs[1], attrs[2]) = (Attr::Int(3), Attr::Int(rng.below(3) as i64)),
            "core.gather" => attrs[1] = def.attrs[1].default.unwrap(),
            "core.sum" | "core.mean" | "core.max" => attrs[1] = Attr::Bool(false),
            _ => {}
        }
    }
    let at = InsertPoint::End(scope.block);
    let new = NewOp {
        def,
        operands: &operands,
        attrs: &attrs,
        results: def.results.count().unwrap_or(1 + rng.below(3)),
        span: Span::FILE,
    };
    let op = g.insert(at, new);
    scope.values.extend(g.results(op));
    if format == Format::Mic1 && rng.below(3) == 0 {
        // The labels above those of all other values, until the regions are filled.
        let last = g.results(op).get(g.results(op).len() - 1);
        g.set_label(last, g.label(last) + rng.below(1000) as u64);
    }
    for region in 0..g.regions(op).len() {
        let block = g.block(g.regions(op)[region]);
        let arguments = g.add_arguments(block, rng.below(3));
        for argument in arguments.into_iter().filter(|_| rng.below(3) == 0) {
            g.declare(argument, ty);
        }
        let values = arguments.into_iter().collect();
        let mut scope = Scope { block, values };
        fill(g, rng, &mut scope, (format, depth + 1));
    }
    let value = g.results(op).get(0);
    let needs_type = def.has(mind_ir::opdef::Trait::DeclaresType);
    if needs_type || (format == Format::Mic1 && rng.below(2) == 0) {
        g.declare(value, ty);
    }
}

/// Appends random ops and the terminator of the block.
fn fill(g: &mut Graph, rng: &mut Draw, scope: &mut Scope, (format, depth): (Format, usize)) {
    let registry = registry();
    let own = |def: &&OpDef| match format {
        Format::Mic1 => def.names.mic1.is_some(),
        _ => def.names.mic2.is_some(),
    };
    let defs: Vec<&'static OpDef> = registry
        .ops()
        .filter(own)
        .filter(|def| depth == 0 || !def.has(Trait::Interface))
        .collect();
    if depth == 0 {
        let input = registry.get("core.input").unwrap();
        push(g, rng, input, scope, (format, depth));
    }
    for _ in 0..rng.below(if depth == 0 { 30 } else { 4 }) {
        let def = *rng.pick(&defs);
        push(g, rng, def, scope, (format, depth));
    }
    let outputs = match format {
        Format::Mic2 => 1,
        _ if scope.values.is_empty() => 0,
        _ => 1 + rng.below(3),
    };
    let outputs: Vec<ValueId> = (0..outputs).map(|_| *rng.pick(&scope.values)).collect();
    let new = NewOp {
        def: Yield::DEF,
        operands: &outputs,
        attrs: &[],
        results: 0,
        span: Span::FILE,
    };
    g.insert(InsertPoint::End(scope.block), new);
}

/// Returns a random module of ops that `format` can express.
fn module(seed: u64, format: Format) -> Graph {
    let (mut g, mut rng) = (Graph::new(), Draw(Rng::new(seed)));
    let (block, values) = (g.body(), Vec::new());
    fill(&mut g, &mut rng, &mut Scope { block, values }, (format, 0));
    g
}

fn mutate(text: &str, rng: &mut Draw) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len());
        let lines: Vec<&[u8]> = text
            .as_bytes()
            .split_inclusive(|&byte| byte == b'\n')
            .collect();
        match rng.below(5) {
            0 => bytes[at] = b" \t\r\n#\"[],;:=-?NTSOBE0192ae\xC3x\0"[rng.below(29)],
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, b'0' + rng.below(75) as u8),
            3 => bytes.truncate(at.max(1)),
            _ => bytes
                .splice(at..at, rng.pick(&lines).iter().copied())
                .for_each(drop),
        }
        if bytes.is_empty() {
            bytes.push(b'm');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses, and checks that the span of every error is in the text.
fn survive(text: &str) -> Result<(), TestCaseError> {
    for format in [Format::Mic1, Format::Mic2] {
        match FORMATS.parse(format, text, 0, &Limits::default()) {
            Ok(graph) => {
                let printed = print(format, &graph);
                prop_assert_eq!(dump(&read(format, &printed)), dump(&graph));
                prop_assert_eq!(print(format, &read(format, &printed)), printed);
            }
            Err(found) => {
                prop_assert!(found.has_errors());
                for error in found.iter() {
                    let (start, end) = (error.span.start as usize, error.span.end as usize);
                    let marked = text.get(start..end);
                    prop_assert!(
                        marked.is_some_and(|marked| !marked.contains('\n')),
                        "{:?}",
                        error
                    );
                    let message = &error.message;
                    prop_assert!(
                        !message.is_empty() && !message.ends_with('.'),
                        "{}",
                        message
                    );
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_modules_read_back_the_same(seed: u64, mic1: bool) {
        let format = if mic1 { Format::Mic1 } else { Format::Mic2 };
        let graph = module(seed, format);
        let text = print(format, &graph);
        let back = read(format, &text);
        prop_assert_eq!(dump(&back), dump(&graph), "{}", text);
        prop_assert_eq!(print(format, &back), text);
    }

    #[test]
    fn mutated_modules_never_panic(seed: u64, mic1: bool) {
        let format = if mic1 { Format::Mic1 } else { Format::Mic2 };
        let text = print(format, &module(seed, format));
        survive(&mutate(&text, &mut Draw(Rng::new(seed))))?;
    }

    #[test]
    fn arbitrary_text_never_panics(mic1: bool, text: String) {
        survive(&text)?;
        survive(&format!("mic@{}\n{text}", if mic1 { 1 } else { 2 }))?;
    }

    #[test]
    fn arbitrary_bytes_never_panic(mic1: bool, bytes: Vec<u8>) {
        let text = String::from_utf8_lossy(&bytes);
        survive(&format!("mic@{}\n{text}", if mic1 { 1 } else { 2 }))?;
    }

    #[test]
    fn arbitrary_lines_never_panic(lines in "((N|S|T|O|B|E|a|p|m|\\+|sum|cat|split|rshp|t)[0-9]{0,2}( (N|T|S|x|\\[|\\]|,|-|=|kd=|ax=|results=|if|while|result|add|input|slice|const.tensor|fill=|f32|\"|:)?[0-9]{0,2}){0,5}\n){0,8}") {
        survive(&format!("mic@1\n{lines}"))?;
        survive(&format!("mic@2\n{lines}"))?;
    }
}
