//! Elements moved from place to place.

use mind_ir::opdef::Op;
use mind_loops::extents::{dense, known};
use mind_loops::ops::movement::{Gather, Join};

use super::grid::{cost, params, range};
use super::{Strided, Unit};
use crate::lower::nest::{Access, Nest, Node, Output, lanes, nest, scratch_bytes};
use crate::program::error::ProgramError;
use crate::program::step::{self, Axis, Call, Step};
use crate::vir::Builder;

impl Unit<'_> {
    /// A gather, done by the executor, which checks the indices.
    pub(super) fn gather(&mut self, op: Gather) -> Result<(), ProgramError> {
        let g = self.g;
        let (data, indices) = (op.data(g), op.indices(g));
        self.check_dense(op.id(), &[data, indices])?;
        let axis = op.axis(g) as usize;
        let extents = known(g, data);
        let size = g.ty(data).dtype.size();
        let gather = step::Gather {
            data: self.layout.place(g, data),
            indices: self.layout.place(g, indices),
            result: self.layout.place(g, op.result(g)),
            index_dtype: g.ty(indices).dtype,
            outer: extents[..axis].iter().product(),
            extent: extents[axis],
            count: known(g, indices).iter().product(),
            slice: extents[axis + 1..].iter().product::<usize>() * size,
            axis,
        };
        self.push(op.id(), Step::Gather(gather));
        Ok(())
    }

    /// A copy for each input into its part of the result.
    pub(super) fn join(&mut self, op: Join) -> Result<(), ProgramError> {
        let g = self.g;
        let axis = op.axis(g) as usize;
        let result = op.result(g);
        let strides = dense(&known(g, result));
        let mut before = 0i64;
        for &input in op.inputs(g) {
            let from = self.strided(input);
            let along = from.extents[axis] as i64;
            let to = Strided {
                place: self.layout.place(g, result),
                extents: from.extents.clone(),
                strides: strides.clone(),
                offset: before * strides[axis],
            };
            before += along;
            if from.extents.contains(&0) {
                continue;
            }
            self.copy(op, &from, &to, g.ty(result).dtype);
        }
        Ok(())
    }

    fn copy(&mut self, op: Join, from: &Strided, to: &Strided, dtype: mind_ir::types::DType) {
        let mut dims: Vec<(usize, i64, i64)> = Vec::new();
        let all = from.extents.iter().zip(&from.strides).zip(&to.strides);
        for ((&extent, &read), &written) in all {
            match dims.last_mut() {
                _ if extent == 1 => {}
                Some(outer)
                    if outer.1 == read * extent as i64 && outer.2 == written * extent as i64 =>
                {
                    *outer = (outer.0 * extent, read, written);
                }
                _ => dims.push((extent, read, written)),
            }
        }
        let inner = dims.pop().unwrap_or((1, 1, 1));
        let access = |offset, strides: Vec<i64>, inner| Access {
            dtype,
            offset,
            outer: strides,
            inner,
        };
        let whole = Nest {
            outer: dims.iter().map(|dim| dim.0).collect(),
            inner: inner.0,
            total: None,
            inputs: vec![access(
                from.offset,
                dims.iter().map(|dim| dim.1).collect(),
                inner.1,
            )],
            nodes: vec![Node::Input(0)],
            outputs: vec![Output {
                node: 0,
                access: access(to.offset, dims.iter().map(|dim| dim.2).collect(), inner.2),
                replaces: None,
            }],
        };
        self.scratch_bytes = self
            .scratch_bytes
            .max(scratch_bytes(&whole, self.target));
        let width = lanes(&whole, self.target);
        let name = self.g.def(op.id()).name;
        let kernel = self.function(format!("{whole:?}"), name, || {
            let mut b = Builder::new("copy", width);
            let params = params(&mut b, 2);
            let rows = match whole.outer.is_empty() {
                true => (b.index(0), b.index(1)),
                false => range(&mut b),
            };
            let (read, written) = params.pointers.split_at(1);
            nest(&mut b, &whole, read, written, params.scratch, rows);
            b.finish()
        });
        let rows = whole
            .outer
            .first()
            .map(|&extent| Axis::Range { extent, grain: 1 });
        let call = Call {
            kernel,
            args: [from.place, to.place].into_iter().collect(),
            grid: rows.into_iter().collect(),
            cost: cost(from.extents.iter().product(), 1),
            op: name,
        };
        self.push(op.id(), Step::Call(call));
    }
}
