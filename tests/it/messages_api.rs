//! A stub of the Messages API on a port of this machine: answers every prompt, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

const ANSWER: &str = "The stub has read it.";

/// The stub, listening until the test ends.
pub(crate) struct MessagesApi {
    address: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl MessagesApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                // A client that hangs up early is no fault of the stub.
                std::thread::spawn(move || answer(&connection, &kept).ok());
            }
        });
        Self { address, requests }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Bodies of the requests for messages so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("requests").clone()
    }
}

fn answer(connection: &TcpStream, kept: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    match path.as_str() {
        "/v1/messages" => {
            let reply = reply(&request);
            kept.lock().expect("requests").push(request.clone());
            if request["stream"] == true {
                respond(connection, "200 OK", "text/event-stream", &events(&reply))
            } else {
                respond(connection, "200 OK", "application/json", &reply.to_string())
            }
        }
        "/v1/messages/count_tokens" => {
            respond(connection, "200 OK", "application/json", &json!({"input_tokens": length / 4}).to_string())
        }
        "/" => respond(connection, "200 OK", "text/plain", ""),
        _ => {
            let error = json!({"type": "error", "error": {"type": "not_found_error", "message": "not in the stub"}});
            respond(connection, "404 Not Found", "application/json", &error.to_string())
        }
    }
}

fn respond(mut connection: &TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    connection.write_all(format!("{head}{body}").as_bytes())
}

fn reply(request: &Value) -> Value {
    // Asked for structured output, the client parses what it gets.
    let is_structured = request["output_config"].is_object() || request["output_format"].is_object();
    let text = if is_structured { r#"{"title": "Stub"}"# } else { ANSWER };
    json!({
        "id": "msg_stub0000000000000001", "type": "message", "role": "assistant", "model": request["model"],
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    })
}

/// The reply as the events of a stream.
fn events(reply: &Value) -> String {
    let mut start = reply.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let text = &reply["content"][0]["text"];
    let events = [
        json!({"type": "message_start", "message": start}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
               "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
        .collect()
}
