//! Threads that wait for requests.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::LazyLock;
use std::time::Duration;

use base::remote::Stop;
use tokio::runtime::{Builder, Runtime};

/// How often a thread that waits looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// What all requests of the process run on, from the first one on.
static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).thread_name("requests").enable_all().build());

/// Waits for what comes of a request, or until it is time to stop, which is an error.
pub(crate) fn wait<T>(stop: &Stop, answer: impl Future<Output = T>) -> io::Result<T> {
    let runtime = RUNTIME.as_ref().map_err(|cause| io::Error::new(cause.kind(), cause.to_string()))?;
    runtime.block_on(async {
        let mut answer = pin!(answer);
        loop {
            if let Ok(answer) = tokio::time::timeout(LOOK, &mut answer).await {
                return Ok(answer);
            }
            if stop.is_asked() {
                return Err(io::Error::other("nobody waits for the answer any more"));
            }
        }
    })
}
