//! Which ops rules name.

use mind_ir::opdef::OpDef;

use crate::instance::{Lhs, left_of};
use crate::matching::pattern::{Effect, Template, TemplateOperand, TemplateTerm};
use crate::ruleset::RuleSet;
use crate::ruleset::rule_info::RuleIx;

/// The ops of a form of a rule: a direction of it, for one of its ops.
#[derive(Clone, Debug)]
pub struct RuleUse {
    /// The rule.
    pub rule: RuleIx,
    /// The ops of its left side, each once, by name.
    pub needs: Vec<&'static str>,
    /// The ops of its right side, each once, by name.
    pub makes: Vec<&'static str>,
}

impl RuleSet {
    /// The ops of every form, in the order of the files.
    pub fn uses(&self) -> Vec<RuleUse> {
        let uses = self.rules.iter().map(|rule| {
            let left: Lhs<'_> = left_of(&rule.pattern, &self.ops);
            let mut made: Vec<&'static OpDef> = Vec::new();
            match &rule.effect {
                Effect::Rewrite(template) | Effect::Merge(template, _) => {
                    self.made(template, &mut made);
                }
                Effect::Group(_) => {}
            }
            RuleUse {
                rule: rule.name,
                needs: names(left.ops.iter().map(|op| op.def)),
                makes: names(made.into_iter()),
            }
        });
        uses.collect()
    }

    fn made(&self, template: &Template, made: &mut Vec<&'static OpDef>) {
        for term in &template.terms {
            let TemplateTerm::Op { op, operands, .. } = term else {
                continue;
            };
            made.push(self.ops.def(*op));
            for operand in operands {
                if let TemplateOperand::Each(repeated) = operand {
                    self.made(&repeated.template, made);
                }
            }
        }
    }
}

fn names(defs: impl Iterator<Item = &'static OpDef>) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = defs.map(|def| def.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}
