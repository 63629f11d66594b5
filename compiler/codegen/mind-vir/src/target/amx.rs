//! Whether this process may use the matrix registers of AMX.

use std::sync::OnceLock;

/// Whether the processor multiplies matrices of bytes in registers, and the system keeps these for this process.
///
/// The first call asks the system, for all threads that there are and that will be.
pub(super) fn is_allowed() -> bool {
    static IS_ALLOWED: OnceLock<bool> = OnceLock::new();
    *IS_ALLOWED.get_or_init(|| has_instructions() && request_tile_registers())
}

/// Whether the processor has the instructions, and the system saves the registers.
#[cfg(target_arch = "x86_64")]
fn has_instructions() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const FEATURES: u32 = 7;
    const TILES: u32 = 1 << 24;
    const BYTES: u32 = 1 << 25;
    const OSXSAVE: u32 = 1 << 27;
    /// The configuration and the data of the registers.
    const STATES: u64 = 1 << 17 | 1 << 18;
    let has_leaf = __cpuid(0).eax >= FEATURES;
    let has_both = has_leaf && __cpuid_count(FEATURES, 0).edx & (TILES | BYTES) == TILES | BYTES;
    let may_ask = has_both && __cpuid(1).ecx & OSXSAVE != 0;
    may_ask && enabled_states() & STATES == STATES
}

/// The states of registers that the system saves.
#[cfg(target_arch = "x86_64")]
fn enabled_states() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the caller has seen OSXSAVE, with which the instruction exists for everybody; it writes both registers.
    unsafe {
        std::arch::asm!(
            "xgetbv",
            in("ecx") 0,
            out("eax") low,
            out("edx") high,
            options(nomem, nostack, preserves_flags),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(not(target_arch = "x86_64"))]
fn has_instructions() -> bool {
    false
}

/// Requests the tile registers from the system, which grants them only on request.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn request_tile_registers() -> bool {
    const REQUEST_PERMISSION: libc::c_int = 0x1023;
    const TILE_DATA: libc::c_ulong = 18;
    // SAFETY: the call changes what the process may do, and no memory.
    unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 }
}

/// Other systems are not known to keep the registers.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn request_tile_registers() -> bool {
    false
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_registers_are_there_if_the_system_says_so_and_lets_the_process() {
        let described = std::fs::read_to_string("/proc/cpuinfo").expect("the processor, described");
        let has = |feature: &str| described.split_whitespace().any(|word| word == feature);
        assert_eq!(has_instructions(), has("amx_tile") && has("amx_int8"));
        assert_eq!(is_allowed(), has_instructions() && request_tile_registers());
    }
}
