//! Opsets: the ops, and the definition of each, that a function may use.

macro_rules! opsets {
    ($($(#[$doc:meta])* $name:ident = $tag:literal, $proto:literal, $spec:literal;)*) => {
        /// The set of ops that a function is written in.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Opset {
            $($(#[$doc])* $name,)*
        }

        impl Opset {
            /// Every opset, oldest first.
            pub const ALL: &'static [Opset] = &[$(Opset::$name),*];

            /// Returns the tag in text, for example `ios18` in `func main<ios18>`.
            pub const fn tag(self) -> &'static str {
                match self { $(Opset::$name => $tag,)* }
            }

            /// Returns the name in a package.
            pub const fn proto(self) -> &'static str {
                match self { $(Opset::$name => $proto,)* }
            }

            /// Returns the lowest specification version of a package that may use it.
            pub const fn specification(self) -> i32 {
                match self { $(Opset::$name => $spec,)* }
            }
        }
    };
}

opsets! {
    /// iOS 15, macOS 12.
    Ios15 = "ios15", "CoreML5", 6;
    /// iOS 16, macOS 13.
    Ios16 = "ios16", "CoreML6", 7;
    /// iOS 17, macOS 14.
    Ios17 = "ios17", "CoreML7", 8;
    /// iOS 18, macOS 15.
    Ios18 = "ios18", "CoreML8", 9;
    /// iOS 26, macOS 26.
    Ios26 = "ios26", "CoreML9", 10;
}

impl Opset {
    /// The opset of modules that do not name one.
    pub const DEFAULT: Opset = Opset::Ios18;

    /// Returns the opset with this tag; `iOS26` is accepted for `ios26`.
    pub fn parse(tag: &str) -> Option<Opset> {
        let mut all = Opset::ALL.iter();
        all.find(|opset| opset.tag().eq_ignore_ascii_case(tag))
            .copied()
    }

    /// Returns the format version of its text: `1.0` up to iOS 17, then `1.3`.
    pub const fn version(self) -> &'static str {
        match self.specification() {
            ..9 => "1.0",
            _ => "1.3",
        }
    }
}
