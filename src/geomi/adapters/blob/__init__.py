"""Page bytes on disk or in a bucket: captures come in, WARC segments and places in them go out.

What is written is only ever appended to or cut back to a committed end, never changed in place; and
nothing here knows which URL a byte belongs to beyond what the record itself says.
"""
