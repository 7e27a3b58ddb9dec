"""Figures of a volume and its medium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from steadyfs._native import Volume


@dataclass(frozen=True)
class Usage:
    """Room of a volume."""

    usable_bytes: int
    """Room for file data, taken and free."""
    free_bytes: int
    """Room for writes, including the pages of removed files; 0 if no write finds a page."""
    available_bytes: int
    """Room that one file gets for certain, whatever else is written.

    This is the free room, less the pages that keep track of the file.
    """
    logical_bytes: int
    """Bytes of the unit in which room is allocated."""
    files_max: int
    """Most files and directories."""
    files: int
    """Number of files, directories, long names and sets of attributes."""

    @property
    def used_bytes(self) -> int:
        """Room that is not free."""
        return self.usable_bytes - self.free_bytes

    @classmethod
    def of(cls, volume: Volume) -> Usage:
        """Read the usage of a volume."""
        return cls(**volume.usage())


@dataclass(frozen=True)
class Health:
    """Health of a chip, as `steady health` reports it."""

    blocks: int
    """Erase blocks of the chip."""
    data_blocks: int
    """Blocks that hold data, or may hold data. The erases are counted over these blocks."""
    bad_blocks: int
    """Bad blocks, including factory bad blocks."""
    spare_blocks: int
    """Blocks that may still go bad before the volume shrinks."""
    weak_blocks: int
    """Blocks whose data will be moved, since their pages needed many corrections."""
    erases_min: int
    """Erases of the least worn block."""
    erases_max: int
    """Erases of the most worn block."""
    erases_total: int
    """Erases of all blocks for data."""
    worn_out: bool
    """True if so many blocks are bad that the volume can only be read."""
    unsettled: bool
    """True if a mount for writing may show another last commit: the volume was not unmounted."""
    damage: Optional[str]
    """The loss, or None: ``root``, ``record``, ``journal``, ``leaf``, ``tables`` or ``repair``."""
    endurance: Optional[int]
    """Erases that a block takes; None if no device was named."""

    @property
    def erases_mean(self) -> float:
        """Erases of a block on average."""
        return self.erases_total / max(1, self.data_blocks)

    @property
    def life_used(self) -> Optional[float]:
        """Share of the endurance that is used, from 0 to 1; None if the endurance is unknown."""
        return None if self.endurance is None else min(1.0, self.erases_mean / self.endurance)

    @classmethod
    def of(cls, volume: Volume) -> Health:
        """Read the health of a volume."""
        found = volume.health()
        return cls(
            blocks=found["blocks"],
            data_blocks=found["data_blocks"],
            bad_blocks=found["bad_blocks"],
            spare_blocks=found["spare_blocks"],
            weak_blocks=found["weak_blocks"],
            erases_min=found["erases_min"],
            erases_max=found["erases_max"],
            erases_total=found["erases_total"],
            worn_out=bool(found["worn_out"]),
            unsettled=bool(found["unsettled"]),
            damage=found["damage"],
            endurance=found["endurance"],
        )


@dataclass(frozen=True)
class Counters:
    """Operations of the chip since the image was opened."""

    reads: int
    """Reads of a page, or of its tag."""
    programs: int
    """Programs of a page, including copies inside the chip."""
    erases: int
    """Erases of a block."""
    time_ns: int
    """Time of these operations in nanoseconds, by the named device or by round times."""

    @classmethod
    def of(cls, volume: Volume) -> Counters:
        """Read the counters of a volume."""
        return cls(**volume.counters())


@dataclass(frozen=True)
class Check:
    """Scope and findings of a check."""

    files: int
    """Files."""
    directories: int
    """Directories, the root not counted."""
    pages: int
    """Logical pages of files and directories."""
    mended: int
    """Findings that were mended."""
    removed_bytes: int
    """Bytes of removed files, which the next changes free."""
    damage: Optional[str]
    """The loss that the mount found, in one word; None without loss."""
    findings: tuple[str, ...]
    """Findings, one sentence each."""

    @property
    def sound(self) -> bool:
        """True if there are no findings and no damage."""
        return not self.findings and self.damage is None

    @classmethod
    def of(cls, volume: Volume, repair: bool) -> Check:
        """Check a volume."""
        found = volume.check(repair)
        return cls(
            files=found["files"],
            directories=found["directories"],
            pages=found["pages"],
            mended=found["mended"],
            removed_bytes=found["removed_bytes"],
            damage=volume.health()["damage"],
            findings=tuple(found["findings"]),
        )
