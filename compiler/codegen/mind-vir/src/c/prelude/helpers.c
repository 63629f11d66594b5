#ifndef MIND_MAX_STEPS
/* The most steps of a loop whose end only running tells. */
#define MIND_MAX_STEPS UINT64_C(16777216)
#endif


MIND_HELPER int64_t mind_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}


MIND_HELPER int64_t mind_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}


MIND_HELPER int64_t mind_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}


/* The byte at which element `index` of elements of `size` bytes starts, and `offset` bytes more. */
MIND_HELPER int64_t mind_at(int64_t index, int64_t size, int64_t offset)
{
    return (int64_t)((uint64_t)index * (uint64_t)size + (uint64_t)offset);
}


/* The first index from which a step does not fit below `upper`. */
MIND_HELPER int64_t mind_bound(int64_t upper, int64_t step)
{
    return upper < INT64_MIN + (step - 1) ? INT64_MIN : upper - (step - 1);
}


MIND_HELPER float mind_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}


MIND_HELPER double mind_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}


MIND_HELPER uint32_t mind_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}


MIND_HELPER uint64_t mind_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}


MIND_HELPER float mind_abs_f32(float x)
{
    return mind_f32(mind_bits_f32(x) & 0x7fffffffu);
}


MIND_HELPER double mind_abs_f64(double x)
{
    return mind_f64(mind_bits_f64(x) & UINT64_C(0x7fffffffffffffff));
}


MIND_HELPER uint8_t mind_load_u8(const unsigned char *at)
{
    return *at;
}


MIND_HELPER uint16_t mind_load_u16(const unsigned char *at)
{
    uint16_t x;
    memcpy(&x, at, sizeof x);
    return x;
}


MIND_HELPER uint32_t mind_load_u32(const unsigned char *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}


MIND_HELPER uint64_t mind_load_u64(const unsigned char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}


MIND_HELPER float mind_load_f32(const unsigned char *at)
{
    float x;
    memcpy(&x, at, sizeof x);
    return x;
}


MIND_HELPER double mind_load_f64(const unsigned char *at)
{
    double x;
    memcpy(&x, at, sizeof x);
    return x;
}


MIND_HELPER void mind_store_u8(unsigned char *at, uint8_t x)
{
    *at = x;
}


MIND_HELPER void mind_store_u16(unsigned char *at, uint16_t x)
{
    memcpy(at, &x, sizeof x);
}


MIND_HELPER void mind_store_u32(unsigned char *at, uint32_t x)
{
    memcpy(at, &x, sizeof x);
}


MIND_HELPER void mind_store_u64(unsigned char *at, uint64_t x)
{
    memcpy(at, &x, sizeof x);
}


MIND_HELPER void mind_store_f32(unsigned char *at, float x)
{
    memcpy(at, &x, sizeof x);
}


MIND_HELPER void mind_store_f64(unsigned char *at, double x)
{
    memcpy(at, &x, sizeof x);
}


MIND_HELPER uint32_t mind_mul_bytes(uint32_t x, uint32_t y)
{
    int32_t low = (int32_t)(uint8_t)x * (int8_t)y + (int32_t)(uint8_t)(x >> 8) * (int8_t)(y >> 8);
    int32_t high = (int32_t)(uint8_t)(x >> 16) * (int8_t)(y >> 16) + (int32_t)(uint8_t)(x >> 24) * (int8_t)(y >> 24);
    low = low > 32767 ? 32767 : low < -32768 ? -32768 : low;
    high = high > 32767 ? 32767 : high < -32768 ? -32768 : high;
    return (uint32_t)(uint16_t)low | (uint32_t)high << 16;
}


MIND_HELPER uint32_t mind_add_halves(uint32_t x, uint32_t y)
{
    return (uint32_t)(uint16_t)(x + y) | ((x >> 16) + (y >> 16)) << 16;
}


MIND_HELPER uint32_t mind_byte(const unsigned char *at, int is_signed)
{
    return is_signed ? (uint32_t)(int8_t)*at : *at;
}


