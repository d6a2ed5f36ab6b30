//! Notices of the storage of files to the triggers queue: a file was uploaded, or its time is over.

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
#[serde(rename_all = "camelCase")]
struct StorageRecord {
    event_name: String,
    s3: StoredIn,
}

/// How the names of the events begin with which S3 ends what is older than the bucket's rule says.
/// Names in events have no `s3:`.
const EXPIRED: &str = "LifecycleExpiration:";

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

/// The jobs of a record: one that the product queued, or one for each uploaded or expired file. An
/// object that is no file of a space is left alone.
pub fn or_job(body: &str) -> Result<Vec<TriggerJob>, String> {
    if let Ok(test) = serde_json::from_str::<TestEvent>(body)
        && test.event == TEST_EVENT
    {
        return Ok(Vec::new());
    }
    let Ok(event) = serde_json::from_str::<StorageEvent>(body) else { return job_of(body) };
    let jobs = event.records.into_iter().filter_map(|record| {
        let FileKey { space: space_id, file: attachment_id } = record.s3.object.key.parse().ok()?;
        Some(if record.event_name.starts_with(EXPIRED) {
            TriggerJob::ExpireFile { space_id, attachment_id }
        } else {
            TriggerJob::SettleFile { space_id, attachment_id }
        })
    });
    Ok(jobs.collect())
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
    fn an_expired_file_is_deleted() {
        let key = "spc_01KHRMMJH00000000000000001/att_01KHRMMJH00000000000000002";
        let expected = json!({
            "job": "expireFile.1",
            "spaceId": "spc_01KHRMMJH00000000000000001",
            "attachmentId": "att_01KHRMMJH00000000000000002",
        });
        let expected: TriggerJob = serde_json::from_value(expected).unwrap();
        // A bucket with versions keeps the old one behind a marker.
        for name in ["LifecycleExpiration:Delete", "LifecycleExpiration:DeleteMarkerCreated"] {
            let record = json!({"eventName": name, "s3": {"object": {"key": key}}});
            let event = json!({"Records": [record]});
            assert_eq!(or_job(&event.to_string()), Ok(vec![expected.clone()]));
        }
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
