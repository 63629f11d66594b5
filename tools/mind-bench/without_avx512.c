/* Hides AVX-512, AVX-VNNI and AMX from a program that is started with this library loaded first; `without_avx512.py` does so.

   The kernel lets `cpuid` fault (`arch_prctl`), and the handler answers it with those bits cleared. Threads have the same
   from the one that starts them, programs by loading the library, too. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_CPUID_SET 0x1012

struct answer {
  uint32_t eax, ebx, ecx, edx;
};

static struct answer ask(uint32_t leaf, uint32_t part) {
  struct answer is;
  __asm__ volatile("cpuid" : "=a"(is.eax), "=b"(is.ebx), "=c"(is.ecx), "=d"(is.edx) : "0"(leaf), "2"(part));
  return is;
}

/* What bits mean: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID. */
static struct answer hide(uint32_t leaf, uint32_t part, struct answer is) {
  if (leaf == 7 && part == 0) {
    /* AVX512F, DQ, IFMA, PF, ER, CD, BW, VL */
    is.ebx &= ~(1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31);
    /* AVX512 VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ */
    is.ecx &= ~(1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14);
    /* AVX512 4VNNIW, 4FMAPS, VP2INTERSECT, FP16; AMX-BF16, AMX-TILE, AMX-INT8 */
    is.edx &= ~(1u << 2 | 1u << 3 | 1u << 8 | 1u << 23 | 1u << 22 | 1u << 24 | 1u << 25);
  } else if (leaf == 7 && part == 1) {
    /* AVX-VNNI, AVX512_BF16, AMX-FP16, AVX-IFMA */
    is.eax &= ~(1u << 4 | 1u << 5 | 1u << 21 | 1u << 23);
    /* AVX-VNNI-INT8, AVX-NE-CONVERT, AMX-COMPLEX, AVX-VNNI-INT16, AVX10 */
    is.edx &= ~(1u << 4 | 1u << 5 | 1u << 8 | 1u << 10 | 1u << 19);
  } else if (leaf == 13 && part == 0) {
    /* State of opmask and ZMM registers and of tiles */
    is.eax &= ~(7u << 5 | 3u << 17);
  }
  return is;
}

static void (*following)(int, siginfo_t *, void *);

static void on_fault(int signal, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)registers[REG_RIP];
  /* A fault of `cpuid` has no address, and neither has a jump to nowhere. */
  if (info->si_code == SI_KERNEL && code[0] == 0x0f && code[1] == 0xa2) {
    uint32_t leaf = (uint32_t)registers[REG_RAX], part = (uint32_t)registers[REG_RCX];
    syscall(SYS_arch_prctl, ARCH_CPUID_SET, 1);
    struct answer is = hide(leaf, part, ask(leaf, part));
    syscall(SYS_arch_prctl, ARCH_CPUID_SET, 0);
    registers[REG_RAX] = is.eax;
    registers[REG_RBX] = is.ebx;
    registers[REG_RCX] = is.ecx;
    registers[REG_RDX] = is.edx;
    registers[REG_RIP] += 2;
    return;
  }
  if (following) {
    following(signal, info, context);
    return;
  }
  /* The fault comes again, and ends the program. */
  struct sigaction usual = {.sa_handler = SIG_DFL};
  int (*set)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
  set(SIGSEGV, &usual, NULL);
}

/* A program's own handler comes behind this one. */
int sigaction(int signal, const struct sigaction *wanted, struct sigaction *before) {
  int (*set)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
  if (signal != SIGSEGV) return set(signal, wanted, before);
  if (before) *before = (struct sigaction){.sa_handler = SIG_DFL};
  if (wanted && wanted->sa_flags & SA_SIGINFO) following = wanted->sa_sigaction;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction handler = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  int (*set)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
  set(SIGSEGV, &handler, NULL);
  if (syscall(SYS_arch_prctl, ARCH_CPUID_SET, 0) != 0) {
    fputs("without_avx512: this processor or kernel cannot let cpuid fault\n", stderr);
    exit(1);
  }
}
