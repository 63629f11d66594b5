//! Classes of rewrites that may change results.

/// A set of fast-math classes. The empty set is the class `exact`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct FastMath(u8);

impl FastMath {
    /// Bit-identical results, except that any NaN equals any other.
    pub const EXACT: FastMath = FastMath(0);
    /// The sign of zeros may change.
    pub const NSZ: FastMath = FastMath(1);
    /// Bit-identical results if no value is NaN or infinite.
    pub const NNAN: FastMath = FastMath(1 << 1);
    /// Sums and products may be reassociated.
    pub const REASSOC: FastMath = FastMath(1 << 2);
    /// Results within a stated relative error.
    pub const APPROX: FastMath = FastMath(1 << 3);
    /// Every class.
    pub const ALL: FastMath = FastMath(0b1111);

    /// Every class with its name on the command line and in rule files.
    pub const NAMES: [(&'static str, FastMath); 5] = [
        ("exact", FastMath::EXACT),
        ("nsz", FastMath::NSZ),
        ("nnan", FastMath::NNAN),
        ("reassoc", FastMath::REASSOC),
        ("approx", FastMath::APPROX),
    ];

    /// Returns the class called `name`.
    pub fn parse(name: &str) -> Option<FastMath> {
        FastMath::NAMES
            .iter()
            .find(|(own, _)| *own == name)
            .map(|&(_, class)| class)
    }

    /// Returns the names of the classes; `exact` for the empty set.
    pub fn names(self) -> Vec<&'static str> {
        let beyond = FastMath::NAMES
            .iter()
            .filter(|(_, class)| class.0 & self.0 != 0);
        let names: Vec<&str> = beyond.map(|(name, _)| *name).collect();
        if names.is_empty() {
            vec!["exact"]
        } else {
            names
        }
    }

    /// Returns the union of both sets.
    pub const fn union(self, other: FastMath) -> FastMath {
        FastMath(self.0 | other.0)
    }

    /// Returns whether all of `wanted` are in the set.
    pub const fn allows(self, wanted: FastMath) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}
