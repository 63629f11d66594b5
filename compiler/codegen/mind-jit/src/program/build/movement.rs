//! Data movement: gathers and joins, and ops without a kernel.

use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::extents::{dense, known};
use mind_loops::ops::evaluate::Evaluate;
use mind_loops::ops::movement::{Gather, Join};

use super::algorithm::algorithm;
use super::grid::Work;
use super::kernel::{Computation, KernelCall};
use super::{ProgramBuilder, Strided};
use crate::lower::nest::{Nest, Node, Output, Registers, StridedAccess, lanes};
use crate::program::error::ProgramError;
use crate::program::routine::Routine;
use mind_vir::program::{self, Axis, IndexType, Region, Step};

impl ProgramBuilder<'_> {
    /// Builds a gather, which the executor runs and whose indices it checks.
    pub(super) fn gather(&mut self, op: Gather) -> Result<(), ProgramError> {
        let g = self.g;
        let (data, indices) = (op.data(g), op.indices(g));
        self.check_dense(op.id(), &[data, indices])?;
        let axis = op.axis(g) as usize;
        let extents = known(g, data);
        let size = g.ty(data).dtype.size();
        let gather = program::Gather {
            data: self.region(op.id(), data)?,
            indices: self.region(op.id(), indices)?,
            result: self.region(op.id(), op.result(g))?,
            index_dtype: IndexType::of(g.ty(indices).dtype).expect("verified indices"),
            outer: extents[..axis].iter().product(),
            extent: extents[axis],
            count: known(g, indices).iter().product(),
            slice: extents[axis + 1..].iter().product::<usize>() * size,
            axis,
        };
        self.push(op.id(), Step::Gather(gather));
        Ok(())
    }

    /// Builds control flow, or a call of an op without a kernel.
    pub(super) fn evaluate(&mut self, op: Evaluate) -> Result<(), ProgramError> {
        let g = self.g;
        if let Some(inner) = op.control(g) {
            return self.control(op, inner);
        }
        self.check_dense(op.id(), op.inputs(g))?;
        let routine = Routine::new(g, op.id());
        let call = program::Evaluate {
            routine: self.routines.len(),
            operands: self.regions(op.id(), op.inputs(g).iter().copied())?,
            results: self.regions(op.id(), g.results(op.id()))?,
            op: routine.name,
            algorithm: algorithm(g, op),
        };
        self.routines.push(routine);
        self.push(op.id(), Step::Evaluate(call));
        Ok(())
    }

    /// Builds a copy of each input to its slice of the result.
    pub(super) fn join(&mut self, op: Join) -> Result<(), ProgramError> {
        let g = self.g;
        let axis = op.axis(g) as usize;
        let result = op.result(g);
        let strides = dense(&known(g, result));
        let whole = self.region(op.id(), result)?;
        let mut before = 0i64;
        for &input in op.inputs(g) {
            let from = self.strided(input);
            let along = from.extents[axis] as i64;
            let to = Strided {
                buffer: whole,
                extents: from.extents.clone(),
                strides: strides.clone(),
                offset: before * strides[axis],
            };
            before += along;
            if from.extents.contains(&0) {
                continue;
            }
            let read = self.region(op.id(), input)?;
            let written = to.reach() * g.ty(result).dtype.size();
            let written = self.part(op.id(), whole, written)?;
            self.copy(op, (&from, read), (&to, written), g.ty(result).dtype);
        }
        Ok(())
    }

    fn copy(
        &mut self,
        op: Join,
        (from, read): (&Strided, Region),
        (to, written): (&Strided, Region),
        dtype: DType,
    ) {
        let mut dims: Vec<(usize, i64, i64)> = Vec::new();
        let all = from.extents.iter().zip(&from.strides).zip(&to.strides);
        for ((&extent, &own), &other) in all {
            match dims.last_mut() {
                _ if extent == 1 => {}
                Some(outer)
                    if outer.1 == own * extent as i64 && outer.2 == other * extent as i64 =>
                {
                    *outer = (outer.0 * extent, own, other);
                }
                _ => dims.push((extent, own, other)),
            }
        }
        let inner = dims.pop().unwrap_or((1, 1, 1));
        let access = |offset, strides: Vec<i64>, inner| StridedAccess {
            dtype,
            offset,
            outer: strides,
            inner,
        };
        let whole = Nest {
            outer: dims.iter().map(|dim| dim.0).collect(),
            inner: inner.0,
            total: None,
            unroll: None,
            divides_by_products: false,
            registers: Registers::of(self.target),
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
        let rows = whole.outer.first();
        let rows = rows.map(|&extent| Axis::Range { extent, grain: 1 });
        self.call(KernelCall {
            op: op.id(),
            lanes: lanes(&whole, self.target),
            computation: Computation::Copy(whole),
            args: [read, written].into_iter().collect(),
            grid: rows.into_iter().collect(),
            work: Work::new(from.extents.iter().product(), 1),
        });
    }
}
