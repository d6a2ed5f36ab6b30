//! Notices of the storage of files to the triggers queue: a file was uploaded.

use serde::Deserialize;
use smartspace_domain::jobs::TriggerJob;
use smartspace_ports::files::FileKey;

use crate::batch::job_of;

/// The part of S3's event that is read. `aws_lambda_events` would refuse an event of a storage that
/// sends less than S3 does.
#[derive(Deserialize)]
struct StorageEvent {
    #[serde(rename = "Records")]
    records: Vec<StorageRecord>,
}

#[derive(Deserialize)]
struct StorageRecord {
    s3: StoredIn,
}

#[derive(Deserialize)]
struct StoredIn {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    key: String,
}

/// S3 sends this once, when the notification is set up.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TestEvent {
    event: String,
}

const TEST_EVENT: &str = "s3:TestEvent";

/// The jobs of a record: one that the product queued, or one for each uploaded file. An object that
/// is no file of a space is left alone.
pub fn or_job(body: &str) -> Result<Vec<TriggerJob>, String> {
    if let Ok(test) = serde_json::from_str::<TestEvent>(body)
        && test.event == TEST_EVENT
    {
        return Ok(Vec::new());
    }
    let Ok(event) = serde_json::from_str::<StorageEvent>(body) else { return job_of(body) };
    let keys = event.records.into_iter().map(|record| record.s3.object.key);
    let files = keys.filter_map(|key| key.parse::<FileKey>().ok());
    let job =
        |key: FileKey| TriggerJob::SettleFile { space_id: key.space, attachment_id: key.file };
    Ok(files.map(job).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_uploaded_file_is_settled() {
        let body = include_str!("../../../events/trigger/file-uploaded.json");
        let record: serde_json::Value = serde_json::from_str(body).unwrap();
        let text = record["Records"][0]["body"].as_str().unwrap();
        let expected = json!({
            "job": "settleFile.1",
            "spaceId": "spc_01KHRMMJH00000000000000001",
            "attachmentId": "att_01KHRMMJH00000000000000002",
        });
        let expected: TriggerJob = serde_json::from_value(expected).unwrap();
        assert_eq!(or_job(text), Ok(vec![expected]));
    }

    #[test]
    fn other_records_are_read_as_before() {
        assert_eq!(
            or_job(r#"{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}"#),
            Ok(vec![])
        );
        let job = r#"{"job":"settleSpace.1","spaceId":"spc_01KHRMMJH00000000000000001"}"#;
        assert_eq!(or_job(job), Ok(vec![serde_json::from_str(job).unwrap()]));
        assert!(or_job("{}").is_err());
        let object = json!({"bucket": {"name": "b"}, "object": {"key": "notes.txt"}});
        let other = json!({"Records": [{"eventName": "ObjectCreated:Put", "s3": object}]});
        assert_eq!(or_job(&other.to_string()), Ok(vec![]));
    }
}
