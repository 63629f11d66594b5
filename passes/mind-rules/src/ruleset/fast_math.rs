//! The classes of rewrites that change bits.

/// A set of classes beyond the exact one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct FastMath(u8);

impl FastMath {
    /// Same bits, any NaN equal to any NaN.
    pub const EXACT: FastMath = FastMath(0);
    /// Same but for the sign of zeros.
    pub const NSZ: FastMath = FastMath(1);
    /// Same bits as long as nothing is NaN or infinite.
    pub const NNAN: FastMath = FastMath(1 << 1);
    /// Sums and products in another order.
    pub const REASSOC: FastMath = FastMath(1 << 2);
    /// Within a stated relative error.
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

    /// The class called `name`.
    pub fn parse(name: &str) -> Option<FastMath> {
        FastMath::NAMES
            .iter()
            .find(|(own, _)| *own == name)
            .map(|&(_, class)| class)
    }

    /// The names of these classes; `exact` where there are none.
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

    /// The classes of both.
    pub const fn union(self, other: FastMath) -> FastMath {
        FastMath(self.0 | other.0)
    }

    /// Whether all of `wanted` are among these.
    pub const fn allows(self, wanted: FastMath) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}
