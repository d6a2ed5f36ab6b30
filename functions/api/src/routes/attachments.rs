//! `/v1/spaces/{id}/attachments`: uploads to a space, and lists and downloads of its files. The
//! bytes themselves go between clients and the storage.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::Serialize;
use smartspace_domain::{
    Time,
    access::SpaceAction,
    attachments::{Attachment, ListedAttachment, NewAttachment},
    ids::{AttachmentId, SpaceId},
};
use smartspace_store::table::pages::Page;
use utoipa::ToSchema;

use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::Credential,
    compression::Uncompressed,
    description::IdempotencyKey,
    input::{Body, Id, Query, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![create, list, get, delete]
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
/// message names is deleted after 24 hours. From now on the file counts among those of the space
/// and of the caller, which have limits.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/attachments", operation_id = "createAttachment",
    tag = "attachments",
    params(("id" = SpaceId, Path), IdempotencyKey),
    request_body = NewAttachment,
    responses(
        (status = 201, body = StartedUpload),
        (status = 404, description = "Also if the file of the same key was deleted."),
        (
            status = 507,
            description = "The space, the caller or the deployment has no room for it, or the \
                           caller has announced too many files that are not uploaded yet.",
        ),
    )
)]
async fn create(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<StartedUpload>> {
    let membership = api.pipeline.membership(caller, space).await?;
    caller.may_in_space(SpaceAction::Attach, membership)?;
    let file = body.read::<NewAttachment>()?.checked()?;
    let key = body.key(&headers, caller, &format!("/v1/spaces/{space}/attachments"))?;
    let started = api.pipeline.start_upload(caller, membership, space, &file, key.as_ref()).await?;
    let upload = started.upload;
    Ok(Created {
        location: format!("/v1/spaces/{space}/attachments/{}", started.id),
        made: StartedUpload {
            attachment_id: started.id,
            upload_url: absolute(upload.url, &api, &headers),
            headers: upload.headers,
            expires_at: started.until,
        },
    })
}

/// List the files of a space
///
/// Newest first. Owners and the operator see all files. Others see those that messages name, and
/// those that they have uploaded. A page may be shorter than `limit` although there is another one.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/attachments", operation_id = "listAttachments",
    tag = "attachments",
    params(("id" = SpaceId, Path), PageQuery),
    responses((status = 200, body = Page<ListedAttachment>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<ListedAttachment>>> {
    Ok(Json(api.pipeline.list_files(caller, space, &query.into()).await?))
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
) -> ApiResult<(Extension<Uncompressed>, Json<ShownAttachment>)> {
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let (attachment, download) = api.pipeline.attachment(space, id).await?;
    let (url, until) = download.map(|it| (absolute(it.url, &api, &headers), it.until)).unzip();
    // The address is a key to the file, whose name somebody else has chosen.
    Ok((Extension(Uncompressed), Json(ShownAttachment { attachment, url, url_expires_at: until })))
}

/// Delete a file
///
/// For the entity that uploaded it, the owners of the space and the operator. The messages that
/// name the file stay and show it as deleted.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/attachments/{attachmentId}",
    operation_id = "deleteAttachment", tag = "attachments",
    params(("id" = SpaceId, Path), ("attachmentId" = AttachmentId, Path)),
    responses((status = 204))
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(space, id): TwoIds<SpaceId, AttachmentId>,
) -> ApiResult<StatusCode> {
    api.pipeline.delete_file(caller, space, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The address of a file. The local host is its own storage and knows only the path.
fn absolute(url: String, api: &Api, headers: &HeaderMap) -> String {
    if url.starts_with('/') { format!("{}{url}", api.public_address.http(headers)) } else { url }
}
