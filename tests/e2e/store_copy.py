"""What a store holds while a run has it, or after a kill."""

import contextlib
import json
import shutil
import sqlite3


def committed_replies(store, scratch):
    """The committed replies by item, read from a copy: to open a store itself would change it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for path in store.parent.glob(store.name + "*"):
        shutil.copy(path, scratch / path.name)
    with contextlib.closing(sqlite3.connect(scratch / store.name)) as database:
        if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'replies'").fetchone():
            return {}
        return {item: json.loads(body) for item, body in database.execute(
            "SELECT items.item_id, replies.body FROM replies JOIN items ON items.item_key = replies.item_key")}
