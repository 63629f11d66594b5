//! Loader of macOS libraries.

use super::image::{Convention, Image, number, text};

/// Marks a pointer into the library itself.
const IS_LOCAL: u64 = 0x8000_0000;

/// A segment of the image.
struct Segment {
    address: usize,
    size: usize,
    from: usize,
    length: usize,
    is_code: bool,
}

/// A section of symbol addresses that the code reads.
struct Pointers {
    address: usize,
    size: usize,
    /// The index of the first pointer in the indirect symbol table.
    first: usize,
}

/// The contents of a library's load commands.
#[derive(Default)]
struct Commands {
    segments: Vec<Segment>,
    pointers: Vec<Pointers>,
    symbols: usize,
    symbol_count: usize,
    names: usize,
    /// The offset of the indirect symbol table.
    listed: usize,
}

impl Commands {
    fn read(file: &[u8]) -> Result<Commands, String> {
        const SEGMENT: u64 = 0x19;
        const SYMBOLS: u64 = 2;
        const DYNAMIC_SYMBOLS: u64 = 0xb;
        if !file.starts_with(b"\xcf\xfa\xed\xfe") {
            return Err("it is not a macOS library".to_owned());
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
            // Non-lazy and lazy symbol pointers.
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
/// If it imports anything besides `memcpy`, or has an unexpected format.
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
        // Defined in a section, and external.
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