/* Sums of products of bytes: rows of words of four bytes by rows of a word for each column. */
MIND_HELPER void mind_byte_product(unsigned char *to, int64_t to_stride, const unsigned char *lhs, int64_t lhs_stride,
                                   const unsigned char *rhs, int64_t rhs_stride, int64_t rows, int64_t columns,
                                   int64_t words, int left_signed, int right_signed)
{
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
            uint32_t sum = 0;
            for (int64_t term = 0; term < 4 * words; ++term) {
                const unsigned char *y = rhs + term / 4 * rhs_stride + 4 * column + term % 4;
                sum += mind_byte(lhs + row * lhs_stride + term, left_signed) * mind_byte(y, right_signed);
            }
            mind_store_u32(to + row * to_stride + 4 * column, sum);
        }
    }
}


MIND_HELPER uint32_t mind_shl_u32(uint32_t x, uint32_t by)
{
    return by < 32 ? x << by : 0;
}


MIND_HELPER uint32_t mind_shr_u32(uint32_t x, uint32_t by)
{
    return by < 32 ? x >> by : 0;
}


MIND_HELPER uint32_t mind_sra_u32(uint32_t x, uint32_t by)
{
    return (uint32_t)((int32_t)x >> (by < 32 ? by : 31));
}


MIND_HELPER uint64_t mind_shl_u64(uint64_t x, uint64_t by)
{
    return by < 64 ? x << by : 0;
}


MIND_HELPER uint64_t mind_shr_u64(uint64_t x, uint64_t by)
{
    return by < 64 ? x >> by : 0;
}


MIND_HELPER uint64_t mind_sra_u64(uint64_t x, uint64_t by)
{
    return (uint64_t)((int64_t)x >> (by < 64 ? by : 63));
}


/* Toward zero; the least number for NaN and for what is out of range. */
MIND_HELPER int32_t mind_int_f32(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}


MIND_HELPER int32_t mind_int_f64(double x)
{
    return x >= -0x1p31 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}


/* The quotient, truncated; 0 and bit 1 of the status for a zero divisor. */
MIND_HELPER uint64_t mind_div_unsigned(uint64_t a, uint64_t b, uint64_t *status)
{
    if (b == 0) {
        *status |= 1;
        return 0;
    }
    return a / b;
}


/* The quotient, truncated; `least` itself and bit 2 of the status for `least` over -1. */
MIND_HELPER uint64_t mind_div_signed(int64_t a, int64_t b, int64_t least, uint64_t *status)
{
    if (b == 0) {
        *status |= 1;
        return 0;
    }
    if (b == -1) {
        *status |= a == least ? 2 : 0;
        return 0 - (uint64_t)a;
    }
    return (uint64_t)(a / b);
}


/* With its fraction in place, an f16 is off by a power of two, subnormal or not. */
MIND_HELPER float mind_half_to_f32(uint16_t half)
{
    const uint32_t magnitude = half & 0x7fffu;
    const uint32_t scaled = mind_bits_f32(mind_f32(magnitude << 13) * 0x1p112f);
    const uint32_t special = magnitude > 0x7bffu ? 0x7f800000u : 0u;
    return mind_f32(scaled | special | (half & 0x8000u) << 16);
}


