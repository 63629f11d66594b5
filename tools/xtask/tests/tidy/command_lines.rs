//! Help, man pages and completions contain every argument of a tool.

use clap::Command;
use lit_tests::config::TOOLS;

fn commands() -> Vec<Command> {
    let tools = TOOLS.iter().map(|tool| (tool.command)());
    tools.chain([mind_lsp::command()]).collect()
}

fn document(path: &str) -> String {
    let text = std::fs::read_to_string(xtask::root().join("docs").join(path));
    text.unwrap_or_else(|error| panic!("docs/{path}: {error}"))
}

/// Returns whether `flag` is a word of `text`, and not a prefix of a longer one.
fn names(text: &str, flag: &str) -> bool {
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut places = text.match_indices(flag);
    places.any(|(at, _)| !text[at + flag.len()..].starts_with(goes_on))
}

#[test]
fn every_argument_stands_in_help_man_page_and_completions() {
    for mut command in commands() {
        command.build();
        let tool = command.get_name().to_owned();
        let help = command.render_help().to_string();
        let man = document(&format!("man/{tool}.1")).replace("\\-", "-");
        let bash = document(&format!("completions/{tool}.bash"));
        let zsh = document(&format!("completions/{tool}.zsh"));
        let fish = document(&format!("completions/{tool}.fish"));
        let mut count = 0;
        for arg in command.get_arguments() {
            let (long, fish_flag) = match (arg.get_long(), arg.get_short()) {
                (Some(long), _) => (format!("--{long}"), format!("-l {long}")),
                (None, Some(short)) => (format!("-{short}"), format!("-s {short}")),
                (None, None) => {
                    let name = arg.get_id().as_str();
                    assert!(help.contains(name) && man.contains(name), "{tool} {name}");
                    continue;
                }
            };
            let places = [
                ("help", &help, &long),
                ("man page", &man, &long),
                ("bash", &bash, &long),
                ("zsh", &zsh, &long),
                ("fish", &fish, &fish_flag),
            ];
            for (place, text, flag) in places {
                assert!(names(text, flag), "{tool}: {place} lacks `{flag}`");
            }
            count += 1;
        }
        assert!(count >= 2, "{tool} has {count} flags");
    }
}

#[test]
fn command_lines_are_well_formed() {
    for (command, tool) in commands().into_iter().zip(TOOLS) {
        assert_eq!(command.get_name(), tool.name);
        command.debug_assert();
    }
}
