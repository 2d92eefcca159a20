"""The web that raw files speak of, on loopback: https by an authority of our own, for any names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme

from tests.support.seed_dataset import server_context
from tests.support.server import Reply, Route, Site

ROBOTS = Reply(b"User-agent: *\nAllow: /\n", content_type="text/plain")
SITEMAP = Reply(
    b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>https://mom.gov.sg/newsroom</loc></url></urlset>",
    content_type="application/xml",
)
WEB: Mapping[str, Route] = {"/robots.txt": ROBOTS, "/sitemap.xml": SITEMAP}


@dataclass(frozen=True, slots=True)
class Web:
    """Where the names are, as settings say it."""

    site: Site
    resolve: tuple[str, ...]
    ca_file: str

    @property
    def env(self) -> dict[str, str]:
        """What the environment of a command says of it; nobody waits between requests."""
        return {
            "GEOMI_RESOLVE": ",".join(self.resolve),
            "GEOMI_CA_FILE": self.ca_file,
            "GEOMI_MIN_DELAY_S": "0",
            "GEOMI_CRAWL_DELAY": "0",
            "GEOMI_CONTACT": "https://crawler.test/about",
        }

    def asked(self, path: str) -> int:
        """Count how often a path was asked for, over all names."""
        return sum(seen.path == path for seen in self.site.log)


@contextmanager
def seed_web(folder: Path, *names: str, routes: Mapping[str, Route] = WEB) -> Iterator[Web]:
    """Serve the same routes under some names, over https."""
    authority = trustme.CA()
    ca_file = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    with Site(routes, tls=server_context(authority, *names)) as site:
        yield Web(
            site,
            tuple(f"{name}:443:127.0.0.1:{site.port}" for name in names),
            str(ca_file),
        )
