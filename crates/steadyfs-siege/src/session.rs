//! One mount of a volume. Each call runs on the volume and on the model, and the session judges
//! the answer.
//!
//! The rule: an error means that nothing changed. `Unknown` means that the call may or may not
//! have taken effect, and that the volume is read-only until the next mount. The documentation
//! defines a long write as the sum of calls of one logical page each. So the first pieces of a
//! long write may be there after an error.

use std::fmt::Display;
use std::rc::Rc;

use steadyfs::{CommitOn, Error, File, FileSystem};

use crate::adapt;
use crate::log::{Log, UNDONE_BY_FAULT, UNDONE_FOR_ROOM, WRONG_ERROR};
use crate::loss::{self, Verdict};
use crate::medium::Medium;
use crate::oracle::Oracle;
use crate::tree::{Id, Tree};
use crate::view::{self, Partial, Trouble};

/// A volume on our medium.
pub type Fs<'m, 'c> = FileSystem<'m, &'c mut Medium>;

/// Durability of the changes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// The call commits nothing.
    No,
    /// The call may commit the changes before it, or its own.
    May,
    /// When it returns, everything is durable.
    Must,
}

/// Effect of a call in the model.
pub struct Change {
    /// Trees after each piece of the call. Empty if the call changes nothing visible.
    pub steps: Vec<Rc<Tree>>,
    /// Durability of the changes.
    pub commits: Commits,
    /// Errors of which the call must return one. Empty if the call may succeed.
    pub refusal: Vec<Error>,
}

impl Change {
    /// Makes the change of a call that changes nothing visible.
    pub fn none(commits: Commits) -> Self {
        Self { steps: Vec::new(), commits, refusal: Vec::new() }
    }

    /// Makes the change of a call with one step, or of a call that must be refused.
    pub fn one(verdict: Result<Tree, Vec<Error>>, commits: Commits) -> Self {
        match verdict {
            Ok(tree) => Self { steps: vec![Rc::new(tree)], commits, refusal: Vec::new() },
            Err(refusal) => Self { steps: Vec::new(), commits, refusal },
        }
    }
}

/// End of a call.
pub enum Answer<T> {
    /// The call succeeded, as it should.
    Done(T),
    /// The call returned an error, and nothing changed.
    Refused,
    /// The session is over: power failed, the answer was "unknown", or something is wrong.
    Over,
}

/// A handle that the client keeps.
pub struct Handle {
    /// The handle.
    pub file: File,
    /// The model's file.
    pub id: Id,
    /// True if its changes are durable at once.
    pub is_durable: bool,
}

/// A mounted volume, and its expected state.
pub struct Session<'a, 'm, 'c> {
    /// The volume.
    pub fs: Fs<'m, 'c>,
    /// The model.
    pub oracle: &'a mut Oracle,
    /// Random numbers.
    pub rng: &'a mut fastrand::Rng,
    /// Log of the volume.
    pub log: &'a mut Log,
    /// Handles that are open.
    pub handles: Vec<Handle>,
    /// Events that commit.
    pub events: CommitOn,
    /// True if a page is lost for good. Every call may return `Corrupt`, and pages may be
    /// missing.
    pub is_damaged: bool,
    /// True if the last call met a fault and returned an error.
    pub was_struck: bool,
}

/// Errors for want of room.
const ROOM: [Error; 5] = [
    Error::NoSpace,
    Error::TooManyFiles,
    Error::TransactionTooLarge,
    Error::FileTooLarge,
    Error::AttributesTooLarge,
];

