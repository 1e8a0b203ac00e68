//! Search as scripts and people see it, and with several programs at once.

use insta::assert_snapshot;
use recollect_engine::testing::Transcript;
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, refused};

fn login() -> Transcript {
    Transcript::new("login")
        .branch("fix/login")
        .user("Why does the login fail since Monday?")
        .tool("Read", json!({"file_path": "/home/dev/demo/src/token_store.rs"}), "fn refreshToken() {}\x1b[31m")
        .assistant("The session cookie expires: ##keepit0.80##refresh tokens inside the lock.")
        .title("Login fails")
}

fn shop() -> Transcript {
    Transcript::new("shop").cwd("/home/dev/shop").days_later(1).user("Add a basket to the shop.").assistant("Added.")
}

fn hits(answer: &Value) -> &[Value] {
    answer["hits"].as_array().expect("hits")
}

#[test]
fn the_document_of_search_is_the_contract() {
    let environment = TestEnvironment::with(&[login(), shop()]);
    let answer = environment.json(["search", "cookie expires", "--limit", "50"]);
    assert!(answer["elapsed_ms"].as_f64().is_some_and(|elapsed| elapsed > 0.0), "{answer}");
    let hit = &hits(&answer)[0];
    for field in ["session_id", "message_uuid", "index", "score", "snippet", "timestamp", "kind", "highlights", "role"]
    {
        assert!(!hit[field].is_null(), "`{field}` is in the contract but not in {hit}");
    }
    let snippet: Vec<char> = hit["snippet"].as_str().expect("text").chars().collect();
    let marked = hit["highlights"][0].as_array().expect("a place");
    let place = |at: usize| usize::try_from(marked[at].as_u64().expect("a number")).expect("small");
    assert_eq!(snippet[place(0)..place(1)].iter().collect::<String>(), "cookie", "characters, not bytes");
    let shown = environment.json(["show", "latest"]);
    assert!(shown["messages"].is_array());
    let project = answer["hits"][0]["project_id"].as_str().expect("a project").to_owned();
    let within = environment.json(["search", "login", "--project", &project, "--role", "user"]);
    assert_eq!(hits(&within).len(), 1, "a project's id begins with a dash: {within}");
}

#[test]
fn people_read_where_it_stands_and_what_it_says() {
    let environment = TestEnvironment::with(&[login(), shop()]);
    let run = environment.recollect(["search", "basket"]).done();
    let shown = run.stdout();
    let (shown, took) = shown.rsplit_once(" (").expect("how long it took");
    assert!(took.ends_with(" ms)\n"), "{took}");
    assert_snapshot!(shown, @r"
    d9c72703 #0 Add a basket to the shop.  shop · user · 2026-01-21 10:00
      Add a basket to the shop.

    d9c72703 Add a basket to the shop.  shop · session · 2026-01-21 10:01
      Add a basket to the shop.

    2 passages
    ");
    assert!(!run.bytes().contains(&0x1b), "colours are for terminals");
    let misspelt = environment.recollect(["search", "baskte"]).done();
    assert!(misspelt.stderr().contains("nothing has `baskte`; looked for basket"), "{misspelt}");
    let none = environment.recollect(["search", "zebra"]).done();
    assert!(none.stdout().starts_with("nothing found"), "{none}");
}

#[test]
fn what_is_wrong_is_said() {
    let environment = TestEnvironment::with(&[shop()]);
    refused(&environment, &["search", "basket", "--since", "soon"], 2, &["`soon` is no date", "2026-01-20"]);
    refused(&environment, &["search", "basket", "--limit", "0"], 2, &["between 1 and 1000"]);
    refused(&environment, &["search", "basket", "--semantic", "on"], 1, &["no model", "--semantic auto"]);
    refused(&environment, &["search"], 2, &["QUERY"]);
    for mode in ["auto", "off"] {
        assert_eq!(hits(&environment.json(["search", "basket kind:text", "--semantic", mode])).len(), 1);
    }
}

#[test]
fn dates_filters_and_removals_are_kept_to() {
    let environment = TestEnvironment::with(&[login(), shop()]);
    let count = |arguments: &[&str]| {
        let run = environment.run(environment.binary().args(["--json", "search"]).args(arguments)).done();
        hits(&run.json()).len()
    };
    assert_eq!(count(&["kind:text", "--since", "2026-01-21"]), 2, "without words all is listed");
    assert_eq!(count(&["basket kind:text", "--until", "2026-01-20"]), 0);
    assert_eq!(count(&["refresh", "--file", "token_store.rs"]), 1);
    assert_eq!(count(&["refresh", "--keepit-min", "0.8"]), 1);
    assert_eq!(count(&["basket kind:text", "--topic", "shop"]), 1);
    assert_eq!(count(&["basket kind:text", "--topic", "login"]), 0);
    assert_eq!(count(&["kind:text", "--branch", "fix/*", "--role", "user"]), 1);
    environment.recollect(["remove", shop().session_id()]).done();
    assert_eq!(count(&["basket"]), 0, "what was removed is not found");
    environment.recollect(["ingest", "--all"]).done();
    assert_eq!(count(&["basket kind:text"]), 1, "and again when it is back");
}

#[test]
fn programs_that_take_in_and_search_at_once_lose_nothing() {
    let environment = TestEnvironment::new();
    let names: Vec<String> = (0..6).map(|number| format!("subject{number}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let path = environment.write(&Transcript::new(name).work(name, 20));
            let quiet = std::process::Stdio::null;
            let ingest = environment.binary().arg("ingest").arg(path).stdout(quiet()).spawn().expect("a program");
            let search = environment.binary().args(["search", name]).stdout(quiet()).spawn().expect("a program");
            [ingest, search]
        })
        .collect();
    for mut child in children.into_iter().flatten() {
        assert!(child.wait().expect("a program that ends").success(), "none fails because another is at work");
    }
    for name in &names {
        let answer = environment.json(["search", name, "--limit", "1000"]);
        assert_eq!(answer["pending"], 0, "{name}");
        let decisions = environment.json(["search", &format!("\"Decision 19 on {name}\"")]);
        assert!(!hits(&decisions).is_empty(), "the last words of {name} are not found");
        let all =
            environment.json(["search", &format!("\"Please look at\" {name} kind:text role:user"), "--limit", "1000"]);
        let of_it =
            hits(&all).iter().filter(|hit| hit["snippet"].as_str().is_some_and(|text| text.contains(name.as_str())));
        assert_eq!(of_it.count(), 20, "{name}: each message once");
    }
}

#[test]
fn an_index_whose_writer_was_killed_is_finished_by_the_next_program() {
    let environment = TestEnvironment::new();
    let path = environment.write(&Transcript::new("long").work("killed", 400));
    let mut child = environment
        .binary()
        .arg("ingest")
        .arg(&path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("a program that starts");
    let folder = environment.memory().join("cache/search");
    // The moment at which it begins to write the index.
    while !folder.join("lock").exists() && child.try_wait().expect("a program").is_none() {
        std::thread::yield_now();
    }
    child.kill().expect("a program that can be killed");
    child.wait().expect("its end");
    environment.recollect(["ingest", "--all"]).done();
    let answer = environment.json(["search", "\"Please look at\" kind:text role:user", "--limit", "1000"]);
    assert_eq!((hits(&answer).len(), &answer["pending"]), (400, &json!(0)));
}
