//! An interrupt ends a tool immediately and removes its scratch files.
//!
//! The test is also the tool: when called with `wait`, it writes a scratch file and waits.

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    if std::env::args().nth(1).as_deref() == Some("wait") {
        return mind_host::main(|_, host| unix::wait(host));
    }
    unix::an_interrupt_removes_unfinished_files();
    std::process::ExitCode::SUCCESS
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod unix {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use mind_driver::host::Host;

    pub fn wait(host: &mut dyn Host) -> u8 {
        let folder = host.scratch_dir().expect("a folder");
        let file = folder.join("candidate.core");
        host.write(&file, b"outputs:").expect("a file");
        let line = format!("{}\n", file.display());
        host.stdout().write_all(line.as_bytes()).expect("a line");
        host.stdout().flush().expect("a line");
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    }

    pub fn an_interrupt_removes_unfinished_files() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let this = std::env::current_exe().expect("this program");
            let mut command = Command::new(this);
            command.arg("wait").stdout(Stdio::piped());
            // A shell starts background processes with interrupts ignored, which is inherited.
            // SAFETY: the call is allowed between `fork` and `exec`.
            unsafe {
                command.pre_exec(move || {
                    libc::signal(signal, libc::SIG_DFL);
                    Ok(())
                });
            }
            let mut child = command.spawn().expect("a process");
            let mut line = String::new();
            let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
            stdout.read_line(&mut line).expect("a line");
            let file = Path::new(line.trim_end());
            assert!(file.is_file(), "{line}");
            // SAFETY: the process is a child of ours and was not waited for.
            assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
            let status = child.wait().expect("its end");
            assert_eq!(status.signal(), Some(signal));
            assert!(!file.exists() && !file.parent().expect("a folder").exists());
        }
    }
}
