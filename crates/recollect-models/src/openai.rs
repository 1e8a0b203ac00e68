//! Endpoints that speak the chat completions of `OpenAI`: Ollama, llama.cpp, vLLM, LM Studio and many more.

use recollect_engine::engine::Cancel;
use recollect_engine::language_model::{Answer, Endpoint, Question};
use recollect_engine::redact::redact;
use recollect_engine::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::http::{self, events};
use crate::not_understood;
use crate::retry::Failure;

/// Asks once.
pub(crate) fn ask(
    endpoint: &Endpoint,
    question: &Question<'_>,
    key: Option<&str>,
    cancel: &Cancel,
) -> Result<Answer, Failure> {
    // Its own API has given the limit a new name, the others know the old one.
    let limit = if endpoint.is_official() { "max_completion_tokens" } else { "max_tokens" };
    let document = json!({
        "model": question.model,
        limit: question.max_tokens,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.prompt},
        ],
    });
    let headers = key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect();
    let body = http::post(endpoint, "/chat/completions", headers, &document, cancel)?;
    read(endpoint, &body)
}

fn read(endpoint: &Endpoint, body: &str) -> Result<Answer, Failure> {
    let mut answer = Answer { text: String::new(), input_tokens: 0, output_tokens: 0, cost: None, cut: false };
    let documents = match serde_json::from_str::<Value>(body) {
        Ok(document) => vec![document],
        Err(_) => events(body),
    };
    let (mut begun, mut ended) = (false, body.lines().any(|line| line.trim() == "data: [DONE]"));
    for document in &documents {
        if !document["error"].is_null() {
            let error = &document["error"];
            let said = error["message"].as_str().or_else(|| error.as_str()).unwrap_or("an error without a reason");
            let said: String = redact(said).0.chars().take(400).collect();
            let error = Error::new(ErrorKind::Io, format!("{} answered: {said}", endpoint.address));
            return Err(if begun { Failure::Lost(error) } else { Failure::Final(error) });
        }
        let choice = &document["choices"][0];
        begun |= document["choices"].is_array();
        for said in [&choice["delta"]["content"], &choice["message"]["content"]] {
            answer.text.push_str(said.as_str().unwrap_or_default());
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            ended = true;
            answer.cut = reason == "length";
        }
        let usage = &document["usage"];
        answer.input_tokens = usage["prompt_tokens"].as_u64().unwrap_or(answer.input_tokens);
        answer.output_tokens = usage["completion_tokens"].as_u64().unwrap_or(answer.output_tokens);
    }
    if !begun {
        return Err(Failure::Lost(not_understood(endpoint, "something else than chat completions")));
    }
    if !ended {
        return Err(Failure::Broken(not_understood(endpoint, "only a part, then broke off")));
    }
    answer.text = without_thoughts(&answer.text).to_owned();
    Ok(answer)
}

/// What comes after a model's thoughts, which some servers leave in the answer.
fn without_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, said)| said.trim_start()),
        None => text,
    }
}
