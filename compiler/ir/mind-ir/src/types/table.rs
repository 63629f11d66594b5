//! Tensor types, interned per graph.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::{DType, Dim, Shape};
use crate::entity::Ty;
use crate::symbol::Symbols;
use crate::table::{Slab, Table};

/// An owned tensor type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Shape,
}

impl TensorType {
    /// Returns the type of `dtype` elements in `shape`.
    pub fn new(dtype: DType, shape: impl IntoIterator<Item = Dim>) -> TensorType {
        TensorType {
            dtype,
            shape: shape.into_iter().collect(),
        }
    }

    /// Returns a type with known extents.
    pub fn fixed(dtype: DType, shape: &[i64]) -> TensorType {
        TensorType::new(dtype, shape.iter().copied().map(Dim::Fixed))
    }

    /// Returns the type as a view.
    pub fn view(&self) -> TypeView<'_> {
        TypeView {
            dtype: self.dtype,
            shape: &self.shape,
        }
    }
}

/// A borrowed tensor type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeView<'a> {
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: &'a [Dim],
}

impl<'a> TypeView<'a> {
    /// The number of dimensions.
    pub fn rank(self) -> usize {
        self.shape.len()
    }

    /// Returns the extents if all are known.
    pub fn static_shape(self) -> Option<Vec<i64>> {
        self.shape.iter().map(|dim| dim.fixed()).collect()
    }

    /// Returns the number of elements if every extent is known and the product fits in an `i64`. It is 0 if an extent
    /// is 0, even if the product of the others overflows.
    pub fn count(self) -> Option<i64> {
        let mut extents = self.shape.iter().map(|dim| dim.fixed());
        let known = extents.clone().all(|extent| extent.is_some());
        if known && self.shape.contains(&Dim::Fixed(0)) {
            return Some(0);
        }
        extents.try_fold(1i64, |product, extent| product.checked_mul(extent?))
    }

    /// Returns an owned type with the same dtype and another shape.
    pub fn with_shape(self, shape: impl IntoIterator<Item = Dim>) -> TensorType {
        TensorType::new(self.dtype, shape)
    }

    /// Returns an owned copy.
    pub fn to_owned(self) -> TensorType {
        self.with_shape(self.shape.iter().copied())
    }

    /// Returns the type with the more definite of each pair of extents; `None` if the types contradict each other.
    pub fn meet(self, other: TypeView<'_>) -> Option<TensorType> {
        if self.dtype != other.dtype || self.rank() != other.rank() {
            return None;
        }
        let pairs = self.shape.iter().zip(other.shape);
        let shape: Option<Shape> = pairs.map(|(a, b)| a.meet(*b)).collect();
        Some(TensorType {
            dtype: self.dtype,
            shape: shape?,
        })
    }

    /// Returns the text form in messages and Core text: `f32[3, B, ?]`.
    pub fn text(self, symbols: &Symbols) -> String {
        format!("{}{}", self.dtype, super::shape_text(self.shape, symbols))
    }
}

/// The types of one graph, interned: equal types have equal ids.
#[derive(Clone, Default)]
pub struct TypeTable {
    dims: Table<Dim>,
    /// The dtype of each type and the end of its dimensions in `dims`.
    types: Table<(DType, u32)>,
    /// Empty while there are at most [`SCANNED`] types, because scanning so few is faster than hashing.
    lookup: HashTable<Ty>,
}

const SCANNED: usize = 8;
const DIMS: usize = 8;
const TYPES: usize = 4;

impl TypeTable {
    /// The slab units that an empty table takes.
    pub(crate) const UNITS: usize = Slab::units::<Dim>(DIMS) + Slab::units::<(DType, u32)>(TYPES);

    /// Returns an empty table whose first rows are in `slab`.
    pub(crate) fn in_slab(slab: &mut Slab) -> TypeTable {
        TypeTable {
            dims: slab.table(DIMS),
            types: slab.table(TYPES),
            lookup: HashTable::new(),
        }
    }

