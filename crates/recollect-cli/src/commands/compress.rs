//! `recollect compress`.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use recollect_engine::api::compression::{
    self, CompressionCreated, CompressionMode, CompressionPreview, CompressionRequest, CompressionSettings, KeepitMode,
    KeepitStats, Lineage, PartRequest, TierConfig, TierPreset, TierResult, VersionPart,
};
use recollect_engine::api::config::{ConfigGetRequest, read};
use recollect_engine::api::engine::{CompressionEstimate, estimate};
use recollect_engine::api::keepit::Aggressiveness;
use recollect_engine::ids::VersionId;
use recollect_engine::{Error, ErrorKind, Result};
use serde::Serialize;

use super::decay::{level, verdicts};
use crate::arguments::{LEVELS, choice, distance, dollars, ratio};
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::{count, counted, ratio as to_one};
use crate::output::{NAME, paint, text};

/// Compress a session into a new version
///
/// With one ratio for all (uniform), or less and less towards its end (tiered). Without --ratio, --preset and --tiers
/// it is tiered by the preset of the configuration. The session itself stays as it is; --dry-run shows what would come out.
#[derive(Debug, Args)]
pub(crate) struct Compress {
    /// The session: its id, a unique prefix of it, or `latest`
    session: String,
    /// One ratio, or one for each stretch of the session; by the other flags if not given
    #[arg(long, value_name = "MODE", value_parser = choice::<CompressionMode>(&["uniform", "tiered"]))]
    mode: Option<CompressionMode>,
    /// Ratio of the uniform mode: `10` or `10:1`
    #[arg(long, value_name = "N", value_parser = ratio, allow_negative_numbers = true)]
    ratio: Option<f64>,
    /// How strongly the uniform mode presses; by the ratio if not given
    #[arg(long, value_name = "LEVEL", value_parser = choice::<Aggressiveness>(LEVELS))]
    aggressiveness: Option<Aggressiveness>,
    /// Ready tiers
    #[arg(long, value_name = "NAME", conflicts_with = "tiers",
          value_parser = choice::<TierPreset>(&["gentle", "standard", "aggressive"]))]
    preset: Option<TierPreset>,
    /// Tiers of your own: a JSON list of {"endPercent", "compactionRatio", "aggressiveness"}; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    tiers: Option<PathBuf>,
    /// How many sessions ago, for the marks; the session's own if not given
    #[arg(long, value_name = "D", value_parser = distance, allow_negative_numbers = true)]
    distance: Option<u32>,
    /// What becomes of marked passages
    #[arg(long, value_name = "MODE", value_parser = choice::<KeepitMode>(&["decay", "preserve-all", "ignore"]))]
    keepit: Option<KeepitMode>,
    /// Leave out this many messages at the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_first: u32,
    /// Compress this version instead of the original
    #[arg(long, value_name = "V")]
    from: Option<String>,
    /// Compress only this part of a version with the settings, such as `v003:2`; its other parts stay as they are
    #[arg(long, value_name = "V:N", conflicts_with_all = ["from", "full"], value_parser = part)]
    part: Option<PartRequest>,
    /// Compress all of it anew, also what an earlier version with these settings has already
    #[arg(long, conflicts_with = "from")]
    full: bool,
    /// What does the compressing: `extractive` is built in; `claude`, `anthropic` and `openai` ask a language model
    #[arg(long, value_name = "E")]
    engine: Option<String>,
    /// Model of an engine that asks one; by the settings if not given
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// The most that asking a model may cost, in US dollars; by the setting `engines.maxCost` if not given
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Ask the model without asking you first
    #[arg(long)]
    yes: bool,
    /// Only show what would come out, or what asking a model would cost
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Estimate<'a> {
    dry_run: bool,
    #[serde(flatten)]
    estimate: &'a CompressionEstimate,
}

/// A preview with the fields of a version.
#[derive(Serialize)]
struct DryRun<'a> {
    dry_run: bool,
    version_id: Option<VersionId>,
    file: Option<String>,
    original_tokens: u64,
    output_tokens: u64,
    output_messages: u64,
    compression_ratio: f64,
    keepit_stats: KeepitStats,
    source_version: Option<VersionId>,
    preview: &'a CompressionPreview,
}

