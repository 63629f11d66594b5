#if defined(__FAST_MATH__)
#error "compile without -ffast-math: results are defined to the bit"
#endif

/* A product and a sum must stay two roundings where the text says two. Only the fma below is one. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER) && !defined(__clang__)
#pragma fp_contract(off)
#else
#pragma STDC FP_CONTRACT OFF
#endif

#include <float.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "float and double must round to their own type: on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "IEEE 754 float and double");
/* Left to implementations before C23, and the same in all of them. */
_Static_assert((int32_t)UINT32_MAX == -1 && (int8_t)0x80u == -128, "signed numbers wrap when converted");
_Static_assert((-5 >> 1) == -3, "a shift to the right keeps the sign");

/* A loop over the lanes of a vector. Unrolled early, it would not become vector code. */
#if defined(__clang__)
#define MIND_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__) && __GNUC__ >= 8
#define MIND_ROLLED _Pragma("GCC unroll 1")
#else
#define MIND_ROLLED
#endif
#define mind_lanes(l, count) MIND_ROLLED for (int l = 0; l < (count); ++l)

/* On x86-64, where a fused multiply-add in software takes a hundred times as long, code is for processors with AVX2
   and FMA, and entries return 8 on others; for those, define MIND_ANY_CPU. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FMA__) && !defined(MIND_ANY_CPU)
#define MIND_HAS_FMA
#define MIND_TARGET __attribute__((target("avx2,fma")))
#define MIND_LACKS_CPU (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
#else
#define MIND_TARGET
#define MIND_LACKS_CPU 0
#endif

/* A function that is compiled once, however often it is called with other numbers. */
#if defined(__clang__)
#define MIND_KEPT __attribute__((noinline))
#elif defined(__GNUC__)
#define MIND_KEPT __attribute__((noinline, noclone))
#elif defined(_MSC_VER)
#define MIND_KEPT __declspec(noinline)
#else
#define MIND_KEPT
#endif

#if defined(__GNUC__)
#define MIND_HELPER MIND_TARGET __attribute__((unused)) static inline
#else
#define MIND_HELPER static inline
#endif
