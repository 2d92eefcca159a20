"""Make the keys of a dataset's files from partitions and domains, and read them back.

Rules kept:
- A name that comes from outside is checked before it is part of a key: countries are two letters,
  categories and dates have one form each, and a domain is sanitised (G-14). No name leads out of
  its folder.
- A key that geomi would have written differently is ignored (SED-19, C-77).
"""

from __future__ import annotations

import re
from datetime import date as Date

from geomi.errors import FieldRefused
from geomi.model.dataset.seed import Partition, PartitionFilter
from geomi.url.host import MAX_NAME_CHARS, domain_name

RAW, PROD, REJECTS = "raw/", "prod/", "rejects/"
METADATA, ROBOTS, SITEMAP = "domain_metadata.json", "robots.txt", "sitemap.xml"
RAW_METADATA = "raw_metadata.json"
RAW_FORM = "raw/country=CC/category=NAME/date=YYYY-MM-DD/raw_0001.json"  # for people
HOSTS = "hosts"  # of a contract: copies of what its other hosts have
SUCCESS = ".success"
MAX_CATEGORY_CHARS = 64
MAX_NUMBER_DIGITS = 9  # of a raw file
MAX_SHOWN_CHARS = 80  # of a refused value


def checked_partition(country: str, category: str, date: str) -> Partition:
    """Check the parts of a partition; one that could not be part of a key is refused."""
    return Partition(_country(country), _category(category), _date(date))


def checked_filter(
    country: str | None = None, category: str | None = None, date: str | None = None
) -> PartitionFilter:
    """Check which partitions somebody asks for (SED-17)."""
    return PartitionFilter(
        None if country is None else _country(country),
        None if category is None else _category(category),
        None if date is None else _date(date),
    )


def raw_path(partition: Partition, number: int) -> str:
    """Name a raw file (SED-38)."""
    if not 0 <= number < 10**MAX_NUMBER_DIGITS:
        raise _refused("number", str(number), f"0 to {10**MAX_NUMBER_DIGITS - 1}")
    return f"{RAW}{_folder(partition)}raw_{number:04}.json"


def raw_prefix(which: PartitionFilter) -> str:
    """Name the longest prefix that all raw files of some partitions share (SED-39, C-51)."""
    return RAW + _shared(which)


def prod_prefix(which: PartitionFilter) -> str:
    """Name the longest prefix that all contracts of some partitions share."""
    return PROD + _shared(which)


def rejects_prefix(which: PartitionFilter) -> str:
    """Name the longest prefix that the rejects of some partitions share."""
    return REJECTS + _shared(which)


def read_raw_key(key: str) -> tuple[Partition, int] | None:
    """Say which partition's raw file a key names, and its number; None where it names none."""
    found = _RAW_KEY.fullmatch(key)
    partition = _partition(found)
    return None if partition is None or found is None else (partition, int(found["number"]))


def read_raw_metadata_key(key: str) -> Partition | None:
    """Say of which partition a key names the description; None where it names none."""
    return _partition(_RAW_METADATA_KEY.fullmatch(key))


def result_path(partition: Partition, domain: str) -> str:
    """Name the folder of a domain's contract (SED-40)."""
    return f"{PROD}{_folder(partition)}{safe_domain(domain)}"


def metadata_path(partition: Partition, domain: str) -> str:
    """Name a contract's main file (SED-41)."""
    return f"{result_path(partition, domain)}/{METADATA}"


def robots_path(partition: Partition, domain: str) -> str:
    """Name a contract's copy of robots.txt (SED-41)."""
    return f"{result_path(partition, domain)}/{ROBOTS}"


def sitemap_path(partition: Partition, domain: str) -> str:
    """Name a contract's copy of the sitemap (SED-41)."""
    return f"{result_path(partition, domain)}/{SITEMAP}"


def host_paths(partition: Partition, domain: str, host: str) -> tuple[str, str]:
    """Name the copies of robots.txt and sitemap of a host; those of the domain itself lie above."""
    if host == domain:
        return robots_path(partition, domain), sitemap_path(partition, domain)
    folder = f"{result_path(partition, domain)}/{HOSTS}/{safe_domain(host)}"
    return f"{folder}/{ROBOTS}", f"{folder}/{SITEMAP}"


