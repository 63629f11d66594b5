//! Libraries of macOS.

use super::image::{Convention, Image, number, text};

/// Marks a pointer to something in the library itself.
const IS_LOCAL: u64 = 0x8000_0000;

/// A part of the image.
struct Segment {
    address: usize,
    size: usize,
    from: usize,
    length: usize,
    is_code: bool,
}

/// Addresses of symbols, which code reads.
struct Pointers {
    address: usize,
    size: usize,
    /// The position of the first one in the list of their symbols.
    first: usize,
}

/// What the load commands of a library say.
#[derive(Default)]
struct Commands {
    segments: Vec<Segment>,
    pointers: Vec<Pointers>,
    symbols: usize,
    symbol_count: usize,
    names: usize,
    /// Where the list of the symbols of pointers is.
    listed: usize,
}

impl Commands {
    fn read(file: &[u8]) -> Result<Commands, String> {
        const SEGMENT: u64 = 0x19;
        const SYMBOLS: u64 = 2;
        const DYNAMIC_SYMBOLS: u64 = 0xb;
        if !file.starts_with(b"\xcf\xfa\xed\xfe") {
            return Err("it is no library of macOS".to_owned());
        }
        let mut commands = Commands::default();
        let mut at = 32;
        for _ in 0..number::<4>(file, 16)? {
            let [kind, length] = [number::<4>(file, at)?, number::<4>(file, at + 4)?];
            match kind {
                SEGMENT => commands.segment(file, at)?,
                SYMBOLS => {
                    commands.symbols = number::<4>(file, at + 8)? as usize;
                    commands.symbol_count = number::<4>(file, at + 12)? as usize;
                    commands.names = number::<4>(file, at + 16)? as usize;
                }
                DYNAMIC_SYMBOLS => commands.listed = number::<4>(file, at + 56)? as usize,
                _ => {}
            }
            at += length as usize;
        }
        Ok(commands)
    }

    fn segment(&mut self, file: &[u8], at: usize) -> Result<(), String> {
        const IS_CODE: u64 = 4;
        let word = |offset: usize| number::<8>(file, at + offset).map(|found| found as usize);
        self.segments.push(Segment {
            address: word(24)?,
            size: word(32)?,
            from: word(40)?,
            length: word(48)?,
            is_code: number::<4>(file, at + 60)? & IS_CODE != 0,
        });
        for section in 0..number::<4>(file, at + 64)? as usize {
            let section = at + 72 + 80 * section;
            // Pointers that are set when the library is loaded, or when they are first read.
            if matches!(number::<4>(file, section + 64)? & 0xff, 6 | 7) {
                self.pointers.push(Pointers {
                    address: number::<8>(file, section + 32)? as usize,
                    size: number::<8>(file, section + 40)? as usize,
                    first: number::<4>(file, section + 68)? as usize,
                });
            }
        }
        Ok(())
    }

    fn name(&self, file: &[u8], symbol: usize) -> Result<String, String> {
        let name = number::<4>(file, self.symbols + 16 * symbol)? as usize;
        Ok(text(file, self.names + name))
    }
}

/// Loads a library.
///
/// # Errors
///
/// It needs anything but `memcpy`, or is not what is expected.
pub(super) fn load(file: &[u8]) -> Result<Image, String> {
    let commands = Commands::read(file)?;
    let ends = commands.segments.iter().map(|own| own.address + own.size);
    let mut image = Image::new(ends.max().unwrap_or(0), Convention::SystemV)?;
    for own in &commands.segments {
        let stored = &file[own.from..][..own.length];
        image.bytes()[own.address..][..own.length].copy_from_slice(stored);
    }
    for pointers in &commands.pointers {
        for at in 0..pointers.size / 8 {
            let listed = commands.listed + 4 * (pointers.first + at);
            let symbol = number::<4>(file, listed)?;
            let slot = pointers.address + 8 * at;
            let address = if symbol & IS_LOCAL != 0 {
                number::<8>(image.bytes(), slot)? + image.start()
            } else {
                match commands.name(file, symbol as usize)?.as_str() {
                    "_memcpy" => image.memcpy(),
                    "dyld_stub_binder" => 0,
                    other => return Err(format!("it needs {other}")),
                }
            };
            image.bytes()[slot..][..8].copy_from_slice(&address.to_le_bytes());
        }
    }
    for symbol in 0..commands.symbol_count {
        // Of a section of the library, and seen outside.
        const EXPORTED: u64 = 0x0f;
        let at = commands.symbols + 16 * symbol;
        if number::<1>(file, at + 4)? & 0x1f == EXPORTED {
            let name = commands.name(file, symbol)?;
            let name = name
                .strip_prefix('_')
                .ok_or_else(|| format!("{name} has no underscore"))?;
            image.export(name, number::<8>(file, at + 8)? as u32);
        }
    }
    for own in commands.segments.iter().filter(|own| own.is_code) {
        image.make_code(own.address, own.size)?;
    }
    Ok(image)
}
