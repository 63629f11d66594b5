//! Binary serialization of modules, for cache keys and cache entries.
//!
//! Values are numbered in the order of their definitions. The bytes of literals are kept in a separate list, so that
//! they can be shared.

use mind_diag::Span;
use mind_ir::attr::{Attr, AttrKind, Literal, Padding};
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Registry;
use mind_ir::types::{DType, Dim, TensorType, TypeView};
use mind_ir::{BlockId, Bytes, OpId, ValueId};
use rustc_hash::FxHashMap;

use super::codec::{Decoder, Encoder};
use super::interface;

/// A serialized module, and its literals in order of occurrence.
pub(super) struct Image<'g> {
    pub(super) bytes: Vec<u8>,
    pub(super) literals: Vec<Literal<'g>>,
}

impl<'g> Image<'g> {
    /// Serializes a module with source spans and interface.
    pub(super) fn of(g: &'g Graph) -> Image<'g> {
        Image::written(g, SpanMode::All)
    }

    /// Serializes a module without source spans.
    fn without_source(g: &'g Graph) -> Image<'g> {
        Image::written(g, SpanMode::Numbers)
    }

    /// Serializes a module without spans, value labels and interface, so that modules that differ only in these have
    /// equal bytes. The result cannot be read back.
    pub(super) fn without_spans(g: &'g Graph) -> Image<'g> {
        Image::written(g, SpanMode::None)
    }

    fn written(g: &'g Graph, spans: SpanMode) -> Image<'g> {
        let mut writer = Writer {
            g,
            spans,
            out: Encoder::default(),
            literals: Vec::new(),
            numbers: FxHashMap::default(),
        };
        writer.block(g.body());
        if spans != SpanMode::None {
            interface::write(&mut writer.out, &g.interface);
        }
        Image {
            bytes: writer.out.bytes,
            literals: writer.literals,
        }
    }
}

/// Serializes a module with its literals into one buffer, without source spans. Only the same version of the compiler
/// can read it.
pub fn pack(g: &Graph) -> Vec<u8> {
    let image = Image::without_source(g);
    let mut out = Encoder::default();
    out.number(image.bytes.len() as u64);
    out.bytes.extend(&image.bytes);
    out.number(image.literals.len() as u64);
    for literal in &image.literals {
        out.number(literal.bytes.len() as u64);
        out.bytes.extend(literal.bytes);
    }
    out.bytes
}

/// Reads the output of [`pack`] into a module, which is not verified; returns `None` if the bytes are invalid.
pub fn unpack(registry: &Registry, bytes: &[u8]) -> Option<Graph> {
    let mut bytes = Decoder::new(bytes);
    let length = bytes.count()?;
    let image = bytes.take(length)?;
    let count = bytes.count()?;
    let literals = (0..count).map(|_| {
        let length = bytes.count()?;
        Some(Bytes::copy_from_slice(bytes.take(length)?))
    });
    let literals = literals.collect::<Option<Vec<Bytes>>>()?;
    let is_whole = bytes.is_done();
    read(registry, image, &literals).filter(|_| is_whole)
}

/// Tags of attribute kinds and of dims.
mod tag {
    pub(super) const INT: u8 = 0;
    pub(super) const BOOL: u8 = 1;
    pub(super) const FLOAT: u8 = 2;
    pub(super) const STR: u8 = 3;
    pub(super) const INTS: u8 = 4;
    pub(super) const DIMS: u8 = 5;
    pub(super) const LITERAL: u8 = 6;
    pub(super) const VALID: u8 = 7;
    pub(super) const SAME: u8 = 8;
    pub(super) const CUSTOM: u8 = 9;
    pub(super) const DTYPE: u8 = 10;
    pub(super) const WORD: u8 = 11;

    pub(super) const FIXED: u8 = 0;
    pub(super) const SYMBOL: u8 = 1;
    pub(super) const DYNAMIC: u8 = 2;
}

/// Whether source spans and the labels of values in text are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpanMode {
    All,
    /// Labels only; spans are written as [`Span::FILE`].
    Numbers,
    /// Neither, and no interface.
    None,
}

struct Writer<'g> {
    g: &'g Graph,
    spans: SpanMode,
    out: Encoder,
    literals: Vec<Literal<'g>>,
    numbers: FxHashMap<ValueId, u64>,
}

impl<'g> Writer<'g> {
    fn block(&mut self, block: BlockId) {
        let g = self.g;
        let arguments = g.arguments(block);
        self.out.number(arguments.len() as u64);
        for argument in arguments {
            self.value(argument);
        }
        self.out.number(g.ops(block).count() as u64);
        for op in g.ops(block) {
            self.op(op);
        }
    }

    /// Writes the definition of a value: label, type and declared type.
    fn value(&mut self, value: ValueId) {
        let g = self.g;
        let number = self.numbers.len() as u64;
        self.numbers.insert(value, number);
        if self.spans != SpanMode::None {
            self.out.number(g.label(value));
        }
        for ty in [g.type_id(value), g.declared(value)] {
            self.out.byte(u8::from(ty.is_some()));
            if let Some(ty) = ty {
                self.ty(g.types().get(ty));
            }
        }
    }

    fn ty(&mut self, ty: TypeView<'_>) {
        self.dtype(ty.dtype);
        self.dims(ty.shape);
    }

    fn dtype(&mut self, dtype: DType) {
        self.out.text(dtype.name());
    }

    fn dims(&mut self, dims: &[Dim]) {
        self.out.number(dims.len() as u64);
        for &dim in dims {
            match dim {
                Dim::Fixed(extent) => {
                    self.out.byte(tag::FIXED);
                    self.out.number(extent as u64);
                }
                Dim::Symbol(name) => {
                    self.out.byte(tag::SYMBOL);
                    self.out.text(self.g.name(name));
                }
                Dim::Dynamic => self.out.byte(tag::DYNAMIC),
            }
        }
    }

    fn op(&mut self, op: OpId) {
        let g = self.g;
        self.out.text(g.def(op).name);
        if self.spans != SpanMode::None {
            let span = match self.spans {
                SpanMode::All => g.span(op),
                SpanMode::Numbers | SpanMode::None => Span::FILE,
            };
            self.out.number(u64::from(span.start));
            self.out.number(u64::from(span.end));
        }
        self.out.number(g.operands(op).len() as u64);
        for operand in g.operands(op) {
            self.out.number(self.numbers[operand]);
        }
        for attr in g.attrs(op) {
            self.attr(attr);
        }
        let results = g.results(op);
        self.out.number(results.len() as u64);
        for &region in g.regions(op) {
            self.block(g.block(region));
        }
        for result in results {
            self.value(result);
        }
    }

    fn attr(&mut self, attr: &Attr<'g>) {
        match *attr {
            Attr::Int(number) => {
                self.out.byte(tag::INT);
                self.out.number(number as u64);
            }
            Attr::Bool(flag) => {
                self.out.byte(tag::BOOL);
                self.out.byte(u8::from(flag));
            }
            Attr::Float(bits) => {
                self.out.byte(tag::FLOAT);
                self.out.number(bits);
            }
            Attr::Str(name) => {
                self.out.byte(tag::STR);
                self.out.text(self.g.name(name));
            }
            Attr::Ints(numbers) => {
                self.out.byte(tag::INTS);
                self.ints(numbers);
            }
            Attr::Dims(dims) => {
                self.out.byte(tag::DIMS);
                self.dims(dims);
            }
            Attr::Literal(literal) => self.literal(literal),
            Attr::Padding(Padding::Valid) => self.out.byte(tag::VALID),
            Attr::Padding(Padding::Same) => self.out.byte(tag::SAME),
            Attr::Padding(Padding::Custom(pads)) => {
                self.out.byte(tag::CUSTOM);
                self.ints(pads);
            }
            Attr::DType(dtype) => {
                self.out.byte(tag::DTYPE);
                self.dtype(dtype);
            }
            Attr::Word(word) => {
                self.out.byte(tag::WORD);
                self.out.text(word);
            }
        }
    }

    fn ints(&mut self, numbers: &[i64]) {
        self.out.number(numbers.len() as u64);
        for &number in numbers {
            self.out.number(number as u64);
        }
    }

    fn literal(&mut self, literal: &Literal<'g>) {
        self.out.byte(tag::LITERAL);
        self.dtype(literal.dtype);
        // The count plus one; 0 encodes `None`.
        self.out
            .number(literal.count.map_or(0, |count| count as u64 + 1));
        self.out.number(literal.bytes.len() as u64);
        self.literals.push(*literal);
    }
}

/// Reads a module; returns `None` if the bytes are invalid. `literals` are those of the image, in order.
pub(super) fn read(registry: &Registry, bytes: &[u8], literals: &[Bytes]) -> Option<Graph> {
    let mut reader = Reader {
        registry,
        bytes: Decoder::new(bytes),
        literals: literals.iter(),
        g: Graph::new(),
        values: Vec::new(),
    };
    let body = reader.g.body();
    reader.block(body)?;
    reader.g.interface = interface::read(&mut reader.bytes)?;
    (reader.bytes.is_done() && reader.literals.len() == 0).then_some(reader.g)
}

struct Reader<'r> {
    registry: &'r Registry,
    bytes: Decoder<'r>,
    literals: std::slice::Iter<'r, Bytes>,
    g: Graph,
    /// The values read so far, by number.
    values: Vec<ValueId>,
}

/// An attribute that owns its data.
enum Owned<'r> {
    Plain(Attr<'static>),
    Ints(Vec<i64>),
    Dims(Vec<Dim>),
    Literal(Literal<'r>),
    Custom([i64; 4]),
}

impl Owned<'_> {
    fn borrow(&self) -> Attr<'_> {
        match self {
            Owned::Plain(attr) => *attr,
            Owned::Ints(numbers) => Attr::Ints(numbers),
            Owned::Dims(dims) => Attr::Dims(dims),
            Owned::Literal(literal) => Attr::Literal(literal),
            Owned::Custom(pads) => Attr::Padding(Padding::Custom(pads)),
        }
    }
}

