//! The storage of files as one process reaches it: it fails now and then, before or after it has
//! done what it was asked for.

use std::{ops::Range, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use smartspace_domain::{
    Error, Result, Time,
    attachments::{FilePart, FileSpec, StoredFile},
    jobs::TriggerJob,
};
use smartspace_ports::files::{FileKey, Files, Upload};
use tokio::time::Instant;

use crate::{env::Env, process_life::ProcessLife};

/// The files port of one process.
pub struct SimFiles {
    pub(crate) env: Arc<Env>,
    pub(crate) life: Arc<ProcessLife>,
}

impl SimFiles {
    async fn call<T>(&self, what: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let env = &self.env;
        let place = format!("{}/{what}", self.life.name);
        let fails =
            || env.chance.strikes(&format!("{place}/fails"), env.parameters.fault_rates.files);
        env.before_call(&self.life, what).await;
        if fails() {
            return Err(Error::Unavailable("the storage of files does not answer".into()));
        }
        let done = work.await;
        env.after_call(&self.life, what).await;
        if fails() {
            return Err(Error::Unavailable("the answer of the storage of files is lost".into()));
        }
        done
    }
}

#[async_trait]
impl Files for SimFiles {
    async fn upload(&self, key: FileKey, file: &FileSpec, until: Time) -> Result<Upload> {
        self.env.files.upload(key, file, until).await
    }

    async fn download(&self, key: FileKey, file: &FilePart, until: Time) -> Result<String> {
        self.env.files.download(key, file, until).await
    }

    async fn look(&self, key: FileKey) -> Result<Option<StoredFile>> {
        self.call("files/look", self.env.files.look(key)).await
    }

    async fn read(&self, key: FileKey, range: Range<u64>) -> Result<Option<Bytes>> {
        self.call("files/read", self.env.files.read(key, range)).await
    }

    async fn write(&self, key: FileKey, file: &FileSpec, bytes: Bytes) -> Result<()> {
        let env = &self.env;
        let write = async {
            env.files.write(key, file, bytes).await?;
            // S3 reports every file. A local host knows which files it has written.
            if !env.parameters.local {
                let job = TriggerJob::SettleFile { space_id: key.space, attachment_id: key.file };
                let place = format!("{}/files/reported", self.life.name);
                let after = env.chance.time(&place, Duration::ZERO, Duration::from_secs(20));
                env.triggers.put(job, Instant::now() + after);
            }
            Ok(())
        };
        self.call("files/write", write).await
    }

    async fn delete(&self, keys: &[FileKey]) -> Result<()> {
        self.call("files/delete", self.env.files.delete(keys)).await
    }
}