/* To nearest, ties to even. Subnormal results come from adding a number whose unit is the least f16. */
MIND_HELPER uint16_t mind_f32_to_half(float x)
{
    const uint32_t bits = mind_bits_f32(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1u)) >> 13;
    const uint32_t small = mind_bits_f32(mind_f32(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t finite = magnitude < 0x38800000u ? small : normal;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return (uint16_t)((magnitude < 0x47800000u ? finite : special) | (bits >> 16 & 0x8000u));
}


#if defined(MIND_HAS_FMA) || defined(__FP_FAST_FMAF) || (defined(__clang__) && (defined(__FMA__) || defined(__aarch64__)))
MIND_HELPER float mind_fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
#else
/* The product is exact in double. The sum, rounded to odd there, rounds to float as the exact sum would. */
MIND_HELPER float mind_fma_f32(float a, float b, float c)
{
    const double product = (double)a * (double)b;
    const double addend = (double)c;
    const double sum = product + addend;
    const double rest = sum - product;
    const double error = (product - (sum - rest)) + (addend - rest);
    const uint64_t bits = mind_bits_f64(sum);
    const uint64_t outward = (error > 0) == (sum > 0);
    const uint64_t inexact = (uint64_t)((error > 0) | (error < 0)) & ~bits & 1u;
    return (float)mind_f64(bits + (inexact & outward) - (inexact & ~outward));
}
#endif


#if defined(MIND_HAS_FMA) || defined(__FP_FAST_FMA) || (defined(__clang__) && (defined(__FMA__) || defined(__aarch64__)))
MIND_HELPER double mind_fma_f64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#else
/* Of a finite number that is not 0: a fraction of 53 bits, and the exponent of its last bit. */
MIND_HELPER uint64_t mind_fraction_f64(double x, int *exponent)
{
    uint64_t fraction = mind_bits_f64(x) & UINT64_C(0x000fffffffffffff);
    int biased = (int)(mind_bits_f64(x) >> 52 & 0x7ffu);
    if (biased == 0) {
        biased = 1;
        while (fraction >> 52 == 0) {
            fraction <<= 1;
            --biased;
        }
    }
    *exponent = biased - 1075;
    return fraction | UINT64_C(1) << 52;
}

/* Two words shifted to the right; a bit that falls out stays as the last bit. */
MIND_HELPER void mind_shift_sticky(uint64_t *high, uint64_t *low, int by)
{
    uint64_t lost = 0;
    if (by >= 64) {
        lost = *low != 0;
        *low = *high;
        *high = 0;
        by = by - 64 > 63 ? 63 : by - 64;
    }
    if (by > 0) {
        lost |= *low << (64 - by) != 0;
        *low = *low >> by | *high << (64 - by);
        *high >>= by;
    }
    *low |= lost;
}

/* Product and addend as integers of 128 bits at one exponent, added, and rounded once. */
MIND_HELPER double mind_fma_f64(double a, double b, double c)
{
    const uint64_t special = UINT64_C(0x7ff0000000000000);
    const uint64_t sign = UINT64_C(1) << 63;
    if ((mind_bits_f64(a) & special) == special || (mind_bits_f64(b) & special) == special) {
        return a * b + c;
    }
    if ((mind_bits_f64(c) & special) == special) {
        return c + c;
    }
    if (a == 0 || b == 0) {
        return a * b + c;
    }
    if (c == 0) {
        return a * b;
    }
    int a_exponent, b_exponent, c_exponent;
    const uint64_t a_fraction = mind_fraction_f64(a, &a_exponent);
    const uint64_t b_fraction = mind_fraction_f64(b, &b_exponent);
    const uint64_t c_fraction = mind_fraction_f64(c, &c_exponent);
    const uint64_t product_sign = (mind_bits_f64(a) ^ mind_bits_f64(b)) & sign;
    const uint64_t c_sign = mind_bits_f64(c) & sign;

    /* The product has 105 or 106 bits, the addend 53: both are placed with their top at bit 124 or 125. */
    const uint64_t a_low = a_fraction & 0xffffffffu, a_high = a_fraction >> 32;
    const uint64_t b_low = b_fraction & 0xffffffffu, b_high = b_fraction >> 32;
    const uint64_t middle = a_low * b_high + (a_low * b_low >> 32) + (a_high * b_low & 0xffffffffu);
    uint64_t high = a_high * b_high + (a_high * b_low >> 32) + (middle >> 32);
    uint64_t low = middle << 32 | (a_low * b_low & 0xffffffffu);
    high = high << 20 | low >> 44;
    low <<= 20;
    uint64_t c_high = c_fraction << 8, c_low = 0;
    int exponent = a_exponent + b_exponent - 20;
    c_exponent -= 72;
    if (exponent >= c_exponent) {
        mind_shift_sticky(&c_high, &c_low, exponent - c_exponent);
    } else {
        mind_shift_sticky(&high, &low, c_exponent - exponent);
        exponent = c_exponent;
    }

    uint64_t result_sign = product_sign;
    if (product_sign == c_sign) {
        low += c_low;
        high += c_high + (low < c_low);
    } else {
        if (high < c_high || (high == c_high && low < c_low)) {
            const uint64_t old_high = high, old_low = low;
            high = c_high;
            low = c_low;
            c_high = old_high;
            c_low = old_low;
            result_sign = c_sign;
        }
        high -= c_high + (low < c_low);
        low -= c_low;
        if ((high | low) == 0) {
            return 0.0;
        }
    }

    int top = 127;
    while (top > 0 && ((top >= 64 ? high >> (top - 64) : low >> top) & 1u) == 0) {
        --top;
    }
    int drop = top - 52;
    if (exponent + drop < -1074) {
        drop = -1074 - exponent;
    }
    const int last = exponent + drop;
    uint64_t fraction;
    if (drop <= 0) {
        fraction = low << -drop;
    } else if (drop > 127) {
        fraction = 0;
    } else {
        /* Two more bits than are kept, the second of them sticky, say how to round. */
        if (drop >= 2) {
            mind_shift_sticky(&high, &low, drop - 2);
        } else {
            low <<= 1;
        }
        fraction = (low >> 2) + ((low & 3u) > 2 || (low & 7u) == 6);
    }
    if (last > 971) {
        return mind_f64(result_sign | special);
    }
    return mind_f64(result_sign | (((uint64_t)(last + 1074) << 52) + fraction));
}
#endif


/* The builtin is the instruction alone only where the compiler need not set errno; otherwise it calls a library. */
#if defined(__GNUC__) && defined(__NO_MATH_ERRNO__) && (defined(__SSE2__) || defined(__aarch64__))
#define MIND_ROOT_F32(x) __builtin_sqrtf(x)
#define MIND_ROOT_F64(x) __builtin_sqrt(x)
#elif defined(__clang__) && (defined(__SSE2__) || defined(__aarch64__))
#if __has_builtin(__builtin_elementwise_sqrt)
#define MIND_ROOT_F32(x) __builtin_elementwise_sqrt(x)
#define MIND_ROOT_F64(x) __builtin_elementwise_sqrt(x)
#endif
#elif defined(__GNUC__) && defined(__SSE2__)
typedef float mind_v4sf __attribute__((vector_size(16)));
typedef double mind_v2df __attribute__((vector_size(16)));
#define MIND_ROOT_F32(x) __builtin_ia32_sqrtss((mind_v4sf){x, 0, 0, 0})[0]
#define MIND_ROOT_F64(x) __builtin_ia32_sqrtsd((mind_v2df){x, 0})[0]
#endif
#if !defined(MIND_ROOT_F32)
#define MIND_ROOT_F32(x) (float)mind_digit_root((double)(x))
#define MIND_ROOT_F64(x) mind_digit_root(x)
/* Digit by digit. A root is never halfway between two numbers, so one bit more than is kept rounds it; one
   that is rounded to double first and then to float is that of float. */
MIND_HELPER double mind_digit_root(double x)
{
    uint64_t bits = mind_bits_f64(x);
    if (x == 0 || x != x || bits == UINT64_C(0x7ff0000000000000)) {
        return x;
    }
    if (bits >> 63 != 0) {
        return mind_f64(UINT64_C(0x7ff8000000000000));
    }
    /* x is fraction * 2^exponent, the first digit of the fraction in its first two bits, the exponent even. */
    uint64_t fraction = (bits & UINT64_C(0x000fffffffffffff)) << 11;
    int exponent = (int)(bits >> 52) - 1075 - 11;
    if (bits >> 52 != 0) {
        fraction |= UINT64_C(1) << 63;
    } else {
        ++exponent;
        while (fraction >> 63 == 0) {
            fraction <<= 1;
            --exponent;
        }
    }
    if (exponent % 2 != 0) {
        fraction >>= 1;
        ++exponent;
    }
    uint64_t root = 0, rest = 0;
    for (int digit = 0; digit < 54; ++digit) {
        rest = rest << 2 | fraction >> 62;
        fraction <<= 2;
        const uint64_t trial = root << 2 | 1u;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1u;
        }
    }
    const uint64_t rounded = (root >> 1) + (root & 1u);
    return mind_f64(((uint64_t)(exponent / 2 - 21 + 1074) << 52) + rounded);
}
#endif


