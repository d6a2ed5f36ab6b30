//! The WebSocket API on Lambda.

use std::sync::Arc;

use smartspace_lambda::{
    Error,
    aws::Aws,
    websocket::{self, SocketEvent},
};
use smartspace_socket::Socket;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let aws = Aws::start()?.with_files();
    let socket = Arc::new(Socket {
        sockets: aws.sockets(),
        call_limits: aws.config.call_limits,
        pipeline: aws.pipeline,
    });
    websocket::serve(move |connection, event| {
        let socket = Arc::clone(&socket);
        async move {
            match event {
                SocketEvent::Connect { ticket } => {
                    socket.connect(&ticket, &connection).await.map(|_| ())
                }
                SocketEvent::Frame { text } => socket.receive(&connection, &text).await,
                SocketEvent::Disconnect => socket.disconnect(&connection).await,
            }
        }
    })
    .await
}
