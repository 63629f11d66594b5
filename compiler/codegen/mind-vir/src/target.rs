//! Instruction sets and the properties that a lowering needs.

mod amx;

use std::fmt;
use std::str::FromStr;

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Isa {
    /// 128-bit vectors, through Cranelift; runs everywhere.
    Portable,
    /// x86-64 with AVX2, FMA and F16C: 256-bit vectors.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL: 512-bit vectors and masks.
    Avx512,
}

/// Properties of an instruction set.
#[derive(Debug)]
pub struct Target {
    /// The instruction set.
    pub isa: Isa,
    /// The name on the command line.
    pub name: &'static str,
    /// Bits of a vector register.
    pub vector_bits: u32,
    /// Vector registers a kernel can use.
    pub vector_registers: u32,
    /// Whether lanes are switched off by mask registers.
    pub has_masks: bool,
    /// The fewest lanes of a vector that can be moved.
    pub least_lanes: u32,
    /// Width in bits of the narrowest lanes that a partial load supports; `None` if the instruction set has no partial
    /// loads.
    pub partial_bits: Option<u32>,
    /// Whether code is that of x86-64.
    pub is_x86: bool,
    is_available: fn() -> bool,
}

/// Every instruction set, the widest last.
static TARGETS: [Target; 3] = [
    Target {
        isa: Isa::Portable,
        name: "portable",
        vector_bits: 128,
        vector_registers: 16,
        has_masks: false,
        least_lanes: 2,
        partial_bits: None,
        is_x86: cfg!(target_arch = "x86_64"),
        is_available: || true,
    },
    Target {
        isa: Isa::Avx2,
        name: "avx2",
        vector_bits: 256,
        vector_registers: 16,
        has_masks: false,
        least_lanes: 4,
        partial_bits: Some(32),
        is_x86: true,
        is_available: has_avx2,
    },
    Target {
        isa: Isa::Avx512,
        name: "avx512",
        vector_bits: 512,
        vector_registers: 32,
        has_masks: true,
        least_lanes: 4,
        partial_bits: Some(8),
        is_x86: true,
        is_available: has_avx512,
    },
];

impl Isa {
    /// Every instruction set, the widest last.
    pub const ALL: [Isa; 3] = [Isa::Portable, Isa::Avx2, Isa::Avx512];

    /// Returns the row of the instruction set.
    pub fn target(self) -> &'static Target {
        &TARGETS[self as usize]
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.target().name
    }

    /// Whether this machine and its operating system can run it.
    pub fn is_available(self) -> bool {
        (self.target().is_available)()
    }

    /// Whether some processors have VNNI in its encoding.
    pub const fn may_have_vnni(self) -> bool {
        match self {
            Isa::Portable => false,
            Isa::Avx2 | Isa::Avx512 => true,
        }
    }

    /// Returns the widest instruction set that this machine can run.
    pub fn detect() -> Isa {
        let best = Isa::ALL.into_iter().rev().find(|isa| isa.is_available());
        best.unwrap_or(Isa::Portable)
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma") && has!("f16c") && has!("bmi2")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has_avx2() && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An instruction set with the extensions that code may use.
///
/// An extension changes the speed of code, but not its results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CodeTarget {
    /// The instruction set.
    pub isa: Isa,
    /// Whether one instruction accumulates products of bytes: AVX-512 VNNI with AVX-512, AVX-VNNI with AVX2.
    pub has_vnni: bool,
    /// Whether matrices of bytes are multiplied in tile registers: AMX with AVX-512.
    pub has_amx: bool,
}

impl CodeTarget {
    /// Whether this machine and its operating system can run it.
    pub fn is_available(self) -> bool {
        self.isa.is_available()
            && (!self.has_vnni || detects_vnni(self.isa))
            && (!self.has_amx || detects_amx(self.isa))
    }
}

impl CodeTarget {
    /// Returns whether code may multiply matrices of bytes in tile registers.
    pub const fn multiplies_bytes(self) -> bool {
        self.has_amx && matches!(self.isa, Isa::Avx512)
    }
}

impl From<Isa> for CodeTarget {
    /// The instruction set without extensions.
    fn from(isa: Isa) -> CodeTarget {
        CodeTarget {
            isa,
            has_vnni: false,
            has_amx: false,
        }
    }
}

impl From<&TargetInfo> for CodeTarget {
    fn from(target: &TargetInfo) -> CodeTarget {
        CodeTarget {
            isa: target.isa,
            has_vnni: target.has_vnni,
            has_amx: target.has_amx,
        }
    }
}

