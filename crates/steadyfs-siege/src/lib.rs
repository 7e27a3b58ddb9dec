//! A besieger of SteadyFS, written from its public documentation alone.
//!
//! It has its own chip and its own card ([`chip`], [`card`]; [`medium`] is either), its own model
//! ([`tree`], [`oracle`]), and campaigns. Half of the chips program bytes. Each campaign is
//! drawn from a seed:
//!
//! - [`transient`](campaign::transient): one read, program, erase or flush fails once, in a call or
//!   in a mount. Required: the call returns an error and nothing has changed; the open transaction
//!   and the volume stay.
//! - [`lost`](campaign::lost): each page in turn is lost for good, mounted and not. Required: all
//!   readable data is right, or the mount reports that something is missing.
//! - [`chains`](campaign::chains): forty mounts in a row are cut, every cut page unsteady.
//!   Required: the volume is there, as it was.
//! - [`lives`](campaign::lives): cuts all the time, torn pages with tags that read as anything,
//!   first pages that cannot be read once. Required: as above, also in read-only mounts.
//! - [`groups`](campaign::groups): the same on a chip with commands for several pages; a cut leaves
//!   any of them. Required: as above.
//! - [`ranges`](campaign::ranges): a card has sectors that take no writes, from the format on or
//!   later; its driver reports them or not. Required: as above. The volume takes changes: no mount
//!   and no row of calls is refused.
//! - [`bits`](campaign::bits): one bit flips in each page of volumes on NOR. Required: as in
//!   `lost`.
//! - [`newest`](campaign::newest): small volumes that ended well lose each page in turn, or one bit
//!   of it; they are repaired and mounted again. Required: each file is as it was, or an error, or
//!   missing and named.
//! - [`ends`](campaign::ends): files grow side by side and are cut, and each journal page is lost.
//!   Required: a repair keeps each file whose bytes can all be read.
//! - [`repair`](campaign::repair): each page in turn is lost, or bits of it flip; the volume is
//!   repaired, perhaps with cuts or a read that fails once, and used again. Required: nothing else
//!   is lost, owned twice or leaked; a second repair changes nothing.
//!
//! Three campaigns vary `repair`:
//!
//! - `repair-cuts`: power is cut in each program and erase.
//! - `repair-faults`: each program and each erase fails once.
//! - `repair-reads`: each read fails once, on a sound volume.
//!
//! All campaigns also run on a card (`--medium card`), with these differences:
//!
//! - A failed read is a failed command of the card. A failed erase is a discard, and a failed
//!   program is a write of sectors. The only error is
//!   [`Failure::Device`](steadyfs::media::Failure::Device). Such a failure passes. Only `ranges`
//!   has sectors that fail for good.
//! - A sector is never unsteady. In place of an unsteady page of a chip, a sector is damaged or
//!   cannot be read.
//! - `lives` hides the first page of a block just begun. Two times in three it hides a header of
//!   the block instead, for up to 23 looks. A hidden header excuses no call.
//! - `lost` takes a whole page, its tag, or a sector of its data.
//! - If the cache reorders, a mount may take the data of the last two flushes for the result of a
//!   cut.
//!
//! `cargo run --release -p steadyfs-siege -- transient --seed 1` runs one campaign. Each failure
//! prints the command that replays it.

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
