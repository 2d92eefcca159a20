"""A small PDF, written by hand: lines of some size, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

Line = tuple[int, str]  # size in points, and words


def pdf_of(pages: Sequence[Sequence[Line]], title: str = "A paper") -> bytes:
    """Write a PDF with a title and an author, in Helvetica."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        program = _program(lines)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(program), program))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources "
            b"<< /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (4 + 2 * number)
        )
    objects.append(
        f"<< /Title ({title}) /Author (Kim) /CreationDate (D:20240102030405Z) >>".encode()
    )
    return _file(objects)


def _program(lines: Sequence[Line]) -> bytes:
    height = 760
    parts = ["BT"]
    for size, words in lines:
        parts.append(f"/F1 {size} Tf 1 0 0 1 60 {height} Tm ({words}) Tj")
        height -= size + 6
    return "\n".join([*parts, "ET"]).encode("latin-1")


def _file(objects: Sequence[bytes]) -> bytes:
    body = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R /Info %d 0 R >>\n"
        b"startxref\n%d\n%%%%EOF"
        % (len(objects) + 1, table, len(objects) + 1, len(objects), len(body))
    )
