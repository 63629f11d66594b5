//! Libraries of Windows.

use super::image::{Convention, Image, number, text};

/// Returns a table of the header: where it is in the image, and its bytes.
fn table(file: &[u8], header: usize, at: usize) -> Result<(usize, usize), String> {
    let entry = header + 112 + 8 * at;
    let [address, bytes] = [number::<4>(file, entry)?, number::<4>(file, entry + 4)?];
    Ok((address as usize, bytes as usize))
}

/// Loads a library.
///
/// # Errors
///
/// It needs anything but `memcpy`, or is not what is expected.
pub(super) fn load(file: &[u8]) -> Result<Image, String> {
    const EXPORTS: usize = 0;
    const IMPORTS: usize = 1;
    const RELOCATIONS: usize = 5;
    let signature = number::<4>(file, 0x3c)? as usize;
    if file.get(signature..signature + 4) != Some(b"PE\0\0") {
        return Err("it is no library of Windows".to_owned());
    }
    let (sections, optional) = (signature + 6, signature + 20);
    let header = signature + 24;
    let first_section = header + number::<2>(file, optional)? as usize;
    let base = number::<8>(file, header + 24)?;
    let mut image = Image::new(
        number::<4>(file, header + 56)? as usize,
        Convention::Windows,
    )?;
    let mut code = Vec::new();
    for section in 0..number::<2>(file, sections)? as usize {
        const IS_CODE: u64 = 0x20;
        let at = first_section + 40 * section;
        let [size, address, stored, from] =
            [8, 12, 16, 20].map(|field| number::<4>(file, at + field).map(|found| found as usize));
        let (size, address, length) = (size?, address?, stored?);
        let length = length.min(size);
        image.bytes()[address..address + length].copy_from_slice(&file[from?..][..length]);
        if number::<4>(file, at + 36)? & IS_CODE != 0 {
            code.push((address, size));
        }
    }
    relocate(&mut image, table(file, header, RELOCATIONS)?, base)?;
    import(&mut image, table(file, header, IMPORTS)?.0)?;
    export(&mut image, table(file, header, EXPORTS)?.0)?;
    for (address, size) in code {
        image.make_code(address, size)?;
    }
    Ok(image)
}

/// Moves addresses from where the image was to be loaded to where it is.
fn relocate(image: &mut Image, (start, length): (usize, usize), base: u64) -> Result<(), String> {
    let moved = image.start().wrapping_sub(base);
    let bytes = image.bytes();
    let mut block = start;
    while block < start + length {
        let [page, size] = [
            number::<4>(bytes, block)? as usize,
            number::<4>(bytes, block + 4)? as usize,
        ];
        for entry in (block + 8..block + size).step_by(2) {
            let entry = number::<2>(bytes, entry)? as usize;
            let at = page + (entry & 0xfff);
            match entry >> 12 {
                0 => {}
                10 => {
                    let address = number::<8>(bytes, at)?.wrapping_add(moved);
                    bytes[at..at + 8].copy_from_slice(&address.to_le_bytes());
                }
                other => return Err(format!("a relocation of type {other}")),
            }
        }
        block += size;
    }
    Ok(())
}

/// Writes the address of `memcpy` where the library looks for it.
fn import(image: &mut Image, start: usize) -> Result<(), String> {
    let memcpy = image.memcpy();
    let bytes = image.bytes();
    for library in (start..).step_by(20).take_while(|_| start != 0) {
        let names = number::<4>(bytes, library)? as usize;
        let places = number::<4>(bytes, library + 16)? as usize;
        if places == 0 {
            break;
        }
        for at in (0..).step_by(8) {
            let name = number::<8>(bytes, names + at)? as usize;
            if name == 0 {
                break;
            }
            // Before the name is a number of two bytes.
            match text(bytes, name + 2).as_str() {
                "memcpy" => bytes[places + at..][..8].copy_from_slice(&memcpy.to_le_bytes()),
                other => return Err(format!("it needs {other}")),
            }
        }
    }
    Ok(())
}

fn export(image: &mut Image, start: usize) -> Result<(), String> {
    let bytes = image.bytes();
    let [count, functions, names, numbers] =
        [24, 28, 32, 36].map(|field| number::<4>(bytes, start + field).map(|found| found as usize));
    let (functions, names, numbers) = (functions?, names?, numbers?);
    let mut found = Vec::new();
    for at in 0..count? {
        let name = number::<4>(bytes, names + 4 * at)? as usize;
        let function = number::<2>(bytes, numbers + 2 * at)? as usize;
        let address = number::<4>(bytes, functions + 4 * function)? as u32;
        found.push((text(bytes, name), address));
    }
    for (name, address) in found {
        image.export(&name, address);
    }
    Ok(())
}