/* The larger, NaN if either is, +0 above -0. */
MIND_HELPER float mind_maximum_f32(float x, float y)
{
    const uint32_t first = mind_bits_f32(y < x ? x : y);
    const uint32_t second = mind_bits_f32(x < y ? y : x);
    return (x != x) | (y != y) ? mind_f32(0x7fc00000u) : mind_f32(first & second);
}


MIND_HELPER double mind_maximum_f64(double x, double y)
{
    const uint64_t first = mind_bits_f64(y < x ? x : y);
    const uint64_t second = mind_bits_f64(x < y ? y : x);
    return (x != x) | (y != y) ? mind_f64(UINT64_C(0x7ff8000000000000)) : mind_f64(first & second);
}


/* x times a power of two, in two factors whose exponents are the halves of the low bits of k. */
MIND_HELPER float mind_scale_f32(float x, float k)
{
    const uint32_t bits = mind_bits_f32(k), floor = bits >> 1;
    return x * mind_f32(floor << 23) * mind_f32((bits - floor) << 23);
}


MIND_HELPER double mind_scale_f64(double x, double k)
{
    const uint64_t bits = mind_bits_f64(k), floor = bits >> 1;
    return x * mind_f64(floor << 52) * mind_f64((bits - floor) << 52);
}


/* 1 + q times that power. */
MIND_HELPER float mind_scale_sum_f32(float q, float k)
{
    const uint32_t bits = mind_bits_f32(k), floor = bits >> 1;
    const float first = mind_f32(floor << 23);
    return mind_fma_f32(q, first, first) * mind_f32((bits - floor) << 23);
}


