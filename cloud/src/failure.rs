//! Failures of stores, without what they say of credentials.

use std::io;

use object_store::Error;

/// A failure as the caller may see it. The texts of clients contain addresses with signatures, and answers of servers that repeat keys:
/// of them only the status and the code are shown.
pub(crate) fn shown(error: &Error) -> io::Error {
    let text = error.to_string();
    let said = [status(&text), code(&text)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let (kind, what) = match error {
        Error::NotFound { .. } => (io::ErrorKind::NotFound, "there is no such object"),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            (io::ErrorKind::PermissionDenied, "the store refuses the credentials")
        }
        Error::Precondition { .. } | Error::NotModified { .. } => {
            (io::ErrorKind::StaleNetworkFileHandle, "the object is another one than it was")
        }
        Error::AlreadyExists { .. } => (io::ErrorKind::AlreadyExists, "there is an object already"),
        Error::InvalidPath { .. } => (io::ErrorKind::InvalidInput, "the store has no such name"),
        Error::NotImplemented { .. } | Error::NotSupported { .. } => {
            (io::ErrorKind::Unsupported, "the store cannot do that")
        }
        _ if text.contains("xpired") => (io::ErrorKind::PermissionDenied, "the credentials have expired"),
        _ if text.contains("timed out") => (io::ErrorKind::TimedOut, "the store does not answer"),
        _ if status(&text).is_some() => (io::ErrorKind::Other, "the store refuses the request"),
        _ => {
            (io::ErrorKind::ConnectionAborted, "the store cannot be reached, or cannot be used with these credentials")
        }
    };
    io::Error::new(kind, if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") })
}

/// The status of an answer, as the client writes it.
fn status(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("status code: ")?;
    let status: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ' ').collect();
    Some(status.trim().to_owned()).filter(|status| !status.is_empty())
}

/// The code that a store gives for what is wrong, such as `AccessDenied`.
fn code(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    (code.len() <= 64 && code.bytes().all(|c| c.is_ascii_alphanumeric())).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_repeat_keys_are_not_shown() {
        let said = "Error performing GET https://b.s3.amazonaws.com/a?X-Amz-Signature=secret in 1s - Server returned non-2xx \
                    status code: 403 Forbidden: <Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>AKIASECRET</AWSAccessKeyId></Error>";
        let t = |error: &Error, kind, expected: &str| {
            let shown = shown(error);
            assert_eq!((shown.kind(), shown.to_string().as_str()), (kind, expected));
        };
        t(
            &Error::PermissionDenied { path: "a".to_owned(), source: said.into() },
            io::ErrorKind::PermissionDenied,
            "the store refuses the credentials: 403 Forbidden InvalidAccessKeyId",
        );
        t(
            &Error::Generic { store: "S3", source: "error sending request: secret".into() },
            io::ErrorKind::ConnectionAborted,
            "the store cannot be reached, or cannot be used with these credentials",
        );
        let slow = "Server returned non-2xx status code: 503 Service Unavailable: <Error><Code>SlowDown</Code></Error>";
        t(
            &Error::Generic { store: "S3", source: slow.into() },
            io::ErrorKind::Other,
            "the store refuses the request: 503 Service Unavailable SlowDown",
        );
        t(
            &Error::NotFound { path: "a".to_owned(), source: "no".into() },
            io::ErrorKind::NotFound,
            "there is no such object",
        );
    }
}
