//! Samples and waits, one by one.

use base::error::Result;
use conversion::read_columns;
use published::frames::{EventStack, StackCell};
use published::off_cpu::off_cpu;

use crate::exported::Exported;
use crate::opened::Opened;
use crate::request::Of;

/// A sample or a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount<'b> {
    /// When it was sampled, Unix nanoseconds; of a wait when it ended.
    pub(crate) time: i64,
    /// Of a wait, when it began; of a sample its time.
    pub(crate) from: i64,
    /// The machine.
    pub(crate) machine: i64,
    /// The process, where the event says it.
    pub(crate) process: Option<i64>,
    /// The name of its image.
    pub(crate) process_name: Option<&'b str>,
    /// The thread that ran or waited.
    pub(crate) thread: Option<i64>,
    /// The processor, of a sample.
    pub(crate) cpu: Option<i64>,
    /// The instruction that was next, of a sample.
    pub(crate) address: Option<i64>,
    /// 1 for a sample; of a wait its nanoseconds.
    pub(crate) worth: u64,
    /// The stack, where one was recorded.
    pub(crate) stack: Option<EventStack<'b>>,
}

read_columns! {
    /// A row of `Kernel-PerfInfo`.
    struct SampleEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        process_name: Option<&'b str> = "process_name",
        thread: Option<i64> = "ThreadId",
        cpu: Option<i64> = "cpu",
        address: Option<i64> = "InstructionPointer",
        input: Option<i64> = "input",
        stack_id: Option<i64> = "stack_id",
        stack: StackCell<'b> = "stack",
    }
}

/// Hands over the samples or the waits that are asked for, in the order of their times.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(crate) fn amounts(
    opened: &Opened<'_>,
    of: Of,
    exported: &mut Exported,
    mut each: impl for<'b> FnMut(Amount<'b>),
) -> Result<()> {
    let mut each = |amount: Amount<'_>| {
        exported.events = exported.events.saturating_add(1);
        each(amount);
    };
    match of {
        Of::Samples => samples(opened, each),
        Of::Waits => {
            let left_out = waits(opened, &mut each)?;
            exported.warn_of(left_out, "departures of threads are left out: there are too many threads");
            Ok(())
        }
    }
}

fn samples(opened: &Opened<'_>, mut each: impl for<'b> FnMut(Amount<'b>)) -> Result<()> {
    opened.events::<SampleEvent<'_>>("Kernel-PerfInfo", |event| {
        let Some(time) = event.time.filter(|_| event.name == Some("PerfInfo/SampleProf")) else { return };
        each(Amount {
            time,
            from: time,
            machine: opened.source.machine(event.input),
            process: event.process,
            process_name: event.process_name,
            thread: event.thread,
            cpu: event.cpu,
            address: event.address,
            worth: 1,
            stack: EventStack::of(event.stack_id, event.stack),
        });
    })?;
    Ok(())
}

/// Hands over waits, and counts what there was no room for.
fn waits(opened: &Opened<'_>, mut each: impl for<'b> FnMut(Amount<'b>)) -> Result<u64> {
    off_cpu(&opened.source, opened.filter.as_deref(), |span| {
        if span.is_wait && span.passes {
            each(Amount {
                time: span.to,
                from: span.from,
                machine: span.machine,
                process: span.process,
                process_name: span.process_name,
                thread: Some(span.thread),
                cpu: None,
                address: None,
                worth: span.length,
                stack: span.stack,
            });
        }
    })
}
