//! The Lambda function that works on the jobs of the runs queue.

use std::sync::Arc;

use smartspace_domain::callbacks::CallbackKey;
use smartspace_egress::Egress;
use smartspace_lambda::{
    Error,
    aws::{Aws, models},
    batch,
    failure::Failure,
    secret::Built,
};
use smartspace_ports::resolver::SystemResolver;
use smartspace_run::{Callbacks, RunJobHandler};
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?.with_files();
    let secret = aws.secret();
    let sockets = aws.sockets();
    let queue = aws.runs_queue();
    let bedrock = aws.bedrock();
    let Aws { config, pipeline, .. } = aws;
    let api_url = config.needed_api_url()?;
    // Lambda does not announce that it stops a process, so this channel never changes. The lease of
    // a run that was stopped expires by itself.
    let (_never, stopping) = watch::channel(false);
    let egress =
        Egress::new(Arc::new(SystemResolver), config.tool_hosts.parse()?, Arc::new(secret.clone()));
    let runs = Arc::new(Built::new(secret, move |secret| {
        let models = Arc::new(models(&config, secret, bedrock.clone())?);
        Ok(RunJobHandler::new(
            pipeline.clone(),
            sockets.clone(),
            models,
            egress.clone(),
            config.prices.clone(),
            Callbacks {
                key: CallbackKey::of_secret(&secret.callback_key),
                api_url: api_url.clone(),
            },
            stopping.clone(),
        ))
    }));
    batch::serve(Some(queue), move |job, delivery| {
        let runs = Arc::clone(&runs);
        async move { runs.get().await.map_err(Failure::into_retry)?.handle(&job, &*delivery).await }
    })
    .await
}
