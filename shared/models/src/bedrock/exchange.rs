//! Replaces the request body of the SDK, and limits the size of the response.

use aws_sdk_bedrockruntime::{
    config::{
        ConfigBag, Intercept, RuntimeComponents,
        interceptors::{
            BeforeDeserializationInterceptorContextMut, BeforeTransmitInterceptorContextMut,
        },
    },
    error::BoxError,
};
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body_util::Limited;

use crate::events::LONGEST_ANSWER;

/// Interceptor for one request.
#[derive(Debug)]
pub(super) struct Exchange {
    body: Bytes,
}

impl Exchange {
    pub(super) fn new(body: Vec<u8>) -> Self {
        Self { body: body.into() }
    }
}

impl Intercept for Exchange {
    fn name(&self) -> &'static str {
        "Exchange"
    }

    /// The SDK stores JSON in hash maps. It would write the fields of tools and inputs in a
    /// different order each time, so that the provider would find no prompt in its cache.
    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        request.headers_mut().insert("content-length", self.body.len().to_string());
        *request.body_mut() = SdkBody::from(self.body.clone());
        Ok(())
    }

    /// The SDK itself reads events of any size.
    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response_mut().body_mut();
        let whole = std::mem::replace(body, SdkBody::taken());
        *body = SdkBody::from_body_1_x(Limited::new(whole, LONGEST_ANSWER));
        Ok(())
    }
}
