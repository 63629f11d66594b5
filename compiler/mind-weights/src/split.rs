//! Models that are split over several GGUF files.

use std::collections::BTreeSet;

use crate::error::FileError;
use crate::file::WeightFile;
use crate::metadata::MetaValue;

/// Digits of the numbers in the names of parts.
const DIGITS: usize = 5;

/// The names of all parts of a model, of which `name` is one, as in `llama-00001-of-00003.gguf`; `None` for the name of a
/// whole file.
pub fn part_names(name: &str) -> Option<Vec<String>> {
    let stem = name.strip_suffix(".gguf")?;
    let (stem, count) = numbered(stem, "-of-")?;
    let (stem, part) = numbered(stem, "-")?;
    if part == 0 || part > count {
        return None;
    }
    let name = |part: usize| format!("{stem}-{part:05}-of-{count:05}.gguf");
    Some((1..=count).map(name).collect())
}

/// The text in front of `mark` and a number of [`DIGITS`] digits at its end, and that number.
fn numbered<'n>(text: &'n str, mark: &str) -> Option<(&'n str, usize)> {
    let (rest, digits) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let rest = rest.strip_suffix(mark).filter(|_| is_number)?;
    Some((rest, digits.parse().ok()?))
}

impl<'a> WeightFile<'a> {
    /// One file of all parts of a model, in order, with their names; a whole file stays as it is.
    ///
    /// The keys are those of the first part, without those that say how the model is split.
    ///
    /// # Errors
    ///
    /// The name of a part that is another one, or of another number of parts, than its place says, that has a tensor of an
    /// earlier part, or that says another number of tensors than all parts have together.
    pub fn join(
        parts: Vec<(String, WeightFile<'a>)>,
    ) -> Result<WeightFile<'a>, (String, FileError)> {
        let count = parts.len();
        let tensors: usize = parts.iter().map(|(_, file)| file.tensors.len()).sum();
        let mut names = BTreeSet::new();
        for (index, (name, file)) in parts.iter().enumerate() {
            let said = [
                // A whole file may say nothing, or that there are no parts.
                ("split.count", count, count == 1),
                ("split.no", index, count == 1),
                ("split.tensors.count", tensors, true),
            ];
            for (key, expected, may_lack) in said {
                let found = file.meta(key);
                let natural = found.and_then(MetaValue::natural);
                let is_whole = key == "split.count" && count == 1 && natural == Some(0);
                let lacks = found.is_none() && may_lack;
                if natural != Some(expected as u64) && !is_whole && !lacks {
                    let found = found.map_or("missing".to_owned(), MetaValue::to_string);
                    let error = FileError::Part {
                        key,
                        found,
                        expected,
                    };
                    return Err((name.clone(), error));
                }
            }
            let repeated = file
                .tensors
                .iter()
                .find(|info| !names.insert(info.name.as_str()));
            if let Some(info) = repeated {
                let error = FileError::Twice {
                    what: "tensor",
                    name: info.name.clone(),
                };
                return Err((name.clone(), error));
            }
        }
        let mut files = parts.into_iter().map(|(_, file)| file);
        let Some(mut whole) = files.next() else {
            return Err((String::new(), FileError::Unknown));
        };
        for mut file in files {
            let part = whole.parts.len();
            whole.parts.append(&mut file.parts);
            whole
                .tensors
                .extend(file.tensors.into_iter().map(|info| info.of_part(part)));
        }
        whole.tensors.sort_by(|a, b| a.name.cmp(&b.name));
        whole.metadata.retain(|(key, _)| !key.starts_with("split."));
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_say_how_many_there_are() {
        let all = [
            "m-00001-of-00003.gguf",
            "m-00002-of-00003.gguf",
            "m-00003-of-00003.gguf",
        ];
        for name in all {
            assert_eq!(
                part_names(name),
                Some(all.map(str::to_owned).to_vec()),
                "{name}"
            );
        }
        for name in [
            "m.gguf",
            "m-00000-of-00003.gguf",
            "m-00004-of-00003.gguf",
            "m-0001-of-00003.gguf",
            "m-00001-of-0000x.gguf",
            "m-00001-of-00003.safetensors",
            "-of-00003.gguf",
            "é0001-of-00003.gguf",
            "",
        ] {
            assert_eq!(part_names(name), None, "{name}");
        }
    }
}