impl fmt::Display for CodeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extensions = match (self.has_vnni, self.has_amx) {
            (false, false) => "",
            (true, false) => " with VNNI",
            (false, true) => " with AMX",
            (true, true) => " with VNNI and AMX",
        };
        write!(f, "{}{extensions}", self.isa)
    }
}

/// Returns whether this machine, which can run `isa`, accumulates products of bytes in the encoding of `isa`.
#[cfg(target_arch = "x86_64")]
fn detects_vnni(isa: Isa) -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const FEATURES: u32 = 7;
    const AVX_VNNI: u32 = 1 << 4;
    match isa {
        Isa::Portable => false,
        Isa::Avx2 => {
            let has_leaf = __cpuid(0).eax >= FEATURES && __cpuid_count(FEATURES, 0).eax >= 1;
            has_leaf && __cpuid_count(FEATURES, 1).eax & AVX_VNNI != 0
        }
        Isa::Avx512 => std::arch::is_x86_feature_detected!("avx512vnni"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detects_vnni(_: Isa) -> bool {
    false
}

/// Returns whether this machine has AMX for code of `isa` and the system lets this process use it.
fn detects_amx(isa: Isa) -> bool {
    match isa {
        Isa::Portable | Isa::Avx2 => false,
        Isa::Avx512 => amx::is_allowed(),
    }
}

/// An unknown name of an instruction set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown instruction set `{0}`; expected {words}", words = words())]
pub struct UnknownIsa(pub String);

/// Returns the names of all instruction sets, the widest first.
fn words() -> String {
    let names: Vec<&str> = TARGETS.iter().rev().map(|target| target.name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, names)) => format!("{} or {last}", names.join(", ")),
        None => String::new(),
    }
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(text: &str) -> Result<Isa, UnknownIsa> {
        let named = Isa::ALL.into_iter().find(|isa| isa.name() == text);
        named.ok_or_else(|| UnknownIsa(text.to_owned()))
    }
}

/// The properties of a machine that a lowering depends on.
///
/// They do not change results, because the order of a sum is part of the op and does not depend on the vector width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetInfo {
    /// The instruction set.
    pub isa: Isa,
    /// Bits of a vector register.
    pub vector_bits: u32,
    /// Vector registers a kernel can use.
    pub vector_registers: u32,
    /// Whether lanes are switched off by mask registers.
    pub has_masks: bool,
    /// Whether one instruction adds up products of bytes.
    pub has_vnni: bool,
    /// Whether matrices of bytes are multiplied in registers.
    pub has_amx: bool,
    /// Multiply-adds of full width that start in a cycle.
    pub fma_ports: u32,
    /// Bytes of first-level data cache of a core.
    pub l1_bytes: usize,
    /// Bytes of second-level cache of a core.
    pub l2_bytes: usize,
    /// Bytes of the last-level cache.
    pub l3_bytes: usize,
}

impl TargetInfo {
    /// Returns `isa` without extensions, with the cache sizes of a typical machine that has it.
    pub fn of(isa: Isa) -> TargetInfo {
        let target = isa.target();
        TargetInfo {
            isa,
            vector_bits: target.vector_bits,
            vector_registers: target.vector_registers,
            has_masks: target.has_masks,
            has_vnni: false,
            has_amx: false,
            fma_ports: 2,
            l1_bytes: 32 << 10,
            l2_bytes: 512 << 10,
            l3_bytes: 32 << 20,
        }
    }

    /// Returns the widest instruction set of this machine, with the extensions and cache sizes that it reports.
    pub fn detect() -> TargetInfo {
        TargetInfo::detected(Isa::detect())
    }

    /// Returns `isa` with this machine's extensions of it and the cache sizes that it reports, if it reports any.
    pub fn detected(isa: Isa) -> TargetInfo {
        let mut target = TargetInfo::of(isa);
        target.has_vnni = isa.is_available() && detects_vnni(isa);
        target.has_amx = isa.is_available() && detects_amx(isa);
        for (level, bytes) in data_caches() {
            match level {
                1 => target.l1_bytes = bytes,
                2 => target.l2_bytes = bytes,
                3 => target.l3_bytes = bytes,
                _ => {}
            }
        }
        target
    }

    /// Returns whether a full-width vector division takes longer than six multiply-adds.
    ///
    /// For example, a 512-bit division takes 10 to 16 cycles, in which 20 to 32 multiply-adds can start; a 256-bit one
    /// takes at most half of that.
    pub const fn divides_slowly(&self) -> bool {
        self.vector_bits > 256
    }

