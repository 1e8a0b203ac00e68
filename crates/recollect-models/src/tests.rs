//! Each interface against a stub on this machine: streams, errors, stalls and nonsense.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use recollect_engine::ErrorKind;
use serde_json::{Value, json};

use super::*;

/// What the stub does with a connection.
enum Reply {
    /// Status, headers, body; then it closes.
    Says(u16, &'static str, String),
    /// Begins a stream and says nothing more; it tells when the other side has gone.
    Stalls(String),
}

/// Answers one connection after the other, each by the next reply.
struct Stub {
    endpoint: Endpoint,
    requests: Receiver<Request>,
    gone: Receiver<()>,
}

struct Request {
    head: String,
    body: Value,
}

impl Stub {
    fn new(engine: ModelEngine, path: &str, replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}{path}", listener.local_addr().expect("its address"));
        let (tell, requests) = mpsc::channel();
        let (tell_gone, gone) = mpsc::channel();
        std::thread::spawn(move || {
            for (reply, connection) in replies.into_iter().zip(listener.incoming().map_while(Result::ok)) {
                serve(connection, reply, &tell, &tell_gone).ok();
            }
        });
        let endpoint = Endpoint { engine, address, scratch: std::env::temp_dir(), patience: 60 };
        Self { endpoint, requests, gone }
    }

    fn ask(&self) -> Result<Answer> {
        ask_until(&self.endpoint, &Cancel::default())
    }
}

fn ask_until(endpoint: &Endpoint, cancel: &Cancel) -> Result<Answer> {
    let question = Question { model: "m", system: "the task", prompt: "the record", max_tokens: 50 };
    models().ask(endpoint, &question, cancel, &mut || Ok(()))
}

fn serve(mut connection: TcpStream, reply: Reply, tell: &Sender<Request>, gone: &Sender<()>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    tell.send(Request { head, body: serde_json::from_slice(&body)? }).ok();
    match reply {
        Reply::Says(status, headers, body) => {
            write!(connection, "HTTP/1.1 {status} x\r\n{headers}connection: close\r\n\r\n{body}")
        }
        Reply::Stalls(beginning) => {
            write!(connection, "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\n\r\n{beginning}")?;
            connection.flush()?;
            // Nothing more comes from the other side until it hangs up.
            reader.read_to_end(&mut Vec::new()).ok();
            gone.send(()).ok();
            Ok(())
        }
    }
}

fn models() -> Models {
    let surroundings = Surroundings {
        anthropic_key: Some("key-a".to_owned()),
        openai_key: Some("key-o".to_owned()),
        search_path: "/usr/bin:/bin".into(),
    };
    Models { patience: Patience { first: Duration::from_millis(1), times: 3 }, ..Models::new(surroundings) }
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"))).collect()
}

fn message(text: &str, stop: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 3}}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]
}

fn says(body: String) -> Reply {
    Reply::Says(200, "content-type: text/event-stream\r\n", body)
}

fn anthropic(replies: Vec<Reply>) -> Stub {
    Stub::new(ModelEngine::Anthropic, "", replies)
}

fn openai(replies: Vec<Reply>) -> Stub {
    Stub::new(ModelEngine::Openai, "/v1", replies)
}

#[test]
fn the_messages_api_is_asked_and_its_stream_read() {
    let stub = anthropic(vec![says(stream(&message("- done [1]", "end_turn")))]);
    let answer = stub.ask().expect("an answer");
    assert_eq!(
        (answer.text.as_str(), answer.input_tokens, answer.output_tokens, answer.cut),
        ("- done [1]", 10, 5, false)
    );
    let request = stub.requests.recv().expect("a request");
    assert!(request.head.starts_with("POST /v1/messages "), "{}", request.head);
    assert!(request.head.to_ascii_lowercase().contains("x-api-key: key-a"), "{}", request.head);
    assert_eq!(request.body["system"], "the task");
    assert_eq!(request.body["messages"][0]["content"], "the record");
    assert_eq!((&request.body["max_tokens"], &request.body["stream"]), (&json!(50), &json!(true)));
}

#[test]
fn chat_completions_are_asked_and_their_stream_read() {
    let chunk = |content: &str| json!({"choices": [{"delta": {"content": content}, "finish_reason": null}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}});
    let events = [chunk("<think>so"), chunk("</think>\n- do"), chunk("ne [1]"), end, usage];
    let body = format!(": a comment\n\n{}data: [DONE]\n\n", stream(&events));
    let whole = json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "length"}], "usage": {"prompt_tokens": 1}});
    let stub = openai(vec![says(body), Reply::Says(200, "", whole.to_string())]);
    let answer = stub.ask().expect("an answer");
    assert_eq!(
        (answer.text.as_str(), answer.input_tokens, answer.output_tokens),
        ("- done [1]", 9, 4),
        "without thoughts"
    );
    let request = stub.requests.recv().expect("a request");
    assert!(request.head.starts_with("POST /v1/chat/completions "), "{}", request.head);
    assert!(!request.head.contains("key-o"), "the key of the environment is for another host: {}", request.head);
    assert_eq!(request.body["messages"][1]["content"], "the record");
    let whole = stub.ask().expect("servers that do not stream are understood");
    assert!(whole.text == "whole" && whole.cut);
}

