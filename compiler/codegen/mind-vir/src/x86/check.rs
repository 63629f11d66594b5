//! Verifies encoded functions by decoding them.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

/// Decodes `code` and checks the invariants of functions.
///
/// Every byte decodes; jump targets are instructions of the function; it has no calls and leaves only by its return;
/// memory operands have a general register as base, or are constants after the code.
///
/// # Errors
///
/// Errors with the violated invariant and its offset.
pub(super) fn check(code: &[u8], constants: std::ops::Range<usize>) -> Result<(), String> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let (mut starts, mut targets) = (BTreeSet::new(), Vec::new());
    let mut last = None;
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return Err(format!("no instruction at {:#x}", instruction.ip()));
        }
        starts.insert(instruction.ip());
        memory(&instruction, &constants)?;
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Return => {}
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                targets.push(instruction.near_branch_target());
            }
            other => return Err(format!("{other:?} at {:#x}", instruction.ip())),
        }
        last = Some(instruction.flow_control());
    }
    if !matches!(
        last,
        Some(FlowControl::Return | FlowControl::UnconditionalBranch)
    ) {
        return Err("the end of the code can be run over".to_owned());
    }
    match targets.iter().find(|target| !starts.contains(target)) {
        Some(target) => Err(format!(
            "a jump to {target:#x}, where no instruction starts"
        )),
        None => Ok(()),
    }
}

fn memory(instruction: &Instruction, constants: &std::ops::Range<usize>) -> Result<(), String> {
    let operands = 0..instruction.op_count();
    if !operands
        .into_iter()
        .any(|place| instruction.op_kind(place) == OpKind::Memory)
    {
        return Ok(());
    }
    let base = instruction.memory_base();
    let at = instruction.ip();
    if base == Register::RIP {
        let target = instruction.memory_displacement64() as usize;
        return if constants.contains(&target) {
            Ok(())
        } else {
            Err(format!(
                "a constant at {target:#x} used at {at:#x}, outside {constants:x?}"
            ))
        };
    }
    if base.is_gpr64() {
        Ok(())
    } else {
        Err(format!("memory from {base:?} at {at:#x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn broken_code_is_named() {
        let cases: [(&[u8], &str); 6] = [
            (&[0xc3], ""),
            (&[0x90], "run over"),
            (&[0x06, 0xc3], "no instruction"),
            (&[0xe8, 0, 0, 0, 0, 0xc3], "Call"),
            (
                &[0xeb, 0x01, 0x66, 0x90, 0xc3],
                "where no instruction starts",
            ),
            // vmovups ymm0, [rip + 16]
            (
                &[0xc5, 0xfc, 0x10, 0x05, 16, 0, 0, 0, 0xc3],
                "a constant at 0x18",
            ),
        ];
        for (code, expected) in cases {
            let found = check(code, 64..96);
            match expected {
                "" => assert_eq!(found, Ok(())),
                _ => assert!(
                    found.is_err_and(|message| message.contains(expected)),
                    "{code:x?}"
                ),
            }
        }
    }
}
