-- Of which match a settlement was, for the page of a player.
create index matches_settled on matches (settled_at) where settled_at is not null;