MIND_HELPER double mind_scale_sum_f64(double q, double k)
{
    const uint64_t bits = mind_bits_f64(k), floor = bits >> 1;
    const double first = mind_f64(floor << 52);
    return mind_fma_f64(q, first, first) * mind_f64((bits - floor) << 52);
}


MIND_HELPER float mind_sqrt_f32(float x)
{
    return MIND_ROOT_F32(x);
}


MIND_HELPER double mind_sqrt_f64(double x)
{
    return MIND_ROOT_F64(x);
}


MIND_HELPER float mind_trunc_f32(float x)
{
    uint32_t bits = mind_bits_f32(x);
    int exponent = (int)(bits >> 23 & 0xffu) - 127;
    if (exponent < 0)
        return mind_f32(bits & 0x80000000u);
    if (exponent >= 23)
        return x;
    return mind_f32(bits & ~(0x7fffffu >> exponent));
}


MIND_HELPER float mind_floor_f32(float x)
{
    float whole = mind_trunc_f32(x);
    return x < whole ? whole - 1.0f : whole;
}


MIND_HELPER float mind_ceil_f32(float x)
{
    float whole = mind_trunc_f32(x);
    return whole < x ? whole + 1.0f : whole;
}


MIND_HELPER float mind_round_f32(float x)
{
    float whole = mind_trunc_f32(x);
    float rest = mind_abs_f32(x - whole);
    int is_odd = mind_trunc_f32(whole * 0.5f) * 2.0f != whole;
    if (rest > 0.5f || (rest == 0.5f && is_odd))
        return x < 0.0f ? whole - 1.0f : whole + 1.0f;
    return whole;
}


