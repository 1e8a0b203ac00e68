//! A stub of the Messages API on a port of this machine: answers every prompt, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

const ANSWER: &str = "The stub has read it.";

/// What the stub does with a request for messages.
pub(crate) enum Behaviour {
    /// Answers with this text.
    Answers(String),
    /// Begins to answer and says nothing more.
    Stalls,
    /// Says no: a status, and how many seconds to wait.
    Refuses(&'static str, u32),
}

/// Decides by the number of the request, from 0, and its body.
type Script = Arc<dyn Fn(usize, &Value) -> Behaviour + Send + Sync>;

/// The stub, listening until the test ends.
pub(crate) struct MessagesApi {
    address: String,
    requests: Arc<Mutex<Vec<Value>>>,
    heard: Receiver<()>,
    gone: Receiver<()>,
}

impl MessagesApi {
    /// One that answers every prompt with the same words.
    pub(crate) fn start() -> Self {
        Self::scripted(|_, _| Behaviour::Answers(ANSWER.to_owned()))
    }

    pub(crate) fn scripted(script: impl Fn(usize, &Value) -> Behaviour + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (tell_heard, heard) = mpsc::channel();
        let (tell_gone, gone) = mpsc::channel();
        let stub =
            Serving { kept: Arc::clone(&requests), script: Arc::new(script), heard: tell_heard, gone: tell_gone };
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let stub = stub.clone();
                // A client that hangs up early is no fault of the stub.
                std::thread::spawn(move || stub.answer(&connection).ok());
            }
        });
        Self { address, requests, heard, gone }
    }

    /// Waits until so many more requests for messages have come.
    pub(crate) fn wait_for(&self, requests: usize) {
        for _ in 0..requests {
            self.heard.recv().expect("the stub listens");
        }
    }

    /// Waits until somebody has hung up whom the stub kept waiting.
    pub(crate) fn wait_until_gone(&self) {
        self.gone.recv().expect("the stub listens");
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

/// What one connection is served with.
#[derive(Clone)]
struct Serving {
    kept: Arc<Mutex<Vec<Value>>>,
    script: Script,
    heard: Sender<()>,
    gone: Sender<()>,
}

impl Serving {
    fn answer(&self, connection: &TcpStream) -> std::io::Result<()> {
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
                let number = {
                    let mut kept = self.kept.lock().expect("requests");
                    kept.push(request.clone());
                    kept.len() - 1
                };
                self.heard.send(()).ok();
                let text = match (self.script)(number, &request) {
                    Behaviour::Answers(text) => text,
                    Behaviour::Stalls => return self.stall(connection, reader),
                    Behaviour::Refuses(status, seconds) => {
                        let status = format!("{status}\r\nretry-after: {seconds}");
                        return respond(connection, &status, "application/json", "{}");
                    }
                };
                let reply = reply(&request, &text);
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
                let error =
                    json!({"type": "error", "error": {"type": "not_found_error", "message": "not in the stub"}});
                respond(connection, "404 Not Found", "application/json", &error.to_string())
            }
        }
    }

    /// Begins a stream, and waits until nobody listens any more.
    fn stall(&self, mut connection: &TcpStream, mut reader: BufReader<&TcpStream>) -> std::io::Result<()> {
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: wait\n\n")?;
        reader.read_to_end(&mut Vec::new()).ok();
        self.gone.send(()).ok();
        Ok(())
    }
}

fn respond(mut connection: &TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    connection.write_all(format!("{head}{body}").as_bytes())
}

fn reply(request: &Value, answer: &str) -> Value {
    // Asked for structured output, the client parses what it gets.
    let is_structured = request["output_config"].is_object() || request["output_format"].is_object();
    let text = if is_structured { r#"{"title": "Stub"}"# } else { answer };
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
