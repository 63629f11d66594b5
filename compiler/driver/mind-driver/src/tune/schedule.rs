//! Schedules of kernels, as values of attributes.

use std::fmt::{self, Write};

use mind_ir::attr::Attr;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{Graph, OpId};
use mind_loops::ops::block::Block;
use mind_loops::ops::contract::Contract;
use mind_loops::ops::nest::Nest;
use mind_loops::ops::slide::Slide;
use mind_loops::ops::window::Window;
use serde_json::{Map, Value, json};

/// The schedule attributes of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    settings: Vec<(&'static str, Setting)>,
}

/// The value of a schedule attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Setting {
    Int(i64),
    Ints(Vec<i64>),
}

/// Returns the schedule attributes of an op; empty if it has no schedule.
fn attributes(def: &'static OpDef) -> &'static [&'static str] {
    let rows: [(&OpDef, &[&str]); 5] = [
        (Nest::DEF, &["parallel", "tile", "vector", "unroll"]),
        (Contract::DEF, &["parallel", "micro", "block"]),
        (Window::DEF, &["parallel", "micro", "lines"]),
        (Slide::DEF, &["parallel"]),
        (Block::DEF, &["rows", "parallel"]),
    ];
    let row = rows.into_iter().find(|(own, _)| std::ptr::eq(*own, def));
    row.map_or(&[], |(_, names)| names)
}

impl Schedule {
    /// Returns the schedule of a kernel; `None` if the op has no schedule.
    pub(super) fn of(g: &Graph, op: OpId) -> Option<Schedule> {
        let (def, attrs) = (g.def(op), g.attrs(op));
        let names = attributes(def);
        let setting = |&name: &&'static str| {
            let setting = match attrs[def.attr_index(name)?] {
                Attr::Int(number) => Setting::Int(number),
                Attr::Ints(numbers) => Setting::Ints(numbers.to_vec()),
                Attr::Bool(_)
                | Attr::Float(_)
                | Attr::Str(_)
                | Attr::Dims(_)
                | Attr::Literal(_)
                | Attr::Padding(_)
                | Attr::DType(_)
                | Attr::Word(_) => return None,
            };
            Some((name, setting))
        };
        let settings = names.iter().map(setting).collect::<Option<Vec<_>>>()?;
        (!settings.is_empty()).then_some(Schedule { settings })
    }

    /// Sets the schedule attributes of a kernel of the same op.
    pub fn apply(&self, g: &mut Graph, op: OpId) {
        for (name, setting) in &self.settings {
            let index = g.def(op).attr_index(name);
            let index = index.expect("the schedule of a kernel of this kind");
            match setting {
                Setting::Int(number) => g.set_attr(op, index, Attr::Int(*number)),
                Setting::Ints(numbers) => g.set_attr(op, index, Attr::Ints(numbers)),
            }
        }
    }

    /// Returns this schedule with another list for `name`.
    pub(super) fn with_ints(&self, name: &str, numbers: &[i64]) -> Schedule {
        self.with(name, Setting::Ints(numbers.to_vec()))
    }

    /// Returns this schedule with another number for `name`.
    pub(super) fn with_int(&self, name: &str, number: i64) -> Schedule {
        self.with(name, Setting::Int(number))
    }

    fn with(&self, name: &str, setting: Setting) -> Schedule {
        let mut own = self.clone();
        let slot = own.settings.iter_mut().find(|(known, _)| *known == name);
        slot.expect("an attribute of this kind of kernel").1 = setting;
        own
    }

    /// Returns this schedule with the changes of `other` relative to `default`.
    pub(super) fn and(&self, other: &Schedule, default: &Schedule) -> Schedule {
        let mut own = self.clone();
        let changes = other.settings.iter().zip(&default.settings).enumerate();
        for (at, (new, _)) in changes.filter(|(_, (new, old))| new != old) {
            own.settings[at] = new.clone();
        }
        own
    }

    /// Returns the names of the attributes that differ from `other`.
    pub(super) fn changed(&self, other: &Schedule) -> Vec<&'static str> {
        let pairs = self.settings.iter().zip(&other.settings);
        let changed = pairs.filter(|(own, other)| own != other);
        changed.map(|((name, _), _)| *name).collect()
    }

    /// Formats the attributes in `names` as in a module, for example `unroll=4`.
    pub(super) fn text(&self, names: &[&str]) -> String {
        let own = self
            .settings
            .iter()
            .filter(|(name, _)| names.contains(name));
        let words = own.map(|(name, setting)| format!("{name}={setting}"));
        words.collect::<Vec<String>>().join(", ")
    }

    /// Converts the schedule to a JSON object.
    pub(super) fn json(&self) -> Value {
        let settings = self.settings.iter().map(|(name, setting)| {
            let value = match setting {
                Setting::Int(number) => json!(number),
                Setting::Ints(numbers) => json!(numbers),
            };
            ((*name).to_owned(), value)
        });
        Value::Object(settings.collect::<Map<String, Value>>())
    }

    /// Reads the output of [`json`](Schedule::json) for a kernel whose schedule is `self`; returns `None` if it belongs
    /// to another op.
    pub(super) fn read(&self, value: &Value) -> Option<Schedule> {
        let object = value
            .as_object()
            .filter(|own| own.len() == self.settings.len())?;
        let settings = self.settings.iter().map(|(name, own)| {
            let value = object.get(*name)?;
            let setting = match own {
                Setting::Int(_) => Setting::Int(value.as_i64()?),
                Setting::Ints(_) => {
                    let numbers = value.as_array()?.iter().map(Value::as_i64);
                    Setting::Ints(numbers.collect::<Option<_>>()?)
                }
            };
            Some((*name, setting))
        });
        let settings = settings.collect::<Option<_>>()?;
        Some(Schedule { settings })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.settings.iter().map(|(name, _)| *name);
        f.write_str(&self.text(&names.collect::<Vec<_>>()))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Int(number) => write!(f, "{number}"),
            Setting::Ints(numbers) => {
                f.write_char('[')?;
                for (at, number) in numbers.iter().enumerate() {
                    let gap = if at == 0 { "" } else { ", " };
                    write!(f, "{gap}{number}")?;
                }
                f.write_char(']')
            }
        }
    }
}
