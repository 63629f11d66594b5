//! The `filecheck` tool.

use filecheck::{Invocation, reads_stdin, run};
use std::io::{Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let env_opts =
        std::env::var_os("FILECHECK_OPTS").map(|options| options.to_string_lossy().into_owned());
    let mut stdin = Vec::new();
    if reads_stdin(&args, env_opts.as_deref())
        && let Err(error) = std::io::stdin().read_to_end(&mut stdin)
    {
        // Write errors of standard error cannot be reported anywhere.
        let message = format!("filecheck: could not read standard input: {error}\n");
        let _ = std::io::stderr().write_all(message.as_bytes());
        return ExitCode::from(2);
    }
    let invocation = Invocation {
        args: &args,
        env_opts: env_opts.as_deref(),
        cwd: ".".as_ref(),
        stdin: &stdin,
    };
    ExitCode::from(run(
        &invocation,
        &mut std::io::stdout(),
        &mut std::io::stderr(),
    ))
}
