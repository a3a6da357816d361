"""How is the promise kept? Decisions about what runs next, as functions of plain values."""
