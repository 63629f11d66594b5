//! Models that are split into several GGUF files.

use std::collections::BTreeSet;

use crate::error::FileError;
use crate::file::WeightFile;
use crate::metadata::MetaValue;

/// The number of digits in the shard numbers of file names.
const DIGITS: usize = 5;

/// Returns the names of all shards of the model that `name` is a shard of, for example `llama-00001-of-00003.gguf`;
/// `None` if the name is not that of a shard.
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

/// Splits the text before `mark` from a number of [`DIGITS`] digits at the end.
fn numbered<'n>(text: &'n str, mark: &str) -> Option<(&'n str, usize)> {
    let (rest, digits) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let rest = rest.strip_suffix(mark).filter(|_| is_number)?;
    Some((rest, digits.parse().ok()?))
}

impl<'a> WeightFile<'a> {
    /// Joins the shards of a model, given in order and with their names. The only one may be a file that is not a shard.
    ///
    /// The metadata is that of the first shard, without the keys that describe the split.
    ///
    /// # Errors
    ///
    /// The name of a shard and the error: its position or the number of shards differs from the keys in its header, it
    /// repeats a tensor of an earlier shard, or the total number of tensors differs.
    pub fn join(
        parts: Vec<(String, WeightFile<'a>)>,
    ) -> Result<WeightFile<'a>, (String, FileError)> {
        let count = parts.len();
        let tensors: usize = parts.iter().map(|(_, file)| file.tensors.len()).sum();
        let mut names = BTreeSet::new();
        for (index, (name, file)) in parts.iter().enumerate() {
            let said = [
                // A file that is not split may lack the keys, or have a count of 0.
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
