//! Instructions for the operations of vector IR, by encoding.
//!
//! AVX2 code uses the 256-bit VEX form, AVX-512 code the 512-bit EVEX form, whatever the number of lanes; lanes beyond
//! the last one are computed and ignored.

use super::encoding::Encoding;
use iced_x86::Code::{self, *};

use crate::ir::{BinaryOp, ConvertOp, Lane, ShiftOp};

/// The forms of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstructionForms {
    vex: Option<Code>,
    evex: Code,
}

impl InstructionForms {
    const fn both(vex: Code, evex: Code) -> InstructionForms {
        InstructionForms {
            vex: Some(vex),
            evex,
        }
    }

    /// An instruction without an AVX2 form.
    const fn wide(evex: Code) -> InstructionForms {
        InstructionForms { vex: None, evex }
    }

    /// Returns the form for `encoding`, if there is one.
    pub fn code(self, encoding: Encoding) -> Option<Code> {
        match encoding {
            Encoding::Vex => self.vex,
            Encoding::Evex => Some(self.evex),
        }
    }
}

/// Adds dot products of four bytes to 32-bit lanes (VNNI); the addend is the first operand.
pub(super) const DOT_BYTES: InstructionForms = InstructionForms::both(
    VEX_Vpdpbusd_ymm_ymm_ymmm256,
    EVEX_Vpdpbusd_zmm_k1z_zmm_zmmm512b32,
);

