"""Resident mode: the same run in a process that is already warm. See docs/resident.md.

asking.py    the client's side, and the names by which both sides find each other; the client in C (client/onehook-client.c) does the same
client.py    the client in Python, for platforms without the one in C
zygote.py    the warm process: it has loaded what events load, and forks for each of them
spare.py     such a fork: it becomes the process that would have been started
inline.py    how an agent asks from inside itself, without a client
learning.py  what it loads, and when that is out of date
windows.py   all of it for Windows, where processes are started in advance instead of forked; its client is client/onehook-client-windows.c
"""