    /// Interns `ty` and returns its id.
    pub fn intern(&mut self, ty: TypeView<'_>) -> Ty {
        if let Some(found) = self.find(ty) {
            return found;
        }
        let id = Ty::new(self.types.len());
        for &dim in ty.shape {
            self.dims.push(dim);
        }
        self.types.push((ty.dtype, self.dims.len() as u32));
        let TypeTable {
            dims,
            types,
            lookup,
        } = self;
        if types.len() > SCANNED {
            let hash = |&id: &Ty| FxBuildHasher.hash_one(view(dims, types, id));
            for id in (lookup.len()..types.len()).map(Ty::new) {
                lookup.insert_unique(hash(&id), id, hash);
            }
        }
        id
    }

    fn find(&self, ty: TypeView<'_>) -> Option<Ty> {
        if self.types.len() <= SCANNED {
            return self.scan(ty);
        }
        let hash = FxBuildHasher.hash_one(ty);
        self.lookup.find(hash, |&id| self.get(id) == ty).copied()
    }

    #[inline]
    fn scan(&self, ty: TypeView<'_>) -> Option<Ty> {
        let (dims, mut start) = (&self.dims[..], 0);
        for (index, &(dtype, end)) in self.types.iter().enumerate() {
            let end = end as usize;
            if dtype == ty.dtype && end - start == ty.shape.len() && dims[start..end] == *ty.shape {
                return Some(Ty::new(index));
            }
            start = end;
        }
        None
    }

    /// Returns the type with this id.
    #[inline]
    pub fn get(&self, id: Ty) -> TypeView<'_> {
        view(&self.dims, &self.types, id)
    }

    /// Returns the number of different types.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

fn view<'a>(dims: &'a [Dim], types: &[(DType, u32)], id: Ty) -> TypeView<'a> {
    let index = id.index();
    let start = if index == 0 {
        0
    } else {
        types[index - 1].1 as usize
    };
    let (dtype, end) = types[index];
    TypeView {
        dtype,
        shape: &dims[start..end as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_types_share_an_id_and_rank_zero_is_a_type() {
        let mut table = TypeTable::default();
        let scalar = table.intern(TensorType::fixed(DType::F32, &[]).view());
        let row = table.intern(TensorType::fixed(DType::F32, &[4]).view());
        let again = table.intern(TensorType::fixed(DType::F32, &[4]).view());
        assert_eq!(row, again);
        assert_ne!(scalar, row);
        assert_eq!(table.get(scalar).rank(), 0);
        assert_eq!(table.get(row).count(), Some(4));
    }

    #[test]
    fn types_past_the_scanned_ones_are_found_too() {
        let mut table = TypeTable::default();
        let rows = |table: &mut TypeTable| -> Vec<Ty> {
            let types = (0..100).map(|extent| TensorType::fixed(DType::F32, &[extent]));
            types.map(|ty| table.intern(ty.view())).collect()
        };
        let first = rows(&mut table);
        assert_eq!(rows(&mut table), first);
        assert_eq!(table.len(), 100);
    }

    #[test]
    fn meet_takes_the_more_definite_extent() {
        let open = TensorType::new(DType::F32, [Dim::Dynamic, Dim::Fixed(2)]);
        let known = TensorType::fixed(DType::F32, &[3, 2]);
        assert_eq!(open.view().meet(known.view()), Some(known.clone()));
        let other = TensorType::fixed(DType::F32, &[4, 2]);
        assert_eq!(known.view().meet(other.view()), None);
    }

    #[test]
    fn count_refuses_to_wrap() {
        assert_eq!(
            TensorType::fixed(DType::I8, &[i64::MAX, 2]).view().count(),
            None
        );
        let empty = TensorType::fixed(DType::I8, &[i64::MAX, 2, 0]);
        assert_eq!(empty.view().count(), Some(0));
    }
}
