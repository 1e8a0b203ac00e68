//! Tests of the configuration on a file.

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn with(text: &str) -> Self {
        let folder = Self::new();
        fs_err::write(folder.path(), text).unwrap();
        folder
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("config.json")
    }

    fn text(&self) -> String {
        fs_err::read_to_string(self.path()).unwrap()
    }

    fn set(&self, key: &str, value: Value) -> Result<Value> {
        set(&self.path(), &self.0.path().join("lock"), key, &value, Time::from_millis(1_768_903_200_000))
    }
}

#[test]
fn without_a_file_the_defaults_of_the_document_count() {
    let folder = Folder::new();
    let config = Config::load(&folder.path()).unwrap();
    assert_eq!(config.decay, Decay::default());
    assert_eq!((config.max_cache_bytes, config.compression_preset), (1_000_000_000, TierPreset::Standard));
    assert_eq!(
        (config.keepit_decay_enabled, config.auto_register_sessions, config.model.as_str()),
        (true, false, "opus")
    );
    assert!(!folder.path().exists(), "reading makes no file");
}

#[test]
fn the_first_change_writes_all_defaults() {
    let folder = Folder::new();
    folder.set("defaults.model", json!("sonnet")).unwrap();
    let written: Value = serde_json::from_str(&folder.text()).unwrap();
    // 3.3 with the section `ui` of Appendix B, then what is ours.
    let expected = json!({
        "version": "1.0.0",
        "createdAt": "2026-01-20T10:00:00.000Z",
        "storage": { "maxCacheSize": "1GB", "compressionRetention": "all" },
        "defaults": { "compressionPreset": "standard", "keepitDecayEnabled": true, "autoRegisterSessions": false, "model": "sonnet" },
        "keepitDecay": {
            "compressionBase": { "light": 0.1, "moderate": 0.3, "aggressive": 0.5 },
            "maxSessionDistance": 10,
            "pinnedWeight": 1.0
        },
        "ui": { "defaultView": "timeline", "showTokenEstimates": true, "confirmDestructiveActions": true },
        "backup": { "automatic": true, "folder": "backups", "keep": 3 },
        "watch": { "enabled": true, "exportFolders": [] },
        "engines": {
            "maxCost": 5.0,
            "parallel": 3,
            "patienceSeconds": 180,
            "claude": { "program": "claude" },
            "anthropic": { "baseUrl": "https://api.anthropic.com" },
            "openai": { "baseUrl": "http://localhost:11434/v1", "model": "" }
        },
        "models": { "own": [] }
    });
    assert_eq!(written.to_string(), expected.to_string(), "also in this order");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs_err::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_change_leaves_every_other_byte() {
    let before = "{\n\t\"mine\": [1.0,  1e5, 123456789012345678901234567890],\n\t\"keepitDecay\": {\"pinnedWeight\": 0.90,\n\t  \"other\": {\"a\":null}},\n\t\"z\": \"\\u00e9\"\n}";
    let folder = Folder::with(before);
    let effective = folder.set("keepitDecay.pinnedWeight", json!(0.85)).unwrap();
    assert_eq!(folder.text(), before.replace("0.90", "0.85"));
    assert_eq!(
        value_at(&effective, "keepitDecay.maxSessionDistance"),
        &json!(10),
        "what the file does not say has its default"
    );
    folder.set("keepitDecay.pinnedWeight", Value::Null).unwrap();
    assert_eq!(folder.text(), before.replace("0.90", "1.0"), "null puts the default back");
    assert_eq!(Config::load(&folder.path()).unwrap().decay.pinned_weight, Weight::MAX);
}

#[test]
fn what_is_missing_on_the_way_is_made() {
    let folder = Folder::with("{\"mine\": 1}\n");
    folder.set("keepitDecay.compressionBase.light", json!(0.25)).unwrap();
    let written: Value = serde_json::from_str(&folder.text()).unwrap();
    assert_eq!(written, json!({"mine": 1, "keepitDecay": {"compressionBase": {"light": 0.25}}}));
    assert_eq!(Config::load(&folder.path()).unwrap().decay.light, Decimal::new(25, 2));
}

#[test]
fn values_that_are_not_allowed_are_refused_with_what_is() {
    let folder = Folder::new();
    for (key, value, allowed) in [
        ("defaults.compressionPreset", json!("strong"), "one of \"gentle\", \"standard\", \"aggressive\""),
        ("defaults.keepitDecayEnabled", json!("yes"), "true or false"),
        ("defaults.model", json!(5), "text that is not empty"),
        ("defaults.model", json!(" "), "text that is not empty"),
        ("storage.maxCacheSize", json!("lots"), "a size such as \"500MB\" or \"1GB\""),
        ("storage.maxCacheSize", json!(5), "a size such as \"500MB\" or \"1GB\""),
        ("storage.compressionRetention", json!("last:0"), crate::config::retention::Retention::IN_WORDS),
        ("keepitDecay.compressionBase.light", json!(1.1), "a number from 0 to 1 with at most 6 decimals"),
        ("keepitDecay.compressionBase.light", json!("0.1"), "a number from 0 to 1 with at most 6 decimals"),
        ("keepitDecay.pinnedWeight", json!(-0.1), "a number from 0 to 1 with at most 2 decimals"),
        ("keepitDecay.pinnedWeight", json!(0.995), "a number from 0 to 1 with at most 2 decimals"),
        ("keepitDecay.maxSessionDistance", json!(0), "a whole number from 1 to 1000"),
        ("keepitDecay.maxSessionDistance", json!(2.5), "a whole number from 1 to 1000"),
        ("ui.defaultView", json!([]), "one of \"timeline\", \"list\""),
    ] {
        let error = folder.set(key, value.clone()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_eq!(error.message, format!("`{key}` cannot be {value}: it must be {allowed}"));
    }
    assert!(!folder.path().exists(), "nothing is written for a value that is refused");
}

#[test]
fn keys_that_are_not_known_are_refused_with_the_nearest() {
    let folder = Folder::new();
    for (key, nearest) in [
        ("defaults.modell", "defaults.model"),
        ("model", "defaults.model"),
        ("pinnedweight", "keepitDecay.pinnedWeight"),
        ("keepitDecay.compressionBase.minimal", "keepitDecay.compressionBase.light"),
        ("ui.default_view", "ui.defaultView"),
    ] {
        let error = folder.set(key, json!(1)).unwrap_err();
        assert_eq!(error.message, format!("there is no setting `{key}`"));
        assert_eq!(error.hint, Some(format!("did you mean `{nearest}`?")), "{key}");
    }
    let error = folder.set("x", json!(1)).unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("`recollect config get` shows all settings"));
    for key in ["version", "createdAt"] {
        assert!(folder.set(key, json!("2")).unwrap_err().message.contains("written by the program"));
    }
}

#[test]
fn a_section_can_only_be_reset() {
    let folder = Folder::with("{\"keepitDecay\": {\"pinnedWeight\": 0.5, \"mine\": 1}}");
    assert!(folder.set("keepitDecay", json!({"pinnedWeight": 1})).unwrap_err().message.contains("is a section"));
    folder.set("keepitDecay", Value::Null).unwrap();
    assert_eq!(Config::load(&folder.path()).unwrap().decay, Decay::default());
    let written: Value = serde_json::from_str(&folder.text()).unwrap();
    assert_eq!(value_at(&written, "keepitDecay.mine"), &json!(1));
}

#[test]
fn a_damaged_file_is_named_with_its_line_and_left_as_it_is() {
    for (text, place) in [
        ("{\n  \"version\": \"1.0.0\",\n  \"ui\": {,\n}", "line 3"),
        ("", "line 1"),
        ("{\n// comment\n}", "line 2"),
        ("[1]", "line 1"),
    ] {
        let folder = Folder::with(text);
        for error in
            [Config::load(&folder.path()).unwrap_err(), folder.set("defaults.model", json!("opus")).unwrap_err()]
        {
            assert!(error.message.contains("config.json") && error.message.contains(place), "{}", error.message);
            assert!(error.hint.is_some());
        }
        assert_eq!(folder.text(), text, "a damaged file is never written over");
    }
    let folder = Folder::new();
    fs_err::write(folder.path(), b"{\"a\": \"\xff\"}").unwrap();
    assert!(Config::load(&folder.path()).unwrap_err().message.contains("not UTF-8"));
}

#[test]
fn a_wrong_value_in_the_file_is_named_and_can_be_mended() {
    let folder = Folder::with("{\"keepitDecay\": {\"pinnedWeight\": \"high\"}, \"ui\": {\"defaultView\": 3}}");
    let error = Config::load(&folder.path()).unwrap_err();
    assert!(
        error.message.starts_with("`keepitDecay.pinnedWeight` cannot be \"high\": it must be a number"),
        "{}",
        error.message
    );
    assert!(error.message.contains("config.json"));
    folder.set("keepitDecay.pinnedWeight", json!(0.9)).unwrap();
    folder.set("ui.defaultView", Value::Null).unwrap();
    assert_eq!(Config::load(&folder.path()).unwrap().decay.pinned_weight, Weight::from_hundredths(90));
}

#[test]
fn a_value_where_a_section_belongs_is_named() {
    let folder = Folder::with("{\"keepitDecay\": {\"compressionBase\": 3}}");
    let error = Config::load(&folder.path()).unwrap_err();
    assert!(error.message.contains("`keepitDecay.compressionBase` is 3; it must be an object"), "{}", error.message);
    folder.set("keepitDecay", Value::Null).unwrap();
    assert_eq!(Config::load(&folder.path()).unwrap().decay, Decay::default(), "resetting the section mends it");
}

#[test]
fn a_newer_file_is_not_touched() {
    let text = "{\"version\": \"2.0.0\"}";
    let folder = Folder::with(text);
    assert_eq!(Config::load(&folder.path()).unwrap_err().kind, ErrorKind::NewerMemory);
    assert_eq!(folder.set("defaults.model", json!("opus")).unwrap_err().kind, ErrorKind::NewerMemory);
    assert_eq!(folder.text(), text);
}

#[test]
fn a_key_that_stands_twice_is_not_changed_in_the_wrong_place() {
    let text = "{\"defaults\": {\"model\": \"a\", \"model\": \"b\"}}";
    let folder = Folder::with(text);
    assert_eq!(folder.set("defaults.model", json!("c")).unwrap_err().kind, ErrorKind::Conflict);
    assert_eq!(folder.text(), text);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_kept_elsewhere_stays_a_link() {
    let folder = Folder::new();
    let elsewhere = folder.0.path().join("elsewhere.json");
    fs_err::write(&elsewhere, "{}").unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.path()).unwrap();
    folder.set("defaults.model", json!("haiku")).unwrap();
    assert!(fs_err::symlink_metadata(folder.path()).unwrap().is_symlink());
    assert!(fs_err::read_to_string(&elsewhere).unwrap().contains("haiku"));
}

#[test]
fn two_that_write_at_once_lose_nothing() {
    let folder = Folder::new();
    let settings = [
        "keepitDecay.compressionBase.light",
        "keepitDecay.compressionBase.moderate",
        "keepitDecay.compressionBase.aggressive",
    ];
    std::thread::scope(|scope| {
        for key in settings {
            let folder = &folder;
            scope.spawn(move || {
                for step in 1..=20 {
                    folder.set(key, json!(f64::from(step) / 100.0)).unwrap();
                }
            });
        }
    });
    let decay = Config::load(&folder.path()).unwrap().decay;
    assert_eq!([decay.light, decay.moderate, decay.aggressive], [Decimal::new(2, 1); 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_reading_or_setting_panic(text in "[\\[\\]{}:,\"a-z0-9.\\\\ \n-]{0,40}") {
        let folder = Folder::with(&text);
        let _ = Config::load(&folder.path());
        if folder.set("defaults.model", json!("opus")).is_err() {
            prop_assert_eq!(folder.text(), text);
        }
    }
}

#[test]
fn a_face_is_told_what_each_setting_may_be_and_which_values_are_wrong() {
    let folder = Folder::with(r#"{"storage": {"maxCacheSize": "much"}, "backup": {"keep": 7}}"#);
    let state = crate::api::config::ConfigState::of(effective(&folder.path()).unwrap(), String::new());
    assert_eq!(state.settings.len(), SETTINGS.len(), "none is left out");
    let of = |key: &str| state.settings.iter().find(|setting| setting.key == key).unwrap();
    let keep = of("backup.keep");
    assert_eq!((&keep.value, &keep.default), (&json!(7), &json!(3)));
    assert_eq!(keep.rule, settings::SettingRule::Whole { from: 1, to: 365 });
    assert!(keep.fault.is_none());
    let fault = of("storage.maxCacheSize").fault.as_deref().unwrap();
    assert!(fault.contains("much") && fault.contains("1GB"), "says what is there and what may be: {fault}");
}
