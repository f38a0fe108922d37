//! The loop: messages in, frames out, and nothing at all while nothing happens.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::layout::Size;

use super::clipboard;
use super::input::{Filter, Input, merge};
use super::prepare::prepare;
use super::runner::Runner;
use super::state::{Effect, Model, Msg};
use super::term::{self, Guard};
use super::update::update;
use super::view::view;
use super::wire::Wire;
use crate::model::{Clock, Verdict};

/// How long the first frame waits for a verdict that is about to come.
const PATIENCE: Duration = Duration::from_millis(4);

/// How often a terminal that sends nothing is asked whether it is still there.
const ALIVE: Duration = Duration::from_secs(1);

/// The most messages that are taken before a frame.
const BATCH: usize = 4096;

/// The exit code after a hang-up.
pub(super) const GONE: u8 = 129;

pub(super) struct Pump {
    pub(super) model: Model,
    pub(super) inbox: Receiver<Msg>,
    pub(super) runner: Runner,
    pub(super) clock: Clock,
    pub(super) started: Instant,
    terminal: Terminal<Wire>,
    painted: Option<Instant>,
    asked: Instant,
    /// A frame with a verdict was painted.
    useful: bool,
}

impl Pump {
    pub(super) fn new(
        model: Model,
        inbox: Receiver<Msg>,
        runner: Runner,
        clock: Clock,
        started: Instant,
    ) -> io::Result<Self> {
        let terminal = Terminal::new(Wire::new(Size::new(model.size.0, model.size.1), term::ENTER))?;
        Ok(Self { model, inbox, runner, clock, started, terminal, painted: None, asked: started, useful: false })
    }

    /// The first frame: at once with the first verdict, or without one after a moment.
    pub(super) fn first_frame(&mut self) -> io::Result<()> {
        let until = self.started + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(msg) = self.inbox.recv_timeout(left) else { break };
            self.tick();
            for effect in self.take(msg)? {
                self.outside(effect)?;
            }
            if self.knows_something() {
                break;
            }
        }
        self.tick();
        self.useful = self.knows_something();
        self.paint()
    }

    /// There is a verdict to show, or nothing that will ever have one.
    fn knows_something(&self) -> bool {
        let mut worlds = self.model.catalog.profiles.iter().flat_map(|profile| &profile.worlds);
        self.model.catalog.complete || worlds.any(|world| world.verdict() != Verdict::Unchecked)
    }

    /// Runs until something asks for the end; the exit code.
    pub(super) fn run(&mut self) -> io::Result<u8> {
        let frame = Duration::from_millis(if self.model.facts.ssh { 33 } else { 16 });
        loop {
            let batch = match self.inbox.recv_timeout(self.wait(frame)) {
                Ok(first) => {
                    let more = std::iter::from_fn(|| self.inbox.try_recv().ok());
                    std::iter::once(first).chain(more).take(BATCH).collect()
                }
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
            let mut effects = self.tick();
            for msg in batch {
                effects.extend(self.take(msg)?);
            }
            for effect in effects {
                if let Some(code) = self.outside(effect)? {
                    return Ok(code);
                }
            }
            if self.asked.elapsed() >= ALIVE {
                self.asked = Instant::now();
                if term::size().is_err() {
                    return Ok(GONE);
                }
            }
            // The first verdict does not wait for the pace of frames.
            let first = !self.useful && self.knows_something();
            if self.model.dirty && (first || self.painted.is_none_or(|at| at.elapsed() >= frame)) {
                self.useful |= first;
                self.paint()?;
            }
        }
    }

    /// Takes one message.
    fn take(&mut self, msg: Msg) -> io::Result<Vec<Effect>> {
        if let Msg::Input(Input::Resize(columns, rows)) = msg {
            // Everything is painted again even at the same size: the terminal may have been smaller meanwhile and have
            // lost what was beyond its edge.
            self.terminal.backend_mut().set_size(Size::new(columns, rows));
            self.terminal.clear()?;
        }
        Ok(update(&mut self.model, msg))
    }

    /// How long nothing has to be done.
    fn wait(&self, frame: Duration) -> Duration {
        let up = self.started.elapsed();
        let due = self.model.deadline().map_or(ALIVE, |at| at.saturating_sub(up));
        let paint = match (self.model.dirty, self.painted) {
            (true, Some(at)) => frame.saturating_sub(at.elapsed()),
            (true, None) => Duration::ZERO,
            (false, _) => ALIVE,
        };
        due.min(paint).min(ALIVE)
    }

    fn tick(&mut self) -> Vec<Effect> {
        update(&mut self.model, Msg::Time { now: self.clock.now(), up: self.started.elapsed() })
    }

    fn paint(&mut self) -> io::Result<()> {
        prepare(&mut self.model);
        let model = &self.model;
        self.terminal.draw(|frame| view(model, frame))?;
        self.model.dirty = false;
        if let Some(bytes) = self.terminal.backend_mut().take() {
            term::write(&bytes)?;
            self.painted = Some(Instant::now());
        }
        Ok(())
    }

    /// Carries out an effect; an exit code when it is the end.
    fn outside(&mut self, effect: Effect) -> io::Result<Option<u8>> {
        match effect {
            Effect::Quit(code) => return Ok(Some(code)),
            Effect::Suspend => self.suspend()?,
            Effect::Repaint => self.anew()?,
            Effect::Clipboard(bytes) => term::write(&clipboard::sequence(&bytes, self.model.facts.mux))?,
            Effect::Follow => self.runner.follow(&self.model.catalog.profiles),
            other => self.runner.run(other),
        }
        Ok(None)
    }

    /// Gives the terminal to the shell, and takes it back when the shell says so.
    fn suspend(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        {
            term::leave();
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
            self.anew()?;
        }
        Ok(())
    }

    /// Takes the terminal anew and paints everything.
    fn anew(&mut self) -> io::Result<()> {
        Guard::enter_again()?;
        let (columns, rows) = term::size()?;
        self.model.size = (columns, rows);
        let wire = self.terminal.backend_mut();
        wire.forget(term::ENTER);
        wire.set_size(Size::new(columns, rows));
        self.terminal.clear()?;
        self.model.dirty = true;
        Ok(())
    }
}

