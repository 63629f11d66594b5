//! Instantiation of templates: expands lists and evaluates computed attributes.

use smallvec::SmallVec;

use crate::attr_value::AttrValue;
use crate::expr::{Number, Scope};
use crate::matching::pattern::{Template, TemplateOperand, TemplateTerm};
use crate::matching::subject::Subject;
use crate::op_table::OpIx;

/// A term of the right side, for values of type `V`.
#[derive(Debug)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum Planned<V> {
    /// A value bound by the match.
    Value(V),
    /// The constant `number` in the dtype of `value`: a scalar, or a splat of its shape.
    Like {
        value: V,
        scalar: bool,
        number: Number,
    },
    /// An op over earlier terms.
    Op {
        op: OpIx,
        attrs: SmallVec<[AttrValue; 1]>,
        operands: SmallVec<[usize; 4]>,
    },
}

/// Appends the terms of `template` for a match to `terms`, in topological order, and returns the position of the root,
/// which is the last one. Returns `None` if an attribute cannot be computed.
pub fn plan<S: Subject>(
    template: &Template,
    scope: &Scope<'_, S>,
    terms: &mut Vec<Planned<S::Value>>,
) -> Option<usize> {
    let mut places: SmallVec<[usize; 8]> = SmallVec::new();
    let value = |reg: u8| scope.registers[usize::from(reg)];
    for term in &template.terms {
        let planned = match term {
            TemplateTerm::Register(reg) => Planned::Value(value(*reg)),
            TemplateTerm::Like {
                reg,
                scalar,
                number,
            } => Planned::Like {
                value: value(*reg),
                scalar: *scalar,
                number: number.number(scope)?,
            },
            TemplateTerm::Op {
                op,
                attrs,
                operands,
            } => {
                let attrs = attrs.iter().map(|attr| attr.attr(scope));
                let attrs = attrs.collect::<Option<SmallVec<_>>>()?;
                let mut all: SmallVec<[usize; 4]> = SmallVec::new();
                for operand in operands {
                    match operand {
                        TemplateOperand::Term(term) => all.push(places[*term]),
                        TemplateOperand::List(list) => {
                            for &value in &scope.slots.lists[usize::from(*list)] {
                                all.push(terms.len());
                                terms.push(Planned::Value(value));
                            }
                        }
                        TemplateOperand::Each(repeated) => {
                            for registers in scope.each(&repeated.lists)? {
                                let scope = Scope {
                                    registers: &registers,
                                    ..*scope
                                };
                                all.push(plan(&repeated.template, &scope, terms)?);
                            }
                        }
                    }
                }
                Planned::Op {
                    op: *op,
                    attrs,
                    operands: all,
                }
            }
        };
        places.push(terms.len());
        terms.push(planned);
    }
    places.last().copied()
}
