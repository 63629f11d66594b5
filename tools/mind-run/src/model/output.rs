//! Incremental output of generated text.

use std::time::Duration;

use mind_driver::host::Host;

/// Standard output, until it is closed.
pub(super) struct Output {
    is_open: bool,
    is_empty: bool,
}

impl Output {
    pub(super) fn new() -> Output {
        Output {
            is_open: true,
            is_empty: true,
        }
    }

    /// Returns whether standard output is still open.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Writes and flushes a piece of text.
    pub(super) fn write(&mut self, host: &mut dyn Host, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.is_empty = false;
        let out = host.stdout();
        let written = out.write_all(piece.as_bytes()).and_then(|()| out.flush());
        // Write errors are reported when the tool ends.
        self.is_open = written.is_ok();
    }

    /// Writes a token id.
    pub(super) fn token(&mut self, host: &mut dyn Host, token: u32) {
        let comma = if self.is_empty { "" } else { "," };
        self.write(host, &format!("{comma}{token}"));
    }

    /// Ends the line.
    pub(super) fn end(mut self, host: &mut dyn Host) {
        self.write(host, "\n");
    }
}

/// Number of tokens and the time they took.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Rate {
    pub(super) tokens: usize,
    pub(super) time: Duration,
}

impl Rate {
    pub(super) fn add(&mut self, tokens: usize, time: Duration) {
        self.tokens += tokens;
        self.time += time;
    }

    /// Returns tokens per second; `None` if there were no tokens or the time is zero.
    pub(super) fn per_second(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        (self.tokens > 0 && seconds > 0.0).then(|| self.tokens as f64 / seconds)
    }
}

/// Notes the throughput of prefill and decode steps.
pub(super) fn note_rates(host: &mut dyn Host, prefill: Rate, decode: Rate) {
    let parts = [("prefill", prefill), ("decode", decode)];
    let parts = parts.into_iter().filter_map(|(name, rate)| {
        let speed = rate.per_second()?;
        let (tokens, seconds) = (rate.tokens, rate.time.as_secs_f64());
        Some(format!(
            "{name} {tokens} tokens in {seconds:.3} s, {speed:.1} tokens/s"
        ))
    });
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        mind_cli::note(host, &parts.join("; "));
    }
}
