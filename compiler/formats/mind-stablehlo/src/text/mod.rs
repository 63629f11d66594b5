//! Parser of MLIR's text: modules, functions and operations.

mod attribute;
mod cursor;
mod dense;
mod operation;
mod pretty;
mod syntax;

use indexmap::IndexMap;
use mind_diag::{Diagnostics, Span};

pub(crate) use cursor::Parsed;
pub(crate) use dense::{Dense, Elements};
pub(crate) use syntax::{
    Argument, Attr, Block, Function, Label, Mesh, Module, Op, OutputInfo, TensorText, Type, Use,
};

use cursor::Cursor;

/// Parses a module, or functions without one.
///
/// # Errors
///
/// The first syntax error.
pub(crate) fn parse(text: &str) -> Result<Module<'_>, Diagnostics> {
    let mut cursor = Cursor::new(text);
    module(&mut cursor).map_err(|why| Diagnostics::from(*why))
}

fn module<'t>(c: &mut Cursor<'t>) -> Parsed<Module<'t>> {
    let mut module = Module {
        functions: IndexMap::new(),
        locations: IndexMap::new(),
        meshes: Vec::new(),
        resources: IndexMap::new(),
    };
    while !c.is_at_end() {
        if c.eat("#") {
            alias(c, &mut module)?;
        } else if c.eat("{-#") {
            resources(c, &mut module)?;
        } else if c.keyword("module") {
            if c.peek() == Some(b'@') {
                c.symbol()?;
            }
            if c.keyword("attributes") {
                c.dictionary()?;
            }
            c.expect("{")?;
            while !c.eat("}") {
                if c.eat("#") {
                    alias(c, &mut module)?;
                } else if c.keyword("sdy.mesh") {
                    mesh(c, &mut module)?;
                } else {
                    function(c, &mut module)?;
                }
            }
            c.location()?;
        } else {
            function(c, &mut module)?;
        }
    }
    Ok(module)
}

/// Parses `#loc1 = loc("x")`; other aliases are skipped.
fn alias<'t>(c: &mut Cursor<'t>, module: &mut Module<'t>) -> Parsed<()> {
    let name = c.word("the name of an alias")?;
    c.expect("=")?;
    match c.location()? {
        Some(label) => {
            module.locations.insert(name, label);
        }
        None => {
            c.attribute()?;
        }
    }
    Ok(())
}

/// Parses `@mesh = <["x"=2, "y"=4]>`, the devices that shardings refer to.
fn mesh<'t>(c: &mut Cursor<'t>, module: &mut Module<'t>) -> Parsed<()> {
    let (name, span) = c.symbol()?;
    c.expect("=")?;
    let axes = c.balanced()?;
    c.location()?;
    let sizes = axes.split('=').skip(1).map(|own| {
        let digits = own.trim_start().split(|own: char| !own.is_ascii_digit());
        digits
            .clone()
            .next()
            .and_then(|own| own.parse::<u64>().ok())
    });
    let devices = sizes.fold(1u64, |all, own| all.saturating_mul(own.unwrap_or(1)));
    module.meshes.push(Mesh {
        name,
        span,
        devices,
    });
    Ok(())
}

/// Parses `{-# dialect_resources: { builtin: { name: "0x...", .. } } #-}`.
fn resources<'t>(c: &mut Cursor<'t>, module: &mut Module<'t>) -> Parsed<()> {
    while !c.eat("#-}") {
        let name = c.word("the name of a resource")?;
        c.expect(":")?;
        if c.eat("{") {
            continue;
        }
        let (hex, _) = c.string()?;
        module.resources.insert(name, hex);
        while c.eat(",") || c.eat("}") {}
    }
    Ok(())
}

fn function<'t>(c: &mut Cursor<'t>, module: &mut Module<'t>) -> Parsed<()> {
    if !c.keyword("func.func") {
        return Err(c.unexpected("a function, `func.func`"));
    }
    let is_private = c.keyword("private");
    if !is_private {
        let _ = c.keyword("public") || c.keyword("nested");
    }
    let (name, span) = c.symbol()?;
    c.expect("(")?;
    let arguments = c.arguments(")")?;
    let mut results = Vec::new();
    if c.eat("->") {
        if c.eat("(") {
            while !c.eat(")") {
                let ty = c.ty()?;
                let attrs = match c.peek() {
                    Some(b'{') => c.dictionary()?,
                    _ => Vec::new(),
                };
                let info = attrs.iter().find(|(name, _)| *name == "jax.result_info");
                let name = info.and_then(|(_, value)| value.text());
                results.push(OutputInfo {
                    ty,
                    name: name.map(str::to_owned),
                });
                if !c.eat(",") {
                    c.expect(")")?;
                    break;
                }
            }
        } else {
            let ty = c.ty()?;
            results.push(OutputInfo { ty, name: None });
        }
    }
    if c.keyword("attributes") {
        c.dictionary()?;
    }
    if c.peek() != Some(b'{') {
        return Err(c.unexpected("the body of the function"));
    }
    let mut body = c.block(Vec::new())?;
    c.location()?;
    body.arguments = arguments;
    let function = Function {
        span,
        is_private,
        results,
        body,
    };
    if let Some(other) = module.functions.insert(name, function) {
        let at = other.span;
        let found = c.error(span, format!("two functions are called `@{name}`"));
        return Err(Box::new((*found).related(at, "the first one")));
    }
    Ok(())
}

impl<'t> Module<'t> {
    /// Returns the public function: `@main`, or the only one that is not private.
    pub fn main(&self) -> Option<&Function<'t>> {
        if let Some(main) = self.functions.get("main") {
            return Some(main);
        }
        let mut public = self.functions.values().filter(|own| !own.is_private);
        match (public.next(), public.next()) {
            (Some(own), None) => Some(own),
            (_, _) => None,
        }
    }

    /// Returns the name in the location of an argument.
    pub fn label<'m>(&'m self, argument: &'m Argument<'t>) -> Option<&'m str> {
        let mut label = argument.label.as_ref()?;
        // Tools do not write aliases of aliases, so only one is followed.
        if let Label::Alias(name) = label {
            label = self.locations.get(name)?;
        }
        match label {
            Label::Name(name) if name != "unknown" => Some(name),
            Label::Name(_) | Label::Alias(_) | Label::Place => None,
        }
    }

    /// Returns the span of the module, for errors without a position.
    pub fn span(&self) -> Span {
        Span::FILE
    }
}
