//! Tests of the whole room without a terminal: keys in, screens and effects out.

mod acts;
mod costs;
mod finds;
mod operate;
mod pure;
mod says;
mod screens;
mod several;
mod sizes;
