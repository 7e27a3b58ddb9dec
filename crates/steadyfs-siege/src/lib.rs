//! A besieger of SteadyFS that knows its public documentation and nothing else.
//!
//! It has a chip and a card of its own ([`chip`], [`card`]; [`medium`] is either), a model of its own ([`tree`], [`oracle`]), and campaigns, each drawn from a seed:
//!
//! | campaign | what the world does | what must hold |
//! |---|---|---|
//! | [`transient`](campaign::transient) | one read, program, erase or flush fails once, in a call or in a mount | the call's error says that nothing changed; the open transaction and the volume stay |
//! | [`lost`](campaign::lost) | each page in turn is lost for good, mounted and not | what can be read is right, or the mount says that something is missing |
//! | [`chains`](campaign::chains) | forty mounts in a row are cut, every cut page unsteady | the volume is there, as it was |
//! | [`lives`](campaign::lives) | cuts all the time, torn pages with tags that read as anything, first pages that cannot be read once | as above, also in read-only mounts |
//! | [`groups`](campaign::groups) | the same where a command programs several pages of a chip, of which a cut leaves any | as above |
//! | [`ranges`](campaign::ranges) | a card has sectors that take no writes, from the format on or later; its driver reports them or not | as above. The volume takes changes: no mount and no row of calls is refused |
//! | [`repair`](campaign::repair) | each page in turn is lost, or bits of it flip; the volume is repaired, perhaps with cuts or a read that fails once, and used again | nothing else is lost, owned twice or leaked; a second repair changes nothing |
//!
//! On a card (`--medium card`) all of them run. A read that fails is a command of the card, an
//! erase that fails is a discard, a program that fails is a write of sectors, with
//! [`Failure::Device`](steadyfs::media::Failure::Device) alone. Such a failure passes. Sectors that
//! fail for good are those of `ranges`. A sector is never unsteady; where a chip's page would be,
//! it is damaged or cannot be read. `lives` hides a header of a block just begun in place of its
//! first page, two times in three, for up to 23 looks, and that excuses no call. `lost` takes all
//! of a page, its tag, or a sector of its data. Where the cache reorders, what the last two flushes
//! brought may be taken for a cut.
//!
//! `cargo run --release -p steadyfs-siege -- transient --seed 1` runs one; each failure prints the command that replays it.

pub mod adapt;
pub mod campaign;
pub mod card;
pub mod chip;
pub mod client;
pub mod fate;
pub mod fault;
pub mod log;
pub mod loss;
pub mod medium;
pub mod oracle;
pub mod page;
pub mod session;
pub mod shape;
pub mod strike;
pub mod tree;
pub mod view;
pub mod volume;
pub mod world;
