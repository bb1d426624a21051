//! From the user's files to the descriptions that a conversion uses.

use std::convert::Infallible;
use std::path::PathBuf;

use base::error::Result;

use super::files::{self, SchemaContent, SchemaFile, SkippedSchema};
use super::model::SchemaError;
use super::user::UserSchemas;
use super::wpp::MessageFormat;

/// Descriptions, with what identifies them and what was not used.
#[derive(Clone, Debug, Default)]
pub struct SchemaSet {
    /// What the files declare, in the order given.
    pub schemas: UserSchemas,
    /// What was rejected.
    pub skipped: Vec<SkippedSchema>,
    /// Name and hash of each file, in the order given.
    files: Vec<(String, String)>,
}

/// Loads files, and folders with all schema files below them.
///
/// # Errors
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) as for [`files::each`].
pub fn load(paths: &[PathBuf]) -> Result<SchemaSet> {
    load_in(paths, None)
}

/// The same with messages in a language (`de-DE`), where a file has them in it.
///
/// # Errors
/// Those of [`load`].
pub fn load_in(paths: &[PathBuf], language: Option<&str>) -> Result<SchemaSet> {
    SchemaSet::of(|add| {
        files::each(paths, language, |file| {
            add(file);
            Ok(())
        })
    })
}

/// Loads files that were found, by name and path; what is no schema, or cannot be read, is skipped.
pub fn load_found(files: &[(String, PathBuf)], language: Option<&str>) -> SchemaSet {
    let Ok(loaded) = SchemaSet::of(|add| {
        let mut skipped = Vec::new();
        files::each_found(files, language, &mut skipped, |file| {
            add(file);
            Ok::<_, Infallible>(())
        })
        .map(|_| skipped)
    });
    loaded
}

impl SchemaSet {
    /// What the files declare that `read` hands on; it returns what it skips.
    fn of<E>(read: impl FnOnce(&mut dyn FnMut(SchemaFile)) -> Result<Vec<SkippedSchema>, E>) -> Result<SchemaSet, E> {
        let (mut loaded, mut conflicts) = (SchemaSet::default(), Vec::new());
        let skipped = read(&mut |file| conflicts.extend(loaded.add(file)))?;
        loaded.skipped = skipped;
        loaded.skipped.extend(conflicts);
        Ok(loaded)
    }

    /// Adds what a file declares, behind what is here. Returns what is skipped when it declares messages that are here
    /// already in another form.
    pub fn add(&mut self, file: SchemaFile) -> Option<SkippedSchema> {
        self.files.push((file.name.clone(), file.hash()));
        match file.content {
            SchemaContent::Manifest(manifest) | SchemaContent::Binary(manifest) => {
                for provider in manifest.providers {
                    self.schemas.add_provider(provider, &file.name);
                }
                None
            }
            SchemaContent::Classes(mof) => {
                mof.classes.into_iter().for_each(|class| self.schemas.add_class(class, &file.name));
                None
            }
            SchemaContent::Messages(tmf) => self.add_messages(tmf.messages, file.name),
            SchemaContent::Facts(facts) => {
                facts.providers.into_iter().for_each(|provider| self.schemas.add_provider(provider, &file.name));
                facts.classes.into_iter().for_each(|class| self.schemas.add_class(class, &file.name));
                self.add_messages(facts.messages, file.name)
            }
        }
    }

    fn add_messages(&mut self, messages: Vec<MessageFormat>, file: String) -> Option<SkippedSchema> {
        let conflicts = self.schemas.messages.extend(messages);
        let message =
            format!("expected one format per message, found {conflicts} that are here already in another form");
        let fault = SchemaError { location: "messages".to_owned(), message };
        (conflicts > 0).then_some(SkippedSchema::Rejected { file, fault })
    }

    /// Adds descriptions that rank behind those already here.
    pub fn append(&mut self, lower: SchemaSet) {
        self.schemas.append(&lower.schemas);
        self.skipped.extend(lower.skipped);
        self.files.extend(lower.files);
    }

    /// Name and BLAKE3 hash of each file, the highest rank first.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// What distinguishes these descriptions from any others: a hash over the files' names (which stand in the output as the
    /// origin of layouts), their contents and their order. `None` without a file.
    pub fn hash(&self) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        for (name, hash) in &self.files {
            // Neither holds a NUL.
            hasher.update(name.as_bytes()).update(&[0]).update(hash.as_bytes()).update(&[0]);
        }
        (!self.files.is_empty()).then(|| hasher.finalize().to_hex().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> SchemaFile {
        SchemaFile::parse(name, text.as_bytes().to_vec(), None).unwrap()
    }

    fn manifest(name: &str, events: &str) -> SchemaFile {
        let provider = "<provider name='Lab' guid='{11111111-2222-3333-4444-555555555555}'>";
        file(name, &format!("<events>{provider}<events>{events}</events></provider></events>"))
    }

    fn messages(name: &str, text: &str) -> SchemaFile {
        let group = "01e9b841-7d67-315a-7b92-23b2033356de Lab // SRC=Main.c MJ= MN=";
        file(name, &format!("{group}\n#typev Main_c1 10 \"{text}\" //\n{{\n}}\n"))
    }

    fn loaded(files: Vec<SchemaFile>) -> SchemaSet {
        let mut loaded = SchemaSet::default();
        for file in files {
            assert_eq!(loaded.add(file), None);
        }
        loaded
    }

    #[test]
    fn names_contents_and_order_make_the_hash() {
        let (a, b) = (|| manifest("a", "<event value='1'/>"), || messages("b", "hi"));
        let hash = |files| loaded(files).hash();
        assert_eq!(hash(vec![]), None);
        let all = [
            hash(vec![a()]),
            hash(vec![manifest("A", "<event value='1'/>")]),
            hash(vec![manifest("a", "<event value='2'/>")]),
            hash(vec![a(), b()]),
            hash(vec![b(), a()]),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().flatten().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
        let mut joined = loaded(vec![a()]);
        joined.append(loaded(vec![b()]));
        assert_eq!(joined.hash(), all[3]);
    }

    #[test]
    fn what_comes_first_ranks_first() {
        let guid = "11111111-2222-3333-4444-555555555555".parse().unwrap();
        let group = "01e9b841-7d67-315a-7b92-23b2033356de".parse().unwrap();
        let mut given = loaded(vec![manifest("a", "<event value='1'/>"), messages("b", "first")]);
        given.append(loaded(vec![manifest("c", "<event value='1'/>"), messages("d", "second")]));
        let files: Vec<_> = given.schemas.manifests(guid).map(|(_, file)| file).collect();
        assert_eq!(files, ["a", "c"]);
        assert_eq!(given.schemas.messages.get(group, 10).unwrap().format, "first");
        let conflict = given.add(messages("e", "third")).unwrap();
        let expected = "e, messages: expected one format per message, found 1 that are here already in another form";
        assert_eq!(conflict.to_string(), expected);
    }
}
