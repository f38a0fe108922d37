//! The small saves in `fixtures/`, and what each must be found to be.
