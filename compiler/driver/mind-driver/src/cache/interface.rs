//! Binary serialization of a module's interface.

use mind_ir::interface::{Classes, Classifier, Color, Feature, Interface, MetadataKey, Output};

use super::codec::{Decoder, Encoder};

/// Writes the interface of a module.
pub(super) fn write(out: &mut Encoder, own: &Interface) {
    out.number(own.metadata.len() as u64);
    for (key, value) in &own.metadata {
        out.byte(u8::from(matches!(key, MetadataKey::User(_))));
        out.text(key.text());
        out.text(value);
    }
    out.number(own.inputs.len() as u64);
    for (name, feature) in &own.inputs {
        out.text(name);
        write_feature(out, feature);
    }
    out.number(own.outputs.len() as u64);
    for Output { name, feature } in &own.outputs {
        out.byte(u8::from(name.is_some()));
        out.text(name.as_deref().unwrap_or_default());
        write_feature(out, feature);
    }
    out.byte(u8::from(own.classifier.is_some()));
    if let Some(classifier) = &own.classifier {
        write_classifier(out, classifier);
    }
}

fn write_feature(out: &mut Encoder, feature: &Feature) {
    out.text(&feature.description);
    out.text(feature.image.map_or("", Color::name));
}

fn write_classifier(out: &mut Encoder, own: &Classifier) {
    for text in [&own.label, &own.description, &own.probabilities] {
        out.text(text);
    }
    out.byte(u8::from(matches!(own.classes, Classes::Numbers(_))));
    out.number(own.classes.len() as u64);
    match &own.classes {
        Classes::Words(all) => all.iter().for_each(|word| out.text(word)),
        Classes::Numbers(all) => all.iter().for_each(|&number| out.number(number as u64)),
    }
}

/// Reads the output of [`write`]; returns `None` for other bytes.
pub(super) fn read(bytes: &mut Decoder<'_>) -> Option<Interface> {
    let mut own = Interface::default();
    for _ in 0..bytes.count()? {
        let is_user = bytes.byte()? != 0;
        let key = bytes.text()?;
        let key = match is_user {
            true => MetadataKey::User(key.to_owned()),
            false => MetadataKey::of_word(key)?,
        };
        own.metadata.insert(key, bytes.text()?.to_owned());
    }
    for _ in 0..bytes.count()? {
        let name = bytes.text()?.to_owned();
        own.inputs.insert(name, read_feature(bytes)?);
    }
    for _ in 0..bytes.count()? {
        let is_named = bytes.byte()? != 0;
        let name = bytes.text()?;
        own.outputs.push(Output {
            name: is_named.then(|| name.to_owned()),
            feature: read_feature(bytes)?,
        });
    }
    if bytes.byte()? != 0 {
        own.classifier = Some(read_classifier(bytes)?);
    }
    Some(own)
}

fn read_feature(bytes: &mut Decoder<'_>) -> Option<Feature> {
    let description = bytes.text()?.to_owned();
    let image = match bytes.text()? {
        "" => None,
        word => Some(Color::parse(word)?),
    };
    Some(Feature { description, image })
}

fn read_classifier(bytes: &mut Decoder<'_>) -> Option<Classifier> {
    let mut text = || bytes.text().map(str::to_owned);
    let (label, description, probabilities) = (text()?, text()?, text()?);
    let has_numbers = bytes.byte()? != 0;
    let count = bytes.count()?;
    let classes = if has_numbers {
        let numbers = (0..count).map(|_| Some(bytes.number()? as i64));
        Classes::Numbers(numbers.collect::<Option<_>>()?)
    } else {
        let words = (0..count).map(|_| Some(bytes.text()?.to_owned()));
        Classes::Words(words.collect::<Option<_>>()?)
    };
    Some(Classifier {
        label,
        description,
        classes,
        probabilities,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_comes_back_from_its_bytes() {
        let mut own = Interface::default();
        let user = MetadataKey::User("author".to_owned());
        own.metadata.insert(MetadataKey::Author, "a".to_owned());
        own.metadata.insert(user, "u".to_owned());
        let image = Feature {
            description: "a photo".to_owned(),
            image: Some(Color::Bgr),
        };
        own.inputs.insert("x".to_owned(), image.clone());
        own.output_mut(1).name = Some("odds".to_owned());
        own.output_mut(0).feature = image;
        for classes in [
            Classes::Numbers(vec![-1, 7]),
            Classes::Words(vec!["cat".to_owned(), String::new()]),
        ] {
            own.classifier = Some(Classifier {
                label: "label".to_owned(),
                description: "which".to_owned(),
                classes,
                probabilities: "odds".to_owned(),
            });
            let mut out = Encoder::default();
            write(&mut out, &own);
            let mut bytes = Decoder::new(&out.bytes);
            assert_eq!(read(&mut bytes), Some(own.clone()));
            assert!(bytes.is_done());
            for end in 0..out.bytes.len() {
                assert_eq!(read(&mut Decoder::new(&out.bytes[..end])), None, "{end}");
            }
        }
    }
}