#[test]
fn who_is_only_busy_is_asked_again() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    let replies = vec![
        Reply::Says(429, "retry-after: 0\r\n", json!({"error": {"message": "slowly"}}).to_string()),
        Reply::Says(529, "", "not even JSON".to_owned()),
        says(stream(&[overloaded])),
        says(stream(&message("at last", "end_turn"))),
    ];
    let stub = anthropic(replies);
    assert_eq!(stub.ask().expect("an answer").text, "at last");
    assert_eq!(stub.requests.try_iter().count(), 4);
}

#[test]
fn it_is_given_up_after_some_attempts_and_the_last_reason_told() {
    let reply = |_| Reply::Says(503, "retry-after: 0\r\n", json!({"error": {"message": "no capacity"}}).to_string());
    let stub = openai((0..9).map(reply).collect());
    let error = stub.ask().expect_err("busy for ever");
    assert!(error.message.contains("no capacity") && error.message.contains("4 attempts"), "{}", error.message);
    assert_eq!(stub.requests.try_iter().count(), 4);
}

#[test]
fn who_asks_for_a_long_pause_is_not_waited_for() {
    let stub = anthropic(vec![Reply::Says(429, "retry-after: 3600\r\n", "{}".to_owned())]);
    let error = stub.ask().expect_err("an hour");
    assert!(error.hint.expect("a hint").contains("3600 seconds"));
    assert_eq!(stub.requests.try_iter().count(), 1);
}

#[test]
fn a_stream_that_breaks_off_is_no_answer() {
    for (cut, whole) in [
        (stream(&message("half", "end_turn")[..4]), stream(&message("whole", "end_turn"))),
        (String::from("data: {\"type\": \"message_start\", \"mess"), stream(&message("whole", "end_turn"))),
    ] {
        let stub = anthropic(vec![says(cut), says(whole)]);
        match stub.ask() {
            Ok(answer) => assert_eq!(answer.text, "whole", "asked again"),
            Err(error) => assert!(error.message.contains("something else"), "{}", error.message),
        }
    }
    let chunk = stream(&[json!({"choices": [{"delta": {"content": "half"}}]})]);
    let stub = openai((0..4).map(|_| says(chunk.clone())).collect());
    assert!(stub.ask().expect_err("half").message.contains("broke off"));
}

#[test]
fn what_broke_off_is_told_to_whoever_pays_and_not_repeated_against_their_will() {
    let part = || says(stream(&message("half", "end_turn")[..4]));
    let busy = || Reply::Says(529, "retry-after: 0\r\n", "{}".to_owned());
    let question = Question { model: "m", system: "s", prompt: "p", max_tokens: 50 };
    let stub = anthropic(vec![busy(), part(), part(), says(stream(&message("whole", "end_turn")))]);
    let mut lost = 0;
    let mut tell = || {
        lost += 1;
        Ok(())
    };
    let answer = models().ask(&stub.endpoint, &question, &Cancel::default(), &mut tell).expect("an answer");
    assert_eq!((answer.text.as_str(), lost), ("whole", 2), "who is busy has not begun, and is not paid");

    let stub = anthropic(vec![part(), says(stream(&message("whole", "end_turn")))]);
    let mut no_more = || Err(Error::conflict("the cap"));
    let error = models().ask(&stub.endpoint, &question, &Cancel::default(), &mut no_more).expect_err("the cap");
    assert_eq!((error.message.as_str(), stub.requests.try_iter().count()), ("the cap", 1));

    let stub = anthropic(vec![says(stream(&message("no", "refusal")))]);
    let mut lost = false;
    let mut tell = || {
        lost = true;
        Ok(())
    };
    models().ask(&stub.endpoint, &question, &Cancel::default(), &mut tell).expect_err("refused");
    assert!(lost, "a refusal is paid for");
}