impl<'r> Reader<'r> {
    fn block(&mut self, block: BlockId) -> Option<()> {
        let arguments = self.bytes.count()?;
        if arguments > 0 {
            for argument in self.g.add_arguments(block, arguments) {
                self.value(argument)?;
            }
        }
        for _ in 0..self.bytes.count()? {
            self.op(block)?;
        }
        Some(())
    }

    fn value(&mut self, value: ValueId) -> Option<()> {
        self.values.push(value);
        let label = self.bytes.number()?;
        self.g.set_label(value, label);
        if self.bytes.byte()? != 0 {
            let ty = self.ty()?;
            let ty = self.g.intern_type(ty.view());
            self.g.set_type(value, ty);
        }
        if self.bytes.byte()? != 0 {
            let ty = self.ty()?;
            let ty = self.g.intern_type(ty.view());
            self.g.declare(value, ty);
        }
        Some(())
    }

    fn ty(&mut self) -> Option<TensorType> {
        let dtype = self.dtype()?;
        Some(TensorType::new(dtype, self.dims()?))
    }

    fn dtype(&mut self) -> Option<DType> {
        DType::parse(self.bytes.text()?)
    }

    fn dims(&mut self) -> Option<Vec<Dim>> {
        let count = self.bytes.count()?;
        let dims = (0..count).map(|_| match self.bytes.byte()? {
            tag::FIXED => Some(Dim::Fixed(self.bytes.number()? as i64)),
            tag::SYMBOL => {
                let name = self.bytes.text()?;
                Some(Dim::Symbol(self.g.intern(name)))
            }
            tag::DYNAMIC => Some(Dim::Dynamic),
            _ => None,
        });
        dims.collect()
    }

