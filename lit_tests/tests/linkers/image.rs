//! Libraries of other systems in the memory of this process.

use std::arch::global_asm;
use std::collections::BTreeMap;

use crate::library::FUNCTIONS;

/// How the functions of a library are called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    Windows,
    SystemV,
}

/// A library that was loaded.
pub(super) struct Image {
    memory: *mut u8,
    length: usize,
    convention: Convention,
    /// What it exports.
    functions: BTreeMap<String, u64>,
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped for this image.
        unsafe { libc::munmap(self.memory.cast(), self.length) };
    }
}

/// Addresses of an image; each at an offset from its start.
impl Image {
    /// Memory of zeros for an image of `length` bytes.
    pub(super) fn new(length: usize, convention: Convention) -> Result<Image, String> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, which nothing else uses.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(format!("no memory of {length} bytes"));
        }
        Ok(Image {
            memory: memory.cast(),
            length,
            convention,
            functions: BTreeMap::new(),
        })
    }

    pub(super) fn start(&self) -> u64 {
        self.memory as u64
    }

    /// All bytes.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the memory is mapped, and nothing else refers to it.
        unsafe { std::slice::from_raw_parts_mut(self.memory, self.length) }
    }

    pub(super) fn export(&mut self, name: &str, offset: u32) {
        let address = self.start() + u64::from(offset);
        self.functions.insert(name.to_owned(), address);
    }

    /// Makes bytes code, which is no longer written.
    pub(super) fn make_code(&mut self, offset: usize, length: usize) -> Result<(), String> {
        let access = libc::PROT_READ | libc::PROT_EXEC;
        let first = &mut self.bytes()[offset..][..length];
        // SAFETY: the bytes are of the memory of this image.
        match unsafe { libc::mprotect(first.as_mut_ptr().cast(), length, access) } {
            0 => Ok(()),
            _ => Err("the system refuses executable memory".to_owned()),
        }
    }

    /// Returns the address of `memcpy` in the convention of the library.
    pub(super) fn memcpy(&self) -> u64 {
        match self.convention {
            Convention::Windows => windows_memcpy as *const () as u64,
            Convention::SystemV => libc::memcpy as *const () as u64,
        }
    }

    /// Binds weights and runs the module.
    ///
    /// # Safety
    ///
    /// The library is of a module with such weights, inputs and outputs.
    ///
    /// # Errors
    ///
    /// A function that is missing, fails or changes what belongs to its caller.
    pub(super) unsafe fn run(
        &self,
        weights: &[Vec<u8>],
        inputs: &[Vec<u8>],
        outputs: &mut [Vec<u8>],
    ) -> Result<(), String> {
        let [bound_bytes, workspace_bytes, bind, run] = FUNCTIONS;
        let list = |arrays: &[Vec<u8>]| -> Vec<*const u8> {
            arrays.iter().map(|bytes| bytes.as_ptr()).collect()
        };
        let (weights, inputs) = (list(weights), list(inputs));
        let outputs: Vec<*mut u8> = outputs.iter_mut().map(|bytes| bytes.as_mut_ptr()).collect();
        // SAFETY: the caller's promise.
        unsafe {
            let mut bound = vec![0u8; self.call(bound_bytes, [0; 4])? as usize];
            let mut workspace = vec![0u8; self.call(workspace_bytes, [0; 4])? as usize];
            let (bound, workspace) = (bound.as_mut_ptr() as u64, workspace.as_mut_ptr() as u64);
            let status = self.call(bind, [weights.as_ptr() as u64, bound, workspace, 0])?;
            if status as u32 != 0 {
                return Err(format!("{bind} returns {}", status as u32));
            }
            let arrays = (inputs.as_ptr() as u64, outputs.as_ptr() as u64);
            match self.call(run, [bound, arrays.0, arrays.1, workspace])? as u32 {
                0 => Ok(()),
                status => Err(format!("{run} returns {status}")),
            }
        }
    }

    /// Calls a function, and checks that it keeps the registers that belong to its caller.
    ///
    /// # Safety
    ///
    /// The function takes such words.
    unsafe fn call(&self, name: &str, args: [u64; 4]) -> Result<u64, String> {
        let full = format!("module_{name}");
        let function = self.functions.get(&full);
        let function = *function.ok_or_else(|| format!("{full} is not exported"))?;
        let before: [u64; REGISTERS] =
            std::array::from_fn(|at| 0x0123_4567_89ab_cdef ^ (at as u64 * 0x1111));
        let mut registers = before;
        // SAFETY: the caller's promise.
        let result = unsafe {
            match self.convention {
                Convention::Windows => {
                    mind_call_windows(function, args.as_ptr(), registers.as_mut_ptr())
                }
                Convention::SystemV => {
                    let function: extern "sysv64" fn(u64, u64, u64, u64) -> u64 =
                        std::mem::transmute(function);
                    function(args[0], args[1], args[2], args[3])
                }
            }
        };
        match registers == before {
            true => Ok(result),
            false => Err(format!(
                "{full} changes registers of its caller: {registers:x?}"
            )),
        }
    }
}

