//! Where a description lies that events lack, and what to type with it.

use base::guid::Guid;
use etl::event::EventIdentity;
use etl::layout::header::HeaderFamily;
use schema::DecodeSource;
use schema::pack::Pack;
use serde::Serialize;

/// Characters of a provider's name that a command repeats.
const MAX_NAME: usize = 128;

/// Where Windows registers the providers of manifests.
const PUBLISHERS: &str = r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Publishers";

/// The way from events without columns to events with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Way {
    /// Where what describes them usually lies.
    pub place: String,
    /// The command that takes it in; `FILE` and `TRACE` stand for what was found.
    pub command: String,
}

/// The way to a description of events like this one of a provider, whose own descriptions (`source`) there are not, or do not fit.
/// `None` where none is known, and where events describe themselves.
pub(super) fn way(identity: &EventIdentity, name: Option<&str>, source: DecodeSource) -> Option<Way> {
    let provider = &identity.provider;
    if provider.is_zero() || matches!(source, DecodeSource::TraceLogging | DecodeSource::String | DecodeSource::Wpp) {
        return None;
    }
    match identity.family {
        HeaderFamily::Message => Some(Way {
            place: "the PDB of the component, where it was built or on its vendor's symbol server; `tracepdb -f FILE.pdb -p tmf` \
                    makes TMF files of it"
                .to_owned(),
            command: "etl2parquet schema import FILE.pdb".to_owned(),
        }),
        family if family.is_event() && is_of_event_source(provider, source) => Some(Way {
            place: "another trace of the program: its GUID is made from its name, as EventSource makes it, and an EventSource \
                    writes its manifest into a trace when the session or the program starts"
                .to_owned(),
            command: "etl2parquet schema harvest TRACE".to_owned(),
        }),
        family if family.is_event() => Some(Way {
            place: registered(provider, name),
            command: "etl2parquet schema import FILE".to_owned(),
        }),
        family if (family.is_kernel() || family.is_classic()) && source == DecodeSource::None => Some(Way {
            place: r"the MOF text of the class, as mofcomp takes it, often in %SystemRoot%\System32\wbem; `Get-CimClass -Namespace root/WMI` lists the classes of a machine"
                .to_owned(),
            command: "etl2parquet schema import FILE.mof".to_owned(),
        }),
        _ => None,
    }
}

/// Whether a provider writes its manifest itself: it did, or its GUID is made from its name (version 5 of RFC 9562) and Windows
/// registers none of it.
fn is_of_event_source(provider: &Guid, source: DecodeSource) -> bool {
    let [.., version, _, _, _, _, _, _, _, _] = provider.0;
    source == DecodeSource::EventSource || version >> 4 == 5 && !Pack::builtin().has_provider(provider)
}

/// Where a registered provider's binary is named.
fn registered(provider: &Guid, name: Option<&str>) -> String {
    let place = format!(
        r"the binary that ResourceFileName names in {PUBLISHERS}\{{{provider}}}, often in %SystemRoot%\System32 or System32\drivers"
    );
    let is_plain = |name: &&str| {
        name.len() <= MAX_NAME
            && name.chars().all(|c| c.is_ascii_alphanumeric() || " -_./".contains(c))
            && !name.is_empty()
    };
    // A provider without a name is called by its GUID.
    match name.filter(is_plain).filter(|name| name.parse::<Guid>().is_err()) {
        Some(name) if name.contains(' ') => format!("{place}; `wevtutil gp \"{name}\" /ge /gm` lists its events"),
        Some(name) => format!("{place}; `wevtutil gp {name} /ge /gm` lists its events"),
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(family: HeaderFamily, provider: &str, name: Option<&str>, source: DecodeSource) -> Option<(String, String)> {
        let provider = provider.parse().unwrap();
        let identity =
            EventIdentity { provider, group: 0, id: 1, version: 0, opcode: 0, property: 0, pointer_size: 8, family };
        way(&identity, name, source).map(|way| (way.place, way.command))
    }

    const REGISTERED: &str = "9e5f9046-43c6-4f62-ba13-7b19896253ff";
    /// Of Microsoft-Build, which is an EventSource.
    const NAMED: &str = "d44a2098-821f-5808-4cea-1e24e982ca37";

    #[test]
    fn each_kind_of_provider_has_its_own_way() {
        use HeaderFamily::{Classic64, Event64, Message};
        let none = DecodeSource::None;
        let (place, command) = of(Event64, REGISTERED, Some("Microsoft-Windows-EtwCollector"), none).unwrap();
        assert_eq!(
            place,
            r"the binary that ResourceFileName names in HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Publishers\{9e5f9046-43c6-4f62-ba13-7b19896253ff}, often in %SystemRoot%\System32 or System32\drivers; `wevtutil gp Microsoft-Windows-EtwCollector /ge /gm` lists its events"
        );
        assert_eq!(command, "etl2parquet schema import FILE");
        assert!(
            of(Event64, REGISTERED, Some("A B"), none)
                .unwrap()
                .0
                .ends_with("`wevtutil gp \"A B\" /ge /gm` lists its events")
        );
        for name in [None, Some(REGISTERED), Some("a`b"), Some("")] {
            assert!(of(Event64, REGISTERED, name, none).unwrap().0.ends_with(r"System32\drivers"), "{name:?}");
        }
        assert_eq!(of(Event64, NAMED, None, none).unwrap().1, "etl2parquet schema harvest TRACE");
        assert_eq!(
            of(Event64, REGISTERED, None, DecodeSource::EventSource).unwrap().1,
            "etl2parquet schema harvest TRACE"
        );
        assert_eq!(of(Message, REGISTERED, None, none).unwrap().1, "etl2parquet schema import FILE.pdb");
        assert_eq!(of(Classic64, REGISTERED, None, none).unwrap().1, "etl2parquet schema import FILE.mof");
        assert_eq!(of(Event64, NAMED, None, DecodeSource::TraceLogging), None);
        assert_eq!(of(Classic64, "00000000-0000-0000-0000-000000000000", None, none), None);
    }
}