impl Session<'_, '_, '_> {
    /// Returns the medium.
    pub fn medium(&mut self) -> &mut Medium {
        self.fs.flash_mut()
    }

    /// Returns true if there is power.
    pub fn has_power(&self) -> bool {
        self.fs.flash().has_power()
    }

    /// Checks the volume without a repair, and logs each finding and each error.
    pub fn check(&mut self, scratch: &mut [u8]) {
        let mut findings = Vec::new();
        let checked =
            self.fs.check(scratch, false, &mut |finding| findings.push(format!("{finding:?}")));
        if !findings.is_empty() || checked.is_err() {
            self.log
                .find("a check finds something", format!("{} {checked:?}", findings.join(", ")));
        }
    }

    /// Returns the durability of a call. `is_durable` is true if the call's handle makes changes
    /// durable at once.
    pub fn commits(&self, is_durable: bool) -> Commits {
        if is_durable || self.events == CommitOn::EVERY_WRITE {
            Commits::Must
        } else if self.events == CommitOn::MANUAL {
            Commits::No
        } else {
            Commits::May
        }
    }

    /// Makes a call and judges its answer.
    pub fn call<T>(
        &mut self,
        name: impl Display,
        change: Change,
        run: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Answer<T> {
        let fired = self.fs.flash().fired();
        self.was_struck = false;
        let result = run(self);
        let is_struck = self.fs.flash().fired() != fired;
        self.log.trace(|| {
            let word = result.as_ref().err().map_or("ok".to_string(), |error| format!("{error:?}"));
            let fault = if is_struck {
                format!("  [{}]", self.fs.flash().last_fired())
            } else {
                String::new()
            };
            format!("{name}: {word}, changes {}{fault}", self.fs.has_changes())
        });
        self.log.count("calls");
        match result {
            Ok(value) => self.done(&name.to_string(), change, value),
            Err(error) => self.failed(&name.to_string(), change, error, is_struck),
        }
    }

    fn done<T>(&mut self, name: &str, change: Change, value: T) -> Answer<T> {
        if !change.refusal.is_empty() {
            self.log.find(
                "accepted what must fail",
                format!("{name} is Ok instead of {:?}", change.refusal),
            );
            return Answer::Over;
        }
        let before = self.oracle.current.clone();
        if let Some(after) = change.steps.last() {
            self.oracle.current = after.clone();
            self.oracle.pass(before.clone());
        }
        // A call that changed nothing need not commit the changes before it.
        let is_idle = change.steps.last().is_some_and(|after| *after == before);
        if (change.commits == Commits::Must && !is_idle) || !self.fs.has_changes() {
            // The pieces were durable one after the other.
            self.oracle.history.extend(change.steps.iter().rev().skip(1).cloned());
            self.oracle.settle(self.oracle.current.clone());
        } else if change.commits != Commits::No {
            self.oracle.allow(&before);
            change.steps.iter().rev().skip(1).for_each(|step| self.oracle.allow(step));
        }
        Answer::Done(value)
    }

    fn failed<T>(
        &mut self,
        name: &str,
        change: Change,
        error: Error,
        is_struck: bool,
    ) -> Answer<T> {
        let before = self.oracle.current.clone();
        if !self.has_power() {
            self.allow_interrupted(&change);
            return Answer::Over;
        }
        if adapt::is_unknown(error) {
            self.log.count("answers: unknown");
            self.oracle.allow(&before);
            change.steps.iter().for_each(|step| self.oracle.allow(step));
            if adapt::why_read_only(&self.fs).is_none() {
                self.log.find("unknown, and not read-only", format!("{name}: {error:?}"));
            }
            return Answer::Over;
        }
        if matches!(error, Error::ReadOnly | Error::Corrupt) && self.fs.flash().lost_a_flush() {
            // A flush failed, in an earlier call or in an earlier part of this call, and that
            // call seemed to take effect. Until the next mount, all writes since the flush before
            // may be unreadable.
            self.log.count("calls refused behind a lost flush");
            self.oracle.allow(&before);
            change.steps.iter().for_each(|step| self.oracle.allow(step));
            return Answer::Over;
        }
        let is_expected = change.refusal.contains(&error)
            || is_struck
            || (ROOM.contains(&error) && !name.starts_with("read "))
            || (self.is_damaged && matches!(error, Error::Corrupt | Error::ReadOnly));
        if !is_expected && change.refusal.is_empty() {
            self.log.find("an error without a cause", format!("{name}: {error:?}"));
            return Answer::Over;
        }
        if !is_expected {
            self.log
                .find(WRONG_ERROR, format!("{name}: {error:?} instead of {:?}", change.refusal));
        }
        if is_struck {
            self.log.count("calls that failed by a fault");
            self.was_struck = true;
            self.check_survivable(name, error);
        } else if ROOM.contains(&error) {
            self.log.count("calls that failed for want of room");
        }
        if change.commits != Commits::No {
            self.oracle.allow(&before);
        }
        // If the model refuses the call too, one look in eight suffices.
        if !is_struck && change.refusal.contains(&error) && self.rng.u32(..8) != 0 {
            return Answer::Refused;
        }
        self.judge(&format!("{name}: {error:?}"), &before, &change, is_struck)
    }

    /// Notes that power failed in a call: any of its steps may be there, if it commits.
    pub fn allow_interrupted(&mut self, change: &Change) {
        self.log.count("power cuts in a call");
        if change.commits != Commits::No {
            self.oracle.allow(&self.oracle.current.clone());
            change.steps.iter().for_each(|step| self.oracle.allow(step));
        }
    }

    /// Logs a finding if the volume did not survive one failed program or erase. It must survive
    /// as many as the settings allow, by writing elsewhere.
    fn check_survivable(&mut self, name: &str, error: Error) {
        if error == Error::MediaFailing && self.fs.config().failures > 0 {
            let fault = self.fs.flash().last_fired();
            self.log
                .find("one failure is not survived", format!("{name}: {error:?} after {fault}"));
        }
    }

    /// Judges the volume after an error: nothing may have changed.
    fn judge<T>(
        &mut self,
        name: &str,
        before: &Rc<Tree>,
        change: &Change,
        is_struck: bool,
    ) -> Answer<T> {
        if self.is_damaged {
            return self.judge_damaged(name, before, change);
        }
        let pieces = change.steps.len().saturating_sub(1);
        let Some(seen) = self.see(name) else {
            // Power failed in the look, so the number of written pieces stays open.
            if change.commits != Commits::No {
                change.steps[..pieces].iter().for_each(|step| self.oracle.allow(step));
            }
            return Answer::Over;
        };
        if self.shows(before, &seen) {
            return Answer::Refused;
        }
        if let Some(piece) = change.steps[..pieces].iter().find(|tree| self.shows(tree, &seen)) {
            let piece = piece.clone();
            self.oracle.current = piece.clone();
            if change.commits == Commits::Must || !self.fs.has_changes() {
                self.oracle.settle(piece);
            } else if change.commits == Commits::May {
                // Each piece is a call, which may begin with a commit of the changes before it.
                change
                    .steps
                    .iter()
                    .take_while(|step| **step != piece)
                    .for_each(|step| self.oracle.allow(step));
                self.oracle.allow(&piece);
            }
            return Answer::Refused;
        }
        let cause = if is_struck { self.fs.flash().last_fired() } else { "no fault".to_string() };
        if change.steps.last().is_some_and(|after| self.shows(after, &seen)) {
            self.log.find("an error, and it took effect", format!("{name} ({cause})"));
            return Answer::Over;
        }
        let undone = self.oracle.durable.iter().rev().find(|tree| self.shows(tree, &seen)).cloned();
        if let Some(tree) = undone {
            self.log.find(
                if is_struck { UNDONE_BY_FAULT } else { UNDONE_FOR_ROOM },
                format!("{name} ({cause})"),
            );
            self.oracle.current = tree;
            return Answer::Refused;
        }
        let from_before = before.difference(&seen.tree);
        let from_after = change.steps.last().map_or(String::new(), |after| {
            format!(", and not as after: {}", after.difference(&seen.tree))
        });
        self.log.find(
            "an error, and a mixture",
            format!(
                "{name} ({cause}): not as before: {from_before} {}{from_after}",
                self.other_handles(before, &seen)
            ),
        );
        Answer::Over
    }

    /// Judges a volume with missing pages after an error. All readable data must be as before, or
    /// as after some pieces of the call.
    fn judge_damaged<T>(&mut self, name: &str, before: &Rc<Tree>, change: &Change) -> Answer<T> {
        let piece = steadyfs::media::Flash::geometry(self.fs.flash()).page_bytes as usize;
        let partial = view::look_tolerantly(&mut self.fs, piece);
        let pieces = change.steps.len().saturating_sub(1);
        let mut fitting: Vec<Rc<Tree>> = std::iter::once(before)
            .chain(&change.steps[..pieces])
            .filter(|tree| self.fits(&partial, tree))
            .cloned()
            .collect();
        let is_after = change.steps.last().is_some_and(|after| self.fits(&partial, after));
        match fitting.len() {
            0 if is_after => {
                self.log.find("an error, and it took effect", format!("{name} (a page is lost)"));
                Answer::Over
            }
            0 => {
                let is_undone = self.oracle.durable.iter().any(|tree| self.fits(&partial, tree));
                let class = if is_undone { UNDONE_BY_FAULT } else { "an error, and a mixture" };
                self.log.find(class, format!("{name} (a page is lost)"));
                Answer::Over
            }
            1 if !is_after && fitting[0] == *before => Answer::Refused,
            _ => {
                // Several states fit, or pieces are there: the client starts again.
                fitting.extend(change.steps.last().filter(|_| is_after).cloned());
                if change.commits != Commits::No {
                    // Each piece is a call, which may begin with a commit of the changes before
                    // it.
                    let last = fitting.last().expect("one fits");
                    change
                        .steps
                        .iter()
                        .take_while(|step| *step != last)
                        .for_each(|step| self.oracle.allow(step));
                    fitting.iter().for_each(|tree| self.oracle.allow(tree));
                }
                Answer::Over
            }
        }
    }

    fn fits(&self, partial: &Partial, tree: &Rc<Tree>) -> bool {
        let oracle = Oracle { durable: vec![tree.clone()], ..Oracle::new() };
        matches!(loss::judge(partial, &oracle), Verdict::Whole | Verdict::Missing { .. })
    }

    /// Reads everything, and again if a fault struck meanwhile. Returns `None` if power failed,
    /// or if something cannot be read.
    fn see(&mut self, name: &str) -> Option<Seen> {
        loop {
            let fired = self.fs.flash().fired();
            let looked = view::look(&mut self.fs).and_then(|tree| {
                let handles = self
                    .handles
                    .iter_mut()
                    .map(|handle| contents(&mut self.fs, handle))
                    .collect::<Result<_, _>>();
                Ok(Seen {
                    tree,
                    handles: handles
                        .map_err(|error| Trouble::Error("read of a handle".to_string(), error))?,
                })
            });
            match looked {
                Ok(seen) => return Some(seen),
                Err(_) if !self.has_power() => {
                    self.allow_interrupted(&Change::none(Commits::No));
                    return None;
                }
                Err(_) if self.fs.flash().fired() != fired => {}
                Err(Trouble::Error(place, error)) => {
                    self.log.find("unreadable", format!("after {name}: {place}: {error:?}"));
                    return None;
                }
                Err(Trouble::Odd(what)) => {
                    self.log.find("counts and entries disagree", format!("after {name}: {what}"));
                    return None;
                }
            }
        }
    }

    /// Describes the handles whose bytes differ from the model.
    fn other_handles(&self, tree: &Tree, seen: &Seen) -> String {
        let words = self.handles.iter().zip(&seen.handles).filter_map(|(handle, bytes)| {
            let wanted = view::wanted_of(tree, handle.id);
            let word = |bytes: Option<&[u8]>| {
                bytes
                    .map_or("nothing, as it is stale".to_string(), |b| format!("{} bytes", b.len()))
            };
            (wanted != bytes.as_deref()).then(|| {
                format!(
                    "a handle of #{} shows {}, wanted {}",
                    handle.id,
                    word(bytes.as_deref()),
                    word(wanted)
                )
            })
        });
        words.collect::<Vec<_>>().join("; ")
    }

    fn shows(&self, tree: &Tree, seen: &Seen) -> bool {
        tree.shows_as(&seen.tree)
            && self
                .handles
                .iter()
                .zip(&seen.handles)
                .all(|(handle, bytes)| view::wanted_of(tree, handle.id) == bytes.as_deref())
    }

    /// Checks after a mount that the volume shows one of the possible states. If `is_kept` and
    /// the volume is not read-only, this state stays.
    pub fn verify_mount(&mut self, is_kept: bool) -> bool {
        let Some(seen) = self.see("a mount") else { return false };
        match self.oracle.durable.iter().rev().find(|tree| tree.shows_as(&seen.tree)).cloned() {
            Some(tree) => {
                self.oracle.current = tree.clone();
                if is_kept && adapt::why_read_only(&self.fs).is_none() {
                    self.oracle.settle(tree);
                }
                true
            }
            None => {
                let newest = self.oracle.durable.last().expect("there is one").clone();
                for tree in &self.oracle.durable {
                    self.log.trace(|| format!("may be: {}", tree.difference(&seen.tree)));
                }
                let class = if self.oracle.was_once(&seen.tree) {
                    "old state after a mount"
                } else {
                    "wrong content after a mount"
                };
                self.log.find(class, newest.difference(&seen.tree));
                false
            }
        }
    }

    /// Checks that the mounted volume equals the model.
    pub fn verify(&mut self, name: &str) -> bool {
        let Some(seen) = self.see(name) else { return false };
        if self.shows(&self.oracle.current, &seen) {
            return true;
        }
        self.log.find(
            "wrong content",
            format!("{name}: {}", self.oracle.current.difference(&seen.tree)),
        );
        false
    }

    /// Calls `commit`.
    pub fn commit(&mut self) -> Answer<()> {
        let change = Change { steps: vec![], commits: Commits::Must, refusal: vec![] };
        self.call("commit", change, |session| session.fs.commit())
    }

    /// Calls `rollback`.
    pub fn rollback(&mut self) -> Answer<()> {
        // If only one state is durable, a rollback brings it back.
        let steps = if let [only] = &self.oracle.durable[..] { vec![only.clone()] } else { vec![] };
        let change = Change { steps, commits: Commits::No, refusal: vec![] };
        let fired = self.fs.flash().fired();
        let result = self.fs.rollback();
        let is_struck = self.fs.flash().fired() != fired;
        self.log
            .trace(|| format!("rollback: {result:?}{}", if is_struck { "  [struck]" } else { "" }));
        if let Err(error) = result {
            return self.failed("rollback", change, error, is_struck);
        }
        if self.is_damaged {
            // If pages are missing, a look cannot decide between several states.
            let [tree] = &self.oracle.durable[..] else { return Answer::Over };
            self.oracle.current = tree.clone();
            return Answer::Done(());
        }
        let Some(seen) = self.see("rollback") else { return Answer::Over };
        let fitting: Vec<Rc<Tree>> =
            self.oracle.durable.iter().filter(|tree| self.shows(tree, &seen)).cloned().collect();
        match &fitting[..] {
            [tree] => {
                self.oracle.current = tree.clone();
                self.oracle.settle(tree.clone());
                Answer::Done(())
            }
            // Two empty files of one name look the same, so several states may fit.
            [_, ..] => Answer::Over,
            [] => {
                let newest = self.oracle.durable.last().expect("there is one").clone();
                let difference = format!(
                    "{} {}",
                    newest.difference(&seen.tree),
                    self.other_handles(&newest, &seen)
                );
                self.log.find("wrong content after a rollback", difference);
                Answer::Over
            }
        }
    }

    /// Unmounts the volume, as a program does that ends well. Returns a failed unmount, which the
    /// volume must judge once it has the medium back.
    pub fn unmount(self) -> Option<FailedUnmount> {
        let fired = self.fs.flash().fired();
        let commits = self.events.contains(CommitOn::UNMOUNT);
        match self.fs.unmount() {
            Ok(_) => {
                self.log.trace(|| "unmount: ok".to_string());
                if commits {
                    self.oracle.settle(self.oracle.current.clone());
                }
                None
            }
            Err(error) => {
                self.log.trace(|| format!("unmount: {error:?}"));
                self.log.count("unmounts that failed");
                Some(FailedUnmount { error, commits, fired })
            }
        }
    }
}

/// An unmount that returned an error.
pub struct FailedUnmount {
    /// The error.
    pub error: Error,
    /// True if the unmount was to commit.
    pub commits: bool,
    /// Number of faults that had struck before.
    pub fired: u32,
}

/// Result of a look at everything.
struct Seen {
    tree: Tree,
    handles: Vec<Option<Vec<u8>>>,
}

/// Returns the bytes that a handle shows, or `None` if the handle is stale.
fn contents(fs: &mut Fs<'_, '_>, handle: &mut Handle) -> Result<Option<Vec<u8>>, Error> {
    let size = match fs.size(&mut handle.file) {
        Ok(size) => size,
        Err(Error::Stale) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut data = vec![0x5A; size as usize + 1];
    let length = fs.read(&mut handle.file, 0, &mut data)?;
    data.truncate(length);
    Ok(Some(data))
}