def read_prod_key(key: str) -> tuple[Partition, str, str] | None:
    """Say of which partition and domain a key names a file, and which; None where it names none."""
    found = _PROD_KEY.fullmatch(key)
    partition = _partition(found)
    if partition is None or found is None or safe_domain(found["domain"]) != found["domain"]:
        return None
    return partition, found["domain"], found["file"]


def success_path(key: str) -> str:
    """Name the checkpoint of a raw file, or of a contract by its main file (SED-31)."""
    return key + SUCCESS


def rejects_path(key: str) -> str:
    """Name where it is said which records of a raw file were not taken."""
    found = read_raw_key(key)
    if found is None:
        raise _refused("file_path", key, "raw/country=…/category=…/date=…/raw_0001.json")
    return f"{REJECTS}{key.removeprefix(RAW).removesuffix('.json')}.jsonl"


def read_rejects_key(key: str) -> tuple[Partition, str] | None:
    """Say of which partition and raw file a key names the rejects; None where it names none."""
    raw = f"{RAW}{key.removeprefix(REJECTS).removesuffix('.jsonl')}.json"
    found = read_raw_key(raw)
    return None if found is None or rejects_path(raw) != key else (found[0], raw)


def safe_domain(text: str) -> str:
    """Make a name of a folder out of a domain (G-14): never empty, hidden, `..` or too long."""
    name = domain_name(text)
    if name is None:
        if len(text) > MAX_NAME_CHARS:
            raise _refused("domain", text, f"a name of at most {MAX_NAME_CHARS} characters")
        name = _DOTS.sub(".", _UNSAFE.sub("_", text.lower())).strip(".")
    return name or "_"


def _folder(partition: Partition) -> str:
    return _shared(PartitionFilter(partition.country, partition.category, partition.date))


def _shared(which: PartitionFilter) -> str:
    """Name the folder that is known; whoever made the filter, its parts are checked once more."""
    which, known = checked_filter(which.country, which.category, which.date), ""
    for name in ("country", "category", "date"):
        value: str | None = getattr(which, name)
        if value is None:
            break
        known += f"{name}={value}/"
    return known


def _partition(found: re.Match[str] | None) -> Partition | None:
    if found is None:
        return None
    try:
        return checked_partition(found["country"], found["category"], found["date"])
    except FieldRefused:  # a day that no calendar has
        return None


def _country(text: str) -> str:
    if not _COUNTRY.fullmatch(text):
        raise _refused("country", text, "two letters, such as sg")
    return text.lower()


def _category(text: str) -> str:
    if not _CATEGORY.fullmatch(text):
        raise _refused("category", text, "lower-case letters, digits, `-` and `_`, such as news")
    return text


def _date(text: str) -> str:
    try:
        if _DATE.fullmatch(text):
            return Date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise _refused("date", text, "a day, such as 2026-01-28")


def _refused(field: str, value: str, form: str) -> FieldRefused:
    shown = value if len(value) <= MAX_SHOWN_CHARS else value[:MAX_SHOWN_CHARS] + "…"
    plain = ascii(shown)[1:-1]  # look-alikes are told as what they are
    return FieldRefused(f"{field} `{plain}` is not allowed", field=field, hint=f"write {form}")


_COUNTRY = re.compile("[A-Za-z]{2}")
_CATEGORY = re.compile(f"[a-z0-9][a-z0-9_-]{{0,{MAX_CATEGORY_CHARS - 1}}}")
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNSAFE = re.compile("[^a-z0-9.-]")
_DOTS = re.compile(r"\.{2,}")
_FOLDER = (
    rf"country=(?P<country>[a-z]{{2}})/category=(?P<category>{_CATEGORY.pattern})"
    rf"/date=(?P<date>{_DATE.pattern})/"
)
_RAW_KEY = re.compile(rf"{RAW}{_FOLDER}raw_(?P<number>[0-9]{{4,{MAX_NUMBER_DIGITS}}})\.json")
_RAW_METADATA_KEY = re.compile(rf"{RAW}{_FOLDER}{re.escape(RAW_METADATA)}")
# What lies deeper in a contract's folder are copies of single hosts.
_PROD_KEY = re.compile(
    rf"{PROD}{_FOLDER}(?P<domain>[a-z0-9_.-]{{1,{MAX_NAME_CHARS}}})"
    r"/(?P<file>[a-z0-9_-][a-z0-9_.-]*(?:/[a-z0-9_-][a-z0-9_.-]*){0,3})"
)
