"""Read what a site asks of crawlers: its robots.txt, and the directives of a page.

In come the bytes and fetch facts of a robots.txt (`RobotsCopy`), header values and a product token;
out go parsed rules, the line that decides about a URL, and the meaning of a failed fetch with its
duration. This package never fetches, keeps no copies, decides no delay and never raises for what a
site wrote.
"""
