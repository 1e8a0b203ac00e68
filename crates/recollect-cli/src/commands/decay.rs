//! `recollect decay`.

use clap::Args;
use recollect_engine::Result;
use recollect_engine::api::keepit::{Aggressiveness, DecayPreview, DecayRequest, Fate, MarkerVerdict, decay};

use crate::arguments::{LEVELS, choice, distance, ratio};
use crate::face::Face;
use crate::output::table::{Align, cell, table};
use crate::output::units::counted;
use crate::output::{BAD, CLOSE, GOOD, NAME, paint};

/// Show which marks would survive a compression
#[derive(Debug, Args)]
pub(crate) struct Decay {
    /// The session: its id, a unique prefix of it, or `latest`
    session: String,
    /// Compression ratio: `10` or `10:1`
    #[arg(long, value_name = "N", value_parser = ratio, allow_negative_numbers = true)]
    ratio: f64,
    /// How strongly it presses; by the ratio if not given
    #[arg(long, value_name = "LEVEL", value_parser = choice::<Aggressiveness>(LEVELS))]
    aggressiveness: Option<Aggressiveness>,
    /// How many sessions ago; the session's own if not given
    #[arg(long, value_name = "D", value_parser = distance, allow_negative_numbers = true)]
    distance: Option<u32>,
}

impl Decay {
    pub(crate) fn run(self, face: &Face) -> Result<()> {
        let request = DecayRequest {
            session: self.session,
            ratio: self.ratio,
            aggressiveness: self.aggressiveness,
            distance: self.distance,
        };
        let preview = face.call(decay, request)?;
        face.terminal.answer(&preview, |out| describe(&preview, out))
    }
}

fn describe(preview: &DecayPreview, out: &mut String) {
    let DecayPreview { threshold, ratio, aggressiveness, distance, markers } = preview;
    let level = level(*aggressiveness);
    out.push_str(&format!(
        "Marks of weight {threshold:.3} and more survive a {level} compression of {ratio}:1 at distance {distance}.\n"
    ));
    if markers.is_empty() {
        out.push_str("No marks in this session.\n");
        return;
    }
    out.push('\n');
    out.push_str(&verdicts(markers));
    let survivors = markers.iter().filter(|marker| marker.survives).count();
    let marks = counted(markers.len() as u64, "mark");
    out.push_str(&format!("\n{survivors} of {marks} survive{}\n", if survivors == 1 { "s" } else { "" }));
}

pub(super) fn level(aggressiveness: Aggressiveness) -> &'static str {
    match aggressiveness {
        Aggressiveness::Light => "light",
        Aggressiveness::Moderate => "moderate",
        Aggressiveness::Aggressive => "aggressive",
    }
}

/// What becomes of each mark.
pub(super) fn verdicts(markers: &[MarkerVerdict]) -> String {
    let columns = [
        ("MARK", Align::Left),
        ("WEIGHT", Align::Right),
        ("NEEDS", Align::Right),
        ("MARGIN", Align::Right),
        ("VERDICT", Align::Left),
        ("CONTENT", Align::Left),
    ];
    let row = |marker: &MarkerVerdict| {
        vec![
            paint(NAME, &marker.marker_id),
            format!("{:.2}", marker.weight),
            format!("{:.3}", marker.threshold),
            format!("{:+.3}", marker.margin),
            match marker.fate {
                Fate::Survives => paint(GOOD, "survives"),
                Fate::BarelySurvives => paint(CLOSE, "barely survives"),
                Fate::Summarized => paint(BAD, "summarized"),
            },
            cell(&marker.content),
        ]
    };
    table(&columns, markers.iter().map(row).collect())
}
