"""Find personal data in the text of a page, and remove it.

Texts and articles come in; places, counts and texts without personal data go out. No function
returns a found value apart from its text, so that nothing can store it.
"""
