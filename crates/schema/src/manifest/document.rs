//! A whole manifest: its providers and what was rejected.

use super::model::ProviderSchemas;
use super::strings::Strings;
use super::xml::{Rejections, tag};
use super::{provider, tree};
use crate::budget::Budget;
use crate::model::SchemaError;
use crate::text;

/// What one file declares.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// The providers in file order.
    pub providers: Vec<ProviderSchemas>,
    /// What was rejected or repaired, with its line; the rest stands.
    pub rejected: Vec<SchemaError>,
}

/// What all that a file declares may take; more than twice what the largest known manifests need.
const MAX_KEPT_BYTES: usize = 64 << 20;

impl Manifest {
    /// The longest manifest that is read, in bytes.
    pub const MAX_BYTES: usize = tree::MAX_BYTES;

    /// Reads a manifest in UTF-8 or UTF-16. Messages come from the string table of `culture` (`de-DE`), else from one of its
    /// language, else from the one of `en-US`, else from the first.
    ///
    /// # Errors
    /// When the text is no XML, even with bare `<` and `&` escaped, or is larger or more nested than manifests are. What is wrong in a single declaration is no error
    /// but one of [`Manifest::rejected`].
    pub fn parse(bytes: &[u8], culture: Option<&str>) -> Result<Manifest, SchemaError> {
        Manifest::parse_within(bytes, culture, &mut Budget::new(MAX_KEPT_BYTES))
    }

    /// Like [`Manifest::parse`]; what is kept is taken from `budget`, and once that is spent, events are left out.
    ///
    /// # Errors
    /// Those of [`Manifest::parse`].
    pub fn parse_within(bytes: &[u8], culture: Option<&str>, budget: &mut Budget) -> Result<Manifest, SchemaError> {
        tree::with_tree(&text::decode(bytes), |tree, repairs| {
            let mut rejections = Rejections::new(tree, repairs);
            let strings = Strings::read(tree, culture);
            let mut providers = Vec::new();
            let mut found = false;
            for node in tree.descendants().filter(|node| tag(*node) == "provider") {
                // Performance counters have providers too, without events.
                if node.parent().is_some_and(|parent| tag(parent) == "counters") {
                    continue;
                }
                found = true;
                providers.extend(provider::read(node, &strings, budget, &mut rejections));
            }
            if !found {
                rejections.report(tree.root_element(), "expected a <provider>, found none");
            }
            Manifest { providers, rejected: rejections.into_list() }
        })
    }
}
