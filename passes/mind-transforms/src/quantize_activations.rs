//! Integer products with block-quantised weights.

use mind_core::constant;
use mind_core::ops::block_matmul::{BlockMatMul, TERMS};
use mind_core::ops::contract::MatMul;
use mind_core::ops::elementwise::{Abs, Div};
use mind_core::ops::input::Input;
use mind_core::ops::quantize::Quantize;
use mind_core::ops::reduce::Max;
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::builder::Builder;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, QuantFormat, TensorType};
use mind_ir::verify::VerifyError;
use mind_ir::{Graph, OpId, ValueId};
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};
use rustc_hash::FxHashMap;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "quantize-activations",
    alias: None,
    summary: "Replaces matrix products with block-quantised weights by integer products: the rows of the other \
              operand are quantised to 8 bits, and weights are passed as bytes. Changes results",
    example: "--quantize-activations",
    options: &[],
    enters_regions: false,
    make: |_| Box::new(QuantizeActivations),
};

struct QuantizeActivations;

impl Pass for QuantizeActivations {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let counts = quantize_activations(g)
            .map_err(|(op, why)| PassError::Rejected(Box::new(why.at(g.span(op)))))?;
        cx.statistics.add("products", counts.products);
        cx.statistics.add("weights", counts.weights);
        cx.statistics.add("weights kept", counts.kept);
        Ok(Changed::when(counts.products > 0))
    }
}

/// Counts of the changes by [`quantize_activations`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuantizedCounts {
    /// The products that became integer products.
    pub products: u64,
    /// The weights that became inputs of bytes.
    pub weights: u64,
    /// The block-quantised weights that are unchanged, because they have other uses.
    pub kept: u64,
}

/// The integer that the largest magnitude of 32 numbers is quantised to.
const LARGEST: f32 = 127.0;

/// Rewrites the products of a verified module whose right side is the transpose of a block-quantised weight.
///
/// The weight becomes an input with the same name, of the dtype `u8`, which has the same number of rows and the bytes
/// of each.
///
/// # Errors
///
/// A created op that does not verify, which is a bug of this function, and the product that it replaces.
pub fn quantize_activations(g: &mut Graph) -> Result<QuantizedCounts, (OpId, Box<VerifyError>)> {
    let mut counts = QuantizedCounts::default();
    let mut quantised: FxHashMap<ValueId, [ValueId; 2]> = FxHashMap::default();
    let inputs: Vec<Input> = g.ops(g.body()).filter_map(|op| g.view(op)).collect();
    for input in inputs {
        let Some(format) = input.stored(g) else {
            continue;
        };
        let Some((transposes, products)) = readers(g, input) else {
            counts.kept += 1;
            continue;
        };
        let blocks = bytes_of(g, input, format);
        for product in products {
            let lhs = product.lhs(g);
            let built = rewrite(g, product, lhs, (blocks, format), &mut quantised);
            built.map_err(|why| (product.id(), why))?;
            counts.products += 1;
        }
        for transpose in transposes {
            g.erase(transpose);
        }
        g.erase(input.id());
        counts.weights += 1;
    }
    Ok(counts)
}

/// Returns the transposes that use a matrix, and the products that use the transposes; `None` if it has other uses, or
/// if no product uses it.
fn readers(g: &Graph, weight: Input) -> Option<(Vec<OpId>, Vec<MatMul>)> {
    let value = weight.result(g);
    let is_matrix = g.ty(value).rank() == 2;
    let mut transposes = Vec::new();
    let mut products = Vec::new();
    for (op, _) in g.uses(value) {
        let transpose = g.view::<Transpose>(op)?;
        (transpose.permutation(g) == [1, 0]).then_some(())?;
        transposes.push(op);
        for (reader, index) in g.uses(transpose.result(g)) {
            let product = g.view::<MatMul>(reader)?;
            let fits = index == 1 && g.parent(reader) == Some(g.body()) && fits(g, product.lhs(g));
            fits.then_some(())?;
            products.push(product);
        }
    }
    (is_matrix && !products.is_empty()).then_some((transposes, products))
}