/// Words of xmm6 to xmm15, and then rbx, rbp, rdi, rsi and r12 to r15, which functions of Windows keep.
const REGISTERS: usize = 28;

unsafe extern "sysv64" {
    /// Calls a function of Windows with four words, when its caller's registers hold `registers`, and writes there what they hold
    /// afterwards.
    fn mind_call_windows(function: u64, args: *const u64, registers: *mut u64) -> u64;
}

global_asm!(
    "mind_call_windows:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    // 32 bytes for the function, and a word of our own.
    "sub rsp, 56",
    "mov [rsp + 32], rdx",
    "mov rax, rdi",
    "mov r10, rdx",
    "mov rcx, [rsi]",
    "mov rdx, [rsi + 8]",
    "mov r8, [rsi + 16]",
    "mov r9, [rsi + 24]",
    "movups xmm6, [r10]",
    "movups xmm7, [r10 + 16]",
    "movups xmm8, [r10 + 32]",
    "movups xmm9, [r10 + 48]",
    "movups xmm10, [r10 + 64]",
    "movups xmm11, [r10 + 80]",
    "movups xmm12, [r10 + 96]",
    "movups xmm13, [r10 + 112]",
    "movups xmm14, [r10 + 128]",
    "movups xmm15, [r10 + 144]",
    "mov rbx, [r10 + 160]",
    "mov rbp, [r10 + 168]",
    "mov rdi, [r10 + 176]",
    "mov rsi, [r10 + 184]",
    "mov r12, [r10 + 192]",
    "mov r13, [r10 + 200]",
    "mov r14, [r10 + 208]",
    "mov r15, [r10 + 216]",
    "call rax",
    "mov r10, [rsp + 32]",
    "movups [r10], xmm6",
    "movups [r10 + 16], xmm7",
    "movups [r10 + 32], xmm8",
    "movups [r10 + 48], xmm9",
    "movups [r10 + 64], xmm10",
    "movups [r10 + 80], xmm11",
    "movups [r10 + 96], xmm12",
    "movups [r10 + 112], xmm13",
    "movups [r10 + 128], xmm14",
    "movups [r10 + 144], xmm15",
    "mov [r10 + 160], rbx",
    "mov [r10 + 168], rbp",
    "mov [r10 + 176], rdi",
    "mov [r10 + 184], rsi",
    "mov [r10 + 192], r12",
    "mov [r10 + 200], r13",
    "mov [r10 + 208], r14",
    "mov [r10 + 216], r15",
    "add rsp, 56",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
);

/// `memcpy` as Windows has it. It uses the memory that its caller leaves for it, and registers that it need not keep.
unsafe extern "win64" fn windows_memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: the promise of the function's caller.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    to
}

/// Returns the number of `BYTES` bytes at `at`, least significant first.
pub(super) fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Result<u64, String> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<BYTES>());
    let found = found.ok_or_else(|| format!("the library ends before byte {at}"))?;
    let mut all = [0; 8];
    all[..BYTES].copy_from_slice(found);
    Ok(u64::from_le_bytes(all))
}

/// Returns the text at `at`, up to a zero.
pub(super) fn text(bytes: &[u8], at: usize) -> String {
    let rest = bytes.get(at..).unwrap_or_default();
    let end = rest.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]).into_owned()
}
