//! Files in a bucket of S3.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use async_trait::async_trait;
use aws_sdk_s3::{
    Client,
    error::{DisplayErrorContext, ProvideErrorMetadata, SdkError},
    presigning::PresigningConfig,
    primitives::ByteStream,
    types::{ChecksumMode, Delete, ObjectIdentifier},
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use smartspace_domain::{
    Error, Result, Time,
    attachments::{FIRST_BYTES, FilePart, FileSpec, Sha256Hex, StoredFile},
};

use super::{FileKey, Files, Upload};
use crate::clock::Clock;

/// How many objects one request deletes.
const DELETED_AT_ONCE: usize = 1_000;
/// A header that browsers set themselves, and let no page set.
const CONTENT_LENGTH: &str = "content-length";

/// The files of a deployment, in its bucket.
#[derive(Clone)]
pub struct S3Files {
    client: Client,
    bucket: String,
    origin: String,
    clock: std::sync::Arc<dyn Clock>,
}

impl std::fmt::Debug for S3Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3Files").field("bucket", &self.bucket).finish_non_exhaustive()
    }
}

impl S3Files {
    /// The files in a bucket, which is reached at this origin.
    pub fn new(
        client: Client,
        bucket: String,
        origin: String,
        clock: std::sync::Arc<dyn Clock>,
    ) -> Self {
        Self { client, bucket, origin, clock }
    }

    fn signing(&self, until: Time) -> Result<PresigningConfig> {
        let left = until.as_millis().saturating_sub(self.clock.now().as_millis());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
        PresigningConfig::expires_in(left).map_err(|error| Error::Internal(error.to_string()))
    }
}

/// An error of the storage. Its text names the request, and no secret.
fn failed<E>(what: &str, error: SdkError<E>) -> Error
where
    E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    Error::Unavailable(format!("a file could not be {what}: {}", DisplayErrorContext(error)))
}

/// Whether the storage says that it has no such object, or that the range begins after its end.
fn has_status<E>(error: &SdkError<E>, status: u16) -> bool {
    error.raw_response().is_some_and(|response| response.status().as_u16() == status)
}

#[async_trait]
impl Files for S3Files {
    fn origin(&self) -> Option<&str> {
        Some(&self.origin)
    }

    async fn upload(&self, key: FileKey, file: &FileSpec, until: Time) -> Result<Upload> {
        let length = i64::try_from(file.bytes).unwrap_or(i64::MAX);
        let put = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(key.to_string())
            .content_type(file.content_type.name())
            .content_length(length)
            .checksum_sha256(BASE64.encode(file.sha256.digest()))
            .if_none_match("*");
        let signed = put.presigned(self.signing(until)?).await;
        let signed = signed.map_err(|error| failed("signed", error))?;
        let headers: BTreeMap<_, _> = signed
            .headers()
            .filter(|(name, _)| !name.eq_ignore_ascii_case(CONTENT_LENGTH))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Ok(Upload { url: signed.uri().to_owned(), headers })
    }

    async fn download(&self, key: FileKey, file: &FilePart, until: Time) -> Result<String> {
        let get = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key.to_string())
            .response_content_type(&file.content_type)
            .response_content_disposition(super::disposition(&file.name, &file.content_type));
        let signed = get.presigned(self.signing(until)?).await;
        Ok(signed.map_err(|error| failed("signed", error))?.uri().to_owned())
    }

    async fn look(&self, key: FileKey) -> Result<Option<StoredFile>> {
        let head = self
            .client
            .head_object()
            .bucket(&self.bucket)
            .key(key.to_string())
            .checksum_mode(ChecksumMode::Enabled);
        let (head, first) = tokio::join!(head.send(), self.read(key, 0..FIRST_BYTES as u64));
        let head = match head {
            Ok(head) => head,
            Err(error) if has_status(&error, 404) => return Ok(None),
            Err(error) => return Err(failed("looked at", error)),
        };
        let Some(first) = first? else { return Ok(None) };
        let digest = head.checksum_sha256().and_then(|text| BASE64.decode(text).ok());
        Ok(Some(StoredFile {
            bytes: u64::try_from(head.content_length().unwrap_or_default()).unwrap_or_default(),
            sha256: digest
                .and_then(|digest| digest.try_into().ok())
                .map(|digest| Sha256Hex::of_digest(&digest)),
            first: first.to_vec(),
        }))
    }

    async fn read(&self, key: FileKey, range: Range<u64>) -> Result<Option<Bytes>> {
        if range.is_empty() {
            return Ok(Some(Bytes::new()));
        }
        let get = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key.to_string())
            .range(format!("bytes={}-{}", range.start, range.end - 1));
        let found = match get.send().await {
            Ok(found) => found,
            Err(error) if has_status(&error, 404) => return Ok(None),
            // The range begins after the end.
            Err(error) if has_status(&error, 416) => return Ok(Some(Bytes::new())),
            Err(error) => return Err(failed("read", error)),
        };
        let body = found.body.collect().await;
        let body =
            body.map_err(|error| Error::Unavailable(format!("a file could not be read: {error}")))?;
        Ok(Some(body.into_bytes()))
    }

    async fn write(&self, key: FileKey, file: &FileSpec, bytes: Bytes) -> Result<()> {
        let put = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(key.to_string())
            .content_type(file.content_type.name())
            .checksum_sha256(BASE64.encode(file.sha256.digest()))
            .if_none_match("*")
            .body(ByteStream::from(bytes));
        match put.send().await {
            Ok(_) => Ok(()),
            // An earlier try has stored it.
            Err(error) if has_status(&error, 412) => Ok(()),
            Err(error) => Err(failed("stored", error)),
        }
    }

    async fn delete(&self, keys: &[FileKey]) -> Result<()> {
        let internal = |error: aws_sdk_s3::error::BuildError| Error::Internal(error.to_string());
        for keys in keys.chunks(DELETED_AT_ONCE) {
            let objects =
                keys.iter().map(|key| ObjectIdentifier::builder().key(key.to_string()).build());
            let objects = objects.collect::<Result<Vec<_>, _>>().map_err(internal)?;
            let objects = Delete::builder().set_objects(Some(objects)).quiet(true).build();
            let delete = self.client.delete_objects().bucket(&self.bucket);
            let deleted = delete.delete(objects.map_err(internal)?).send().await;
            let deleted = deleted.map_err(|error| failed("deleted", error))?;
            if let Some(error) = deleted.errors().first() {
                let text = error.message().unwrap_or("no reason given");
                return Err(Error::Unavailable(format!("a file could not be deleted: {text}")));
            }
        }
        Ok(())
    }
}
