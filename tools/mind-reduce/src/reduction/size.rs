//! The size of a module.

use mind_ir::attr::{Attr, Padding};
use mind_ir::opdef::Trait;
use mind_ir::types::Dim;
use mind_ir::{Graph, OpId, ValueId};

use super::dtypes::rarity;

/// The size of a module for a reader, compared lexicographically.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size {
    /// Ops with operands, and outputs.
    pub computing: u64,
    /// All ops.
    pub ops: u64,
    /// Operands, where values that an op reads more than once count again.
    pub operands: u64,
    /// Symbolic and unknown dimensions of the declared types.
    pub open: u64,
    /// Elements of the declared types; an empty tensor counts as one, because a scalar is simpler.
    pub elements: u64,
    /// Dimensions of the declared types.
    pub dims: u64,
    /// Rarity of the declared dtypes.
    pub dtypes: u64,
    /// Complexity of the constants.
    pub constants: u64,
    /// Complexity of the other attributes.
    pub attributes: u64,
}

impl Size {
    /// Returns the size of `g`.
    pub fn of(g: &Graph) -> Size {
        let mut size = Size {
            computing: g.outputs().len() as u64,
            ops: 0,
            operands: 0,
            open: 0,
            elements: 0,
            dims: 0,
            dtypes: 0,
            constants: 0,
            attributes: 0,
        };
        g.walk().for_each(|op| size.add(g, op));
        size
    }

    fn add(&mut self, g: &Graph, op: OpId) {
        let def = g.def(op);
        self.ops += 1;
        let reads = !g.operands(op).is_empty() || def.regions > 0;
        self.computing += u64::from(reads && !def.has(Trait::Terminator));
        let distinct = |(at, value): (usize, &ValueId)| !g.operands(op)[..at].contains(value);
        let operands = g.operands(op).iter().enumerate();
        self.operands += operands
            .map(|slot| 1 + u64::from(distinct(slot)))
            .sum::<u64>();
        if def.has(Trait::DeclaresType) {
            g.results(op)
                .into_iter()
                .for_each(|value| self.leaf(g, value));
        }
        for (attr, row) in g.attrs(op).iter().zip(def.attrs) {
            let weight = weight(attr) + u64::from(row.default != Some(*attr));
            if def.has(Trait::Constant) {
                self.constants += weight
            } else {
                self.attributes += weight
            }
        }
    }

    fn leaf(&mut self, g: &Graph, value: ValueId) {
        let Some(ty) = g.declared(value).or(g.type_id(value)) else {
            return;
        };
        let ty = g.types().get(ty);
        self.dtypes += rarity(ty.dtype) as u64;
        let shape = ty.shape;
        self.dims += shape.len() as u64;
        self.open += shape.iter().filter(|dim| dim.fixed().is_none()).count() as u64;
        let extents = shape.iter().filter_map(|dim| dim.fixed());
        let count = extents.fold(1u64, |count, extent| {
            count.saturating_mul(extent.max(0) as u64)
        });
        self.elements = self.elements.saturating_add(count.max(1));
    }
}

/// Returns the complexity of an attribute; 0 for a neutral value.
fn weight(attr: &Attr<'_>) -> u64 {
    match attr {
        Attr::Int(value) => number(value.unsigned_abs()),
        Attr::Bool(value) => u64::from(*value),
        Attr::Float(bits) => real(f64::from_bits(*bits)),
        Attr::Str(_) | Attr::Padding(Padding::Valid) | Attr::DType(_) | Attr::Word(_) => 0,
        Attr::Ints(list) => list
            .iter()
            .map(|value| 1 + number(value.unsigned_abs()))
            .sum(),
        Attr::Dims(list) => list.iter().map(|&dim| extent(dim)).sum(),
        Attr::Literal(literal) => {
            let width = literal.dtype.size().max(1);
            let elements = literal.bytes.chunks(width);
            let each = elements.map(|bytes| bytes.iter().filter(|&&byte| byte != 0).count() as u64);
            let spelt = if literal.is_splat() {
                0
            } else {
                literal.bytes.len() as u64
            };
            each.sum::<u64>() + spelt
        }
        Attr::Padding(Padding::Same) => 1,
        Attr::Padding(Padding::Custom(pads)) => {
            2 + pads
                .iter()
                .map(|pad| number(pad.unsigned_abs()))
                .sum::<u64>()
        }
    }
}

fn extent(dim: Dim) -> u64 {
    dim.fixed()
        .map_or(64, |extent| 1 + number(extent.unsigned_abs()))
}

/// Returns the number of bits of a number.
fn number(value: u64) -> u64 {
    u64::from(u64::BITS - value.leading_zeros())
}

/// As [`number`] for whole numbers; other numbers are more complex than all of these.
fn real(value: f64) -> u64 {
    let sign = u64::from(value.is_sign_negative());
    if value.fract() == 0.0 && value.abs() < 1e9 {
        sign + number(value.abs() as u64)
    } else {
        64 + sign
    }
}
