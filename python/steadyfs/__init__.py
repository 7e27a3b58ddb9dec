"""SteadyFS for Python: a flash file system that keeps time.

- `Image`: volumes in images of chips and cards, and in memory.
- ``steadyfs://`` in whatever takes the paths of fsspec: see `steadyfs.fsspec`.

>>> import steadyfs
>>> with steadyfs.Image.blank() as image, image.open("hello", "w") as file:
...     file.write("to be read on the device")
24
"""

from steadyfs._native import LabError, Stat, __version__, devices
from steadyfs.files import RawFile
from steadyfs.image import Image
from steadyfs.state import Check, Counters, Health, Usage

__all__ = ["Check", "Counters", "Health", "Image", "LabError", "RawFile", "Stat", "Usage", "__version__", "devices"]
