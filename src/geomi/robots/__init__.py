"""What a site asks of crawlers: its robots.txt, and the directives of a single page.

In come the bytes and fetch facts of a robots.txt (`RobotsCopy`), header values and a product token;
out come parsed rules, the line that decides a URL, what a failed fetch means and for how long. It
never fetches, keeps no copies, decides no delay and never raises for what a site wrote.
"""
