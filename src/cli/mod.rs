//! The commands: one file each, plain text or JSON.
