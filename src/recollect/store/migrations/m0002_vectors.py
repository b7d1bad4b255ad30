"""Schema 2: vector spaces, the vectors in them, and the index over them. All of it is a projection.

`vectors` is an ordinary table and not a clustered one: rows past a quarter of a page would each spill into a page of
their own there, which trebles the file.
"""

from __future__ import annotations

from recollect.store.port import Engine
from recollect.store.sqlite import ivf

_TABLES = """
    create table spaces (
        id          integer primary key,
        model       text not null,
        dims        integer not null,
        state       text not null,
        created_at  integer not null,
        grid        integer not null,
        change      integer not null
    );
    create unique index spaces_active on spaces (state) where state = 'active';
    create unique index spaces_by_model on spaces (model, dims) where state <> 'dropped';

    create table vectors (
        space  integer not null,
        seq    integer not null,
        views  blob not null,
        stamp  text not null
    );
    create unique index vectors_by_seq on vectors (seq, space);
"""


def vectors(engine: Engine) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            engine.execute(statement)
    ivf.create(engine)
