//! Faults on purpose, in targets, which show that the harness finds real ones.

use std::cell::Cell;
use std::hint::black_box;

use cpu_time::ProcessTime;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A panic.
    Panic,
    /// A panic in a worker thread.
    WorkerPanic,
    /// A sum that is too large for its type.
    Overflow,
    /// So many bytes on the heap.
    Memory(usize),
    /// So many milliseconds of work.
    Time(u64),
    /// Work without an end.
    Endless,
    /// An end of the whole process.
    Abort,
}

thread_local! {
    static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Plants a fault, or takes it away: the next input of this thread makes it.
pub fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

/// Makes the planted fault, where there is one.
pub(crate) fn strike() {
    if let Some(fault) = PLANTED.take() {
        fault.happen();
    }
}

impl Fault {
    fn happen(self) {
        match self {
            Fault::Panic => panic!("planted"),
            Fault::WorkerPanic => rayon::scope(|scope| scope.spawn(|_| panic!("planted"))),
            Fault::Overflow => {
                black_box(black_box(u8::MAX) + black_box(1));
            }
            Fault::Memory(bytes) => {
                black_box(vec![1_u8; bytes]);
            }
            Fault::Time(milliseconds) => {
                let started = ProcessTime::now();
                while started.elapsed().as_millis() < u128::from(milliseconds) {}
            }
            Fault::Endless => loop {
                std::hint::spin_loop();
            },
            Fault::Abort => std::process::abort(),
        }
    }
}
