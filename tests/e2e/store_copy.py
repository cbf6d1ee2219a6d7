"""What a store holds while a run has it, or after a kill."""

import contextlib
import json
import shutil
import sqlite3


@contextlib.contextmanager
def copied_store(store, scratch):
    """A connection to a copy, since to open a store itself would change it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for path in store.parent.glob(store.name + "*"):
        with contextlib.suppress(FileNotFoundError):  # The journal of a store that is being made goes away.
            shutil.copy(path, scratch / path.name)
    with contextlib.closing(sqlite3.connect(scratch / store.name)) as database:
        yield database


def has_tables(database):
    return database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'scores'").fetchone() is not None


def committed_replies(store, scratch):
    """The committed replies by item."""
    with copied_store(store, scratch) as database:
        if not has_tables(database):
            return {}
        return {item: json.loads(body) for item, body in database.execute(
            "SELECT items.item_id, replies.body FROM replies JOIN items ON items.item_key = replies.item_key")}
