//! The browser: one loop, one state, pure `update` and `view`.
