//! What events prove, in no standard's words.

use std::borrow::Cow;

/// Something that a process did, or that became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Action<'a> {
    /// The machine.
    pub(super) machine: i64,
    /// Who did it: of the start of a process its parent.
    pub(super) actor: Option<Whom<'a>>,
    /// What.
    pub(super) what: What<'a>,
}

/// A process, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Whom<'a> {
    /// Its id.
    pub(super) id: i64,
    /// The file name of its image.
    pub(super) name: Option<&'a str>,
    /// The path of its image.
    pub(super) path: Option<&'a str>,
    /// Its command line.
    pub(super) command_line: Option<&'a str>,
    /// The SID of its user.
    pub(super) user: Option<&'a str>,
    /// Who started it.
    pub(super) parent: Option<i64>,
    /// When it started, Unix nanoseconds.
    pub(super) started: Option<i64>,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// A process started.
    Started {
        /// It.
        process: Whom<'a>,
    },
    /// A process ended.
    Ended {
        /// It.
        process: Whom<'a>,
        /// What it ended with.
        exit: Option<i64>,
    },
    /// A module came into a process, or left it.
    Module {
        /// Whether it came.
        is_loaded: bool,
        /// Its path.
        path: Option<&'a str>,
        /// Its address.
        base: Option<i64>,
    },
    /// A connection, or what went through it.
    Network(Traffic<'a>),
    /// A name was asked for.
    Asked(Question<'a>),
    /// A question was answered.
    Answered {
        /// The question.
        question: Question<'a>,
        /// An error code of Windows; 0 is none.
        status: Option<i64>,
        /// Answers with semicolons between.
        results: Option<&'a str>,
    },
    /// A key of the registry was used.
    Key {
        /// How.
        access: KeyAccess,
        /// Its path.
        path: Option<Cow<'a, str>>,
        /// NTSTATUS.
        status: Option<i64>,
    },
    /// A value of the registry was used.
    Value {
        /// How.
        access: ValueAccess,
        /// The path of its key.
        key: Option<&'a str>,
        /// Its name; that of the default value is empty.
        name: &'a str,
        /// NTSTATUS.
        status: Option<i64>,
    },
    /// A file was used.
    File {
        /// How.
        access: FileAccess,
        /// Its path.
        path: Option<&'a str>,
    },
}

/// A question of DNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question<'a> {
    /// The name.
    pub(super) name: &'a str,
    /// The type of the records, as IANA numbers it.
    pub(super) kind: Option<i64>,
}

/// How a key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAccess {
    /// Opened.
    Opened,
    /// Opened, or created where it was not there: the event does not say which.
    OpenedOrCreated,
    /// What it has was read.
    Read,
    /// Its own properties were set.
    Modified,
    /// Deleted.
    Deleted,
    /// Its security was set.
    Secured,
}

/// How a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueAccess {
    /// Read.
    Read,
    /// Set.
    Set,
    /// Deleted.
    Deleted,
}

/// How a file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileAccess {
    /// Opened, or created where it was not there.
    Opened,
    /// Created.
    Created,
    /// Read.
    Read,
    /// Written.
    Written,
    /// Deleted.
    Deleted,
    /// Renamed.
    Renamed,
    /// Its attributes were set.
    AttributesSet,
    /// Its attributes were read.
    AttributesRead,
    /// Its security was set.
    SecuritySet,
    /// Its security was read.
    SecurityRead,
}

/// A connection, or what went through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Traffic<'a> {
    /// What happened.
    pub(super) step: Step,
    /// Whether it is TCP, else UDP.
    pub(super) is_tcp: bool,
    /// Which way.
    pub(super) way: Option<Way>,
    /// Where from and where to.
    pub(super) ends: [End<'a>; 2],
    /// Whether it is known which is which; else the two are in the event's own order.
    pub(super) is_way_known: bool,
    /// Bytes of what was sent or received.
    pub(super) bytes: Option<u64>,
}

/// What happens on a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A connection was made.
    Opened,
    /// A connection was closed.
    Closed,
    /// Bytes were sent or received.
    Moved,
}

/// Which way something goes, seen from the recorded machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To it.
    In,
    /// From it.
    Out,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End<'a> {
    /// Its address.
    pub(super) address: Option<&'a str>,
    /// Its port.
    pub(super) port: Option<i64>,
}