/// Returns whether the rows of an operand can be quantised: it is `f32`, and only its first extent may be unknown,
/// unless that is also the last one.
fn fits(g: &Graph, lhs: ValueId) -> bool {
    let ty = g.ty(lhs);
    let known = |dim: &Dim| dim.fixed().is_some();
    ty.dtype == DType::F32
        && ty.rank() > 0
        && ty.shape.iter().skip(1).all(known)
        && known(&ty.shape[ty.rank() - 1])
}

/// Creates an input for the bytes of a weight, before the weight.
fn bytes_of(g: &mut Graph, weight: Input, format: QuantFormat) -> ValueId {
    let old = weight.result(g);
    let &[rows, terms] = g.ty(old).shape else {
        unreachable!("a matrix");
    };
    let terms = terms.fixed().and_then(|terms| usize::try_from(terms).ok());
    let bytes = format.bytes(terms.expect("verified rows of whole blocks"));
    let ty = TensorType::new(DType::U8, [rows, Dim::Fixed(bytes as i64)]);
    let ty = g.intern_type(ty.view());
    let attrs = Input::attrs(weight.name(g), true, None);
    let new = Builder::before(g, weight.id()).create_typed(Input::DEF, &[], &attrs, &[ty]);
    let new = g.result(new);
    g.declare(new, ty);
    g.swap_labels(old, new);
    new
}

/// Replaces `product` by an integer product.
fn rewrite(
    g: &mut Graph,
    product: MatMul,
    lhs: ValueId,
    (blocks, format): (ValueId, QuantFormat),
    quantised: &mut FxHashMap<ValueId, [ValueId; 2]>,
) -> Result<(), Box<VerifyError>> {
    let [integers, scale] = match quantised.get(&lhs) {
        Some(&known) => known,
        None => {
            let new = on_scales(g, lhs)?;
            quantised.insert(lhs, new);
            new
        }
    };
    let old = product.result(g);
    let b = &mut Builder::before(g, product.id());
    let new = BlockMatMul::with(Some(format)).build(b, integers, scale, blocks)?;
    if let Some(declared) = g.declared(old) {
        g.declare(new, declared);
    }
    g.swap_labels(old, new);
    g.replace_all_uses(old, new);
    g.erase(product.id());
    Ok(())
}

/// Quantises the rows of `x` right after its definition. Returns the integers, and a scale for each 32 of them.
fn on_scales(g: &mut Graph, x: ValueId) -> Result<[ValueId; 2], Box<VerifyError>> {
    let ty = g.ty(x);
    let (lead, terms) = (&ty.shape[..ty.rank() - 1], ty.shape[ty.rank() - 1]);
    let terms = terms.fixed().unwrap_or(0);
    let written = lead.iter().map(|&dim| match dim {
        Dim::Dynamic => Dim::Fixed(-1),
        dim => dim,
    });
    let each = [Dim::Fixed(terms / TERMS as i64), Dim::Fixed(TERMS as i64)];
    let shape: Vec<Dim> = written.chain(each).collect();
    let next = match g.defining_op(x) {
        Some(op) => g.next(op).expect("a terminator follows"),
        None => g.ops(g.body()).next().expect("a terminator"),
    };
    let b = &mut Builder::before(g, next);
    let parts = Reshape::with(&shape).build(b, x)?;
    let sizes = Abs::build(b, parts)?;
    let largest = Max::with().axes(&[-1]).build(b, sizes)?;
    let divisor = constant(b, &Tensor::of(Vec::new(), vec![LARGEST]));
    let scale = Div::build(b, largest, divisor)?;
    let integers = Quantize::with(DType::I8).build(b, x, scale, None)?;
    Ok([integers, scale])
}
