//! The calls that a wrapper passes on unchanged.

/// Implements methods of [`Flash`](steadyfs::media::Flash) by a call of the medium in the field
/// `inner`. The arguments are the methods' names.
macro_rules! forward {
    ($($method:ident)*) => { $(forward!(@ $method);)* };
    (@ geometry) => {
        fn geometry(&self) -> steadyfs::media::Geometry {
            self.inner.geometry()
        }
    };
    (@ timing) => {
        fn timing(&self) -> steadyfs::media::Timing {
            self.inner.timing()
        }
    };
    (@ reads_many) => {
        fn reads_many(&self) -> bool {
            self.inner.reads_many()
        }
    };
    (@ corrected) => {
        fn corrected(&mut self) -> steadyfs::media::Corrected {
            self.inner.corrected()
        }
    };
    (@ can_copy) => {
        fn can_copy(&self) -> bool {
            self.inner.can_copy()
        }
    };
    (@ sync) => {
        fn sync(&mut self) -> Result<(), steadyfs::media::Failure> {
            self.inner.sync()
        }
    };
    (@ reorders) => {
        fn reorders(&self) -> bool {
            self.inner.reorders()
        }
    };
    (@ hides_damage) => {
        fn hides_damage(&self) -> bool {
            self.inner.hides_damage()
        }
    };
    (@ is_bad) => {
        fn is_bad(
            &mut self,
            block: steadyfs::media::BlockIndex,
        ) -> Result<bool, steadyfs::media::Failure> {
            self.inner.is_bad(block)
        }
    };
    (@ mark_bad) => {
        fn mark_bad(
            &mut self,
            block: steadyfs::media::BlockIndex,
        ) -> Result<(), steadyfs::media::Failure> {
            self.inner.mark_bad(block)
        }
    };
}

pub(super) use forward;
