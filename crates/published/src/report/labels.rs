//! What bars of call paths stand for, each text once.

use std::collections::HashMap;

/// What a label stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelKind {
    /// A process, or what is nobody's.
    Process,
    /// A function of the kernel.
    Kernel,
    /// A function of a program.
    Program,
    /// A method of .NET.
    Managed,
    /// Functions of a module of the kernel whose names are not known.
    KernelModule,
    /// Functions of a module of a program whose names are not known.
    ProgramModule,
    /// Nobody knows.
    Unknown,
}

impl LabelKind {
    /// That of functions whose names are not known.
    pub(super) fn nameless(self) -> LabelKind {
        match self {
            LabelKind::Kernel => LabelKind::KernelModule,
            LabelKind::Program => LabelKind::ProgramModule,
            other => other,
        }
    }
}

/// Texts with their kinds, by number.
#[derive(Debug, Default)]
pub(super) struct Labels {
    all: Vec<(String, LabelKind)>,
    numbers: HashMap<String, u32>,
}

impl Labels {
    /// The number of a text, which keeps its first kind.
    pub(super) fn number(&mut self, text: &str, kind: LabelKind) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push((text.to_owned(), kind));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.get(number).map_or("", |(text, _)| text)
    }

    /// The kind of a number.
    pub(super) fn kind(&self, number: u32) -> LabelKind {
        self.get(number).map_or(LabelKind::Unknown, |(_, kind)| *kind)
    }

    /// Whether a number is that of one function, whose name is known.
    pub(super) fn is_named(&self, number: u32) -> bool {
        !matches!(self.kind(number), LabelKind::KernelModule | LabelKind::ProgramModule | LabelKind::Unknown)
    }

    fn get(&self, number: u32) -> Option<&(String, LabelKind)> {
        self.all.get(usize::try_from(number).ok()?)
    }
}
