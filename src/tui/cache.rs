use std::collections::VecDeque;
use std::rc::Rc;

use super::state::Signature;
use crate::raster::Chart;

/// Charts that were made, the least recently used ones leaving first.
#[derive(Debug, Default)]
pub(super) struct Cache {
    charts: VecDeque<(Signature, Rc<Chart>, usize)>,
}

impl Cache {
    /// The most bytes of charts that are kept.
    pub(super) const MOST: usize = 16 * 1024 * 1024;

    pub(super) fn get(&mut self, signature: &Signature) -> Option<Rc<Chart>> {
        let at = self.charts.iter().position(|(known, ..)| known == signature)?;
        let found = self.charts.remove(at)?;
        let chart = Rc::clone(&found.1);
        self.charts.push_front(found);
        Some(chart)
    }

    pub(super) fn put(&mut self, signature: Signature, chart: Rc<Chart>) {
        let text: usize = chart.marks.iter().map(|mark| mark.label.len() + 48).sum();
        let bytes = text + chart.squares.len() * 12 + 256;
        self.charts.retain(|(known, ..)| *known != signature);
        self.charts.push_front((signature, chart, bytes));
        while self.charts.len() > 1 && self.charts.iter().map(|(.., bytes)| bytes).sum::<usize>() > Self::MOST {
            self.charts.pop_back();
        }
    }
}
