use super::*;

/// Returns the bytes of a half-precision number.
fn half(value: f32) -> [u8; 2] {
    half::f16::from_f32(value).to_le_bytes()
}

fn decoded<const N: usize>(weight_type: WeightType, bytes: &[u8]) -> [f32; N] {
    let mut out = [f32::NAN; N];
    decode_blocks(weight_type, bytes, &mut out).unwrap();
    out
}

#[test]
fn plain_numbers_keep_special_values() {
    let bytes = [0x01u16, 0x3c00, 0x7c00, 0xfc00, 0x8000].map(u16::to_le_bytes);
    let out: [f32; 5] = decoded(WeightType::F16, bytes.as_flattened());
    let expected = [2f32.powi(-24), 1.0, f32::INFINITY, f32::NEG_INFINITY, -0.0];
    assert_eq!(out.map(f32::to_bits), expected.map(f32::to_bits));
    let bytes = [0x3f80u16, 0x0001, 0xff80].map(u16::to_le_bytes);
    let out: [f32; 3] = decoded(WeightType::Bf16, bytes.as_flattened());
    assert_eq!(
        out.map(f32::to_bits),
        [0x3f80_0000, 0x0001_0000, 0xff80_0000]
    );
}

#[test]
fn four_bits_stand_in_low_then_high_nibbles() {
    let mut block = half(0.5).to_vec();
    block.extend((0..16).map(|j: u8| j | (15 - j) << 4));
    let out: [f32; 32] = decoded(WeightType::Q4_0, &block);
    assert_eq!(out[..3], [-4.0, -3.5, -3.0]);
    assert_eq!(out[16..18], [3.5, 3.0]);
    let mut block = [half(2.0), half(-1.0)].concat();
    block.extend([0x21; 16]);
    let out: [f32; 32] = decoded(WeightType::Q4_1, &block);
    assert_eq!((out[0], out[31]), (1.0, 3.0));
}

#[test]
fn the_fifth_bit_has_the_place_of_its_element() {
    let mut block = half(1.0).to_vec();
    block.extend((1u32 | 1 << 17).to_le_bytes());
    block.extend([0x30; 16]);
    let out: [f32; 32] = decoded(WeightType::Q5_0, &block);
    assert_eq!(out[..2], [0.0, -16.0]);
    assert_eq!(out[16..19], [-13.0, 3.0, -13.0]);
    let mut block = [half(1.0), half(0.25)].concat();
    block.extend((1u32 << 31).to_le_bytes());
    block.extend([0x30; 16]);
    let out: [f32; 32] = decoded(WeightType::Q5_1, &block);
    assert_eq!((out[0], out[16], out[31]), (0.25, 3.25, 19.25));
}

#[test]
fn eight_bits_are_signed() {
    let mut block = half(0.5).to_vec();
    block.extend((0..32).map(|j: u8| j.wrapping_sub(3)));
    let out: [f32; 32] = decoded(WeightType::Q8_0, &block);
    assert_eq!((out[0], out[3], out[31]), (-1.5, 0.0, 14.0));
}

/// Returns twelve bytes with scales `sc` and minima `mn`; the inverse of the decoding.
fn packed(sc: [u8; 8], mn: [u8; 8]) -> [u8; 12] {
    let mut s = [0; 12];
    for j in 0..4 {
        s[j] = sc[j] | (sc[j + 4] >> 4) << 6;
        s[j + 4] = mn[j] | (mn[j + 4] >> 4) << 6;
        s[j + 8] = (sc[j + 4] & 15) | (mn[j + 4] & 15) << 4;
    }
    s
}

const SC: [u8; 8] = [1, 2, 3, 63, 5, 21, 42, 60];
const MN: [u8; 8] = [0, 1, 33, 62, 8, 17, 50, 63];

#[test]
fn sub_blocks_have_scales_and_minima() {
    let quant = |at: usize| (at * 7 + at / 32) as u8 % 16;
    let mut block = [half(0.25), half(0.5)].concat();
    block.extend(packed(SC, MN));
    for pair in 0..4 {
        let byte = |i: usize| quant(64 * pair + i) | quant(64 * pair + 32 + i) << 4;
        block.extend((0..32).map(byte));
    }
    let out: [f32; 256] = decoded(WeightType::Q4K, &block);
    for (at, out) in out.into_iter().enumerate() {
        let (sc, mn) = (f32::from(SC[at / 32]), f32::from(MN[at / 32]));
        assert_eq!(out, 0.25 * sc * f32::from(quant(at)) - 0.5 * mn, "{at}");
    }
}

#[test]
fn five_bit_sub_blocks_share_bytes_of_high_bits() {
    let quant = |at: usize| (at * 11 + at / 32) as u8 % 32;
    let mut block = [half(0.25), half(0.5)].concat();
    block.extend(packed(SC, MN));
    let high = |i: usize| (0..8).fold(0, |byte, j| byte | (quant(32 * j + i) >> 4) << j);
    block.extend((0..32).map(high));
    for pair in 0..4 {
        let low = |at: usize| quant(at) & 15;
        let byte = |i: usize| low(64 * pair + i) | low(64 * pair + 32 + i) << 4;
        block.extend((0..32).map(byte));
    }
    let out: [f32; 256] = decoded(WeightType::Q5K, &block);
    for (at, out) in out.into_iter().enumerate() {
        let (sc, mn) = (f32::from(SC[at / 32]), f32::from(MN[at / 32]));
        assert_eq!(out, 0.25 * sc * f32::from(quant(at)) - 0.5 * mn, "{at}");
    }
}

#[test]
fn six_bit_blocks_have_signed_scales_for_sixteen() {
    let quant = |at: usize| (at * 13 + at / 16) as u8 % 64;
    let scale = |at: usize| (at as i8 - 8) * 9;
    let mut block = vec![0; 210];
    for at in 0..256 {
        let (part, within) = (at / 128, at % 128);
        let (quarter, l) = (within / 32, within % 32);
        let shift = if quarter < 2 { 0 } else { 4 };
        block[64 * part + l + 32 * (quarter % 2)] |= (quant(at) & 15) << shift;
        block[128 + 32 * part + l] |= (quant(at) >> 4) << (2 * quarter);
    }
    for at in 0..16 {
        block[192 + at] = scale(at) as u8;
    }
    block[208..].copy_from_slice(&half(0.125));
    let out: [f32; 256] = decoded(WeightType::Q6K, &block);
    for (at, out) in out.into_iter().enumerate() {
        let expected = 0.125 * f32::from(scale(at / 16)) * (f32::from(quant(at)) - 32.0);
        assert_eq!(out, expected, "{at}");
    }
}

#[test]
fn partial_blocks_are_refused() {
    for weight_type in WeightType::all() {
        let bytes = vec![0; weight_type.block_bytes() - 1];
        let mut out = vec![0.0; weight_type.block_elements()];
        assert!(decode_blocks(weight_type, &bytes, &mut out).is_err());
    }
}