impl Compress {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let (is_dry, yes) = (self.dry_run, self.yes);
        let request = self.request(face)?;
        let asks_a_model =
            request.settings.engine.as_deref().is_some_and(|engine| engine != recollect_engine::compress::ENGINE);
        if asks_a_model {
            let estimate = face.call(estimate, request.clone())?;
            if is_dry {
                return face.terminal.answer(&Estimate { dry_run: true, estimate: &estimate }, |out| {
                    out.push_str(&asking(&estimate));
                });
            }
            face.terminal.note(asking(&estimate).trim_end());
            if estimate.over_cap {
                return Err(over_cap(&estimate));
            }
            if !yes && estimate.calls > 0 {
                confirm(face)?;
            }
        }
        if !is_dry {
            let created = face.call(compression::create, request)?;
            return face.terminal.answer(&created, |out| describe_created(&created, out));
        }
        let preview = face.call(compression::preview, request)?;
        let document = DryRun {
            dry_run: true,
            version_id: None,
            file: None,
            original_tokens: preview.original_tokens,
            output_tokens: preview.output_tokens,
            output_messages: preview.output_messages,
            compression_ratio: preview.compression_ratio,
            keepit_stats: keepit_stats(&preview),
            source_version: preview.source_version.clone(),
            preview: &preview,
        };
        face.terminal.answer(&document, |out| {
            out.push_str("Would make a version (nothing is written):\n");
            describe(&preview, out);
        })
    }

    fn request(self, face: &Face) -> Result<CompressionRequest> {
        let has_tiers = self.preset.is_some() || self.tiers.is_some();
        let is_uniform = self.ratio.is_some() || self.aggressiveness.is_some();
        let mode = match (self.mode, has_tiers, is_uniform) {
            (Some(CompressionMode::Uniform), true, _) => {
                return Err(Error::usage("--preset and --tiers belong to --mode tiered"));
            }
            (Some(CompressionMode::Tiered), _, true) | (None, true, true) => {
                return Err(Error::usage("--ratio and --aggressiveness belong to --mode uniform")
                    .hint("a tier's ratio and level stand in the file that --tiers names"));
            }
            (Some(mode), _, _) => mode,
            (None, _, true) => CompressionMode::Uniform,
            (None, _, false) => CompressionMode::Tiered,
        };
        if mode == CompressionMode::Uniform && self.ratio.is_none() {
            return Err(Error::usage("a uniform compression needs --ratio").hint("for example --ratio 10"));
        }
        let custom_tiers = self.tiers.as_deref().map(read_tiers).transpose()?;
        let tier_preset = match (mode, self.preset, &custom_tiers) {
            (CompressionMode::Uniform, ..) => None,
            (_, _, Some(_)) => Some(TierPreset::Custom),
            (_, Some(preset), None) => Some(preset),
            (_, None, None) => Some(configured_preset(face)?),
        };
        Ok(CompressionRequest {
            session: self.session,
            from: self.from.map(VersionId::from),
            settings: CompressionSettings {
                mode,
                compaction_ratio: self.ratio,
                aggressiveness: self.aggressiveness,
                tier_preset,
                custom_tiers,
                skip_first_messages: self.skip_first,
                keepit_mode: self.keepit.unwrap_or_default(),
                session_distance: self.distance,
                engine: self.engine,
                model: self.model,
                max_cost: self.max_cost,
            },
            full: self.full,
            part: self.part,
        })
    }
}

/// What would be asked, and what it costs.
fn asking(estimate: &CompressionEstimate) -> String {
    let model = estimate.model.as_deref().unwrap_or("a model");
    let cost = estimate.cost.map_or_else(|| "an unknown price".to_owned(), |cost| format!("about ${cost:.4}"));
    let cap = estimate.cap.map_or_else(String::new, |cap| format!(" (at most ${cap:.2})"));
    let mut words = format!(
        "Asks {} of {}: {}, {} tokens to read, {} to write, {cost}{cap}\n",
        text::line(model),
        estimate.engine,
        counted(estimate.calls, "call"),
        count(estimate.input_tokens),
        count(estimate.output_tokens),
    );
    if estimate.leaves_machine {
        words.push_str("What is asked leaves this machine");
        let redactions: Vec<String> =
            estimate.redactions.iter().map(|redaction| format!("{} × {}", redaction.count, redaction.kind)).collect();
        words.push_str(&match redactions.as_slice() {
            [] => "; no secrets were found in it\n".to_owned(),
            some => format!(", without {}\n", some.join(", ")),
        });
    }
    words
}

fn over_cap(estimate: &CompressionEstimate) -> Error {
    let cap = estimate.cap.unwrap_or_default();
    let error = match estimate.cost {
        Some(cost) if cost > cap => Error::conflict(format!("it would cost about ${cost:.4}, the cap is ${cap:.2}")),
        Some(cost) => Error::conflict(format!(
            "it would cost about ${cost:.4}, but a call that comes out long could bring it over the cap of ${cap:.2}"
        )),
        None => Error::conflict("nobody knows what it would cost, so that no cap can hold"),
    };
    error.hint("raise it with --max-cost or the setting `engines.maxCost`; prices of own models stand in `models.own`")
}

/// Asks the person.
fn confirm(face: &Face) -> Result<()> {
    if face.terminal.json || !std::io::stdin().is_terminal() {
        return Err(Error::usage("asking a language model costs money and sends text away: confirm it with --yes")
            .hint("--dry-run shows calls, tokens and cost"));
    }
    face.terminal.note("Go on? [y/N]");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Cancelled, "nothing was asked"))
}

