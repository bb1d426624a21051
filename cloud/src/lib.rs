//! The client of object stores: S3 and what speaks its language, Azure, Google Cloud Storage, web servers.
//!
//! A program that calls [`install`] reaches addresses such as `s3://bucket/lab/a.etl` wherever it takes a path:
//!
//! ```no_run
//! cloud::install();
//! let client = base::remote::client("s3://bucket/lab/a.etl").unwrap();
//! let facts = client.head("s3://bucket/lab/a.etl", &Default::default()).unwrap();
//! println!("{} bytes", facts.size);
//! ```
//!
//! | address | variables | else |
//! |---|---|---|
//! | `s3://bucket/key` | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, … | the profile `AWS_PROFILE`, or `default`, of `~/.aws/credentials` and `~/.aws/config`; then the role of the machine |
//! | `az://container/blob`, `abfss://container@account.dfs.core.windows.net/blob` | `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_STORAGE_SAS_KEY`, `AZURE_CLIENT_ID`, … | the identity of the machine |
//! | `gs://bucket/object` | `GOOGLE_APPLICATION_CREDENTIALS`, `GOOGLE_SERVICE_ACCOUNT`, … | the account that `gcloud` keeps, or that of the machine |
//! | `https://host/path` | – | read only |

mod client;
mod failure;
mod profile;
mod stores;
mod waiting;
mod web;

use std::sync::Arc;

/// From now on this process reaches addresses of stores. Until one is asked for, nothing is made of it.
pub fn install() {
    base::remote::install(Arc::new(client::Client::new()));
}
