-- The session in which a browser asked for messages: it is told nothing once that session has been ended. Null where the
-- session is older than this, or was not used for a week: who has been away is still told.
alter table push_subscriptions add column session_id uuid references sessions on delete set null;
create index push_subscriptions_session on push_subscriptions (session_id);
