//! Processor requirements, and the machine code that queries them.

use crate::target::{CodeTarget, Isa};

/// `void cpuid(u64 leaf, u64 subleaf, u32 registers[4])`, in the System V convention.
pub(super) const CPUID: &[u8] = &[
    0x53, // push rbx
    0x49, 0x89, 0xd0, // mov r8, rdx
    0x89, 0xf8, // mov eax, edi
    0x89, 0xf1, // mov ecx, esi
    0x0f, 0xa2, // cpuid
    0x41, 0x89, 0x00, // mov [r8], eax
    0x41, 0x89, 0x58, 0x04, // mov [r8+4], ebx
    0x41, 0x89, 0x48, 0x08, // mov [r8+8], ecx
    0x41, 0x89, 0x50, 0x0c, // mov [r8+0xc], edx
    0x5b, // pop rbx
    0xc3, // ret
];

/// `u64 xgetbv(void)`, the low half of the register of enabled states, in the System V convention.
pub(super) const XGETBV: &[u8] = &[
    0x31, 0xc9, // xor ecx, ecx
    0x0f, 0x01, 0xd0, // xgetbv
    0xc3, // ret
];

/// The CPUID leaf with most of the queried features.
pub(super) const FEATURES: u64 = 7;
/// The bit of [`Needs::basic`] without which [`XGETBV`] must not run.
pub(super) const OSXSAVE: u32 = 1 << 27;

/// The bits that an instruction set needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Needs {
    /// Of ecx of leaf 1.
    pub(super) basic: u32,
    /// Of ebx of leaf 7.
    pub(super) features: u32,
    /// Of ecx of leaf 7.
    pub(super) extensions: u32,
    /// Of eax of subleaf 1 of leaf 7.
    pub(super) further: u32,
    /// Of the register of enabled states.
    pub(super) states: u32,
}

const FMA: u32 = 1 << 12;
const AVX: u32 = 1 << 28;
const F16C: u32 = 1 << 29;
const AVX2: u32 = 1 << 5;
const BMI2: u32 = 1 << 8;
const AVX512F: u32 = 1 << 16;
const AVX512DQ: u32 = 1 << 17;
const AVX512BW: u32 = 1 << 30;
const AVX512VL: u32 = 1 << 31;
const AVX512_VNNI: u32 = 1 << 11;
const AVX_VNNI: u32 = 1 << 4;
/// The registers xmm and ymm.
const YMM: u32 = 6;
/// Mask registers, and all of zmm.
const ZMM: u32 = 0xe0;

impl Needs {
    /// Returns the features that code for `target` requires on x86-64. 128-bit code requires FMA too.
    pub(super) const fn of(target: CodeTarget) -> Needs {
        let portable = Needs {
            basic: FMA | OSXSAVE | AVX,
            features: 0,
            extensions: 0,
            further: 0,
            states: YMM,
        };
        let avx2 = Needs {
            basic: portable.basic | F16C,
            features: AVX2 | BMI2,
            ..portable
        };
        let avx512 = Needs {
            features: avx2.features | AVX512F | AVX512DQ | AVX512BW | AVX512VL,
            states: YMM | ZMM,
            ..avx2
        };
        match (target.isa, target.has_vnni) {
            // 128-bit code has no use for it.
            (Isa::Portable, _) => portable,
            (Isa::Avx2, false) => avx2,
            (Isa::Avx2, true) => Needs {
                further: AVX_VNNI,
                ..avx2
            },
            (Isa::Avx512, false) => avx512,
            (Isa::Avx512, true) => Needs {
                extensions: AVX512_VNNI,
                ..avx512
            },
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    use crate::code::CodeBuilder;

    use super::*;

    #[test]
    fn the_bits_are_those_that_the_standard_library_looks_at() {
        let (basic, seventh) = (__cpuid(1).ecx, __cpuid_count(7, 0));
        let further = match seventh.eax {
            0 => 0,
            _ => __cpuid_count(7, 1).eax,
        };
        for isa in [Isa::Avx2, Isa::Avx512] {
            for has_vnni in [false, true] {
                let target = CodeTarget {
                    has_vnni,
                    ..CodeTarget::from(isa)
                };
                let needs = Needs::of(target);
                let pairs = [
                    (basic, needs.basic),
                    (seventh.ebx, needs.features),
                    (seventh.ecx, needs.extensions),
                    (further, needs.further),
                ];
                let has = pairs
                    .iter()
                    .all(|(found, needed)| found & needed == *needed);
                assert_eq!(has, target.is_available(), "{target}");
            }
        }
    }

    #[test]
    fn the_functions_do_what_the_instructions_do() {
        let mut builder = CodeBuilder::default();
        let [cpuid, xgetbv] = [CPUID, XGETBV].map(|code| builder.push(code));
        let code = builder.publish().expect("executable memory");
        let mut found = [0u32; 4];
        // SAFETY: the bytes are functions of these types.
        let states = unsafe {
            let cpuid: extern "sysv64" fn(u64, u64, *mut u32) =
                std::mem::transmute(code.entry(cpuid).as_ptr());
            let xgetbv: extern "sysv64" fn() -> u64 =
                std::mem::transmute(code.entry(xgetbv).as_ptr());
            cpuid(FEATURES, 0, found.as_mut_ptr());
            xgetbv()
        };
        let expected = __cpuid_count(7, 0);
        let expected = [expected.eax, expected.ebx, expected.ecx, expected.edx];
        assert_eq!(found, expected);
        let ymm = u64::from(Needs::of(Isa::Avx2.into()).states);
        assert_eq!(
            states & ymm == ymm,
            std::arch::is_x86_feature_detected!("avx")
        );
        let text = crate::disassemble(CPUID);
        assert!(
            text.contains("cpuid") && text.contains("mov [r8+0Ch],edx"),
            "{text}"
        );
        assert!(crate::disassemble(XGETBV).contains("xgetbv"));
    }
}
