//! Lists of operands on the left side of a rule.

use mind_diag::Diagnostic;

use super::{Compiler, Repeated};
use crate::language::ast::{Name, Operand, Term};
use crate::matching::pattern::{AttrPattern, Each, Instruction, Item};
use crate::matching::slots::{Reg, Slot};
use crate::op_table::OpIx;

impl<'s> Compiler<'s, '_> {
    /// Compiles an op whose operands include lists.
    pub(super) fn op_of_lists(
        &mut self,
        name: Name<'s>,
        op: OpIx,
        attrs: Box<[AttrPattern]>,
        operands: &[Operand<'s>],
        reg: Reg,
    ) -> Option<()> {
        let many = operands
            .iter()
            .filter(|operand| !matches!(operand, Operand::One(_)));
        if !matches!(self.repeated, Repeated::No) {
            let message = "a list of lists of operands cannot be matched";
            self.found.push(Diagnostic::error(name.span, message));
            return None;
        }
        if many.count() > 2 {
            let message = "at most two lists of operands in one op";
            self.found.push(Diagnostic::error(name.span, message));
            return None;
        }
        let at = self.code.len();
        let mut items = Vec::new();
        let mut inner: Vec<(&Term<'s>, Item)> = Vec::new();
        for operand in operands {
            let item = match operand {
                Operand::One(_) => Item::One(self.names.new_register(name, self.found)?),
                Operand::Each(_) => Item::Many(self.new_list()),
                Operand::List(name) => Item::Many(self.bind_list(*name)?),
            };
            items.push(item);
            if let Operand::One(term) | Operand::Each(term) = operand {
                inner.push((term, item));
            }
        }
        let open = Instruction::OpenList {
            reg,
            op,
            attrs,
            items: items.into(),
        };
        self.code.insert(at, open);
        let compiled: Vec<Option<()>> = inner
            .into_iter()
            .map(|(term, item)| match item {
                Item::One(reg) => self.term(term, reg),
                Item::Many(list) => self.each(name, term, list),
            })
            .collect();
        compiled.into_iter().collect()
    }

    /// Compiles a term that must match every value of a list. It is compiled twice: for the first value, which binds
    /// names, and for the other values, which must agree with the bindings.
    fn each(&mut self, name: Name<'s>, term: &Term<'s>, list: Slot) -> Option<()> {
        let reg = self.names.new_register(name, self.found)?;
        self.code.push(Instruction::First { list, reg });
        self.repeated = Repeated::First;
        let first = self.term(term, reg);
        self.repeated = Repeated::Other(Vec::new());
        let outer = std::mem::take(&mut self.code);
        let reg = self.names.new_register(name, self.found);
        let others = first.and(reg).and_then(|reg| self.term(term, reg));
        let body = std::mem::replace(&mut self.code, outer);
        let collected = std::mem::replace(&mut self.repeated, Repeated::No);
        others?;
        let collect = match collected {
            Repeated::Other(collect) => collect.into(),
            Repeated::No | Repeated::First => return None,
        };
        self.code.push(Instruction::Each(Each {
            list,
            reg: reg?,
            body: body.into(),
            collect,
        }));
        Some(())
    }

    /// Compiles one value of the list `?name..`.
    pub(super) fn element(&mut self, name: Name<'s>, reg: Reg) -> Option<()> {
        match &mut self.repeated {
            Repeated::No => {
                let message = format!(
                    "`?{}..` is a list, but this op takes a fixed number of operands",
                    name.text
                );
                let help = "write one name for each operand";
                self.found
                    .push(Diagnostic::error(name.span, message).help(help));
                None
            }
            Repeated::First => {
                if self.names.list(name.text).is_some() {
                    let message = format!("`?{}..` is bound already", name.text);
                    self.found.push(Diagnostic::error(name.span, message));
                    return None;
                }
                let list = self.bind_list(name)?;
                self.code.push(Instruction::Start { reg, list });
                Some(())
            }
            Repeated::Other(collect) => {
                collect.push((reg, self.names.list(name.text)?));
                Some(())
            }
        }
    }

    /// Returns a new slot for the list `?name..`; if the name is already bound, the lists are compared.
    fn bind_list(&mut self, name: Name<'s>) -> Option<Slot> {
        if self.names.values.iter().any(|(own, _)| *own == name.text) {
            self.both_kinds(name)?;
        }
        let list = self.new_list();
        match self.names.list(name.text) {
            Some(first) => self.code.push(Instruction::SameList(first, list)),
            None => self.names.lists.push((name.text, list)),
        }
        Some(list)
    }

    pub(super) fn new_list(&mut self) -> Slot {
        self.lists += 1;
        (self.lists - 1) as Slot
    }
}
