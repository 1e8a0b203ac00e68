//! Anthropic's Messages API, as a stream: a long answer shows that it comes, and a stalled one that it does not.

use recollect_engine::engine::Cancel;
use recollect_engine::language_model::{Answer, Endpoint, Question};
use recollect_engine::redact::redact;
use recollect_engine::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::http::{self, events};
use crate::not_understood;
use crate::retry::Failure;

/// Asks once.
pub(crate) fn ask(endpoint: &Endpoint, question: &Question<'_>, key: &str, cancel: &Cancel) -> Result<Answer, Failure> {
    let document = json!({
        "model": question.model,
        "max_tokens": question.max_tokens,
        "stream": true,
        "system": question.system,
        "messages": [{"role": "user", "content": question.prompt}],
    });
    let headers = vec![("x-api-key", key.to_owned()), ("anthropic-version", "2023-06-01".to_owned())];
    let body = http::post(endpoint, "/v1/messages", headers, &document, cancel)?;
    read(endpoint, &body)
}

fn read(endpoint: &Endpoint, body: &str) -> Result<Answer, Failure> {
    if let Ok(message) = serde_json::from_str::<Value>(body) {
        return whole(endpoint, &message);
    }
    let mut answer = Answer { text: String::new(), input_tokens: 0, output_tokens: 0, cost: None, cut: false };
    let (mut begun, mut ended, mut stop) = (false, false, String::new());
    for event in events(body) {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                begun = true;
                answer.input_tokens = read_tokens(&event["message"]["usage"]);
            }
            "content_block_delta" => answer.text.push_str(event["delta"]["text"].as_str().unwrap_or_default()),
            "message_delta" => {
                stop = event["delta"]["stop_reason"].as_str().unwrap_or_default().to_owned();
                answer.output_tokens = event["usage"]["output_tokens"].as_u64().unwrap_or(answer.output_tokens);
                answer.input_tokens = answer.input_tokens.max(read_tokens(&event["usage"]));
            }
            "message_stop" => ended = true,
            "error" if begun => return Err(Failure::Broken(said(endpoint, &event["error"]))),
            "error" => return Err(error(endpoint, &event["error"])),
            _ => {}
        }
    }
    match (begun, ended) {
        (false, _) => Err(Failure::Lost(not_understood(endpoint, "something else than the Messages API does"))),
        (true, false) => Err(Failure::Broken(not_understood(endpoint, "only a part, then broke off"))),
        (true, true) => stopped(endpoint, answer, &stop),
    }
}

/// An answer that is no stream.
fn whole(endpoint: &Endpoint, message: &Value) -> Result<Answer, Failure> {
    if message["type"] == "error" {
        return Err(error(endpoint, &message["error"]));
    }
    let Some(blocks) = message["content"].as_array() else {
        return Err(Failure::Lost(not_understood(endpoint, "something else than the Messages API does")));
    };
    let answer = Answer {
        text: blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        input_tokens: read_tokens(&message["usage"]),
        output_tokens: message["usage"]["output_tokens"].as_u64().unwrap_or(0),
        cost: None,
        cut: false,
    };
    stopped(endpoint, answer, message["stop_reason"].as_str().unwrap_or_default())
}

fn stopped(endpoint: &Endpoint, answer: Answer, reason: &str) -> Result<Answer, Failure> {
    match reason {
        "refusal" => Err(Failure::Lost(
            not_understood(endpoint, "that it will not write about this")
                .hint("choose another model, or the built-in engine"),
        )),
        "max_tokens" | "model_context_window_exceeded" => Ok(Answer { cut: true, ..answer }),
        _ => Ok(answer),
    }
}

fn read_tokens(usage: &Value) -> u64 {
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .iter()
        .filter_map(|name| usage[name].as_u64())
        .sum()
}

fn error(endpoint: &Endpoint, error: &Value) -> Failure {
    let failure = said(endpoint, error);
    match error["type"].as_str().unwrap_or_default() {
        "overloaded_error" | "rate_limit_error" | "api_error" | "timeout_error" => Failure::Busy(failure, None),
        _ => Failure::Final(failure),
    }
}

/// An error in the words of the other side.
fn said(endpoint: &Endpoint, error: &Value) -> Error {
    let kind = error["type"].as_str().unwrap_or("error");
    let said: String = error["message"].as_str().unwrap_or_default().chars().take(400).collect();
    Error::new(ErrorKind::Io, format!("{} answered {kind}: {}", endpoint.address, redact(&said).0))
}