/// Returns the instruction of a binary operation; `None` if every target needs several.
pub(super) fn binary(op: BinaryOp, lane: Lane) -> Option<InstructionForms> {
    use BinaryOp::*;
    use Lane::*;
    Some(match (op, lane) {
        (And, _) => AND,
        (Or, _) => OR,
        (Xor, _) => XOR,
        (Add, F32) => InstructionForms::both(
            VEX_Vaddps_ymm_ymm_ymmm256,
            EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (Add, F64) => InstructionForms::both(
            VEX_Vaddpd_ymm_ymm_ymmm256,
            EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (Sub, F32) => InstructionForms::both(
            VEX_Vsubps_ymm_ymm_ymmm256,
            EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (Sub, F64) => InstructionForms::both(
            VEX_Vsubpd_ymm_ymm_ymmm256,
            EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (Mul, F32) => InstructionForms::both(
            VEX_Vmulps_ymm_ymm_ymmm256,
            EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (Mul, F64) => InstructionForms::both(
            VEX_Vmulpd_ymm_ymm_ymmm256,
            EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (Div, F32) => InstructionForms::both(
            VEX_Vdivps_ymm_ymm_ymmm256,
            EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (Div, F64) => InstructionForms::both(
            VEX_Vdivpd_ymm_ymm_ymmm256,
            EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (Min, F32) => InstructionForms::both(
            VEX_Vminps_ymm_ymm_ymmm256,
            EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
        ),
        (Min, F64) => InstructionForms::both(
            VEX_Vminpd_ymm_ymm_ymmm256,
            EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
        ),
        (Max, F32) => InstructionForms::both(
            VEX_Vmaxps_ymm_ymm_ymmm256,
            EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
        ),
        (Max, F64) => InstructionForms::both(
            VEX_Vmaxpd_ymm_ymm_ymmm256,
            EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
        ),
        (Add, I8) => {
            InstructionForms::both(VEX_Vpaddb_ymm_ymm_ymmm256, EVEX_Vpaddb_zmm_k1z_zmm_zmmm512)
        }
        (Add, I16) => {
            InstructionForms::both(VEX_Vpaddw_ymm_ymm_ymmm256, EVEX_Vpaddw_zmm_k1z_zmm_zmmm512)
        }
        (Add, I32) => InstructionForms::both(
            VEX_Vpaddd_ymm_ymm_ymmm256,
            EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Add, I64) => InstructionForms::both(
            VEX_Vpaddq_ymm_ymm_ymmm256,
            EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
        ),
        (Sub, I8) => {
            InstructionForms::both(VEX_Vpsubb_ymm_ymm_ymmm256, EVEX_Vpsubb_zmm_k1z_zmm_zmmm512)
        }
        (Sub, I16) => {
            InstructionForms::both(VEX_Vpsubw_ymm_ymm_ymmm256, EVEX_Vpsubw_zmm_k1z_zmm_zmmm512)
        }
        (Sub, I32) => InstructionForms::both(
            VEX_Vpsubd_ymm_ymm_ymmm256,
            EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Sub, I64) => InstructionForms::both(
            VEX_Vpsubq_ymm_ymm_ymmm256,
            EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
        ),
        (Mul, I16) => InstructionForms::both(
            VEX_Vpmullw_ymm_ymm_ymmm256,
            EVEX_Vpmullw_zmm_k1z_zmm_zmmm512,
        ),
        (Mul, I32) => InstructionForms::both(
            VEX_Vpmulld_ymm_ymm_ymmm256,
            EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        ),
        (MulHalves, I32) => InstructionForms::both(
            VEX_Vpmaddwd_ymm_ymm_ymmm256,
            EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512,
        ),
        (MulBytes, I32) => InstructionForms::both(
            VEX_Vpmaddubsw_ymm_ymm_ymmm256,
            EVEX_Vpmaddubsw_zmm_k1z_zmm_zmmm512,
        ),
        (AddHalves, I32) => {
            InstructionForms::both(VEX_Vpaddw_ymm_ymm_ymmm256, EVEX_Vpaddw_zmm_k1z_zmm_zmmm512)
        }
        (Mul, I64) => InstructionForms::wide(EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64),
        (Min, I8) => InstructionForms::both(
            VEX_Vpminsb_ymm_ymm_ymmm256,
            EVEX_Vpminsb_zmm_k1z_zmm_zmmm512,
        ),
        (Min, I16) => InstructionForms::both(
            VEX_Vpminsw_ymm_ymm_ymmm256,
            EVEX_Vpminsw_zmm_k1z_zmm_zmmm512,
        ),
        (Min, I32) => InstructionForms::both(
            VEX_Vpminsd_ymm_ymm_ymmm256,
            EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Min, I64) => InstructionForms::wide(EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64),
        (Max, I8) => InstructionForms::both(
            VEX_Vpmaxsb_ymm_ymm_ymmm256,
            EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512,
        ),
        (Max, I16) => InstructionForms::both(
            VEX_Vpmaxsw_ymm_ymm_ymmm256,
            EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512,
        ),
        (Max, I32) => InstructionForms::both(
            VEX_Vpmaxsd_ymm_ymm_ymmm256,
            EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Max, I64) => InstructionForms::wide(EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64),
        (UMin, I8) => InstructionForms::both(
            VEX_Vpminub_ymm_ymm_ymmm256,
            EVEX_Vpminub_zmm_k1z_zmm_zmmm512,
        ),
        (UMin, I16) => InstructionForms::both(
            VEX_Vpminuw_ymm_ymm_ymmm256,
            EVEX_Vpminuw_zmm_k1z_zmm_zmmm512,
        ),
        (UMin, I32) => InstructionForms::both(
            VEX_Vpminud_ymm_ymm_ymmm256,
            EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        ),
        (UMin, I64) => InstructionForms::wide(EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64),
        (UMax, I8) => InstructionForms::both(
            VEX_Vpmaxub_ymm_ymm_ymmm256,
            EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512,
        ),
        (UMax, I16) => InstructionForms::both(
            VEX_Vpmaxuw_ymm_ymm_ymmm256,
            EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512,
        ),
        (UMax, I32) => InstructionForms::both(
            VEX_Vpmaxud_ymm_ymm_ymmm256,
            EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        ),
        (UMax, I64) => InstructionForms::wide(EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64),
        (Shift(ShiftOp::Shl), I32) => InstructionForms::both(
            VEX_Vpsllvd_ymm_ymm_ymmm256,
            EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Shift(ShiftOp::Shl), I64) => InstructionForms::both(
            VEX_Vpsllvq_ymm_ymm_ymmm256,
            EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
        ),
        (Shift(ShiftOp::Shr), I32) => InstructionForms::both(
            VEX_Vpsrlvd_ymm_ymm_ymmm256,
            EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Shift(ShiftOp::Shr), I64) => InstructionForms::both(
            VEX_Vpsrlvq_ymm_ymm_ymmm256,
            EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
        ),
        (Shift(ShiftOp::Sra), I32) => InstructionForms::both(
            VEX_Vpsravd_ymm_ymm_ymmm256,
            EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        ),
        (Shift(ShiftOp::Sra), I64) => InstructionForms::wide(EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64),
        (Shift(_), F32 | F64 | I8 | I16) => return None,
        (Mul, I8)
        | (MulHalves | MulBytes | AddHalves, _)
        | (Div | Maximum | Scale | ScaleSum, _)
        | (UMin | UMax, F32 | F64) => {
            return None;
        }
    })
}

/// `a` times the power of two whose exponent is `b`, rounded down to an integer.
pub(super) fn scale(lane: Lane) -> Code {
    match lane {
        Lane::F32 => EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er,
        Lane::F64 => EVEX_Vscalefpd_zmm_k1z_zmm_zmmm512b64_er,
        Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => unreachable!("verified lanes are floats"),
    }
}

/// Any bitwise function of three operands, the first of which it overwrites.
pub(super) const TERNARY: Code = EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8;

pub(super) const AND: InstructionForms = InstructionForms::both(
    VEX_Vpand_ymm_ymm_ymmm256,
    EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
);
pub(super) const OR: InstructionForms =
    InstructionForms::both(VEX_Vpor_ymm_ymm_ymmm256, EVEX_Vpord_zmm_k1z_zmm_zmmm512b32);
pub(super) const XOR: InstructionForms = InstructionForms::both(
    VEX_Vpxor_ymm_ymm_ymmm256,
    EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
);
pub(super) const MULTIPLY_LOW_HALVES: InstructionForms = InstructionForms::both(
    VEX_Vpmuludq_ymm_ymm_ymmm256,
    EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
);
pub(super) const PACK_I32: InstructionForms = InstructionForms::both(
    VEX_Vpackusdw_ymm_ymm_ymmm256,
    EVEX_Vpackusdw_zmm_k1z_zmm_zmmm512b32,
);
pub(super) const PACK_I16: InstructionForms = InstructionForms::both(
    VEX_Vpackuswb_ymm_ymm_ymmm256,
    EVEX_Vpackuswb_zmm_k1z_zmm_zmmm512,
);
pub(super) const PERMUTE_I32: InstructionForms = InstructionForms::both(
    VEX_Vpermd_ymm_ymm_ymmm256,
    EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
);
/// Permutes bytes within each 16-byte block.
pub(super) const PERMUTE_BYTES: InstructionForms = InstructionForms::both(
    VEX_Vpshufb_ymm_ymm_ymmm256,
    EVEX_Vpshufb_zmm_k1z_zmm_zmmm512,
);
pub(super) const PERMUTE_F32: InstructionForms = InstructionForms::both(
    VEX_Vpermps_ymm_ymm_ymmm256,
    EVEX_Vpermps_zmm_k1z_zmm_zmmm512b32,
);

/// `±(a * b) ± c`: the signs, and the operand tied to the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FmaForm {
    pub negate_product: bool,
    pub subtract: bool,
    /// Whether the addend is overwritten (form 231) rather than a factor (form 213).
    pub replaces_addend: bool,
}

/// The instruction for a fused multiply-add.
pub(super) fn fma(form: FmaForm, lane: Lane) -> InstructionForms {
    let double = lane == Lane::F64;
    match (
        form.negate_product,
        form.subtract,
        form.replaces_addend,
        double,
    ) {
        (false, false, false, false) => InstructionForms::both(
            VEX_Vfmadd213ps_ymm_ymm_ymmm256,
            EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (false, false, false, true) => InstructionForms::both(
            VEX_Vfmadd213pd_ymm_ymm_ymmm256,
            EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (false, false, true, false) => InstructionForms::both(
            VEX_Vfmadd231ps_ymm_ymm_ymmm256,
            EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (false, false, true, true) => InstructionForms::both(
            VEX_Vfmadd231pd_ymm_ymm_ymmm256,
            EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (false, true, false, false) => InstructionForms::both(
            VEX_Vfmsub213ps_ymm_ymm_ymmm256,
            EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (false, true, false, true) => InstructionForms::both(
            VEX_Vfmsub213pd_ymm_ymm_ymmm256,
            EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (false, true, true, false) => InstructionForms::both(
            VEX_Vfmsub231ps_ymm_ymm_ymmm256,
            EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (false, true, true, true) => InstructionForms::both(
            VEX_Vfmsub231pd_ymm_ymm_ymmm256,
            EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (true, false, false, false) => InstructionForms::both(
            VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
            EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (true, false, false, true) => InstructionForms::both(
            VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
            EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (true, false, true, false) => InstructionForms::both(
            VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
            EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (true, false, true, true) => InstructionForms::both(
            VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
            EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (true, true, false, false) => InstructionForms::both(
            VEX_Vfnmsub213ps_ymm_ymm_ymmm256,
            EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (true, true, false, true) => InstructionForms::both(
            VEX_Vfnmsub213pd_ymm_ymm_ymmm256,
            EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
        (true, true, true, false) => InstructionForms::both(
            VEX_Vfnmsub231ps_ymm_ymm_ymmm256,
            EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        ),
        (true, true, true, true) => InstructionForms::both(
            VEX_Vfnmsub231pd_ymm_ymm_ymmm256,
            EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        ),
    }
}

/// The square root.
pub(super) fn sqrt(lane: Lane) -> InstructionForms {
    match lane {
        Lane::F64 => {
            InstructionForms::both(VEX_Vsqrtpd_ymm_ymmm256, EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er)
        }
        _ => InstructionForms::both(VEX_Vsqrtps_ymm_ymmm256, EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er),
    }
}

/// Rounding to an integer; the immediate is the mode.
pub(super) fn round(lane: Lane) -> InstructionForms {
    match lane {
        Lane::F64 => InstructionForms::both(
            VEX_Vroundpd_ymm_ymmm256_imm8,
            EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
        ),
        _ => InstructionForms::both(
            VEX_Vroundps_ymm_ymmm256_imm8,
            EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
        ),
    }
}

/// A shift by a constant; `None` for bytes, which x86 cannot shift.
pub(super) fn shift(op: ShiftOp, lane: Lane) -> Option<InstructionForms> {
    use ShiftOp::*;
    Some(match (op, lane.bits()) {
        (Shl, 16) => {
            InstructionForms::both(VEX_Vpsllw_ymm_ymm_imm8, EVEX_Vpsllw_zmm_k1z_zmmm512_imm8)
        }
        (Shl, 32) => {
            InstructionForms::both(VEX_Vpslld_ymm_ymm_imm8, EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8)
        }
        (Shl, 64) => {
            InstructionForms::both(VEX_Vpsllq_ymm_ymm_imm8, EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8)
        }
        (Shr, 16) => {
            InstructionForms::both(VEX_Vpsrlw_ymm_ymm_imm8, EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8)
        }
        (Shr, 32) => {
            InstructionForms::both(VEX_Vpsrld_ymm_ymm_imm8, EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8)
        }
        (Shr, 64) => {
            InstructionForms::both(VEX_Vpsrlq_ymm_ymm_imm8, EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8)
        }
        (Sra, 16) => {
            InstructionForms::both(VEX_Vpsraw_ymm_ymm_imm8, EVEX_Vpsraw_zmm_k1z_zmmm512_imm8)
        }
        (Sra, 32) => {
            InstructionForms::both(VEX_Vpsrad_ymm_ymm_imm8, EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8)
        }
        (Sra, 64) => InstructionForms::wide(EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8),
        _ => return None,
    })
}

/// Returns the conversion if it is one instruction between the low parts of registers; `None` otherwise.
pub(super) fn convert(op: ConvertOp, from: Lane, to: Lane) -> Option<InstructionForms> {
    use ConvertOp::*;
    use Lane::*;
    Some(match (op, from, to) {
        (HalfToF32, ..) => InstructionForms::both(
            VEX_Vcvtph2ps_ymm_xmmm128,
            EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
        ),
        (Float, _, F64) => InstructionForms::both(
            VEX_Vcvtps2pd_ymm_xmmm128,
            EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
        ),
        (Float, ..) => InstructionForms::both(
            VEX_Vcvtpd2ps_xmm_ymmm256,
            EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
        ),
        (IntToFloat, _, F64) => InstructionForms::both(
            VEX_Vcvtdq2pd_ymm_xmmm128,
            EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
        ),
        (IntToFloat, ..) => InstructionForms::both(
            VEX_Vcvtdq2ps_ymm_ymmm256,
            EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
        ),
        (FloatToInt, F64, _) => InstructionForms::both(
            VEX_Vcvttpd2dq_xmm_ymmm256,
            EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
        ),
        (FloatToInt, ..) => InstructionForms::both(
            VEX_Vcvttps2dq_ymm_ymmm256,
            EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
        ),
        (SignExtend, I8, I16) => {
            InstructionForms::both(VEX_Vpmovsxbw_ymm_xmmm128, EVEX_Vpmovsxbw_zmm_k1z_ymmm256)
        }
        (SignExtend, I8, I32) => {
            InstructionForms::both(VEX_Vpmovsxbd_ymm_xmmm64, EVEX_Vpmovsxbd_zmm_k1z_xmmm128)
        }
        (SignExtend, I8, I64) => {
            InstructionForms::both(VEX_Vpmovsxbq_ymm_xmmm32, EVEX_Vpmovsxbq_zmm_k1z_xmmm64)
        }
        (SignExtend, I16, I32) => {
            InstructionForms::both(VEX_Vpmovsxwd_ymm_xmmm128, EVEX_Vpmovsxwd_zmm_k1z_ymmm256)
        }
        (SignExtend, I16, I64) => {
            InstructionForms::both(VEX_Vpmovsxwq_ymm_xmmm64, EVEX_Vpmovsxwq_zmm_k1z_xmmm128)
        }
        (SignExtend, I32, I64) => {
            InstructionForms::both(VEX_Vpmovsxdq_ymm_xmmm128, EVEX_Vpmovsxdq_zmm_k1z_ymmm256)
        }
        (ZeroExtend, I8, I16) => {
            InstructionForms::both(VEX_Vpmovzxbw_ymm_xmmm128, EVEX_Vpmovzxbw_zmm_k1z_ymmm256)
        }
        (ZeroExtend, I8, I32) => {
            InstructionForms::both(VEX_Vpmovzxbd_ymm_xmmm64, EVEX_Vpmovzxbd_zmm_k1z_xmmm128)
        }
        (ZeroExtend, I8, I64) => {
            InstructionForms::both(VEX_Vpmovzxbq_ymm_xmmm32, EVEX_Vpmovzxbq_zmm_k1z_xmmm64)
        }
        (ZeroExtend, I16, I32) => {
            InstructionForms::both(VEX_Vpmovzxwd_ymm_xmmm128, EVEX_Vpmovzxwd_zmm_k1z_ymmm256)
        }
        (ZeroExtend, I16, I64) => {
            InstructionForms::both(VEX_Vpmovzxwq_ymm_xmmm64, EVEX_Vpmovzxwq_zmm_k1z_xmmm128)
        }
        (ZeroExtend, I32, I64) => {
            InstructionForms::both(VEX_Vpmovzxdq_ymm_xmmm128, EVEX_Vpmovzxdq_zmm_k1z_ymmm256)
        }
        (Truncate, I16, I8) => InstructionForms::wide(EVEX_Vpmovwb_ymmm256_k1z_zmm),
        (Truncate, I32, I8) => InstructionForms::wide(EVEX_Vpmovdb_xmmm128_k1z_zmm),
        (Truncate, I64, I8) => InstructionForms::wide(EVEX_Vpmovqb_xmmm64_k1z_zmm),
        (Truncate, I32, I16) => InstructionForms::wide(EVEX_Vpmovdw_ymmm256_k1z_zmm),
        (Truncate, I64, I16) => InstructionForms::wide(EVEX_Vpmovqw_xmmm128_k1z_zmm),
        (Truncate, I64, I32) => InstructionForms::wide(EVEX_Vpmovqd_ymmm256_k1z_zmm),
        (Bits | F32ToHalf | SignExtend | ZeroExtend | Truncate, ..) => return None,
    })
}

/// A comparison into a vector: equal, or signed greater.
pub(super) fn compare_vex(lane: Lane, is_equality: bool) -> Code {
    match (lane.bits(), is_equality) {
        (8, true) => VEX_Vpcmpeqb_ymm_ymm_ymmm256,
        (16, true) => VEX_Vpcmpeqw_ymm_ymm_ymmm256,
        (32, true) => VEX_Vpcmpeqd_ymm_ymm_ymmm256,
        (_, true) => VEX_Vpcmpeqq_ymm_ymm_ymmm256,
        (8, false) => VEX_Vpcmpgtb_ymm_ymm_ymmm256,
        (16, false) => VEX_Vpcmpgtw_ymm_ymm_ymmm256,
        (32, false) => VEX_Vpcmpgtd_ymm_ymm_ymmm256,
        (_, false) => VEX_Vpcmpgtq_ymm_ymm_ymmm256,
    }
}

/// A comparison of integers into a mask; the immediate is the predicate.
pub(super) fn compare_evex(lane: Lane, is_unsigned: bool) -> Code {
    match (lane.bits(), is_unsigned) {
        (8, false) => EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8,
        (16, false) => EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8,
        (32, false) => EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
        (_, false) => EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
        (8, true) => EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8,
        (16, true) => EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8,
        (32, true) => EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
        (_, true) => EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
    }
}

/// A comparison of floats; the immediate is the predicate.
pub(super) fn compare_float(lane: Lane, encoding: Encoding) -> Code {
    match (lane, encoding) {
        (Lane::F64, Encoding::Evex) => EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
        (_, Encoding::Evex) => EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
        (Lane::F64, Encoding::Vex) => VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
        (_, Encoding::Vex) => VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
    }
}

/// Tests whether any lane of a mask is set; sets the zero flag if none is. A mask in a vector, or one with few lanes,
/// must be zero beyond its lanes.
pub(super) fn test_mask(lanes: u32, encoding: Encoding) -> Code {
    match (lanes, encoding) {
        (_, Encoding::Vex) => VEX_Vptest_ymm_ymmm256,
        (64, Encoding::Evex) => VEX_Kortestq_kr_kr,
        (32, Encoding::Evex) => VEX_Kortestd_kr_kr,
        (16, Encoding::Evex) => VEX_Kortestw_kr_kr,
        (_, Encoding::Evex) => VEX_Kortestb_kr_kr,
    }
}

/// A select by a mask: a vector with AVX2, a mask register with AVX-512.
pub(super) fn select(lane: Lane, encoding: Encoding) -> Code {
    match (lane.bits(), encoding) {
        (8, Encoding::Evex) => EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512,
        (16, Encoding::Evex) => EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512,
        (32, Encoding::Evex) => EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
        (_, Encoding::Evex) => EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
        (8 | 16, Encoding::Vex) => VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
        (32, Encoding::Vex) => VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
        (_, Encoding::Vex) => VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
    }
}

/// Broadcasts the first element of a register.
pub(super) fn splat_register(lane: Lane, encoding: Encoding) -> Code {
    match (lane.bits(), encoding) {
        (32, Encoding::Vex) => VEX_Vbroadcastss_ymm_xmm,
        (64, Encoding::Vex) => VEX_Vbroadcastsd_ymm_xmm,
        _ => splat(lane, encoding),
    }
}

/// A broadcasting load.
pub(super) fn splat(lane: Lane, encoding: Encoding) -> Code {
    match (lane.bits(), encoding) {
        (8, Encoding::Evex) => EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
        (16, Encoding::Evex) => EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
        (32, Encoding::Evex) => EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        (_, Encoding::Evex) => EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
        (8, Encoding::Vex) => VEX_Vpbroadcastb_ymm_xmmm8,
        (16, Encoding::Vex) => VEX_Vpbroadcastw_ymm_xmmm16,
        (32, Encoding::Vex) => VEX_Vbroadcastss_ymm_m32,
        (_, Encoding::Vex) => VEX_Vbroadcastsd_ymm_m64,
    }
}

/// A load and a store of `bytes` bytes, 4 to 64.
pub(super) fn moves(bytes: u32, encoding: Encoding) -> (Code, Code) {
    match (bytes, encoding) {
        (64, _) => (EVEX_Vmovups_zmm_k1z_zmmm512, EVEX_Vmovups_zmmm512_k1z_zmm),
        (32, Encoding::Evex) => (EVEX_Vmovups_ymm_k1z_ymmm256, EVEX_Vmovups_ymmm256_k1z_ymm),
        (16, Encoding::Evex) => (EVEX_Vmovups_xmm_k1z_xmmm128, EVEX_Vmovups_xmmm128_k1z_xmm),
        (8, Encoding::Evex) => (EVEX_Vmovq_xmm_xmmm64, EVEX_Vmovq_xmmm64_xmm),
        (_, Encoding::Evex) => (EVEX_Vmovd_xmm_rm32, EVEX_Vmovd_rm32_xmm),
        (32, Encoding::Vex) => (VEX_Vmovups_ymm_ymmm256, VEX_Vmovups_ymmm256_ymm),
        (16, Encoding::Vex) => (VEX_Vmovups_xmm_xmmm128, VEX_Vmovups_xmmm128_xmm),
        (8, Encoding::Vex) => (VEX_Vmovq_xmm_xmmm64, VEX_Vmovq_xmmm64_xmm),
        (_, Encoding::Vex) => (VEX_Vmovd_xmm_rm32, VEX_Vmovd_rm32_xmm),
    }
}

/// A 512-bit load and store, masked by a mask register.
pub(super) fn masked_moves(lane: Lane) -> (Code, Code) {
    match lane.bits() {
        8 => (EVEX_Vmovdqu8_zmm_k1z_zmmm512, EVEX_Vmovdqu8_zmmm512_k1z_zmm),
        16 => (
            EVEX_Vmovdqu16_zmm_k1z_zmmm512,
            EVEX_Vmovdqu16_zmmm512_k1z_zmm,
        ),
        32 => (
            EVEX_Vmovdqu32_zmm_k1z_zmmm512,
            EVEX_Vmovdqu32_zmmm512_k1z_zmm,
        ),
        _ => (
            EVEX_Vmovdqu64_zmm_k1z_zmmm512,
            EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        ),
    }
}

/// A load and store of `bytes` bytes, masked by a vector of 32- or 64-bit lanes.
pub(super) fn vector_masked_moves(lane: Lane, bytes: u32) -> (Code, Code) {
    match (lane.bits(), bytes) {
        (32, 16) => (VEX_Vpmaskmovd_xmm_xmm_m128, VEX_Vpmaskmovd_m128_xmm_xmm),
        (32, _) => (VEX_Vpmaskmovd_ymm_ymm_m256, VEX_Vpmaskmovd_m256_ymm_ymm),
        (_, 16) => (VEX_Vpmaskmovq_xmm_xmm_m128, VEX_Vpmaskmovq_m128_xmm_xmm),
        _ => (VEX_Vpmaskmovq_ymm_ymm_m256, VEX_Vpmaskmovq_m256_ymm_ymm),
    }
}

/// A store of the lowest bytes of a register, a power of two up to 32, and whether it has a lane immediate.
pub(super) fn store_low_vex(bytes: u32) -> (Code, bool) {
    match bytes {
        1 => (VEX_Vpextrb_r32m8_xmm_imm8, true),
        2 => (VEX_Vpextrw_r32m16_xmm_imm8, true),
        _ => (moves(bytes, Encoding::Vex).1, false),
    }
}

/// A store of the first lane, and whether it has a lane immediate.
pub(super) fn store_first(lane: Lane, encoding: Encoding) -> (Code, bool) {
    match (lane.bits(), encoding) {
        (8, Encoding::Evex) => (EVEX_Vpextrb_r32m8_xmm_imm8, true),
        (16, Encoding::Evex) => (EVEX_Vpextrw_r32m16_xmm_imm8, true),
        (32, Encoding::Evex) => (EVEX_Vmovd_rm32_xmm, false),
        (_, Encoding::Evex) => (EVEX_Vmovq_xmmm64_xmm, false),
        (8, Encoding::Vex) => (VEX_Vpextrb_r32m8_xmm_imm8, true),
        (16, Encoding::Vex) => (VEX_Vpextrw_r32m16_xmm_imm8, true),
        (32, Encoding::Vex) => (VEX_Vmovd_rm32_xmm, false),
        (_, Encoding::Vex) => (VEX_Vmovq_xmmm64_xmm, false),
    }
}
