//! Where in the program a message comes from, and the parts of it that a text can insert.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where in the program a message comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageOrigin {
    /// The program or its folder.
    pub provider: Arc<str>,
    /// The source file, if the TMF file names it.
    pub source_file: Arc<str>,
    /// Source file and line as one word, with `_` for `.`: `Main_c141`.
    pub source_place: String,
    /// The level's name.
    pub level: Option<String>,
    /// The flag's name.
    pub flags: Option<String>,
    /// The function.
    pub function: Option<String>,
    /// The component, if the tracing code names one.
    pub component: Option<String>,
    /// The part of the component, if the tracing code names one.
    pub subcomponent: Option<String>,
}

impl MessageOrigin {
    /// The line in the source file, if [`MessageOrigin::source_place`] ends in one.
    pub fn source_line(&self) -> Option<u32> {
        let digits = self.source_place.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        self.source_place.get(digits..)?.parse().ok()
    }

    /// The text of a part; empty when the TMF file does not contain it.
    pub(super) fn part(&self, part: OriginPart) -> Cow<'_, str> {
        let text: &str = match part {
            OriginPart::Provider => &self.provider,
            OriginPart::File if !self.source_file.is_empty() => &self.source_file,
            OriginPart::File | OriginPart::Place => &self.source_place,
            OriginPart::Line => return self.source_line().map_or(Cow::Borrowed(""), |line| line.to_string().into()),
            OriginPart::Function => self.function.as_deref().unwrap_or_default(),
            OriginPart::Level => self.level.as_deref().unwrap_or_default(),
            OriginPart::Flags => self.flags.as_deref().unwrap_or_default(),
            OriginPart::Component => self.component.as_deref().unwrap_or_default(),
            OriginPart::Subcomponent => self.subcomponent.as_deref().unwrap_or_default(),
        };
        Cow::Borrowed(text)
    }
}

/// What a TMF file says of a message's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OriginPart {
    Provider,
    Place,
    File,
    Line,
    Function,
    Level,
    Flags,
    Component,
    Subcomponent,
}

impl OriginPart {
    /// What `%!NAME!` stands for.
    pub(super) fn named(name: &str) -> Option<OriginPart> {
        Some(match name {
            "FUNC" => OriginPart::Function,
            "LEVEL" => OriginPart::Level,
            "FLAGS" => OriginPart::Flags,
            "COMPNAME" => OriginPart::Component,
            "SUBCOMP" => OriginPart::Subcomponent,
            "FILE" => OriginPart::File,
            "LINE" => OriginPart::Line,
            _ => return None,
        })
    }
}
