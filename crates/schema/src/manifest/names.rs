//! The names a provider declares for levels, channels, tasks, opcodes and keywords, and the standard ones.

use std::collections::{BTreeMap, HashMap};

use roxmltree::Node;

use super::model::{ClassicType, OpcodeName, TaskName};
use super::strings::Strings;
use super::xml::{Rejections, attribute, children, grandchildren, guid_attribute, number, number_attribute, tag};

/// Levels that every provider has (`winmeta.xml`).
const LEVELS: [(&str, u8); 7] = [
    ("LogAlways", 0),
    ("Always", 0), // as regenerated files write it
    ("Critical", 1),
    ("Error", 2),
    ("Warning", 3),
    ("Informational", 4),
    ("Verbose", 5),
];

/// Opcodes that every provider has: as manifests refer to them, their number, as Windows shows them (`winmeta.xml`).
const OPCODES: [(&str, u8, &str); 11] = [
    ("Info", 0, "Info"),
    ("Start", 1, "Start"),
    ("Stop", 2, "Stop"),
    ("DC_Start", 3, "DCStart"),
    ("DC_Stop", 4, "DCStop"),
    ("Extension", 5, "Extension"),
    ("Reply", 6, "Reply"),
    ("Resume", 7, "Resume"),
    ("Suspend", 8, "Suspend"),
    ("Send", 9, "Send"),
    ("Receive", 240, "Receive"),
];

/// Keywords that every provider has, by bit (`winmeta.xml`, `winmeta.h`).
const KEYWORDS: [(&str, u32); 10] = [
    ("ResponseTime", 48),
    ("WDIContext", 49),
    ("WDIDiag", 50),
    ("SQM", 51),
    ("Telemetry", 51),
    ("AuditFailure", 52),
    ("AuditSuccess", 53),
    ("CorrelationHint", 54),
    ("EventlogClassic", 55),
    ("ReservedKeyword56", 56),
];

/// Channels with fixed numbers (`winmeta.xml`); a provider's own ones are numbered from 16.
const CHANNELS: [(&str, u8); 5] =
    [("TraceClassic", 0), ("System", 8), ("Application", 9), ("Security", 10), ("TraceLogging", 11)];
const FIRST_OWN_CHANNEL: u8 = 16;

/// Number and shown name of what a provider declares under a name.
#[derive(Clone, Debug)]
struct Declared<V> {
    value: V,
    shown: String,
}

/// All names of one provider.
#[derive(Debug, Default)]
pub(super) struct Names {
    levels: HashMap<String, Declared<u8>>,
    channels: HashMap<String, Declared<u8>>,
    tasks: HashMap<String, Declared<u16>>,
    task_classes: HashMap<u16, base::guid::Guid>,
    shown_tasks: HashMap<u16, String>,
    /// Opcodes are named per task; `None` for those of the whole provider.
    opcodes: HashMap<Option<u16>, HashMap<String, Declared<u8>>>,
    shown_opcodes: HashMap<(Option<u16>, u8), String>,
    classic_types: BTreeMap<(Option<u16>, u8), u8>,
    keywords: HashMap<String, Declared<u64>>,
}

impl Names {
    pub(super) fn read(provider: Node<'_, '_>, strings: &Strings, rejections: &mut Rejections) -> Names {
        let mut names = Names::default();
        let shown = |node| strings.display(node);
        for node in grandchildren(provider, "levels", "level") {
            declare(&mut names.levels, node, number_attribute(node, "value"), shown(node), rejections);
        }
        names.read_channels(provider, rejections);
        for node in grandchildren(provider, "keywords", "keyword") {
            declare(&mut names.keywords, node, number_attribute(node, "mask"), shown(node), rejections);
        }
        for node in grandchildren(provider, "opcodes", "opcode") {
            names.read_opcode(None, node, strings, rejections);
        }
        for node in grandchildren(provider, "tasks", "task") {
            names.read_task(node, strings, rejections);
        }
        names
    }