    fn op(&mut self, block: BlockId) -> Option<()> {
        let name = self.bytes.text()?;
        let def = self.registry.get(name)?;
        let (start, end) = (self.bytes.number()?, self.bytes.number()?);
        let span = Span::new(start.try_into().ok()?, end.try_into().ok()?);
        let operands = self.bytes.count()?;
        let operands = (0..operands).map(|_| {
            let number = usize::try_from(self.bytes.number()?).ok()?;
            self.values.get(number).copied()
        });
        let operands: Vec<ValueId> = operands.collect::<Option<_>>()?;
        let attrs = def.attrs.iter().map(|row| self.attr(row.kind));
        let owned: Vec<Owned<'_>> = attrs.collect::<Option<_>>()?;
        let attrs: Vec<Attr<'_>> = owned.iter().map(Owned::borrow).collect();
        let mut kinds = def.attrs.iter().zip(&attrs);
        if !kinds.all(|(row, attr)| row.kind.admits(attr)) {
            return None;
        }
        let results = self.bytes.count()?;
        let op = self.g.insert(
            InsertPoint::End(block),
            NewOp {
                def,
                operands: &operands,
                attrs: &attrs,
                results,
                span,
            },
        );
        for region in 0..def.regions {
            let inner = self.g.block(self.g.regions(op)[region]);
            self.block(inner)?;
        }
        for result in self.g.results(op) {
            self.value(result)?;
        }
        Some(())
    }

