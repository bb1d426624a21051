//! Whole files from web servers, whether these say how long they are or not.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use base::remote::{Accept, Stop};
use reqwest::header::ACCEPT;
use reqwest::{Client, Error, Response, StatusCode};

use crate::stores::choose_cryptography;
use crate::waiting::wait;

/// How long a server may take to be reached, and to send nothing of a file. A file may take as long as it likes, as long as some of it
/// comes.
const CONNECT: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// How often what fails for a moment is asked for.
const TRIES: u32 = 4;

/// The pause before it is asked for again; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(500);

/// Clients of web servers: one that speaks with servers without TLS, and one that never does, wherever a server sends it.
#[derive(Debug, Default)]
pub(crate) struct Web {
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Web {
    /// Whether an address is one of a web server.
    pub(crate) fn serves(url: &str) -> bool {
        url.starts_with("http://") || url.starts_with("https://")
    }

    /// Writes a file of at most `most` bytes, in the place of what is there; returns its size.
    pub(crate) fn fetch(&self, url: &str, accept: Accept, file: &Path, most: u64, stop: &Stop) -> io::Result<u64> {
        let client = self.client(url)?;
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match download(client, url, accept, file, most, stop) {
                Err(error) if is_of_a_moment(error.kind()) && !stop.is_asked() => {}
                answer => return answer,
            }
            wait(stop, async { tokio::time::sleep(pause).await })?;
            pause *= 2;
        }
        download(client, url, accept, file, most, stop)
    }

    fn client(&self, url: &str) -> io::Result<&Client> {
        let is_secure = url.starts_with("https://");
        let place = if is_secure { &self.secure } else { &self.plain };
        if let Some(client) = place.get() {
            return Ok(client);
        }
        choose_cryptography();
        let agent = concat!("etl2parquet/", env!("CARGO_PKG_VERSION"));
        let client = Client::builder().user_agent(agent).https_only(is_secure);
        let client = client.connect_timeout(CONNECT).read_timeout(SILENCE).build().map_err(|error| shown(&error))?;
        Ok(place.get_or_init(|| client))
    }
}

fn download(client: &Client, url: &str, accept: Accept, file: &Path, most: u64, stop: &Stop) -> io::Result<u64> {
    let types = match accept {
        Accept::Any => "*/*",
        Accept::Msfz => "application/msfz0",
    };
    // The timer of a request begins where it is made, which has to be within the runtime.
    let answer = wait(stop, async { client.get(url).header(ACCEPT, types).send().await })?;
    let mut answer = with_file(answer.map_err(|error| shown(&error))?)?;
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    if answer.content_length().is_some_and(|size| size > most) {
        return Err(too_large());
    }
    let (mut file, mut written) = (File::create(file)?, 0_u64);
    while let Some(part) = wait(stop, answer.chunk())?.map_err(|error| shown(&error))? {
        written = written.saturating_add(part.len() as u64);
        if written > most {
            return Err(too_large());
        }
        file.write_all(&part)?;
    }
    Ok(written)
}

/// An answer that a file follows.
fn with_file(answer: Response) -> io::Result<Response> {
    let status = answer.status();
    let kind = match status {
        StatusCode::OK => return Ok(answer),
        StatusCode::NOT_FOUND | StatusCode::GONE => io::ErrorKind::NotFound,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => io::ErrorKind::PermissionDenied,
        StatusCode::TOO_MANY_REQUESTS => io::ErrorKind::ResourceBusy,
        _ if status.is_server_error() => io::ErrorKind::ResourceBusy,
        _ => io::ErrorKind::Other,
    };
    Err(io::Error::new(kind, format!("the server answers {status}")))
}

/// Whether the same request may be answered soon.
fn is_of_a_moment(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::ResourceBusy | io::ErrorKind::ConnectionAborted)
}

/// A failure as the caller may see it: the addresses that servers send to may be signed.
fn shown(error: &Error) -> io::Error {
    let (kind, what) = match () {
        () if error.is_timeout() => (io::ErrorKind::TimedOut, "the server is silent"),
        () if error.is_connect() => (io::ErrorKind::ConnectionRefused, "the server cannot be reached"),
        () if error.is_redirect() => (io::ErrorKind::Other, "the server sends from one place to another"),
        () => (io::ErrorKind::ConnectionAborted, "the connection has broken off"),
    };
    io::Error::new(kind, what)
}
