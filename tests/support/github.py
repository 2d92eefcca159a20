"""A server on loopback in the form of GitHub's REST interface: repositories, and their files.

hub = Hub(Repository("acme/docs", {"README.md": "# Acme", "docs/a.md": "# A"}))
with Site({}, otherwise=hub.answer) as site:
    ...  # GEOMI_GITHUB_URL is site.url("")
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.server import Answer, Raw, Reply, Seen

LINK = "120000"
FILE = "100644"


@dataclass
class Repository:
    """A repository.

    Args:
        files: text by path; what begins with `->` is a symbolic link.
        cut_above: the server cuts a deep listing of more entries than that.
    """

    name: str
    files: dict[str, str]
    branch: str = "main"
    cut_above: int = 1000
    site: str = "https://github.test"

    def sha(self, path: str) -> str:
        """Name a file or a folder by its content."""
        below = {name: text for name, text in self.files.items() if name.startswith(path)}
        return hashlib.sha1(json.dumps([path, below]).encode()).hexdigest()

    def folder_of(self, ref: str) -> str | None:
        """Return the folder that a branch or a digest names, with its slash."""
        folders = {"/".join(path.split("/")[:depth]) + "/" for path in self.files
                   for depth in range(1, path.count("/") + 1)}  # fmt: skip
        named = {self.sha(folder): folder for folder in folders}
        return "" if ref == self.branch else named.get(ref)

    def tree(self, ref: str, *, is_deep: bool) -> dict[str, object] | None:
        """List a folder."""
        folder = self.folder_of(ref)
        if folder is None:
            return None
        entries: dict[str, dict[str, object]] = {}
        for path, text in self.files.items():
            if not path.startswith(folder):
                continue
            parts = path.removeprefix(folder).split("/")
            for depth in range(1, len(parts)):
                name = "/".join(parts[:depth])
                sha = self.sha(f"{folder}{name}/")
                entries[name] = {"path": name, "mode": "040000", "type": "tree", "sha": sha}
            mode = LINK if text.startswith("->") else FILE
            blob = {"mode": mode, "type": "blob", "sha": self.sha(path), "size": len(text.encode())}
            entries["/".join(parts)] = {"path": "/".join(parts), **blob}
        shown = [one for name, one in entries.items() if is_deep or "/" not in name]
        is_cut = is_deep and len(shown) > self.cut_above
        shown = shown[: self.cut_above] if is_cut else shown
        return {"sha": self.sha(folder), "tree": shown, "truncated": is_cut}


@dataclass
class Hub:
    """Answers as GitHub does.

    Args:
        limit: how many requests it answers before the limit is used up, until `reset_s`; an answer
            that nothing has changed counts for none.

    `trouble` is answered first, one for each request, and then no more.
    """

    repository: Repository
    limit: int = 5000
    reset_s: float = 0.0
    trouble: list[Answer] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    def answer(self, seen: Seen) -> Answer:
        """Answer a request."""
        if self.trouble:
            return self.trouble.pop(0)
        if self.limit <= 0:
            return self._told({"message": "API rate limit exceeded for you"}, 403)
        reply = self._route(seen)
        self.limit -= reply.status != 304
        return Reply(reply.body, reply.status, reply.content_type, (*reply.headers, *self._left()))

    def _route(self, seen: Seen) -> Reply:
        parts = unquote(seen.path).split("/")
        name, rest = "/".join(parts[2:4]), parts[4:]
        if name in self.moved:
            path = seen.target.replace(f"/repos/{name}", f"/repos/{self.moved[name]}")
            return Reply(b"{}", 301, "application/json", (("Location", path),))
        query = {key: one[0] for key, one in parse_qs(urlsplit(seen.target).query).items()}
        if parts[1] != "repos" or name != self.repository.name:
            return self._told({"message": "Not Found"}, 404)
        if not rest:
            return self._told(self._described())
        if rest[:2] == ["git", "trees"]:
            tree = self.repository.tree("/".join(rest[2:]), is_deep="recursive" in query)
            return self._told(tree) if tree else self._told({"message": "Not Found"}, 404)
        if rest[0] == "contents" and query.get("ref") == self.repository.branch:
            return self._content("/".join(rest[1:]), seen)
        return self._told({"message": "Not Found"}, 404)

    def _described(self) -> dict[str, object]:
        own = self.repository
        page = f"{own.site}/{own.name}"
        return {"full_name": own.name, "default_branch": own.branch, "html_url": page}

    def _content(self, path: str, seen: Seen) -> Reply:
        text = self.repository.files.get(path)
        if text is None or "raw" not in seen.headers.get("accept", ""):
            return self._told({"message": "Not Found"}, 404)
        etag = f'"{self.repository.sha(path)}"'
        if seen.headers.get("if-none-match") == etag:
            return Reply(status=304, headers=(("ETag", etag),))
        return Reply(text.encode(), 200, "application/vnd.github.raw+json", (("ETag", etag),))

    def _told(self, value: Mapping[str, object], status: int = 200) -> Reply:
        return Reply(json.dumps(value).encode(), status, "application/json", self._left())

    def _left(self) -> tuple[tuple[str, str], ...]:
        left = str(max(0, self.limit))
        return (("X-RateLimit-Remaining", left), ("X-RateLimit-Reset", str(int(self.reset_s))))


def limited(retry_after: str) -> Raw | Reply:
    """Refuse as for a secondary rate limit."""
    body = json.dumps({"message": "You have exceeded a secondary rate limit"}).encode()
    return Reply(body, 403, "application/json", (("Retry-After", retry_after),))
