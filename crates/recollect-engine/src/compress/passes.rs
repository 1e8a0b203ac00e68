//! The passes of a compression, each of which can be left out to see what it gives; a user's compression has all of them.

/// A pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Taking the client's wrapping off what the user wrote.
    Unwrapping,
    /// Leaving out calls that a later one makes superfluous.
    Replaced,
    /// Telling lines of tools apart: changes, commits, failures, sums.
    Tools,
    /// Weighing by who speaks, and where in the session.
    Places,
    /// Weighing sentences by their form.
    Forms,
    /// Weighing words by how rare they are in the session.
    Rarity,
    /// Counting a word less the more often it stands already.
    Coverage,
    /// Weighing less what the same session says again later.
    Again,
    /// Shortening sentences where nothing is lost.
    Shortening,
}

impl Pass {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 9] = [
        Self::Unwrapping,
        Self::Replaced,
        Self::Tools,
        Self::Shortening,
        Self::Places,
        Self::Forms,
        Self::Rarity,
        Self::Again,
        Self::Coverage,
    ];

    /// What it is called in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unwrapping => "unwrapping",
            Self::Replaced => "replaced calls",
            Self::Tools => "lines of tools",
            Self::Places => "places",
            Self::Forms => "forms",
            Self::Rarity => "rarity",
            Self::Coverage => "coverage",
            Self::Again => "said again",
            Self::Shortening => "shortening",
        }
    }
}

/// Which passes run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes(u16);

impl Passes {
    /// All of them.
    pub const ALL: Self = Self(u16::MAX);

    /// These without one.
    #[must_use]
    pub const fn without(self, pass: Pass) -> Self {
        Self(self.0 & !(1 << pass as u16))
    }

    /// Whether a pass runs.
    pub const fn has(self, pass: Pass) -> bool {
        self.0 & (1 << pass as u16) != 0
    }
}
