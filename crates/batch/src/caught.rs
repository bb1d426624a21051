//! A panic of a job is a failure of that job, and of nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base::error::{Error, Result};

/// Does some work; a panic is an internal error. Of what the work has touched, nothing but times may be used after one.
///
/// # Errors
/// Those of the work, and [`ErrorKind::Internal`](base::error::ErrorKind::Internal) for a panic.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let hint = "this is a bug: please report it together with the trace";
        Err(Error::bug(panic_message(panic.as_ref())).with_hint(hint))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("the program stopped itself: {}", text.unwrap_or("no reason given"))
}

#[cfg(test)]
mod tests {
    use base::error::ErrorKind;

    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        let error = caught::<()>(|| panic!("{} is odd", 3)).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Internal, "the program stopped itself: 3 is odd"));
        assert_eq!(caught(|| Ok(7)).unwrap(), 7);
    }
}
