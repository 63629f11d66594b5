//! Block-quantised formats of weights.

use crate::attr::{Attr, AttrKind, AttrType};

macro_rules! quant_formats {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $elements:literal, $bytes:literal;)*) => {
        /// A block-quantised format, whose blocks run along a row; docs/formats/weights.md has the formulas.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum QuantFormat {
            $($(#[$doc])* $name,)*
        }

        impl QuantFormat {
            /// Every format.
            pub const ALL: &'static [QuantFormat] = &[$(QuantFormat::$name),*];

            /// Returns the name in Core text and in IR v2.
            pub const fn name(self) -> &'static str {
                match self { $(QuantFormat::$name => $text,)* }
            }

            /// The values of an attribute: `dense` for numbers that are not quantised, then the formats.
            const WORDS: &'static [&'static str] = &["dense", $($text),*];

            /// Returns the numbers per block.
            pub const fn elements(self) -> usize {
                match self { $(QuantFormat::$name => $elements,)* }
            }

            /// Returns the bytes per block.
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
    /// 2 bits, scales and minima of 16 groups for 256 numbers.
    Q2K = "q2_k", 256, 84;
    /// 3 bits and scales of 16 groups for 256 numbers.
    Q3K = "q3_k", 256, 110;
    /// 4 bits, scales and minima of 8 groups for 256 numbers.
    Q4K = "q4_k", 256, 144;
    /// 5 bits, scales and minima of 8 groups for 256 numbers.
    Q5K = "q5_k", 256, 176;
    /// 6 bits and scales of 16 groups for 256 numbers.
    Q6K = "q6_k", 256, 210;
    /// 4-bit indices into 16 levels, and a scale for 32 numbers.
    Iq4Nl = "iq4_nl", 32, 18;
    /// 4-bit floats of a sign, two bits of exponent and one of mantissa, and a power-of-two scale for 32 numbers.
    Mxfp4 = "mxfp4", 32, 17;
    /// -1, 0 or 1, packed five to a byte, and a scale for 256 numbers.
    Tq1_0 = "tq1_0", 256, 54;
    /// 2 bits and a scale for 256 numbers.
    Tq2_0 = "tq2_0", 256, 66;
}

impl QuantFormat {
    /// Returns the format with this name.
    pub fn parse(name: &str) -> Option<QuantFormat> {
        let mut all = QuantFormat::ALL.iter().copied();
        all.find(|format| format.name() == name)
    }

    /// Returns the bytes of the whole blocks in `numbers` numbers. An incomplete last block is not counted.
    pub const fn bytes(self, numbers: usize) -> usize {
        numbers / self.elements() * self.block_bytes()
    }

    /// Returns the bytes of a row of `terms` numbers; `None` if the row is not a whole number of blocks or its size
    /// overflows.
    pub const fn row_bytes(self, terms: usize) -> Option<usize> {
        if terms.is_multiple_of(self.elements()) {
            (terms / self.elements()).checked_mul(self.block_bytes())
        } else {
            None
        }
    }
}

/// The attribute kind for the storage format of numbers; its value is `None` for numbers that are not quantised.
#[derive(Clone, Copy, Debug)]
pub struct Stored;

impl Stored {
    /// Returns the attribute.
    pub const fn attr(format: Option<QuantFormat>) -> Attr<'static> {
        match format {
            Some(format) => Attr::Word(format.name()),
            None => Attr::Word(QuantFormat::WORDS[0]),
        }
    }
}

impl AttrType for Stored {
    const KIND: AttrKind = AttrKind::Word(QuantFormat::WORDS);
    type Value<'a> = Option<QuantFormat>;

    fn get<'a>(attr: Attr<'a>) -> Option<QuantFormat>
    where
        'a: 'a,
    {
        let Attr::Word(word) = attr else {
            panic!("attribute is {attr:?}, not a word");
        };
        QuantFormat::parse(word)
    }

    fn wrap<'a>(format: Option<QuantFormat>) -> Attr<'a>
    where
        'a: 'a,
    {
        Stored::attr(format)
    }
}
