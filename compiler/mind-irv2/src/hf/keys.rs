//! How each key of a `config.json` is handled: by the table that families share, and by the rules of a family.

use mind_diag::{Diagnostic, Severity};
use mind_json::Member;

use super::reader::Reader;
use crate::codes;
use crate::family::{Family, SharedKeyHandling, is_one_of, shared_keys};

impl Reader<'_> {
    /// Rejects values that denote another model, and warns of keys that are not read.
    pub(super) fn known_keys(&mut self, family: Family) {
        for member in self.config.members().unwrap_or_default() {
            let inner = member.value.members();
            let Some(inner) = inner.filter(|_| family.rules().nests(&member.key)) else {
                self.known_key(family, member, &member.key);
                continue;
            };
            for own in inner {
                self.known_key(family, own, &format!("{}/{}", member.key, own.key));
            }
        }
    }

    /// Checks one key, which is called `key` in the rules of the family.
    fn known_key(&mut self, family: Family, member: &Member, key: &str) {
        let rules = family.rules();
        let value = &member.value;
        if let Some(own) = rules.refuses.iter().find(|own| own.key == key) {
            if !is_one_of(value, &own.unless) {
                self.unsupported(key, value, &own.reason);
            }
            return;
        }
        if rules.reads(key) || rules.ignores(key) {
            return;
        }
        let Some(row) = shared_keys().iter().find(|row| row.key == member.key) else {
            if !(value.is_null() || value.truth() == Some(false)) {
                let name = family.name();
                let message = format!("`{key}` is not read: {name} has no such key");
                let found = Diagnostic::new(Severity::Warning, member.key_span, message);
                self.found.push(found.code(codes::UNKNOWN_KEY));
            }
            return;
        };
        if row.is_neutral(value) {
            return;
        }
        match &row.handling {
            SharedKeyHandling::Read | SharedKeyHandling::Ignored(_) => {}
            SharedKeyHandling::Refused(reason) => self.unsupported(key, value, reason),
            SharedKeyHandling::ByFamily => {
                let name = family.name();
                let shown = value.describe();
                let message = format!("`{key}` is {shown}, which {name} does not read");
                let found = Diagnostic::new(Severity::Warning, value.span, message);
                self.found.push(found.code(codes::UNKNOWN_KEY));
            }
        }
    }
}
