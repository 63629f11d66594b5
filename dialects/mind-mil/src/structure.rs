//! The ops of a program's structure.

use mind_ir::attr::{Attr, Literal};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Inferred, Op};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::{BlockId, OpId, ValueId, ops};

use crate::element::Element;
use crate::opset::Opset;

ops! {
    /// The program's properties. It is the first op of a module, which is the function `function`.
    ///
    /// Shapes: none.
    /// Errors: none.
    /// Source: MIL text, `program(1.3)[..]{ func main<ios18>(..)[..]{..} }`.
    Program = "mil.program" {
        attrs: { version: Str, attributes: Str, function: Str, opset: Str, function_attributes: Str },
        results: None,
        traits: [Extended],
        names: {},
        infer_many: |_, _| Ok(Default::default()),
        eval_many: |_, _, _| Ok(Default::default()),
    }

    /// A further function; `params` names its block's arguments.
    ///
    /// Shapes: none.
    /// Errors: none.
    /// Source: MIL text, `func name<ios18>(..){..} -> (..);`.
    Func = "mil.func" {
        attrs: { function: Str, opset: Str, attributes: Str, params: Str },
        results: None,
        regions: 1,
        traits: [Extended],
        names: {},
        infer_many: |_, _| Ok(Default::default()),
        eval_many: |_, _, _| Ok(Default::default()),
    }

    /// A parameter of the module's own function; a `state` keeps its value from call to call.
    ///
    /// Shapes: as declared.
    /// Errors: E3006 extent negative, E4004 no type.
    /// Source: MIL text, parameters of a function.
    Input = "mil.input" {
        attrs: { name: Str, state: Bool = false },
        traits: [Interface, DeclaresType, Extended],
        names: {},
        infer: |_, _| Ok(Inferred::Declared),
    }

    /// A constant: elements, text, or a place in a weight file.
    ///
    /// Its element type is `element`, carried by the result's dtype: `int4` by `i8`, `uint1` to `uint6` by
    /// `u8`, `string` by `u8` of shape `[]`, the word itself in `text`. Elements of a weight file that was
    /// not read are an empty list. An `inline` constant is written in the argument itself.
    ///
    /// Shapes: as declared.
    /// Errors: E4005 count, dtype or range of the elements.
    /// Source: MIL text, `const()[name = .., val = ..]`; `BLOBFILE(path = .., offset = ..)`.
    Const = "mil.const" {
        attrs: {
            data: LiteralData, element: Str, text: Str, path: Str, offset: Int = 0, out: Str, name: Str,
            inline: Bool = false,
        },
        traits: [Pure, DeclaresType, Extended],
        names: {},
        infer: infer_const,
        eval: eval_const,
    }
}

impl Const {
    /// Sets its name in text and its annotation `name`.
    pub fn set_names(self, g: &mut Graph, [out, name]: [&str; 2]) {
        const OUT: usize = Const::DEF.attr_position("out");
        const NAME: usize = Const::DEF.attr_position("name");
        for (index, text) in [(OUT, out), (NAME, name)] {
            let text = Attr::Str(g.intern(text));
            g.set_attr(self.id(), index, text);
        }
    }

    /// Returns its element type.
    pub fn element_type(self, g: &Graph) -> Option<Element> {
        Element::parse(g.name(self.element(g)))
    }

    /// Returns whether its elements are in a weight file that was not read.
    pub fn is_unread(self, g: &Graph) -> bool {
        !g.name(self.path(g)).is_empty() && self.data(g).count == Some(0)
    }

    /// Returns the elements in the shape of the constant; `None` if they were not read, and for text.
    pub fn tensor(self, g: &Graph) -> Option<Tensor> {
        if self.element_type(g) == Some(Element::String) || self.is_unread(g) {
            return None;
        }
        let value = self.result(g);
        let ty = g.types().get(g.type_id(value).or(g.declared(value))?);
        let extents = ty
            .shape
            .iter()
            .map(|dim| usize::try_from(dim.fixed()?).ok());
        let shape: Vec<usize> = extents.collect::<Option<_>>()?;
        let count = shape
            .iter()
            .try_fold(1usize, |all, &extent| all.checked_mul(extent))?;
        let Literal {
            dtype,
            count: given,
            bytes,
        } = *self.data(g);
        let elements = Buffer::from_bytes(dtype, bytes);
        match given {
            Some(given) if given == count && elements.len() == count => {
                Some(Tensor::new(shape, elements))
            }
            None if elements.len() == 1 => Some(Tensor::new(shape, elements.splat(count))),
            _ => None,
        }
    }
}

