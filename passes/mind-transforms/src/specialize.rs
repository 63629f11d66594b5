//! Specialisation of symbolic dimensions.

use mind_core::specialize::{Known, specialize};
use mind_diag::{Diagnostic, Span};
use mind_ir::Sym;
use mind_ir::graph::Graph;
use mind_ir::opdef::nearest;
use mind_ir::types::Dim;
use mind_pass::{Changed, OptionInfo, OptionKind, Pass, PassCx, PassError, PassInfo};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "specialize",
    alias: None,
    summary: "Replaces symbolic dimensions, and `?` in inputs, by numbers",
    example: "--pass-pipeline='specialize{dims=B:32}'",
    options: &[OptionInfo {
        name: "dims",
        kind: OptionKind::Extents,
        default: "",
        summary: "extents by name; the name `?` is for all unnamed dimensions of inputs",
    }],
    enters_regions: false,
    make: |options| Box::new(Specialize(options.extents("dims"))),
};

struct Specialize(Vec<(String, i64)>);

impl Pass for Specialize {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let symbols: Vec<(Sym, i64)> = (self.0.iter())
            .filter(|(name, _)| name != "?")
            .map(|(name, extent)| (g.intern(name), *extent))
            .collect();
        let used = symbols_of(g);
        if let Some((sym, _)) = symbols.iter().find(|(sym, _)| !used.contains(sym)) {
            let name = g.name(*sym);
            let known = used.iter().map(|&sym| g.name(sym));
            let error = Diagnostic::error(Span::FILE, format!("no dimension is called `{name}`"));
            let error = match nearest(name, known) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            };
            return Err(PassError::Rejected(Box::new(error)));
        }
        let unnamed = self.0.iter().rev().find(|(name, _)| name == "?");
        let known = Known {
            symbol: &|sym| {
                symbols
                    .iter()
                    .rev()
                    .find(|(own, _)| *own == sym)
                    .map(|&(_, n)| n)
            },
            input: &|_, _| unnamed.map(|&(_, extent)| extent),
        };
        match specialize(g, &known, cx.verify) {
            Ok(changed) => Ok(Changed::when(changed > 0)),
            Err(found) => Err(PassError::Invalid(found)),
        }
    }
}

fn symbols_of(g: &Graph) -> Vec<Sym> {
    let mut symbols: Vec<Sym> = Vec::new();
    for op in g.walk() {
        for value in g.results(op) {
            let Some(ty) = g.type_id(value) else { continue };
            symbols.extend(g.types().get(ty).shape.iter().filter_map(|&dim| match dim {
                Dim::Symbol(sym) => Some(sym),
                _ => None,
            }));
        }
    }
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}
