/* Dequantisation of a block: the formulas of the formats, with each operation rounded to float. */
static void decode_fp32(const unsigned char *block, float *to)
{
    memcpy(to, block, 4);
}


static void decode_fp16(const unsigned char *block, float *to)
{
    to[0] = mind_half_to_f32(mind_load_u16(block));
}


static void decode_bf16(const unsigned char *block, float *to)
{
    uint32_t bits = (uint32_t)mind_load_u16(block) << 16;
    memcpy(to, &bits, 4);
}


static void decode_q4_0(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block));
    for (int at = 0; at < 32; ++at) {
        int quant = at < 16 ? block[2 + at] & 15 : block[2 + at - 16] >> 4;
        to[at] = (float)(quant - 8) * d;
    }
}


static void decode_q4_1(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block)), m = mind_half_to_f32(mind_load_u16(block + 2));
    for (int at = 0; at < 32; ++at) {
        int quant = at < 16 ? block[4 + at] & 15 : block[4 + at - 16] >> 4;
        float scaled = (float)quant * d;
        to[at] = scaled + m;
    }
}


static void decode_q5_0(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block));
    for (int at = 0; at < 32; ++at) {
        int quant = at < 16 ? block[6 + at] & 15 : block[6 + at - 16] >> 4;
        quant |= (block[2 + at / 8] >> at % 8 & 1) << 4;
        to[at] = (float)(quant - 16) * d;
    }
}


static void decode_q5_1(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block)), m = mind_half_to_f32(mind_load_u16(block + 2));
    for (int at = 0; at < 32; ++at) {
        int quant = at < 16 ? block[8 + at] & 15 : block[8 + at - 16] >> 4;
        quant |= (block[4 + at / 8] >> at % 8 & 1) << 4;
        float scaled = (float)quant * d;
        to[at] = scaled + m;
    }
}


static void decode_q8_0(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block));
    for (int at = 0; at < 32; ++at) {
        to[at] = (float)(int8_t)block[2 + at] * d;
    }
}


static void decode_q2_k(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block + 80)), dmin = mind_half_to_f32(mind_load_u16(block + 82));
    for (int at = 0; at < 256; ++at) {
        int half = at / 128, quarter = at % 128 / 32, l = at % 32;
        int quant = block[16 + 32 * half + l] >> 2 * quarter & 3;
        float step = d * (float)(block[at / 16] & 15), offset = dmin * (float)(block[at / 16] >> 4);
        float scaled = step * (float)quant;
        to[at] = scaled - offset;
    }
}


static void decode_q3_k(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block + 108));
    const unsigned char *s = block + 96;
    for (int at = 0; at < 256; ++at) {
        int half = at / 128, quarter = at % 128 / 32, l = at % 32, group = at / 16;
        int scale = (s[group % 8] >> 4 * (group / 8) & 15) | (s[8 + group % 4] >> 2 * (group / 4) & 3) << 4;
        int quant = (block[32 + 32 * half + l] >> 2 * quarter & 3) | (block[l] >> at / 32 & 1) << 2;
        float step = d * (float)(scale - 32);
        to[at] = step * (float)(quant - 4);
    }
}


static void decode_q4_k(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block)), dmin = mind_half_to_f32(mind_load_u16(block + 2));
    const unsigned char *s = block + 4, *quants = block + 16;
    for (int group = 0; group < 8; ++group) {
        int scale = group < 4 ? s[group] & 63 : (s[group + 4] & 15) | s[group - 4] >> 6 << 4;
        int minimum = group < 4 ? s[group + 4] & 63 : s[group + 4] >> 4 | s[group] >> 6 << 4;
        float step = d * (float)scale, offset = dmin * (float)minimum;
        for (int at = 0; at < 32; ++at) {
            float scaled = step * (float)(quants[group / 2 * 32 + at] >> 4 * (group % 2) & 15);
            to[32 * group + at] = scaled - offset;
        }
    }
}


static void decode_q5_k(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block)), dmin = mind_half_to_f32(mind_load_u16(block + 2));
    const unsigned char *s = block + 4, *high = block + 16, *quants = block + 48;
    for (int group = 0; group < 8; ++group) {
        int scale = group < 4 ? s[group] & 63 : (s[group + 4] & 15) | s[group - 4] >> 6 << 4;
        int minimum = group < 4 ? s[group + 4] & 63 : s[group + 4] >> 4 | s[group] >> 6 << 4;
        float step = d * (float)scale, offset = dmin * (float)minimum;
        for (int at = 0; at < 32; ++at) {
            int quant = quants[group / 2 * 32 + at] >> 4 * (group % 2) & 15;
            quant |= (high[at] >> group & 1) << 4;
            float scaled = step * (float)quant;
            to[32 * group + at] = scaled - offset;
        }
    }
}


static void decode_q6_k(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block + 208));
    for (int at = 0; at < 256; ++at) {
        int half = at / 128, quarter = at % 128 / 32, l = at % 32;
        int low = block[64 * half + 32 * (quarter % 2) + l] >> 4 * (quarter / 2) & 15;
        int high = block[128 + 32 * half + l] >> 2 * quarter & 3;
        float step = d * (float)(int8_t)block[192 + at / 16];
        to[at] = step * (float)((low | high << 4) - 32);
    }
}


static void decode_iq4_nl(const unsigned char *block, float *to)
{
    static const signed char levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    float d = mind_half_to_f32(mind_load_u16(block));
    for (int at = 0; at < 32; ++at) {
        int quant = at < 16 ? block[2 + at] & 15 : block[2 + at - 16] >> 4;
        to[at] = (float)levels[quant] * d;
    }
}


static void decode_mxfp4(const unsigned char *block, float *to)
{
    static const signed char levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    uint32_t bits = block[0] < 2 ? (uint32_t)0x200000 << block[0] : (uint32_t)(block[0] - 1) << 23;
    float d;
    memcpy(&d, &bits, 4);
    for (int at = 0; at < 32; ++at) {
        int quant = at < 16 ? block[1 + at] & 15 : block[1 + at - 16] >> 4;
        to[at] = (float)levels[quant] * d;
    }
}


static void decode_tq1_0(const unsigned char *block, float *to)
{
    static const int powers[5] = {1, 3, 9, 27, 81};
    float d = mind_half_to_f32(mind_load_u16(block + 52));
    for (int at = 0; at < 256; ++at) {
        int start = at < 160 ? 0 : at < 240 ? 32 : 48, count = at < 160 ? 32 : at < 240 ? 16 : 4;
        int within = at < 160 ? at : at < 240 ? at - 160 : at - 240;
        int rest = block[start + within % count] * powers[within / count] & 255;
        to[at] = (float)((rest * 3 >> 8) - 1) * d;
    }
}


static void decode_tq2_0(const unsigned char *block, float *to)
{
    float d = mind_half_to_f32(mind_load_u16(block + 64));
    for (int at = 0; at < 256; ++at) {
        int half = at / 128, quarter = at % 128 / 32, l = at % 32;
        to[at] = (float)((block[32 * half + l] >> 2 * quarter & 3) - 1) * d;
    }
}
