//! What goes over the wire instead of what the SDK would send and take.

use aws_sdk_bedrockruntime::{
    config::{
        ConfigBag, Intercept, RuntimeComponents,
        interceptors::{BeforeDeserializationInterceptorContextMut, BeforeTransmitInterceptorContextMut},
    },
    error::BoxError,
};
use aws_smithy_types::body::SdkBody;
use http_body_util::Limited;

use crate::events::LONGEST_ANSWER;

/// One question, as it is sent.
#[derive(Debug)]
pub(super) struct Exchange {
    question: Vec<u8>,
}

impl Exchange {
    /// With this body.
    pub(super) fn new(question: Vec<u8>) -> Self {
        Self { question }
    }
}

impl Intercept for Exchange {
    fn name(&self) -> &'static str {
        "Exchange"
    }

    /// The SDK keeps JSON in hash maps: tools and inputs would be written in another order each time, and no prompt would be found in a cache.
    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        request.headers_mut().insert("content-length", self.question.len().to_string());
        *request.body_mut() = SdkBody::from(self.question.clone());
        Ok(())
    }

    /// The SDK reads events of any size.
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
