//! Where a file of the user's describes events of a provider otherwise than the pack does, and which of the two is used.

use std::fmt;

use base::guid::Guid;
use base::readable::printable::printable;
use serde::Serialize;

use super::manifest::{ManifestEvent, ProviderSchemas};
use super::pack::{Pack, PackLayout};

/// What a file has otherwise than the pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The provider's name, else its GUID.
    pub provider: String,
    /// The file.
    pub file: String,
    /// Layouts that it declares of events that the pack has, too.
    pub layouts: usize,
    /// Those that the pack has not.
    pub differ: usize,
    /// Of these, those that rank behind the pack's, which are of a newer build of Windows.
    pub behind_pack: usize,
    /// The newest build that one of them was recorded on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<u32>,
    /// The newest build that the pack has one of their events from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack_build: Option<u32>,
}

/// `My-Driver (lab.man): 2 of 7 layouts differ from the pack's; those of the file are used, for files rank before the pack`.
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { provider, file, layouts, differ, behind_pack, .. } = self;
        write!(
            f,
            "{} ({}): {differ} of {layouts} layouts differ from the pack's; ",
            printable(provider),
            printable(file)
        )?;
        let before = differ.saturating_sub(*behind_pack);
        let build =
            |build: &Option<u32>| build.map_or_else(|| "no known build".to_owned(), |build| format!("build {build}"));
        match (before, behind_pack) {
            (_, 0) => f.write_str("those of the file are used, for files rank before the pack"),
            (0, _) => write!(
                f,
                "the pack's are used, of {}: the file's are of {}",
                build(&self.pack_build),
                build(&self.build)
            ),
            _ => write!(
                f,
                "{before} of the file are used, for files rank before the pack; for {behind_pack} the pack's, of a newer build"
            ),
        }
    }
}

/// The newest build from which the pack has an event, where that is newer than another.
pub(crate) fn newer_in_pack(pack: &'static Pack, provider: &Guid, event: (u16, u16), build: u32) -> Option<u32> {
    newest(own(pack, provider, event)).filter(|newest| *newest > build)
}

/// The layouts that the pack has of an event.
fn own(pack: &'static Pack, provider: &Guid, (id, version): (u16, u16)) -> impl Iterator<Item = &'static PackLayout> {
    let all = pack.provider(provider).map_or(&[][..], |provider| provider.all());
    let first = all.partition_point(|layout| (layout.id, layout.version) < (id, version));
    let layouts = all.get(first..).unwrap_or_default().iter();
    layouts.take_while(move |layout| (layout.id, layout.version) == (id, version))
}

fn newest<'p>(layouts: impl Iterator<Item = &'p PackLayout>) -> Option<u32> {
    layouts.filter_map(|layout| layout.releases.iter().next_back()).map(|release| u32::from(release.build)).max()
}

/// What a file has otherwise than the pack; `None` where nothing differs, or the pack does not know the provider.
pub fn with_pack(declared: &ProviderSchemas, file: &str) -> Option<Conflict> {
    let pack = Pack::builtin();
    pack.provider(&declared.guid)?;
    let named = Some(&declared.name).filter(|name| !name.is_empty());
    let mut found = Conflict {
        provider: named.map_or_else(|| declared.guid.to_string(), Clone::clone),
        file: file.to_owned(),
        layouts: 0,
        differ: 0,
        behind_pack: 0,
        build: None,
        pack_build: None,
    };
    for event in &declared.events {
        found.add(event, pack, &declared.guid);
    }
    (found.differ > 0).then_some(found)
}

impl Conflict {
    fn add(&mut self, event: &ManifestEvent, pack: &'static Pack, provider: &Guid) {
        let number = (event.id, u16::from(event.version));
        let own = || own(pack, provider, number);
        if own().next().is_none() {
            return;
        }
        self.layouts += 1;
        if own().any(|layout| layout.schema.fields == event.schema.fields) {
            return;
        }
        self.differ += 1;
        let build = event.provenance.build;
        self.behind_pack += usize::from(build.is_some_and(|build| newest(own()).is_some_and(|newest| newest > build)));
        self.build = self.build.max(build);
        self.pack_build = self.pack_build.max(newest(own()));
    }
}
