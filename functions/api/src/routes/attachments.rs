//! `/v1/spaces/{id}/attachments`: uploads to a space, and downloads of its files. The bytes
//! themselves go between clients and the storage.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State, http::HeaderMap};
use serde::Serialize;
use smartspace_domain::{
    Time,
    access::SpaceAction,
    attachments::{Attachment, NewAttachment},
    ids::{AttachmentId, SpaceId},
};
use smartspace_web::host_address;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::Credential,
    description::IdempotencyKey,
    input::{Body, Id, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![create, get]
}

/// An upload that may be started.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StartedUpload {
    /// The file, for messages.
    attachment_id: AttachmentId,
    /// Send the bytes here, in one `PUT` with these `headers` and without a credential. The address
    /// is on the origin of the storage. The answer is 412 if the bytes have arrived before.
    upload_url: String,
    /// The headers that the `PUT` must have.
    headers: BTreeMap<String, String>,
    /// When the upload must have started.
    expires_at: Time,
}

/// Start an upload
///
/// The file becomes `ready` once the storage has it with this size, type and hash. A file that no
/// message names is deleted after 24 hours. Files that no message names may have 200 MiB together
/// for each member of a space.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/attachments", operation_id = "createAttachment",
    tag = "attachments",
    params(("id" = SpaceId, Path), IdempotencyKey),
    request_body = NewAttachment,
    responses(
        (status = 201, body = StartedUpload),
        (status = 409, description = "Too many bytes of the caller wait to be sent."),
    )
)]
async fn create(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<StartedUpload>> {
    api.pipeline.authorise(caller, SpaceAction::Attach, space).await?;
    let file = body.read::<NewAttachment>()?.checked()?;
    let key = body.key(&headers, caller, &format!("/v1/spaces/{space}/attachments"))?;
    let started = api.pipeline.start_upload(caller, space, &file, key.as_ref()).await?;
    let upload = started.upload;
    Ok(Created {
        location: format!("/v1/spaces/{space}/attachments/{}", started.id),
        made: StartedUpload {
            attachment_id: started.id,
            upload_url: absolute(upload.url, &headers),
            headers: upload.headers,
            expires_at: started.until,
        },
    })
}

/// A file, and where to download it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ShownAttachment {
    #[serde(flatten)]
    attachment: Attachment,
    /// The file can be downloaded here, without a credential. Browsers save it, and show it only in
    /// an `<img>`. Null unless the file is ready.
    #[schema(required)]
    url: Option<String>,
    /// When a download must have started.
    #[schema(required)]
    url_expires_at: Option<Time>,
}

/// Read a file's state and get an address to download it
///
/// A file that has just been uploaded is checked first.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/attachments/{attachmentId}", operation_id = "getAttachment",
    tag = "attachments",
    params(("id" = SpaceId, Path), ("attachmentId" = AttachmentId, Path)),
    responses((status = 200, body = ShownAttachment))
)]
async fn get(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(space, id): TwoIds<SpaceId, AttachmentId>,
    headers: HeaderMap,
) -> ApiResult<Json<ShownAttachment>> {
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let (attachment, download) = api.pipeline.attachment(space, id).await?;
    let (url, until) = download.map(|it| (absolute(it.url, &headers), it.until)).unzip();
    Ok(Json(ShownAttachment { attachment, url, url_expires_at: until }))
}

/// The address of a file. The local host is its own storage and knows only the path.
fn absolute(url: String, headers: &HeaderMap) -> String {
    if url.starts_with('/') { format!("{}{url}", host_address("http", headers)) } else { url }
}
