//! Invalid command lines: exit code 2 and no output.

use crate::memory_host::{MemoryHost, RunTool};

fn usage_error(args: &str) -> String {
    let mut host = MemoryHost::with("%0 = Input {name=x} : tensor<f32[2]>\noutputs: %0\n");
    assert_eq!((host.run(args), host.stdout.len()), (2, 0));
    host.error()
}

#[test]
fn unknown_flags_bring_the_nearest_to_mind() {
    assert!(usage_error("m.core --randm 1").contains("'--random'"));
    assert!(usage_error("m.core --thread 4").contains("'--threads'"));
}

#[test]
fn values_are_checked_before_anything_is_read() {
    assert!(usage_error("m.core --engine=fast").contains("[possible values: jit, interp]"));
    assert!(usage_error("m.core --isa=sse2").contains("[possible values: avx512, avx2, portable]"));
    assert!(usage_error("m.core --threads 0").contains("invalid value '0' for '--threads <N>'"));
    assert!(usage_error("m.core --format=yaml").contains("[possible values: text, json]"));
    assert!(usage_error("m.core --random x").contains("invalid value 'x' for '--random <SEED>'"));
    assert!(usage_error("m.core --dim B").contains("expected NAME=EXTENT, as in B=32"));
    assert!(usage_error("m.core --dim B=x").contains("`x` is not an extent"));
    assert!(usage_error("m.core --dim B=-1").contains("`-1` is not an extent"));
    assert!(usage_error("m.core --memory-limit 4X").contains("as in 512M"));
    assert!(usage_error("m.core --memory-limit 99999999999G").contains("as in 512M"));
}

#[test]
fn help_lists_the_flags() {
    let help = MemoryHost::default().output("--help");
    let flags = [
        "--inputs",
        "--random",
        "--dim",
        "--engine",
        "--isa",
        "--threads",
        "--outputs",
        "--bench",
        "--format",
        "--full",
        "--memory-limit",
        "--from",
        "--profile",
        "--no-input-limits",
        "--diagnostic-format",
    ];
    assert!(flags.iter().all(|flag| help.contains(flag)), "{help}");
    assert!(
        MemoryHost::default()
            .output("--version")
            .starts_with("mind-run ")
    );
}
