//! Languages and their detection.

use mind_driver::formats::{FORMATS, Format, detect};

/// A supported language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// A module in a text format.
    Module(Format),
    /// A file of rewrite rules.
    Rules,
}

/// The language ids of editors.
const NAMES: &[(&str, Language)] = &[
    ("mind-mic", Language::Module(Format::Mic1)),
    ("mind-mic2", Language::Module(Format::Mic2)),
    ("mind-core", Language::Module(Format::Core)),
    ("mil", Language::Module(Format::Mil)),
    ("mind-rules", Language::Rules),
];

impl Language {
    /// Returns the language of a document by the editor's language id, else by the file extension, else mic@1.
    pub(crate) fn of(id: &str, uri: &str) -> Language {
        let by_id = NAMES.iter().find(|(name, _)| *name == id);
        let found = by_id.map(|(_, language)| *language);
        found
            .or_else(|| Language::of_extension(uri.rsplit_once('.')?.1))
            .unwrap_or(Language::Module(Format::Mic1))
    }

    fn of_extension(extension: &str) -> Option<Language> {
        if extension == "rules" {
            return Some(Language::Rules);
        }
        let row = FORMATS.iter().find(|row| row.has_extension(extension))?;
        row.text().map(Language::Module)
    }

    /// Returns the language of `text`: the format of a module is detected from its first line, as in all tools.
    pub(crate) fn of_text(self, text: &str) -> Language {
        match self {
            Language::Module(_) => detect(text).map_or(self, Language::Module),
            Language::Rules => self,
        }
    }

    /// Returns the format of a module.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            Language::Module(format) => Some(format),
            Language::Rules => None,
        }
    }

    /// Returns the start of a comment.
    pub(crate) fn comment(self) -> &'static str {
        match self {
            Language::Module(Format::Mil | Format::MilPrimer) => "//",
            Language::Module(Format::Mic1 | Format::Mic2 | Format::Core) | Language::Rules => "#",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_module_decides_over_the_name_of_its_file() {
        let hint = Language::of("plaintext", "file:///a/b.mic");
        assert_eq!(hint.of_text("mic@2\n"), Language::Module(Format::Mic2));
        assert_eq!(hint.of_text("T0 f32"), Language::Module(Format::Mic1));
        assert_eq!(Language::of("mind-rules", "file:///x"), Language::Rules);
        assert_eq!(Language::Rules.of_text("mic@1\n"), Language::Rules);
    }
}