    fn read_channels(&mut self, provider: Node<'_, '_>, rejections: &mut Rejections) {
        let mut next = FIRST_OWN_CHANNEL;
        for node in children(provider, "channels").flat_map(|channels| channels.children()) {
            let own = match tag(node) {
                "channel" => true,
                "importChannel" => false,
                _ => continue,
            };
            let name = attribute(node, "name").unwrap_or_default();
            let value =
                number_attribute(node, "value").or_else(|| if own { Some(next) } else { find(&CHANNELS, name) });
            if let Some(value) = value.filter(|_| own) {
                next = value.saturating_add(1);
            }
            if let (Some(id), Some(value)) = (attribute(node, "chid"), value) {
                self.channels.entry(id.to_owned()).or_insert(Declared { value, shown: name.to_owned() });
            }
            declare(&mut self.channels, node, value, None, rejections);
        }
    }

    fn read_task(&mut self, node: Node<'_, '_>, strings: &Strings, rejections: &mut Rejections) {
        let value = number_attribute::<u16>(node, "value");
        declare(&mut self.tasks, node, value, strings.display(node), rejections);
        let Some(value) = value else { return };
        if let Some(class) = guid_attribute(node, "eventGUID").filter(|class| !class.is_zero()) {
            self.task_classes.insert(value, class);
        }
        let shown = strings.display(node).or_else(|| attribute(node, "name").map(unprefixed));
        if let Some(name) = shown.filter(|name| !only_counts(name, "task", &value)) {
            self.shown_tasks.entry(value).or_insert(name);
        }
        for opcode in grandchildren(node, "opcodes", "opcode") {
            self.read_opcode(Some(value), opcode, strings, rejections);
        }
    }

    fn read_opcode(&mut self, task: Option<u16>, node: Node<'_, '_>, strings: &Strings, rejections: &mut Rejections) {
        let value = number_attribute::<u8>(node, "value");
        let shown = strings.display(node);
        let name = shown.clone().or_else(|| attribute(node, "name").map(unprefixed));
        if let Some((value, name)) = value.zip(name).filter(|(value, name)| !only_counts(name, "opcode", value)) {
            self.shown_opcodes.entry((task, value)).or_insert(name);
        }
        if let Some((value, classic)) = value.zip(number_attribute(node, "mofValue")) {
            self.classic_types.entry((task, value)).or_insert(classic);
        }
        declare(self.opcodes.entry(task).or_default(), node, value, shown, rejections);
    }

    /// The number behind an event's `level`.
    pub(super) fn level(&self, name: &str) -> Option<u8> {
        lookup(&self.levels, name, |standard| find(&LEVELS, standard))
    }

    /// The number behind an event's `channel`, which refers to a channel's `chid` or `name`.
    pub(super) fn channel(&self, name: &str) -> Option<u8> {
        lookup(&self.channels, name, |standard| find(&CHANNELS, standard))
    }

    /// The number behind an event's `task`.
    pub(super) fn task(&self, name: &str) -> Option<u16> {
        lookup(&self.tasks, name, |standard| (standard == "None").then_some(0))
            // As regenerated files refer to no task.
            .or_else(|| (name == "task_0").then_some(0))
    }

    /// The number behind the `opcode` of an event of a task; the task's own opcodes come before the provider's.
    pub(super) fn opcode(&self, task: u16, name: &str) -> Option<u8> {
        let own = |scope| Some(self.opcodes.get(&scope)?.get(name)?.value);
        let is = |known: &(&str, u8, &str), name: &str| known.0 == name || known.2 == name;
        let standard = |name: &str| OPCODES.iter().find(|known| is(known, name)).map(|&(_, value, _)| value);
        own(Some(task))
            .or_else(|| own(None))
            .or_else(|| name.strip_prefix("win:").and_then(standard))
            .or_else(|| number(name).and_then(|value| u8::try_from(value).ok()))
    }

    /// The task's shown name.
    pub(super) fn task_name(&self, task: u16) -> Option<&str> {
        self.shown_tasks.get(&task).map(String::as_str)
    }

    /// The shown name of an opcode of a task.
    pub(super) fn opcode_name(&self, task: u16, opcode: u8) -> Option<&str> {
        let own = |scope| self.shown_opcodes.get(&(scope, opcode)).map(String::as_str);
        own(Some(task)).or_else(|| own(None)).or_else(|| standard_opcode(opcode))
    }