#[test]
fn what_will_not_get_better_is_told_at_once() {
    let key = ["sk-", "proj-", "a1B2c3D4e5F6g7H8i9J0k1L2"].concat();
    for (reply, word, hint) in [
        (
            Reply::Says(401, "", json!({"error": {"message": format!("wrong key {key}")}}).to_string()),
            "redacted",
            "key set",
        ),
        (Reply::Says(404, "", json!({"error": "model not found"}).to_string()), "model not found", "name of the model"),
        (Reply::Says(400, "", json!({"error": {"message": "bad request"}}).to_string()), "bad request", ""),
        (Reply::Says(200, "", "<html>a gateway</html>".to_owned()), "something else", "address"),
        (Reply::Says(200, "", json!({"answer": 42}).to_string()), "something else", "address"),
        (Reply::Says(302, "location: http://example.com/\r\n", String::new()), "302", ""),
    ] {
        let stub = anthropic(vec![reply]);
        let error = stub.ask().expect_err(word);
        assert!(error.message.contains(word) && !error.message.contains(&key), "{}", error.message);
        assert!(error.hint.unwrap_or_default().contains(hint), "{word}");
        assert_eq!(stub.requests.try_iter().count(), 1, "{word}: asked once");
    }
}

#[test]
fn a_refusal_is_an_error_and_a_cut_answer_says_so() {
    let stub = anthropic(vec![says(stream(&message("no", "refusal"))), says(stream(&message("lon", "max_tokens")))]);
    assert!(stub.ask().expect_err("refused").message.contains("will not write"));
    assert!(stub.ask().expect("an answer").cut);
}

#[test]
fn cancelled_in_the_middle_of_a_stalled_stream_the_connection_is_closed() {
    let stub = anthropic(vec![Reply::Stalls(stream(&message("half", "end_turn")[..4]))]);
    let (endpoint, cancel) = (stub.endpoint.clone(), Cancel::default());
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask_until(&endpoint, &cancel));
        stub.requests.recv().expect("it is asked");
        cancel.cancel();
        let error = asking.join().expect("no panic").expect_err("cancelled");
        assert_eq!(error.kind, ErrorKind::Cancelled);
    });
    stub.gone.recv().expect("the other side sees that nobody listens any more");
    assert_eq!(stub.requests.try_iter().count(), 0, "nothing else is asked");
}

#[test]
fn cancelled_while_it_waits_to_ask_again_nothing_more_is_asked() {
    let stub = anthropic(vec![
        Reply::Says(429, "retry-after: 100\r\n", "{}".to_owned()),
        says(stream(&message("too late", "end_turn"))),
    ]);
    let (endpoint, cancel) = (stub.endpoint.clone(), Cancel::default());
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask_until(&endpoint, &cancel));
        stub.requests.recv().expect("it is asked");
        cancel.cancel();
        assert_eq!(asking.join().expect("no panic").expect_err("cancelled").kind, ErrorKind::Cancelled);
    });
    assert_eq!(stub.requests.try_iter().count(), 0);
}

#[test]
fn a_server_that_is_not_there_is_named_with_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("its address"));
    drop(listener);
    let endpoint = Endpoint { engine: ModelEngine::Openai, address, scratch: std::env::temp_dir(), patience: 60 };
    let question = Question { model: "m", system: "s", prompt: "p", max_tokens: 50 };
    let error = models().ask(&endpoint, &question, &Cancel::default(), &mut || Ok(())).expect_err("nobody listens");
    assert!(error.message.contains("cannot be reached"), "{}", error.message);
    assert!(error.hint.expect("a hint").contains("start the server"));
}

/// A program in place of the client.
#[cfg(unix)]
fn client(script: &str) -> (tempfile::TempDir, Endpoint) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("client");
    fs_err::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("permissions");
    let endpoint = Endpoint {
        engine: ModelEngine::Claude,
        address: program.display().to_string(),
        scratch: folder.path().join("scratch"),
        patience: 60,
    };
    (folder, endpoint)
}

#[cfg(unix)]
#[test]
fn the_client_is_marked_as_ours_and_runs_in_a_group_and_a_folder_of_its_own() {
    let script = r#"read prompt
printf '{"is_error": false, "result": "%s %s %s %s", "usage": {"input_tokens": 3, "output_tokens": 2}, "total_cost_usd": 0.5}' \
    "$prompt" "$RECOLLECT_SPAWNED" "$(basename "$PWD")" "$(ps -o pgid= -p $$ | tr -d ' ')=$$""#;
    let (_folder, endpoint) = client(script);
    let question = Question { model: "m", system: "s", prompt: "hello\n", max_tokens: 50 };
    let answer = models().ask(&endpoint, &question, &Cancel::default(), &mut || Ok(())).expect("an answer");
    let words: Vec<&str> = answer.text.split(' ').collect();
    assert_eq!(words[..3], ["hello", "1", "scratch"], "{}", answer.text);
    let (group, process) = words[3].split_once('=').expect("two numbers");
    assert_eq!(group, process, "it leads its group");
    assert_eq!((answer.input_tokens, answer.cost), (3, Some(0.5)));
}

