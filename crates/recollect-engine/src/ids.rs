//! Newtypes for names of things, so that one cannot be passed for another.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(export, type = "string")]
        pub struct $name(String);

        impl $name {
            /// Wraps a name that is known to be one.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(name.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                Self(name)
            }
        }
    };
}

id_type!(
    /// A project: the working directory with each character outside `[A-Za-z0-9]` as `-` (2.1.1).
    ProjectId
);
id_type!(
    /// A session: the client's UUID, with `~2`, `~3`, … for another content under the same id.
    SessionId
);
id_type!(
    /// A compression version within its session: `v001`, `v002`, … (2.1.3).
    VersionId
);
id_type!(
    /// A keepit marker (2.1.4).
    MarkerId
);
id_type!(
    /// A composition: a UUID (2.1.5).
    CompositionId
);
id_type!(
    /// A running or past job of this process.
    JobId
);
