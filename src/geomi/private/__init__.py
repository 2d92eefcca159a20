"""Personal data in the text of a page: texts and articles come in, places, counts and texts without
it go out. What is found is never returned apart from its text, so that nobody can write it down.
"""
