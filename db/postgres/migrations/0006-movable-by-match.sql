-- Protection: the closes of a match that news may still move, among all that it ever might have moved.
create index positions_movable_match on positions (match_id, movable_until) where movable_until is not null;
