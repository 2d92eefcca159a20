"""Read the fields of a page: its product, questions or policy, or those of a job's own schema.

In come an `Article`, its text and its type, or a schema. Out go `Fields` or `Custom`. `by_type`
reads the fields that belong to a page type, `custom` fills the schema of a job, `custom_schema`
checks such a schema. `structured_data` reads JSON-LD and microdata for all of them. `grounding`
removes from a model's fields everything that is not on the page.

A value is on the page or it is None. The package must never call a model or follow a reference of a
schema. `custom_schema` must stay light, without orjson or numpy: settings import it at start-up.
"""
