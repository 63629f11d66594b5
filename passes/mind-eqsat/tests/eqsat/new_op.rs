//! Shipped rules for traits apply to elementwise ops that no rule names.

use mind_core::ops::shape::Transpose;
use mind_eqsat::fold;
use mind_ir::attr::Attr;
use mind_ir::builtin;
use mind_ir::opdef::{Dialect, Op, OpDef, Registry};
use mind_ir::ops;
use mind_ir::types::DType;
use mind_rules::RuleSet;

use crate::support::{Module, check, context, names};

ops! {
    /// The magnitude.
    Size = "extra.size" {
        operands: (input: Num),
        traits: [Pure, Elementwise],
        names: {},
        scalar: Abs,
    }

    /// The difference.
    Gap = "extra.gap" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType, Elementwise],
        names: {},
        scalar: Sub,
    }
}

const EXTRA: Dialect = Dialect {
    name: "extra",
    doc: "Ops that no rule names.",
    ops: OPS,
};

/// Checks that `transpose(op(transpose(x), …))` becomes `op(x, …)`.
fn moves(def: &'static OpDef) {
    let registry = Registry::with([builtin::DIALECT, mind_core::DIALECT, EXTRA]);
    let rules = RuleSet::shipped(&registry).unwrap_or_else(|errors| panic!("{errors}"));
    let mut module = Module::new();
    let swap = [Attr::Ints(&[1, 0])];
    let operands: Vec<_> = (0..def.operands.len())
        .map(|_| {
            let input = module.input(DType::F32, &[40, 30]);
            module.row(Transpose::DEF, &[input], &swap)
        })
        .collect();
    let moved = module.row(def, &operands, &[]);
    let output = module.row(Transpose::DEF, &[moved], &swap);
    let mut g = module.outputs(&[output]);
    fold(&mut g, &context(&rules));
    check(&mut g);
    assert_eq!(names(&g, g.body()), [def.short_name()]);
}

#[test]
fn a_new_op_of_one_operand_is_moved() {
    moves(Size::DEF);
}

#[test]
fn a_new_op_of_two_operands_is_moved() {
    moves(Gap::DEF);
}
