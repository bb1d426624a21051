//! Markers, as many as there is room for.

use std::collections::HashMap;

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, MarkerHandle, MarkerTiming, MarkerTypeHandle, Profile, ThreadHandle,
};

use super::kinds::{Filled, Kind, Value};

/// Markers beside waits that there is room for, and different texts of theirs: some 200 MiB.
const MOST_MARKERS: u64 = 1 << 19;
/// Characters of a text that are kept.
const LONGEST: usize = 512;

/// What a marker says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said<'a> {
    /// A text; `None`: the trace does not say it.
    Text(Option<&'a str>),
    /// A number; the viewer has no other place for one that is not known than 0.
    Number(Option<u64>),
}

/// The markers of a profile.
#[derive(Debug)]
pub(super) struct Markers {
    kinds: HashMap<&'static str, (MarkerTypeHandle, CategoryHandle)>,
    count: u64,
    /// Those that there was no room for.
    pub(super) left_out: u64,
}

impl Markers {
    /// None yet; makes the kinds known to a profile.
    pub(super) fn of(profile: &mut Profile) -> Markers {
        let mut kinds = HashMap::new();
        for kind in Kind::ALL {
            let color = match kind {
                Kind::Wait => CategoryColor::Gray,
                Kind::GcPause => CategoryColor::Purple,
                Kind::Exception => CategoryColor::Red,
                Kind::Disk | Kind::File => CategoryColor::Blue,
                Kind::Network => CategoryColor::LightBlue,
                Kind::ImageLoad => CategoryColor::Brown,
                Kind::Activity => CategoryColor::Green,
            };
            kinds.insert(kind.name(), (kind.register(profile), profile.add_category(kind.name(), color)));
        }
        Markers { kinds, count: 0, left_out: 0 }
    }

    /// Adds a marker; `None` where there is no room for it.
    pub(super) fn add(
        &mut self,
        profile: &mut Profile,
        thread: ThreadHandle,
        timing: MarkerTiming,
        kind: Kind,
        said: &[Said<'_>],
    ) -> Option<MarkerHandle> {
        let is_wait = kind == Kind::Wait;
        if !is_wait && self.count >= MOST_MARKERS {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        self.count = self.count.saturating_add(u64::from(!is_wait));
        let (of, category) = *self.kinds.get(kind.name())?;
        let name = profile.intern_string(kind.name());
        let values = said.iter().map(|said| match said {
            Said::Text(text) => Value::Text(profile.intern_string(&short(text.unwrap_or("not recorded")))),
            Said::Number(number) => Value::Number(as_number(number.unwrap_or(0))),
        });
        let filled = Filled { kind: of, name, category, values: values.collect() };
        Some(profile.add_marker(thread, timing, filled))
    }
}

fn short(text: &str) -> String {
    if text.chars().nth(LONGEST).is_none() {
        text.to_owned()
    } else {
        text.chars().take(LONGEST).chain(['…']).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "the format has no other numbers")]
fn as_number(number: u64) -> f64 {
    number as f64
}