#[cfg(unix)]
#[test]
fn a_cancelled_client_is_killed_with_all_that_it_started() {
    let (folder, endpoint) = client("sleep 1000 & echo $! > ../child; mv ../child ../started; wait");
    let cancel = Cancel::default();
    let question = Question { model: "m", system: "s", prompt: "p", max_tokens: 50 };
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| models().ask(&endpoint, &question, &cancel, &mut || Ok(())));
        let started = folder.path().join("started");
        while !started.exists() {
            assert!(!asking.is_finished(), "it waits for its client");
            std::thread::yield_now();
        }
        cancel.cancel();
        assert_eq!(asking.join().expect("no panic").expect_err("cancelled").kind, ErrorKind::Cancelled);
        let child: i32 = fs_err::read_to_string(&started).expect("read").trim().parse().expect("a number");
        // Whoever inherits it may take a moment to bury it; it no longer runs.
        let state = || fs_err::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        while !(state().is_empty() || state().contains(") Z ")) {
            std::thread::yield_now();
        }
    });
}

#[cfg(unix)]
#[test]
fn a_client_that_fails_is_told_in_its_own_words() {
    for (script, word, hint) in [
        (r#"echo '{"is_error": true, "result": "Invalid API key · Please run /login"}'"#, "Invalid API key", "log in"),
        ("echo 'error: unknown option' >&2; exit 1", "unknown option", "update"),
        ("echo garbage", "garbage", "update"),
        ("exit 0", "nothing", "update"),
    ] {
        let (_folder, endpoint) = client(script);
        let question = Question { model: "m", system: "s", prompt: "p", max_tokens: 50 };
        let error = models().ask(&endpoint, &question, &Cancel::default(), &mut || Ok(())).expect_err(word);
        assert!(error.message.contains(word), "{}", error.message);
        assert!(error.hint.unwrap_or_default().contains(hint), "{word}");
    }
    let missing = Endpoint { address: "no-such-client".to_owned(), ..client("").1 };
    assert!(models().readiness(&missing).problem.expect("a problem").contains("not installed"));
}

#[cfg(unix)]
#[test]
fn a_client_is_asked_again_once_and_only_when_the_api_was_busy() {
    for (said, attempts) in [
        ("API Error: 529 Overloaded", 2),
        ("API Error: Repeated 529 Overloaded errors", 2),
        ("API Error (429 slowly)", 2),
        ("API Error: 400 prompt of 5000 tokens, 500 too many", 1),
        ("there are 502 reasons", 1),
    ] {
        let script = format!(r#"echo x >> ../asked; echo '{{"is_error": true, "result": "{said}"}}'"#);
        let (folder, endpoint) = client(&script);
        let question = Question { model: "m", system: "s", prompt: "p", max_tokens: 50 };
        models().ask(&endpoint, &question, &Cancel::default(), &mut || Ok(())).expect_err(said);
        let asked = fs_err::read_to_string(folder.path().join("asked")).expect("read");
        assert_eq!(asked.lines().count(), attempts, "{said}");
    }
    let said = "API Error: Claude's response exceeded the 5026 output token maximum.";
    let script = format!("cat <<'END'\n{}\nEND", json!({"is_error": true, "result": said}));
    let (_folder, endpoint) = client(&script);
    let question = Question { model: "m", system: "s", prompt: "p", max_tokens: 50 };
    let answer = models().ask(&endpoint, &question, &Cancel::default(), &mut || Ok(())).expect("an answer");
    assert!(answer.cut && answer.text.is_empty(), "a cut answer, whatever number stands in it");
}

#[test]
fn the_environments_key_of_openai_is_for_its_own_api() {
    let keys = keys::Keys::new(None, Some("key-o".to_owned()));
    let at = |address: &str| Endpoint {
        engine: ModelEngine::Openai,
        address: address.to_owned(),
        scratch: std::env::temp_dir(),
        patience: 60,
    };
    assert_eq!(keys.key(&at("https://api.openai.com/v1")).ok().flatten().as_deref(), Some("key-o"));
    for other in ["http://api.openai.com/v1", "https://api.openai.com.example.com", "https://x.de/api.openai.com"] {
        // A keyring may not be there: that is another matter.
        assert_ne!(keys.key(&at(other)).ok().flatten().as_deref(), Some("key-o"), "{other}");
    }
}

#[test]
fn a_key_of_the_environment_is_enough_and_is_never_shown() {
    let endpoint = Endpoint {
        engine: ModelEngine::Anthropic,
        address: "https://api.anthropic.com".to_owned(),
        scratch: std::env::temp_dir(),
        patience: 60,
    };
    let readiness = models().readiness(&endpoint);
    assert!(readiness.has_key && readiness.problem.is_none());
    assert!(!format!("{readiness:?}").contains("key-a"));
}
