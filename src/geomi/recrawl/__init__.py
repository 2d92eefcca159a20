"""When a collected page is worth another visit.

In come a page's last record and whether it changed; out comes the time it is due. It never puts a
URL back into a frontier and reads no clock.
"""
