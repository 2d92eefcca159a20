"""Decide whether a URL is in an area that crawls leave out: logins, shops, pages of people.

The default lists come first. Each function returns the part of the URL that decided, or nothing.
Segments and parameters are compared as whole names, in canonical spelling and lower case:
substrings would exclude documentation pages such as `/accounting` (C-66). The expressions of
SCP-10 are the exception: they match substrings.
"""

from __future__ import annotations

from geomi.url.host import registrable_domain
from geomi.url.parse import Url, canonical

# SCP-10, in the form of C-66.
BLOCKED_SEGMENTS = frozenset({
    "logout", "signout", "login", "signin", "register", "signup", "cart", "checkout", "account",
    "admin", "wp-admin", "xmlrpc.php", "wp-json", "calendar", "search",
})  # fmt: skip
BLOCKED_LAST_SEGMENTS = frozenset({"feed", "rss", "trackback"})
BLOCKED_PARAMETERS = frozenset({"replytocom", "s"})
# SCP-10, word for word: text that stands anywhere in a URL, and endings of it. Each regular
# expression of the seed is one of the two.
BLOCKED_TEXTS = (
    "/logout", "/signout", "/login", "/signin", "/register", "/signup", "/cart", "/checkout",
    "/account", "/admin", "/wp-admin", "?replytocom=", "/xmlrpc.php", "/wp-json", "calendar",
    "?s=", "/search",
)  # fmt: skip
BLOCKED_ENDINGS = ("/feed", "/rss", "/trackback")  # a slash may follow
# Where people speak for themselves (SCP-14, LEG-10): as a segment of the path, or as a label of the
# host name.
GATHERINGS = frozenset({
    "forum", "forums", "community", "communities", "blog", "blogs", "comment", "comments",
    "discuss", "discussion", "discussions", "discourse",
})  # fmt: skip
PEOPLE = frozenset({
    "profile", "profiles", "user", "users", "member", "members", "people", "author", "authors",
})  # fmt: skip
GATHERING_SITES = frozenset({
    "stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com", "askubuntu.com",
    "reddit.com",
})  # fmt: skip
# Below these a name of the lists above is a topic: `/api/users` documents users and shows none.
DOCUMENTATION = frozenset({
    "doc", "docs", "documentation", "api", "apis", "rest", "graphql", "reference", "ref", "sdk",
    "guide", "guides", "manual", "learn", "tutorial", "tutorials", "help", "developer",
    "developers",
})  # fmt: skip
# Where a site sends a visitor who has not signed in (SCP-15, LEG-09).
LOGIN_SEGMENTS = frozenset({
    "login", "log-in", "signin", "sign-in", "sign_in", "sso", "saml", "authorize",
})  # fmt: skip
# What lies behind a file name, by the media type that `content_types` would have to accept.
# Formats that a crawl may read as text (json, xml, yaml, csv, md, txt) are left to the response.
_MEDIA_TYPES = {
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "application/postscript": "ps eps",
    "application/rtf": "rtf",
    "application/msword": "doc dot",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx docm",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx xlsm",
    "application/vnd.ms-powerpoint": "ppt pps",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx ppsx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/x-hwp": "hwp hwpx",
    "application/zip": "zip",
    "application/gzip": "gz tgz",
    "application/x-tar": "tar",
    "application/x-bzip2": "bz2 tbz2",
    "application/x-xz": "xz txz",
    "application/zstd": "zst",
    "application/x-7z-compressed": "7z",
    "application/vnd.rar": "rar",
    "application/java-archive": "jar war",
    "application/octet-stream": "exe msi bin dmg pkg iso img deb rpm apk ipa dll so whl gem crx",
    "application/vnd.sqlite3": "sqlite sqlite3",
    "application/wasm": "wasm",
    "application/vnd.ms-fontobject": "eot",
    "font/ttf": "ttf",
    "font/otf": "otf",
    "font/woff": "woff",
    "font/woff2": "woff2",
    "image/jpeg": "jpg jpeg",
    "image/png": "png apng",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/heic": "heic",
    "image/svg+xml": "svg svgz",
    "image/bmp": "bmp",
    "image/tiff": "tif tiff",
    "image/x-icon": "ico",
    "image/vnd.adobe.photoshop": "psd",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a aac",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/midi": "mid midi",
    "video/mp4": "mp4 m4v",
    "video/webm": "webm",
    "video/ogg": "ogv",
    "video/quicktime": "mov",
    "video/x-msvideo": "avi",
    "video/x-matroska": "mkv",
    "video/x-ms-wmv": "wmv wma",
    "video/x-flv": "flv swf",
    "video/mpeg": "mpg mpeg",
    "text/css": "css scss less",
    "text/javascript": "js mjs",
    "application/source-map": "map",
}
MEDIA_TYPE_OF = {
    extension: media_type
    for media_type, extensions in _MEDIA_TYPES.items()
    for extension in extensions.split()
}
_OF_PEOPLE = PEOPLE | LOGIN_SEGMENTS


def blocked_name(url: Url) -> str:
    """Name the segment or parameter of the default block list that a URL holds."""
    names = _names(url)
    if (
        url.query == ""
        and BLOCKED_SEGMENTS.isdisjoint(names)
        and BLOCKED_LAST_SEGMENTS.isdisjoint(names)
    ):
        return ""
    for name in names:
        if name in BLOCKED_SEGMENTS:
            return name
    last = names[-1] or names[-2]
    if last in BLOCKED_LAST_SEGMENTS:
        return last
    for parameter in url.query.split("&") if url.query else ():
        name = canonical(parameter.partition("=")[0]).lower()
        if name in BLOCKED_PARAMETERS:
            return name
    return ""


def blocked_text(url: Url) -> str:
    """Name the expression of SCP-10 that finds something in a URL, scheme and host included."""
    href = url.href.lower()
    for text in BLOCKED_TEXTS:
        if text in href:
            return text
    for ending in BLOCKED_ENDINGS:
        if href.endswith((ending, ending + "/")):
            return ending
    return ""


def personal_name(url: Url) -> str:
    """Name what makes a URL a place of people: where they speak for themselves, or sign in.

    SCP-14, SCP-15, LEG-09, LEG-10. What documentation says about logins is no login.
    """
    labels = url.host.split(".")
    for label in labels[:-1]:
        if label in GATHERINGS:
            return label
    if registrable_domain(url.host) in GATHERING_SITES:
        return registrable_domain(url.host)
    names = _names(url)
    if names[1] in LOGIN_SEGMENTS:
        return names[1]
    is_documented = not DOCUMENTATION.isdisjoint(labels)
    for name in names:
        if name in DOCUMENTATION:
            return ""
        if name in GATHERINGS or (name in _OF_PEOPLE and not is_documented):
            return name
    return ""


def login_name(url: Url, sent_from: Url) -> str:
    """Name the login that a page sends its visitors to; a page about logins sends nobody away."""
    names = LOGIN_SEGMENTS.intersection(_names(url)).difference(_names(sent_from))
    return min(names, default="")


def _names(url: Url) -> list[str]:
    return canonical(url.path).lower().split("/")
