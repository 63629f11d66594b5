//! Constants known while compiling, interned by their bits.

use mind_ir::Ty;
use mind_ir::scalar::Facts;
use mind_ir::tensor::Tensor;
use mind_rules::Constant;
use rustc_hash::FxHashMap;

/// The number of a constant.
pub(crate) type ConstId = u32;

/// The constants of one run. Equal type and bits mean equal number; +0 and -0 are two constants.
#[derive(Default, Debug)]
pub(crate) struct Constants {
    rows: Vec<Constant>,
    facts: Vec<Facts>,
    numbers: FxHashMap<(Ty, bool, Box<[u8]>), ConstId>,
}

impl Constants {
    /// The constant of type `ty` with `element`, of rank 0, at every position.
    pub(crate) fn splat(&mut self, ty: Ty, element: Tensor) -> ConstId {
        self.intern(Constant::splat(ty, element))
    }

    /// The constant with the elements of `tensor`; a splat where all have the same bits.
    pub(crate) fn tensor(&mut self, ty: Ty, tensor: Tensor) -> ConstId {
        self.intern(Constant::of(ty, tensor))
    }

    /// The number of `constant`, whose type is of the scratch graph's table.
    pub(crate) fn intern(&mut self, constant: Constant) -> ConstId {
        let bytes = constant.data.buffer().to_bytes().into_boxed_slice();
        let key = (constant.ty, constant.splat, bytes);
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        let number = self.rows.len() as ConstId;
        self.facts.push(Facts::of_tensor(&constant.data));
        self.rows.push(constant);
        self.numbers.insert(key, number);
        number
    }

    /// What holds for every element of the constant with this number.
    pub(crate) fn facts(&self, number: ConstId) -> Facts {
        self.facts[number as usize]
    }

    /// The constant with this number.
    pub(crate) fn get(&self, number: ConstId) -> &Constant {
        &self.rows[number as usize]
    }
}
