//! The WebSocket API on Lambda.

use smartspace_lambda::{
    Error,
    edges::Aws,
    log,
    websocket::{self, SocketEvent},
};
use smartspace_socket::Socket;

#[tokio::main]
async fn main() -> Result<(), Error> {
    log::start();
    let aws = Aws::new().await?;
    let socket = Socket { sockets: aws.sockets(), pipeline: aws.pipeline };
    let socket = &socket;
    websocket::serve(async move |connection, event| match event {
        SocketEvent::Connect { ticket } => socket.connect(&ticket, &connection).await.map(|_| ()),
        SocketEvent::Frame { text } => socket.receive(&connection, &text).await,
        SocketEvent::Disconnect => socket.disconnect(&connection).await,
    })
    .await
}