    fn attr(&mut self, kind: AttrKind) -> Option<Owned<'r>> {
        Some(match self.bytes.byte()? {
            tag::INT => Owned::Plain(Attr::Int(self.bytes.number()? as i64)),
            tag::BOOL => Owned::Plain(Attr::Bool(self.bytes.byte()? != 0)),
            tag::FLOAT => Owned::Plain(Attr::Float(self.bytes.number()?)),
            tag::STR => {
                let name = self.bytes.text()?;
                Owned::Plain(Attr::Str(self.g.intern(name)))
            }
            tag::INTS => Owned::Ints(self.ints()?),
            tag::DIMS => Owned::Dims(self.dims()?),
            tag::LITERAL => Owned::Literal(self.literal()?),
            tag::VALID => Owned::Plain(Attr::Padding(Padding::Valid)),
            tag::SAME => Owned::Plain(Attr::Padding(Padding::Same)),
            tag::CUSTOM => Owned::Custom(self.ints()?.try_into().ok()?),
            tag::DTYPE => Owned::Plain(Attr::DType(self.dtype()?)),
            tag::WORD => {
                let AttrKind::Word(words) = kind else {
                    return None;
                };
                let text = self.bytes.text()?;
                let word = words.iter().find(|word| **word == text)?;
                Owned::Plain(Attr::Word(word))
            }
            _ => return None,
        })
    }

    fn ints(&mut self) -> Option<Vec<i64>> {
        let count = self.bytes.count()?;
        let numbers = (0..count).map(|_| Some(self.bytes.number()? as i64));
        numbers.collect()
    }

    fn literal(&mut self) -> Option<Literal<'r>> {
        let dtype = self.dtype()?;
        let count = self.bytes.number()?.checked_sub(1);
        let length = self.bytes.number()?;
        let bytes = self.literals.next()?;
        self.g.share(bytes.clone());
        let literal = Literal {
            dtype,
            count: count.map(usize::try_from).transpose().ok()?,
            bytes,
        };
        (bytes.len() as u64 == length).then_some(literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::LoadOptions;
    use crate::load::load_module;
    use crate::session::Session;

    fn module(text: &str) -> Graph {
        let session = Session::default();
        let loaded = load_module(
            &session.formats,
            "m",
            text.to_owned().into(),
            &LoadOptions::default(),
        );
        loaded
            .unwrap_or_else(|found| panic!("{:?}", found.diagnostics))
            .graph
    }

    /// Returns a module with names, dynamic dims, lists, a dtype and a region.
    fn mixed() -> Graph {
        module(
            "%0 = Input {name=x} : tensor<f32[B, ?, 4]>\n\
             %9 = Input {name=w, role=param} : tensor<f32[4]>\n\
             %2 = Mul (%0, %9)\n\
             %3 = Transpose (%2) {permutation=[2, 0, 1]}\n\
             %4 = Cast (%3) {dtype=i32}\n\
             %5 = Input {name=c} : tensor<f32[4]>\n\
             %6 = Input {name=xs} : tensor<f32[3, 4]>\n\
             %20 = Scan (%5, %6) {carried=1, scanned=1} {\n\
               args: %8, %12\n\
               %10 = Add (%8, %12)\n\
               yield: %10\n\
             }\n\
             outputs: %4, %20",
        )
    }

    /// Returns the image of a module and the bytes of its literals.
    fn parts(g: &Graph) -> (Image<'_>, Vec<Bytes>) {
        let image = Image::of(g);
        let literals = image.literals.iter();
        let literals = literals.map(|own| g.shared_bytes(own)).collect();
        (image, literals)
    }

    #[test]
    fn a_module_comes_back_from_its_image() {
        let g = mixed();
        let (image, literals) = parts(&g);
        let registry = &Session::default().registry;
        let back = read(registry, &image.bytes, &literals).expect("it is an image");
        assert_eq!(Image::of(&back).bytes, image.bytes);
        let spans = |g: &Graph| g.walk().map(|op| g.span(op)).collect::<Vec<Span>>();
        assert_eq!(spans(&back), spans(&g));
    }

    #[test]
    fn a_module_comes_back_from_one_piece_of_bytes() {
        let constant = module(
            "%0 = ConstTensor {data=[1.0, nan], dtype=f32, shape=[2]} : tensor<f32[2]>\noutputs: %0",
        );
        let registry = &Session::default().registry;
        for g in [mixed(), constant] {
            let bytes = pack(&g);
            let back = unpack(registry, &bytes).expect("it is a module");
            assert_eq!(pack(&back), bytes);
            for length in 0..bytes.len() {
                assert!(unpack(registry, &bytes[..length]).is_none(), "{length}");
            }
            assert!(unpack(registry, &[&bytes[..], &[0]].concat()).is_none());
        }
    }

    #[test]
    fn bytes_that_are_no_image_are_refused() {
        let g = mixed();
        let (image, literals) = parts(&g);
        let registry = &Session::default().registry;
        for length in 0..image.bytes.len() {
            assert!(
                read(registry, &image.bytes[..length], &literals).is_none(),
                "{length}"
            );
        }
        let mut longer = image.bytes.clone();
        longer.push(0);
        assert!(read(registry, &longer, &literals).is_none());
    }
}
