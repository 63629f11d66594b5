//! Formats of weights in blocks of quantised numbers.

macro_rules! quant_formats {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $elements:literal, $bytes:literal;)*) => {
        /// How numbers are stored in blocks along a row; docs/formats/weights.md has the formulas.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum QuantFormat {
            $($(#[$doc])* $name,)*
        }

        impl QuantFormat {
            /// Every format.
            pub const ALL: &'static [QuantFormat] = &[$(QuantFormat::$name),*];

            /// The word of Core text and of IR v2.
            pub const fn name(self) -> &'static str {
                match self { $(QuantFormat::$name => $text,)* }
            }

            /// Numbers of a block.
            pub const fn elements(self) -> usize {
                match self { $(QuantFormat::$name => $elements,)* }
            }

            /// Bytes of a block.
            pub const fn block_bytes(self) -> usize {
                match self { $(QuantFormat::$name => $bytes,)* }
            }
        }
    };
}

quant_formats! {
    /// 4 bits and a scale for 32 numbers.
    Q4_0 = "q4_0", 32, 18;
    /// 4 bits, a scale and a minimum for 32 numbers.
    Q4_1 = "q4_1", 32, 20;
    /// 5 bits and a scale for 32 numbers.
    Q5_0 = "q5_0", 32, 22;
    /// 5 bits, a scale and a minimum for 32 numbers.
    Q5_1 = "q5_1", 32, 24;
    /// 8 bits and a scale for 32 numbers.
    Q8_0 = "q8_0", 32, 34;
    /// 4 bits, scales and minima of 8 groups for 256 numbers.
    Q4K = "q4_k", 256, 144;
    /// 5 bits, scales and minima of 8 groups for 256 numbers.
    Q5K = "q5_k", 256, 176;
    /// 6 bits and scales of 16 groups for 256 numbers.
    Q6K = "q6_k", 256, 210;
}

impl QuantFormat {
    /// The format called `name`.
    pub fn parse(name: &str) -> Option<QuantFormat> {
        let mut all = QuantFormat::ALL.iter().copied();
        all.find(|format| format.name() == name)
    }

    /// The format that an attribute has the number of; `None` for 0, and for numbers that no format has.
    pub fn of_code(code: i64) -> Option<QuantFormat> {
        let index = usize::try_from(code).ok()?.checked_sub(1)?;
        QuantFormat::ALL.get(index).copied()
    }

    /// The number that attributes have for the format, from 1.
    pub const fn code(self) -> i64 {
        self as i64 + 1
    }

    /// The size in bytes of the blocks that hold this count of numbers.
    pub const fn bytes(self, numbers: usize) -> usize {
        numbers / self.elements() * self.block_bytes()
    }

    /// Bytes of a row of `terms` numbers; `None` if blocks do not divide it.
    pub const fn row_bytes(self, terms: usize) -> Option<usize> {
        if terms.is_multiple_of(self.elements()) {
            (terms / self.elements()).checked_mul(self.block_bytes())
        } else {
            None
        }
    }
}
