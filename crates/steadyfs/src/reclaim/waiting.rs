//! Moves that wait until they fill a group: see `group` of [`ftl`](crate::ftl).

use crate::features::GROUPS;

/// How urgent or suitable a group of moves is at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// A stream of writes is in progress, so a group would interrupt it.
    Streaming,
    /// A flush has ended the stream.
    Flushed,
    /// The victim must become empty soon, at any cost.
    Now,
    /// All due moves are made now, because the reserve is used up.
    Last,
}

/// Returns the largest number of moves of a call in which `moves` moves are due. A group has `many`
/// moves.
pub(super) fn made_at_most(moves: u32, many: u32) -> u32 {
    if many > 1 { moves.max(1).next_multiple_of(many) } else { moves }
}

/// Due moves of the victim that are not made yet. In a build without the feature for groups, each
/// move is made when it is due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeferredMoves([u32; GROUPS as usize]);

impl DeferredMoves {
    /// Returns the number of waiting moves.
    pub fn moves(&self) -> u32 {
        self.0.first().copied().unwrap_or(0)
    }

    /// Adds `moves` to the due moves of a victim with `live` live frames. Returns the number of
    /// moves to make now.
    ///
    /// A group of `many` moves is made if `time` is suitable, or if the victim has no further
    /// frames to fill the group. If two groups are due, groups are made until less than two are
    /// left. So a call that adds `m` moves makes at most `m` moves, rounded up to whole groups.
    pub fn defer(&mut self, moves: u32, live: u32, many: u32, time: Urgency) -> u32 {
        let Some(waiting) = self.0.first_mut().filter(|_| many > 1) else { return moves };
        let all = *waiting + moves;
        let due = match time {
            Urgency::Last => all,
            _ if all >= 2 * many => (all + 1 - 2 * many).next_multiple_of(many),
            Urgency::Now => all.min(many),
            // The victim has no more frames to fill the group.
            _ if all >= live => all.min(many),
            // The limit is above one group. So if a group is made because two are due, no other
            // group follows right after it.
            Urgency::Flushed if all >= many + many / 4 => many,
            Urgency::Flushed | Urgency::Streaming => 0,
        };
        *waiting = all - due;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time() -> impl Strategy<Value = Urgency> {
        prop_oneof![Just(Urgency::Streaming), Just(Urgency::Flushed), Just(Urgency::Now)]
    }

    proptest! {
        /// Less than two groups wait at any time. No call makes more moves than its own due moves,
        /// rounded up to whole groups.
        #[test]
        fn a_call_makes_no_more_than_its_own_moves_counted_up(
            calls in prop::collection::vec((0u32..40, 0u32..100, time()), 1..60),
            many in 2u32..17,
        ) {
            let mut group = DeferredMoves::default();
            let (mut due, mut made) = (0, 0);
            for (moves, live, time) in calls {
                let now = group.defer(moves, live, many, time);
                (due, made) = (due + moves, made + now);
                prop_assert!(now <= made_at_most(moves, many), "{now} of {moves}");
                prop_assert!(group.moves() < 2 * many && made + group.moves() == due);
            }
        }
    }

    #[test]
    fn alone_each_move_is_made_when_it_is_owed() {
        let mut group = DeferredMoves::default();
        assert_eq!(
            [(3, 9), (0, 9), (5, 1)].map(|(moves, live)| group.defer(
                moves,
                live,
                1,
                Urgency::Streaming
            )),
            [3, 0, 5]
        );
    }

    #[test]
    fn a_group_waits_for_a_flush_until_there_are_two_of_them() {
        let mut group = DeferredMoves::default();
        let mut defer = |moves, time| group.defer(moves, 900, 16, time);
        assert_eq!(
            [defer(19, Urgency::Flushed), defer(5, Urgency::Streaming), defer(0, Urgency::Flushed)],
            [0, 0, 16]
        );
        assert_eq!(
            [
                defer(23, Urgency::Streaming),
                defer(1, Urgency::Streaming),
                defer(3, Urgency::Flushed)
            ],
            [0, 16, 0]
        );
        assert_eq!(defer(3, Urgency::Last), 22);
    }
}
