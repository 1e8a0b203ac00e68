//! Formats that sessions come in: one file each, from bytes to messages and issues.

pub mod claude_code;
pub mod json;
pub mod lines;