/// Starts the thread that reads the terminal. It ends with the process.
pub(super) fn read_terminal(out: Sender<Msg>) -> io::Result<()> {
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        let mut filter = Filter::default();
        let mut inputs = Vec::new();
        loop {
            if read_some(&mut filter, &mut inputs).is_err() {
                let _ = out.send(Msg::Terminate(GONE));
                return;
            }
            for input in merge(std::mem::take(&mut inputs)) {
                // On Unix our own signal thread tells of sizes: it listens before the first frame, the reader only after.
                if cfg!(unix) && matches!(input, Input::Resize(..)) {
                    continue;
                }
                if out.send(Msg::Input(input)).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok(())
}

/// Everything that is there, or after a held piece of a sequence, whatever comes in time.
fn read_some(filter: &mut Filter, inputs: &mut Vec<Input>) -> io::Result<()> {
    use crossterm::event::{poll, read};
    if let Some(deadline) = filter.deadline()
        && !poll(deadline.saturating_duration_since(Instant::now()))?
    {
        filter.silence(inputs);
        return Ok(());
    }
    filter.feed(read()?, Instant::now(), inputs);
    for _ in 0..BATCH {
        if !poll(Duration::ZERO)? {
            break;
        }
        filter.feed(read()?, Instant::now(), inputs);
    }
    Ok(())
}

/// Starts the thread that turns signals into messages. It ends with the process.
#[cfg(unix)]
pub(super) fn read_signals(out: Sender<Msg>) -> io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT, SIGWINCH])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let msg = match signal {
                SIGHUP => Msg::Terminate(GONE),
                SIGINT => Msg::Terminate(130),
                SIGTSTP => Msg::Stop,
                SIGCONT => Msg::Continued,
                SIGWINCH => match term::size() {
                    Ok((columns, rows)) => Msg::Input(Input::Resize(columns, rows)),
                    Err(_) => Msg::Terminate(GONE),
                },
                _ => Msg::Terminate(143),
            };
            if out.send(msg).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}