fn part(text: &str) -> std::result::Result<PartRequest, String> {
    let parsed = text.split_once(':').and_then(|(version, number)| {
        Some(PartRequest {
            version: VersionId::from(version),
            number: number.parse().ok().filter(|number| *number > 0)?,
        })
    });
    parsed.ok_or_else(|| "name a version and a part of it, such as `v003:2`".to_owned())
}

fn configured_preset(face: &Face) -> Result<TierPreset> {
    let config = face.call(read, ConfigGetRequest::default())?.config;
    let preset = config.pointer("/defaults/compressionPreset").cloned().unwrap_or_else(|| "standard".into());
    serde_json::from_value(preset.clone()).map_err(|error| {
        Error::usage(format!("the configuration's defaults.compressionPreset is {preset}, which is no preset"))
            .hint("name one with --preset: gentle, standard, aggressive")
            .because(error)
    })
}

fn read_tiers(file: &Path) -> Result<Vec<TierConfig>> {
    let content = if file.as_os_str() == "-" {
        let mut content = String::new();
        std::io::stdin().read_to_string(&mut content)?;
        content
    } else {
        fs_err::read_to_string(file)?
    };
    serde_json::from_str(&content).map_err(|error| {
        Error::usage(format!("`{}` is no list of tiers: {error}", file.display())).hint(
            r#"write it so: [{"endPercent": 50, "compactionRatio": 20}, {"endPercent": 100, "compactionRatio": 5}]"#,
        )
    })
}

fn keepit_stats(preview: &CompressionPreview) -> KeepitStats {
    let mut stats = KeepitStats::default();
    for keepit in &preview.keepits {
        if keepit.survives {
            stats.preserved += 1;
            *stats.weights.entry(format!("{:.2}", keepit.weight)).or_default() += 1;
        } else {
            stats.summarized += 1;
        }
    }
    stats
}

fn describe_created(created: &CompressionCreated, out: &mut String) {
    let version = &created.version;
    out.push_str(&format!("Made {} of {}\n", paint(NAME, &version.version_id), paint(NAME, &version.session_id)));
    describe(&created.preview, out);
    for path in &version.paths {
        out.push_str(&format!("{}\n", text::line(path)));
    }
}

fn describe(preview: &CompressionPreview, out: &mut String) {
    for why in &preview.anew {
        out.push_str(&format!("Compressed anew: {}\n", text::line(why)));
    }
    if preview.parts.len() > 1 {
        let source = preview.source_version.as_ref().map_or("", VersionId::as_str);
        let what = if preview.lineage == Lineage::Part { "with a part compressed anew" } else { "with what is new" };
        out.push_str(&format!("{source} {what}:\n\n{}\n", parts(&preview.parts)));
    }
    out.push_str(&format!(
        "{} tokens in {} → {} tokens in {} ({}); budget {} tokens; distance {}\n",
        count(preview.original_tokens),
        counted(preview.original_messages, "message"),
        count(preview.output_tokens),
        counted(preview.output_messages, "message"),
        to_one(preview.compression_ratio),
        count(preview.budget),
        preview.distance,
    ));
    if preview.tiers.len() > 1 {
        out.push('\n');
        out.push_str(&tiers(&preview.tiers));
    }
    if !preview.keepits.is_empty() {
        out.push('\n');
        out.push_str(&verdicts(&preview.keepits));
    }
    if !preview.left_out.is_empty() {
        out.push('\n');
        let columns = [("LEFT OUT", Align::Left), ("MESSAGES", Align::Right), ("TOKENS", Align::Right)];
        let row = |left: &compression::LeftOut| vec![cell(&left.reason), count(left.messages), count(left.tokens)];
        out.push_str(&table(&columns, preview.left_out.iter().map(row).collect()));
        out.push('\n');
    }
}

/// The parts of a version as a table.
fn parts(parts: &[VersionPart]) -> String {
    let columns = [
        ("PART", Align::Right),
        ("MESSAGES", Align::Left),
        ("MADE IN", Align::Left),
        ("TOKENS", Align::Right),
        ("BECOME", Align::Right),
    ];
    let row = |(part, number): (&VersionPart, u64)| {
        vec![
            count(number),
            format!("#{} to #{}", part.first, part.last),
            part.made_in.to_string(),
            count(part.original_tokens),
            count(part.output_tokens),
        ]
    };
    table(&columns, parts.iter().zip(1..).map(row).collect())
}

fn tiers(tiers: &[TierResult]) -> String {
    let columns = [
        ("STRETCH", Align::Left),
        ("RATIO", Align::Right),
        ("LEVEL", Align::Left),
        ("MARKS FROM", Align::Right),
        ("TOKENS", Align::Right),
        ("BECOME", Align::Right),
    ];
    let row = |tier: &TierResult| {
        vec![
            format!("#{} to #{}", tier.first, tier.last),
            to_one(tier.ratio),
            level(tier.aggressiveness).to_owned(),
            format!("{:.3}", tier.threshold),
            count(tier.original_tokens),
            count(tier.output_tokens),
        ]
    };
    table(&columns, tiers.iter().map(row).collect())
}