    /// Returns the number of lanes of a vector whose widest elements have `bits` bits.
    ///
    /// # Panics
    ///
    /// If `bits` is 0.
    pub const fn lanes(&self, bits: u32) -> u32 {
        self.vector_bits / bits
    }
}

/// Returns the processor model as CPUID reports it, for example `GenuineIntel 806f8 Intel(R) Xeon(R) Processor`; the
/// architecture on processors without CPUID.
#[cfg(target_arch = "x86_64")]
pub fn processor() -> String {
    use std::arch::x86_64::{__cpuid, CpuidResult};
    const NAME: std::ops::RangeInclusive<u32> = 0x8000_0002..=0x8000_0004;
    let basic = __cpuid(0);
    let words = |CpuidResult { eax, ebx, ecx, edx }: CpuidResult| [eax, ebx, ecx, edx];
    let name = NAME.filter(|&leaf| __cpuid(0x8000_0000).eax >= leaf);
    let name = name.flat_map(|leaf| words(__cpuid(leaf)));
    let text = |words: &[u32]| -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        String::from_utf8_lossy(&bytes)
            .trim_matches(['\0', ' '])
            .to_owned()
    };
    let vendor = text(&[basic.ebx, basic.edx, basic.ecx]);
    let signature = if basic.eax >= 1 { __cpuid(1).eax } else { 0 };
    let name = text(&name.collect::<Vec<u32>>());
    format!("{vendor} {signature:x} {name}")
}

/// Returns the architecture, because this one has no CPUID.
#[cfg(not(target_arch = "x86_64"))]
pub fn processor() -> String {
    std::env::consts::ARCH.to_owned()
}

/// Level and size in bytes of each data cache that the processor describes.
#[cfg(target_arch = "x86_64")]
fn data_caches() -> impl Iterator<Item = (u32, usize)> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const DETERMINISTIC: u32 = 4;
    const AMD_DETERMINISTIC: u32 = 0x8000_001d;
    let (basic, extended) = (__cpuid(0).eax, __cpuid(0x8000_0000).eax);
    let intel = (basic >= DETERMINISTIC).then_some(DETERMINISTIC);
    let amd = (extended >= AMD_DETERMINISTIC).then_some(AMD_DETERMINISTIC);
    let leaves = intel.into_iter().chain(amd);
    leaves.flat_map(|leaf| {
        let rows = (0..8).map(move |index| __cpuid_count(leaf, index));
        rows.filter_map(|row| {
            let (kind, level) = (row.eax & 31, row.eax >> 5 & 7);
            let [line, partitions, ways] =
                [row.ebx & 0xfff, row.ebx >> 12 & 0x3ff, row.ebx >> 22].map(|x| x as usize + 1);
            let is_data = kind == 1 || kind == 3;
            is_data.then(|| (level, line * partitions * ways * (row.ecx as usize + 1)))
        })
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn data_caches() -> impl Iterator<Item = (u32, usize)> {
    std::iter::empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_instruction_sets() {
        assert_eq!(TARGETS.each_ref().map(|target| target.isa), Isa::ALL);
        assert!(TARGETS.is_sorted_by_key(|target| target.vector_bits));
    }

    #[test]
    fn names_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.name().parse(), Ok(isa));
        }
        let unknown = "sse2".parse::<Isa>().expect_err("not supported");
        assert_eq!(
            unknown.to_string(),
            "unknown instruction set `sse2`; expected avx512, avx2 or portable"
        );
    }

    #[test]
    fn what_is_detected_is_available_and_caches_grow_with_their_level() {
        let target = TargetInfo::detect();
        assert!(CodeTarget::from(&target).is_available());
        assert!(target.l1_bytes < target.l2_bytes && target.l2_bytes < target.l3_bytes);
    }

    #[test]
    fn an_extension_that_no_machine_has_is_not_available() {
        let target = |has_vnni: bool, has_amx: bool| CodeTarget {
            isa: Isa::Portable,
            has_vnni,
            has_amx,
        };
        assert!(!target(true, false).is_available());
        assert!(!target(false, true).is_available());
        assert_eq!(target(true, false).to_string(), "portable with VNNI");
        assert_eq!(target(true, true).to_string(), "portable with VNNI and AMX");
    }

    #[test]
    fn lanes_follow_the_widest_element() {
        let lanes = Isa::ALL.map(|isa| TargetInfo::of(isa).lanes(32));
        assert_eq!(lanes, [4, 8, 16]);
    }
}
