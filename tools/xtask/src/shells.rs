//! Man pages and shell completions.

use clap_complete::Shell;
use clap_mangen::Man;
use lit_tests::config::TOOLS;

/// `docs/man/<tool>.1` and `docs/completions/<tool>.<shell>` for every tool.
pub fn documents() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let commands = TOOLS.iter().map(|tool| (tool.command)());
    for command in commands.chain([mind_lsp::command()]) {
        let name = command.get_name().to_owned();
        let mut page = Vec::new();
        // Writing to memory cannot fail.
        let _ = Man::new(command.clone()).render(&mut page);
        all.push((format!("docs/man/{name}.1"), text(page)));
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command.clone(), &name, &mut script);
            all.push((format!("docs/completions/{name}.{shell}"), text(script)));
        }
    }
    all
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
