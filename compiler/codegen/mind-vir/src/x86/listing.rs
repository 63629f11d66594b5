//! Disassembly.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};

/// Returns the instructions of x86-64 `code`, one per line with its offset. Constants after the code are omitted; the
/// instructions that read them show their addresses.
pub fn disassemble(code: &[u8]) -> String {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let (mut formatter, mut text) = (IntelFormatter::new(), String::new());
    let mut constants = code.len() as u64;
    let mut instruction = Instruction::default();
    while decoder.can_decode() && decoder.ip() < constants {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            break;
        }
        if instruction.is_ip_rel_memory_operand() {
            constants = constants.min(instruction.ip_rel_memory_address());
        }
        text.push_str(&format!("{:6x}  ", instruction.ip()));
        formatter.format(&instruction, &mut text);
        text.push('\n');
    }
    text
}
