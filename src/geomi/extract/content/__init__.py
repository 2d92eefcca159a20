"""Find the main content of a page.

In come a parsed page, its body and the job's `Extraction`. Out goes a `Choice`: the element with
the content, the strategy that found it, how sure that is, and the kind of page. The tree is
changed on the way: everything that is not content is taken out of it.

`strategy` decides how a page is read, or picks one element by its name. `blocks`, `kind`, `weights`
and `selection` judge every block of text. `prune` lists what is never content, and `template`
leaves out what the pages of one site repeat. The trained weights lie beside the modules
in `kind.json` and `blocks.json`; only the programs in `tools/` write them.

The package knows no language, host or URL, never raises, and never removes the larger part of a
page because of a name.
"""
