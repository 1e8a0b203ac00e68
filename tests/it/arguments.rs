//! Usage: help, wrong arguments, and what answers without a memory.

use insta::assert_snapshot;

use crate::environment::TestEnvironment;

#[test]
fn without_a_command_it_explains_itself() {
    let environment = TestEnvironment::new();
    let run = environment.recollect([]).exits(2);
    assert!(run.stdout().is_empty(), "wrong usage is told on standard error");
    assert!(run.stderr().contains("Usage: recollect"));
    assert!(!environment.memory().exists(), "explaining needs no memory");
}

#[test]
fn the_short_help_lists_every_command() {
    let environment = TestEnvironment::new();
    assert_snapshot!(environment.recollect(["-h"]).done(), @r##"
    Long-term memory of people who work with Claude Code

    Usage: recollect [OPTIONS] <COMMAND>

    Commands:
      ingest           Take transcripts and exports into the memory
      watch            Take in what Claude Code writes, as it writes it
      projects         List the projects in memory, most recent first
      sessions         List the sessions in memory, newest first, or set what is yours to say about one
      show             Show the messages of a session, or of a version of it
      search           Find what was said, thought, called and returned, in all sessions
      restore          Give back the original bytes of a session
      remove           Take a session out of the memory
      keepit           List, add, weigh and remove keepit marks
      decay            Show which marks would survive a compression
      compress         Compress a session into a new version
      engines          List what can compress, and keep the keys of those that ask a language model
      versions         List the compression versions of a session, prove them, or delete some
      diff             Compare two versions of a session; `original` names the session itself
      suggest          Suggest sessions for what you are about to do
      compose          Join sessions into a context of at most so many tokens
      compositions     List the compositions; show, refresh, copy, export or delete one
      resume           Put a composition where Claude Code finds it as a session
      import           Take over a MEMORY-CONTEXT folder
      export           Write the memory as a MEMORY-CONTEXT folder
      stats            Show what the memory holds and what it takes on disk
      near-duplicates  Find messages that say nearly the same, in groups
      checkpoints      Note what the memory holds under a name, and see later what came of it
      doctor           Check that everything in the memory is sound
      rebuild          Make the database anew from the archive and the manifests
      backup           Write the whole memory into one file, while it is in use
      restore-backup   Make a memory of a backup
      config           Read and change the configuration
      completions      Write completions for a shell to standard output
      man              Write the manual

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Everywhere:
          --home <DIR>         Folder of the memory [default: ~/.claude-memory] [env: RECOLLECT_HOME]
          --claude-home <DIR>  Folder in which Claude Code keeps its data [default: ~/.claude] [env:
                               CLAUDE_CONFIG_DIR]
          --json               Write one JSON document to standard output and nothing else
      -q, --quiet              Say nothing on standard error but errors
      -v, --verbose            Say more: unreadable lines, causes of errors, unshortened tool output

    A session is named by its id, a unique prefix of it, or `latest`.
    Exit status: 0 done, 1 failed, 2 wrong usage.
    "##);
}

#[test]
fn every_command_has_help_that_says_what_it_does() {
    let environment = TestEnvironment::new();
    let help = environment.recollect(["-h"]).done().stdout();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut count = 0;
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let help = environment.recollect([command, "--help"]).done().stdout();
        assert!(help.contains("Usage: recollect"), "`{command} --help` says how to use it");
        assert!(help.lines().next().is_some_and(|line| line.len() > 10), "`{command} --help` says what it does");
        count += 1;
    }
    assert_eq!(count, 30, "commands in the help");
}

#[test]
fn wrong_usage_is_status_two_and_says_what_is_wrong() {
    let environment = TestEnvironment::new();
    for (arguments, words) in [
        (vec!["ingest"], "required"),
        (vec!["frobnicate"], "unrecognized subcommand"),
        (vec!["decay", "x", "--ratio", "ten"], "a ratio is a number"),
        (vec!["decay", "x", "--ratio", "10", "--distance", "-1"], "a distance is a whole number"),
        (vec!["decay", "x", "--ratio", "10", "--aggressiveness", "brutal"], "possible values: light, minimal"),
        (vec!["compress", "x", "--mode", "uniform"], "needs --ratio"),
        (vec!["compress", "x", "--mode", "tiered", "--ratio", "10"], "belong to --mode uniform"),
        (vec!["compress", "x", "--mode", "uniform", "--preset", "gentle"], "belong to --mode tiered"),
        (vec!["compose", "x", "--budget", "-5", "--session", "y"], "a number of tokens"),
        (vec!["compose", "x", "--budget", "16k"], "--session"),
        (vec!["compose", "x", "--budget", "16k", "--session", "y@"], "a version follows"),
        (vec!["restore"], "required"),
        (vec!["restore", "--all"], "--tree"),
        (vec!["restore", "x", "--json"], "no JSON document"),
        (vec!["versions"], "which session"),
        (vec!["-q", "-v", "stats"], "cannot be used with"),
    ] {
        let run = environment.run(environment.binary().args(&arguments)).exits(2);
        assert!(run.stdout().is_empty(), "{arguments:?} writes nothing to standard output");
        assert!(run.stderr().contains(words), "{arguments:?} should say `{words}`:\n{run}");
    }
    assert!(!environment.memory().join("memory.db").exists(), "wrong usage makes no memory");
}

#[test]
fn without_any_home_the_folder_must_be_named() {
    let environment = TestEnvironment::new();
    let run = environment.run(environment.binary().env("HOME", "").args(["stats"]));
    // Without HOME the system's account may still know a home; whatever it is, an empty HOME is never the current folder.
    assert!(!environment.work().join(".claude-memory").exists(), "{run}");
}

#[test]
fn completions_and_manual_come_from_the_same_definitions() {
    let environment = TestEnvironment::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = environment.recollect(["completions", shell]).done().stdout();
        assert!(script.contains("compositions"), "{shell} completes every command");
    }
    let page = environment.recollect(["man"]).done().stdout();
    assert!(page.contains(".TH recollect 1"), "the manual is a man page");
    environment.recollect(["man", "-o", "pages"]).done();
    let pages = fs_err::read_dir(environment.work().join("pages")).expect("the folder of the pages").count();
    assert!(pages > 18, "a page for each command, {pages} written");
}
