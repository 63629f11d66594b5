//! Inputs of several shapes: the attribute `FlexibleShapeInformation` of a function.

use std::fmt::Write;

/// The shapes that the inputs of a function take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flexible {
    /// The default shape of each input with an open extent.
    pub defaults: Vec<(String, Vec<i64>)>,
    /// The other shapes.
    pub shapes: Shapes,
}

/// Shapes other than the default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shapes {
    /// For each input the least and greatest extent of each dimension.
    Ranges(Vec<(String, Vec<[i64; 2]>)>),
    /// Alternatives, each of which has a shape for every input.
    Listed(Vec<Vec<(String, Vec<i64>)>>),
}

const NAME: &str = "FlexibleShapeInformation = ";

impl Flexible {
    /// Returns the attribute in canonical form, in text of `version`.
    pub fn text(&self, version: &str) -> String {
        let string = match version {
            "1.0" => "tensor<string, []>",
            _ => "string",
        };
        let ints = "tensor<int32, [?]>";
        let (kind, name, shapes) = match &self.shapes {
            Shapes::Ranges(ranges) => (
                "list<tensor<int32, [2]>, ?>".to_owned(),
                "RangeDims",
                pairs(ranges, |out, range| {
                    let _ = write!(out, "[{}, {}]", range[0], range[1]);
                }),
            ),
            Shapes::Listed(lists) => (
                format!("dict<{string}, {ints}>"),
                "EnumeratedShapes",
                listed(lists),
            ),
        };
        let defaults = pairs(&self.defaults, |out, extent| {
            let _ = write!(out, "{extent}");
        });
        format!(
            "{NAME}tuple<tuple<{string}, dict<{string}, {ints}>>, tuple<{string}, dict<{string}, {kind}>>>\
             (((\"DefaultShapes\", {defaults}), (\"{name}\", {shapes})))"
        )
    }

    /// Parses the attributes of a function, in canonical form. Returns `None` if they have no flexible shapes, or
    /// cannot be parsed.
    pub fn parse(attributes: &str) -> Option<Flexible> {
        let (_, rest) = attributes.split_once(NAME)?;
        let start = rest.find("(((")? + 1;
        let mut reader = Reader {
            rest: &rest[start..],
        };
        let Node::List(parts) = reader.node(0)? else {
            return None;
        };
        let [defaults, shapes] = &parts[..] else {
            return None;
        };
        let (_, defaults) = defaults
            .named()
            .filter(|(name, _)| *name == "DefaultShapes")?;
        let (name, shapes) = shapes.named()?;
        let shapes = match name {
            "RangeDims" => {
                let range = |node: &Node<'_>| node.ints()?.try_into().ok();
                let dims = |node: &Node<'_>| node.list()?.iter().map(range).collect();
                Shapes::Ranges(shapes.pairs(dims)?)
            }
            "EnumeratedShapes" => {
                let all = shapes.pairs(|node| node.pairs(Node::ints))?;
                Shapes::Listed(all.into_iter().map(|(_, list)| list).collect())
            }
            _ => return None,
        };
        Some(Flexible {
            defaults: defaults.pairs(Node::ints)?,
            shapes,
        })
    }
}

/// Formats pairs as `{{"x", [..]}, ..}`.
fn pairs<T>(pairs: &[(String, Vec<T>)], show: impl Fn(&mut String, &T)) -> String {
    let mut out = "{".to_owned();
    for (at, (name, items)) in pairs.iter().enumerate() {
        out.push_str(if at > 0 { ", {\"" } else { "{\"" });
        out.push_str(name);
        out.push_str("\", [");
        for (at, item) in items.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            show(&mut out, item);
        }
        out.push_str("]}");
    }
    out + "}"
}

fn listed(lists: &[Vec<(String, Vec<i64>)>]) -> String {
    let one = |(at, list): (usize, &Vec<(String, Vec<i64>)>)| {
        let shapes = pairs(list, |out, extent| {
            let _ = write!(out, "{extent}");
        });
        format!("{{\"shape_{at}\", {shapes}}}")
    };
    let all: Vec<String> = lists.iter().enumerate().map(one).collect();
    format!("{{{}}}", all.join(", "))
}

/// A literal of the attribute.
enum Node<'t> {
    Text(&'t str),
    Int(i64),
    List(Vec<Node<'t>>),
}

impl<'t> Node<'t> {
    fn list(&self) -> Option<&[Node<'t>]> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    fn ints(&self) -> Option<Vec<i64>> {
        let int = |node: &Node<'_>| match node {
            Node::Int(value) => Some(*value),
            _ => None,
        };
        self.list()?.iter().map(int).collect()
    }

    /// Returns the name and the value of a pair.
    fn named(&self) -> Option<(&'t str, &Node<'t>)> {
        match self.list()? {
            [Node::Text(name), value] => Some((name, value)),
            _ => None,
        }
    }

    fn pairs<T>(&self, value: impl Fn(&Node<'t>) -> Option<T>) -> Option<Vec<(String, T)>> {
        let pair = |node: &Node<'t>| {
            let (name, own) = node.named()?;
            Some((name.to_owned(), value(own)?))
        };
        self.list()?.iter().map(pair).collect()
    }
}

struct Reader<'t> {
    rest: &'t str,
}

/// Maximum nesting of lists.
const DEEPEST: usize = 8;

impl<'t> Reader<'t> {
    fn node(&mut self, depth: usize) -> Option<Node<'t>> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('"') {
            let (text, rest) = rest.split_once('"')?;
            self.rest = rest;
            return Some(Node::Text(text));
        }
        if !self.rest.starts_with(['(', '[', '{']) {
            let digit = |letter: char| !(letter.is_ascii_digit() || letter == '-');
            let end = self.rest.find(digit)?;
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            return number.parse().ok().map(Node::Int);
        }
        if depth == DEEPEST {
            return None;
        }
        self.rest = &self.rest[1..];
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches([' ', ',']);
            if let Some(rest) = self.rest.strip_prefix([')', ']', '}']) {
                self.rest = rest;
                return Some(Node::List(items));
            }
            items.push(self.node(depth + 1)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shapes: Shapes) {
        for version in ["1.0", "1.3"] {
            let own = Flexible {
                defaults: vec![("x".to_owned(), vec![2, 4])],
                shapes: shapes.clone(),
            };
            assert_eq!(Flexible::parse(&own.text(version)), Some(own));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        check(Shapes::Ranges(vec![("x".to_owned(), vec![[1, 2], [4, 4]])]));
        let list = |extent| vec![("x".to_owned(), vec![extent, 4])];
        check(Shapes::Listed(vec![list(2), list(8)]));
    }

    #[test]
    fn compilers_text_is_read() {
        let text = "FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>(((\"DefaultShapes\", {{\"x\", [2, 4]}}), (\"RangeDims\", {{\"x\", [[1, 2], [4, 4]]}})))";
        let found = Flexible::parse(text).expect("shapes");
        assert_eq!(found.defaults, [("x".to_owned(), vec![2, 4])]);
        assert_eq!(found.text("1.3"), text);
        for end in 0..text.len() {
            let _ = Flexible::parse(&text[..end]);
        }
    }
}