/// Returns the opset of the function that contains `op`.
pub fn opset_of(g: &Graph, op: OpId) -> Opset {
    g.parent(op)
        .map_or(Opset::DEFAULT, |block| opset_in(g, block))
}

/// Returns the opset of the function that contains `block`.
pub fn opset_in(g: &Graph, block: BlockId) -> Opset {
    let mut block = Some(block);
    while let Some(owner) = block.and_then(|block| g.block_owner(block)) {
        if let Some(func) = g.view::<Func>(owner) {
            return Opset::parse(g.name(func.opset(g))).unwrap_or(Opset::DEFAULT);
        }
        block = g.parent(owner);
    }
    program(g).map_or(Opset::DEFAULT, |program| {
        Opset::parse(g.name(program.opset(g))).unwrap_or(Opset::DEFAULT)
    })
}

/// Returns the program op of the module; `None` for a module of another dialect.
pub fn program(g: &Graph) -> Option<Program> {
    g.ops(g.body())
        .next()
        .and_then(|first| g.view::<Program>(first))
}

impl Func {
    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }

    /// Returns the name of a parameter, and whether it is a state.
    pub fn parameter(self, g: &Graph, index: usize) -> (&str, bool) {
        let written = g
            .name(self.params(g))
            .split_ascii_whitespace()
            .nth(index)
            .unwrap_or("");
        match written.strip_suffix(STATE) {
            Some(name) => (name, true),
            None => (written, false),
        }
    }
}

/// Suffix of a state's name in the attribute `params`.
pub const STATE: &str = ":state";

/// Returns the constant that defines `value`.
pub fn constant_of(g: &Graph, value: ValueId) -> Option<Const> {
    g.view::<Const>(g.defining_op(value)?)
}

fn infer_const(op: Const, g: &Graph) -> InferResult {
    let value = op.result(g);
    let Some(declared) = g.declared(value) else {
        return Ok(Inferred::Declared);
    };
    let ty = g.types().get(declared);
    let problem = |problem: String| {
        let ty = ty.text(g.symbols());
        Err(Box::new(VerifyError::Constant { ty, problem }))
    };
    let Some(element) = op.element_type(g) else {
        return problem(format!(
            "`{}` is not an element type",
            g.name(op.element(g))
        ));
    };
    if element.carrier() != ty.dtype || op.data(g).dtype != ty.dtype {
        return problem(format!(
            "{} is carried by {}",
            element.name(),
            element.carrier()
        ));
    }
    if ty.shape.iter().any(|dim| !matches!(dim, Dim::Fixed(_))) {
        return problem("its shape is not known".to_owned());
    }
    let literal = op.data(g);
    if element == Element::String || op.is_unread(g) {
        return Ok(Inferred::Known(declared));
    }
    let count = ty.count().and_then(|count| usize::try_from(count).ok());
    if literal.count.is_some() && literal.count != count {
        let (given, wanted) = (literal.count.unwrap_or(0), count.unwrap_or(0));
        return problem(format!("it has {wanted} elements, {given} are given"));
    }
    if let Some(bytes) = literal.bytes.iter().find(|byte| !fits(element, **byte)) {
        return problem(format!("{bytes} is outside of {}", element.name()));
    }
    Ok(Inferred::Known(declared))
}

/// Returns whether a byte of the carrier is a value of an element type that may be narrower.
fn fits(element: Element, byte: u8) -> bool {
    let value = match element.carrier() {
        DType::I8 => i128::from(byte as i8),
        _ => i128::from(byte),
    };
    let range = element.range().filter(|_| element.bits() < 8);
    range.is_none_or(|(least, most)| (least..=most).contains(&value))
}

fn eval_const(op: Const, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    if op.element_type(g) == Some(Element::String) {
        return Ok(Tensor::scalar(0u8));
    }
    let ty = g.ty(op.result(g));
    let extents = ty.shape.iter().map(|dim| dim.fixed().unwrap_or(0) as usize);
    cx.count(ty.dtype, &extents.collect::<Vec<_>>())?;
    op.tensor(g).ok_or_else(|| {
        let path = g.name(op.path(g));
        EvalError::Shape(format!("the weights in `{path}` were not read"))
    })
}
