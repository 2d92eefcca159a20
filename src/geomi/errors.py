"""The exceptions geomi raises; a page's failure is an `Outcome`, never one of these.

    GeomiError                everything we raise on purpose
    ├── ConfigError           a setting, flag or file is wrong: nothing was started     exit 2
    │   ├── FieldRefused      one field of a request is wrong, and which
    │   ├── ExtraMissing      an extra is needed that is not installed
    │   ├── WrongState        the operation is impossible in the present state
    │   └── NameTaken         another thing has this name
    ├── UnknownName           a job, profile or page that does not exist                exit 2
    ├── KeyRefused            the caller has no valid key                               exit 2
    ├── NotAllowed            the key is valid, and may not do this                     exit 2
    ├── QuotaReached          a tenant has as much as it may have                       exit 2
    ├── StoreError            the data directory or database cannot be used             exit 4
    │   ├── StoreMissing      there is no data of geomi at this place
    │   ├── StoreTooNew       written by a newer geomi
    │   ├── StoreBusy         another process holds a lock or lease that is needed
    │   ├── BytesMissing      a segment of the archive is missing, or not yet uploaded
    │   └── StoreFull         no space left: nothing of the last batch was committed    exit 3
    ├── ClusterError          the cluster of a fleet, or one of its actors, does not answer  exit 4
    ├── SeedError             a raw file or a domain cannot be processed, and of which kind that is
    ├── SeedsDead             work on a dataset ended in dead letters                   exit 8
    ├── LeaseLost             a settlement came with a token that is no longer valid
    ├── NothingFetched        no start URL could be reached                             exit 5
    ├── RegionUnserved        what is left needs workers of a region without any        exit 5
    ├── BatchFailed           more URLs of a batch failed than the job tolerates        exit 5
    ├── ModelError            a language model did not answer, or not usably            exit 7
    │   └── ModelBusy         a later try may succeed
    │       └── ModelThrottled  it answered that it is overloaded
    ├── SourceError           an external source refused, or answered unusably          exit 7
    │   ├── LibraryUnknown    it has no library of this id
    │   └── SourceBusy        a later try may succeed
    └── RuleBroken            log or store show what must not be                        exit 6

Each has the exit code of the command line, so that the command line only translates.
"""

from __future__ import annotations

DISTRIBUTION = "geomi-crawler"  # what pip calls us: `geomi` is a stranger's package


class GeomiError(Exception):
    """Anything geomi refuses to do; the message names the thing, the value and the remedy."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(GeomiError):
    """A setting, flag or file is wrong; nothing was started."""

    exit_code = 2


class FieldRefused(ConfigError):
    """One field of a request is wrong."""

    def __init__(self, message: str, *, field: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class ExtraMissing(ConfigError):
    """A library is needed that one of our extras brings.

    Args:
        needs: which library it is, as in `parquet needs pyarrow`.
    """

    def __init__(self, needs: str, *, extra: str) -> None:
        hint = f"pip install '{DISTRIBUTION}[{extra}]', or in a checkout: pip install '.[{extra}]'"
        super().__init__(f"{needs}, which is not installed", hint=hint)


class WrongState(ConfigError):
    """What was asked for cannot be done to this thing now."""


class NameTaken(ConfigError):
    """Something of this name is there already."""


class UnknownName(GeomiError):
    """Something was named that does not exist."""

    exit_code = 2


class KeyRefused(GeomiError):
    """Whoever asks has no valid key."""

    exit_code = 2


class NotAllowed(GeomiError):
    """The key is valid, and may not do this."""

    exit_code = 2


class QuotaReached(GeomiError):
    """A tenant has as much as it may have; later there may be room."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float = 60.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class StoreError(GeomiError):
    """The data directory or the database cannot be used."""

    exit_code = 4


class StoreMissing(StoreError):
    """There is no store where one was to be looked at."""


class StoreTooNew(StoreError):
    """The store was written by a newer geomi."""


class StoreBusy(StoreError):
    """Another process holds what we need."""


class BytesMissing(StoreError):
    """A segment of the archive is not there; a worker elsewhere may still have to send it."""


class StoreFull(StoreError):
    """No space is left; nothing of the last batch was committed."""

    exit_code = 3


class ClusterError(GeomiError):
    """The cluster of a fleet, or one of its actors, does not answer."""

    exit_code = 4


class LeaseLost(GeomiError):
    """A settlement came with a fencing token that is no longer valid."""


class SeedError(GeomiError):
    """A raw file or a domain cannot be processed; `kind` is one of `ErrorType`."""

    def __init__(self, message: str, *, kind: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class SeedsDead(GeomiError):
    """Work on a dataset is over, and some of it is in the dead-letter queue."""

    exit_code = 8


class NothingFetched(GeomiError):
    """No seed could be reached."""

    exit_code = 5


class RegionUnserved(GeomiError):
    """What is left of a crawl needs a worker of a region, and none is alive."""

    exit_code = 5


class BatchFailed(GeomiError):
    """More URLs of a batch failed than the job tolerates."""

    exit_code = 5


class RuleBroken(GeomiError):
    """The log of requests, or what is stored, shows that something was broken that must hold."""

    exit_code = 6


class ModelError(GeomiError):
    """A language model could not be asked, or what it answered makes no sense."""

    exit_code = 7


class ModelBusy(ModelError):
    """A language model that may be asked again later."""


class ModelThrottled(ModelBusy):
    """A server of models that has too much to do, and says so."""


class SourceError(GeomiError):
    """A source of external documents refuses what it was asked, and would do so again."""

    exit_code = 7


class LibraryUnknown(SourceError):
    """A source of external documents has no library of this id."""


class SourceBusy(SourceError):
    """A source of external documents that may be asked again; `retry_after_s` if it says when."""

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


def first_error(failures: BaseExceptionGroup[GeomiError]) -> GeomiError:
    """Return the first leaf of a group of errors."""
    leaf: BaseException = failures
    while isinstance(leaf, BaseExceptionGroup):
        leaf = leaf.exceptions[0]
    assert isinstance(leaf, GeomiError)
    return leaf
