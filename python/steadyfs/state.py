"""What is told of a volume and its medium."""

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
    """Room that writes find: 0 if no write finds a page. The pages of removed files are part of it."""
    available_bytes: int
    """What one file gets for certain, whatever else is written: free without the pages that keep track of it."""
    logical_bytes: int
    """Bytes of the unit in which room is taken."""
    files_max: int
    """Files and directories that there may be."""
    files: int
    """Files, directories, long names and sets of attributes that there are."""

    @property
    def used_bytes(self) -> int:
        """Room that is not free."""
        return self.usable_bytes - self.free_bytes

    @classmethod
    def of(cls, volume: Volume) -> Usage:
        """Ask a volume."""
        return cls(**volume.usage())


@dataclass(frozen=True)
class Health:
    """How a chip is doing, as `steady health` tells it."""

    blocks: int
    """Erase blocks of the chip."""
    data_blocks: int
    """Those that hold data or may; the erases are theirs."""
    bad_blocks: int
    """Bad blocks, those of the manufacturer included."""
    spare_blocks: int
    """Blocks that may still go bad before the volume shrinks."""
    weak_blocks: int
    """Blocks whose data is to move, since their pages needed many corrections."""
    erases_min: int
    """Erases of the least worn block."""
    erases_max: int
    """Erases of the most worn block."""
    erases_total: int
    """Erases of all blocks for data."""
    worn_out: bool
    """Whether so many blocks are bad that the volume can only be read."""
    unsettled: bool
    """Whether a mount for writing may show the last commit otherwise: the volume was not unmounted."""
    damage: Optional[str]
    """What is lost: ``root``, ``record``, ``journal``, ``leaf``, ``tables`` or ``repair``; nothing where all is there."""
    endurance: Optional[int]
    """Erases that a block takes; nothing where no device was named."""

    @property
    def erases_mean(self) -> float:
        """Erases of a block on average."""
        return self.erases_total / max(1, self.data_blocks)

    @property
    def life_used(self) -> Optional[float]:
        """Share of the erases that are used, from 0 to 1; nothing where nobody told how many there are."""
        return None if self.endurance is None else min(1.0, self.erases_mean / self.endurance)

    @classmethod
    def of(cls, volume: Volume) -> Health:
        """Ask a volume."""
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
    """What the chip has done since the image was opened."""

    reads: int
    """Reads of a page, or of its tag."""
    programs: int
    """Programs of a page, those inside the chip included."""
    erases: int
    """Erases of a block."""
    time_ns: int
    """Time that this takes on the chip, in nanoseconds: that of the device that was named, or of round figures."""

    @classmethod
    def of(cls, volume: Volume) -> Counters:
        """Ask a volume."""
        return cls(**volume.counters())


@dataclass(frozen=True)
class Check:
    """What a check looked at, and what it found."""

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
    """What the mount found missing, in one word; nothing where all is there."""
    findings: tuple[str, ...]
    """What is wrong, one sentence each."""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
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
