//! What is refused, and what is told.