MIND_HELPER double mind_trunc_f64(double x)
{
    uint64_t bits = mind_bits_f64(x);
    int exponent = (int)(bits >> 52 & 0x7ffu) - 1023;
    if (exponent < 0)
        return mind_f64(bits & UINT64_C(0x8000000000000000));
    if (exponent >= 52)
        return x;
    return mind_f64(bits & ~(UINT64_C(0xfffffffffffff) >> exponent));
}


MIND_HELPER double mind_floor_f64(double x)
{
    double whole = mind_trunc_f64(x);
    return x < whole ? whole - 1.0 : whole;
}


MIND_HELPER double mind_ceil_f64(double x)
{
    double whole = mind_trunc_f64(x);
    return whole < x ? whole + 1.0 : whole;
}


MIND_HELPER double mind_round_f64(double x)
{
    double whole = mind_trunc_f64(x);
    double rest = mind_abs_f64(x - whole);
    int is_odd = mind_trunc_f64(whole * 0.5) * 2.0 != whole;
    if (rest > 0.5 || (rest == 0.5 && is_odd))
        return x < 0.0 ? whole - 1.0 : whole + 1.0;
    return whole;
}


/* A number that is greater for a greater x; -0 is 0, and a NaN is above everything. */
MIND_HELPER uint64_t mind_key_f64_of(double x)
{
    const uint64_t bits = x == 0 ? UINT64_C(0) : mind_bits_f64(x);
    if (x != x) {
        return UINT64_MAX;
    }
    return bits >> 63 ? ~bits : bits | UINT64_C(0x8000000000000000);
}


MIND_HELPER uint64_t mind_key_f64(const unsigned char *at)
{
    return mind_key_f64_of(mind_load_f64(at));
}


MIND_HELPER uint64_t mind_key_f32(const unsigned char *at)
{
    return mind_key_f64_of(mind_load_f32(at));
}


MIND_HELPER uint64_t mind_key_f16(const unsigned char *at)
{
    return mind_key_f64_of(mind_half_to_f32(mind_load_u16(at)));
}


MIND_HELPER uint64_t mind_key_bf16(const unsigned char *at)
{
    return mind_key_f64_of(mind_f32((uint32_t)mind_load_u16(at) << 16));
}


/* Signed integers, in the order of unsigned ones. */
MIND_HELPER uint64_t mind_key_int(int64_t x)
{
    return (uint64_t)x ^ UINT64_C(0x8000000000000000);
}


MIND_HELPER uint64_t mind_key_i8(const unsigned char *at)
{
    return mind_key_int((int8_t)mind_load_u8(at));
}


MIND_HELPER uint64_t mind_key_i16(const unsigned char *at)
{
    return mind_key_int((int16_t)mind_load_u16(at));
}


MIND_HELPER uint64_t mind_key_i32(const unsigned char *at)
{
    return mind_key_int((int32_t)mind_load_u32(at));
}


MIND_HELPER uint64_t mind_key_i64(const unsigned char *at)
{
    return mind_key_int((int64_t)mind_load_u64(at));
}


/* Sorts keys, and with them their indices, by merging; equal keys stay as they were. Both have room for as many again. */
MIND_HELPER void mind_sort(uint64_t *keys, int64_t *indices, int64_t count)
{
    uint64_t *from = keys, *to = keys + count;
    int64_t *from_indices = indices, *to_indices = indices + count;
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t start = 0; start < count; start += 2 * width) {
            const int64_t middle = start + width < count ? start + width : count;
            const int64_t end = middle + width < count ? middle + width : count;
            int64_t left = start, right = middle;
            for (int64_t i = start; i < end; ++i) {
                const int is_right = left == middle || (right < end && from[right] < from[left]);
                const int64_t next = is_right ? right++ : left++;
                to[i] = from[next];
                to_indices[i] = from_indices[next];
            }
        }
        uint64_t *const keys_merged = to;
        int64_t *const indices_merged = to_indices;
        to = from;
        to_indices = from_indices;
        from = keys_merged;
        from_indices = indices_merged;
    }
    if (from != keys) {
        memcpy(keys, from, (size_t)count * 8);
        memcpy(indices, from_indices, (size_t)count * 8);
    }
}
