//! Which store an address belongs to: one client for each bucket, container or server.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::{Position, Url};

use crate::failure::shown;
use crate::profile;

/// What a store may take to answer, for a block or a part of 8 MiB.
const ANSWER: Duration = Duration::from_secs(60);

/// How long a request is repeated: servers that are overloaded ask for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// Requests that fail one after another until it is given up; each pause is longer than the one before.
const RETRIES: usize = 12;

/// How long a server may send nothing of a file.
const SILENCE: Duration = Duration::from_secs(30);

/// How long a file is asked for again, and how often.
const FILE_PATIENCE: Duration = Duration::from_secs(20);
const FILE_RETRIES: usize = 4;

/// The part of an address before its path, and whether whole files are asked for.
type Asked = (String, bool);

/// The clients, by what is asked.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    open: Mutex<HashMap<Asked, Arc<dyn ObjectStore>>>,
}

impl Stores {
    /// The client for an address, and the object's name in its store.
    pub(crate) fn of(&self, url: &str) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
        self.asked(url, false)
    }

    /// The same for whole files of any size.
    pub(crate) fn of_files(&self, url: &str) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
        self.asked(url, true)
    }

    fn asked(&self, url: &str, of_files: bool) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
        let parsed = Url::parse(url).map_err(|cause| io::Error::new(io::ErrorKind::InvalidInput, cause))?;
        let root = &parsed[..Position::BeforePath];
        let key = url.get(root.len()..).unwrap_or_default().trim_matches('/');
        let path = Path::parse(key).map_err(|cause| io::Error::new(io::ErrorKind::InvalidInput, cause))?;
        // A map is whole after any of its changes.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (root.to_owned(), of_files);
        if let Some(store) = open.get(&key) {
            return Ok((Arc::clone(store), path));
        }
        let store = store(&parsed, root, of_files).map_err(|error| shown(&error))?;
        open.insert(key, Arc::clone(&store));
        Ok((store, path))
    }
}

fn store(url: &Url, root: &str, of_files: bool) -> object_store::Result<Arc<dyn ObjectStore>> {
    choose_cryptography();
    let variable = |name: &str| std::env::var(name).ok();
    let is_plain = |name: &str| variable(name).is_some_and(|endpoint| endpoint.starts_with("http://"));
    let options = ClientOptions::new().with_connect_timeout(Duration::from_secs(10));
    let retry = RetryConfig { backoff: BackoffConfig::default(), max_retries: RETRIES, retry_timeout: PATIENCE };
    let (options, retry) = if of_files {
        // A file may take as long as it likes, as long as some of it comes.
        let options = options.with_timeout_disabled().with_read_timeout(SILENCE);
        (options, RetryConfig { max_retries: FILE_RETRIES, retry_timeout: FILE_PATIENCE, ..retry })
    } else {
        (options.with_timeout(ANSWER), retry)
    };
    Ok(match url.scheme() {
        "s3" | "s3a" => {
            let (mut builder, mut is_plain) = (AmazonS3Builder::from_env(), is_plain("AWS_ENDPOINT_URL"));
            for (key, value) in profile::options(variable) {
                is_plain |= key == "aws_endpoint_url" && value.starts_with("http://");
                builder = builder.with_config(key.parse()?, value);
            }
            is_plain |= is_plain_s3(variable);
            let options = options.with_allow_http(is_plain);
            Arc::new(builder.with_url(root).with_client_options(options).with_retry(retry).build()?)
        }
        "az" | "azure" | "abfs" | "abfss" => {
            let is_plain = is_plain("AZURE_STORAGE_ENDPOINT") || variable("AZURE_STORAGE_USE_EMULATOR").is_some();
            let options = options.with_allow_http(is_plain);
            let builder = MicrosoftAzureBuilder::from_env().with_url(root).with_client_options(options);
            Arc::new(builder.with_retry(retry).build()?)
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(root).with_client_options(options);
            Arc::new(builder.with_retry(retry).build()?)
        }
        scheme => {
            let options = options.with_allow_http(scheme == "http");
            Arc::new(HttpBuilder::new().with_url(root).with_client_options(options).with_retry(retry).build()?)
        }
    })
}

/// Chooses what TLS is made of, unless another library of the process has chosen.
pub(crate) fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Whether the endpoint for S3 alone is one without TLS, as that of a server on this machine.
fn is_plain_s3(variable: impl Fn(&str) -> Option<String>) -> bool {
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"];
    names.iter().any(|name| variable(name).is_some_and(|endpoint| endpoint.starts_with("http://")))
}