    /// Mask and shown name of one of an event's `keywords`.
    pub(super) fn keyword<'a>(&'a self, name: &'a str) -> Option<(u64, &'a str)> {
        if let Some(own) = self.keywords.get(name) {
            return Some((own.value, &own.shown));
        }
        let standard = name.strip_prefix("win:").and_then(|name| {
            if name == "AnyKeyword" {
                return Some((0, ""));
            }
            KEYWORDS.iter().find(|(known, _)| *known == name).map(|&(known, bit)| (1 << bit, known))
        });
        standard.or_else(|| number(name).map(|mask| (mask, "")))
    }

    /// Masks and shown names of the provider's own keywords, lowest bit first.
    pub(super) fn all_keywords(&self) -> Vec<(u64, String)> {
        let mut all: Vec<_> = self.keywords.values().map(|own| (own.value, own.shown.clone())).collect();
        all.sort_by(|a, b| (a.0.trailing_zeros(), a).cmp(&(b.0.trailing_zeros(), b)));
        all
    }

    /// Numbers and shown names of the provider's own levels.
    pub(super) fn all_levels(&self) -> Vec<(u8, String)> {
        sorted(&self.levels)
    }

    /// Numbers and names of the provider's channels.
    pub(super) fn all_channels(&self) -> Vec<(u8, String)> {
        sorted(&self.channels)
    }

    /// The provider's tasks by number.
    pub(super) fn all_tasks(&self) -> Vec<TaskName> {
        let mut all: Vec<_> = self.shown_tasks.iter().map(|(&value, name)| (value, name.clone())).collect();
        all.sort();
        let named = |(value, name)| TaskName { value, name, class: self.task_classes.get(&value).copied() };
        all.into_iter().map(named).collect()
    }

    /// The opcodes that have another number in classic events.
    pub(super) fn all_classic_types(&self) -> Vec<ClassicType> {
        let all = self.classic_types.iter();
        all.map(|(&(task, opcode), &classic)| ClassicType { task, opcode, classic }).collect()
    }

    /// The provider's own opcodes by task and number.
    pub(super) fn all_opcodes(&self) -> Vec<OpcodeName> {
        let mut all: Vec<_> = self.shown_opcodes.iter().collect();
        all.sort();
        all.into_iter().map(|(&(task, value), name)| OpcodeName { task, value, name: name.clone() }).collect()
    }
}

/// The shown name of an opcode that every provider has.
pub(crate) fn standard_opcode(opcode: u8) -> Option<&'static str> {
    OPCODES.iter().find(|&&(_, value, _)| value == opcode).map(|&(_, _, shown)| shown)
}

/// Whether a name only repeats the number that it stands for, as `task_0` and `opcode_64` do in a manifest that a tool wrote
/// anew from what a running system says.
pub(super) fn only_counts(name: &str, kind: &str, number: &impl ToString) -> bool {
    name.strip_prefix(kind).and_then(|rest| rest.strip_prefix('_')).is_some_and(|rest| rest == number.to_string())
}

/// Enters what `node` declares under its `name`; the first of a name stands.
fn declare<V>(
    table: &mut HashMap<String, Declared<V>>,
    node: Node<'_, '_>,
    value: Option<V>,
    shown: Option<String>,
    rejections: &mut Rejections,
) {
    let (Some(name), Some(value)) = (attribute(node, "name"), value) else {
        rejections.report(node, format!("expected a <{}> with a name and a number in range", tag(node)));
        return;
    };
    let shown = shown.unwrap_or_else(|| unprefixed(name));
    table.entry(name.to_owned()).or_insert(Declared { value, shown });
}

/// The number of a declared name, of a standard one behind `win:`, or the number that stands there itself.
fn lookup<V: Copy + TryFrom<u64>>(
    table: &HashMap<String, Declared<V>>,
    name: &str,
    standard: impl Fn(&str) -> Option<V>,
) -> Option<V> {
    let own = table.get(name).map(|declared| declared.value);
    own.or_else(|| name.strip_prefix("win:").and_then(standard))
        .or_else(|| number(name).and_then(|value| V::try_from(value).ok()))
}

fn find(table: &[(&str, u8)], name: &str) -> Option<u8> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

fn sorted(table: &HashMap<String, Declared<u8>>) -> Vec<(u8, String)> {
    let mut all: Vec<_> = table.values().map(|declared| (declared.value, declared.shown.clone())).collect();
    all.sort();
    all.dedup();
    all
}

fn unprefixed(name: &str) -> String {
    name.strip_prefix("win:").unwrap_or(name).to_owned()
}
