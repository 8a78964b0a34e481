#!/bin/bash
# Creates the database and the role of the server, which may use it and own the tables that it makes, and nothing else.
# Runs once, when there is no data yet: of postgres:17 (docker-entrypoint-initdb.d), or of Patroni, which names the server.
set -euo pipefail
: "${DATABASE_PASSWORD:?the password of the role}"
psql --set=ON_ERROR_STOP=1 --set=password="$DATABASE_PASSWORD" --dbname="${1:-postgres}" --quiet <<'SQL'
create role touchline login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
create database touchline;
revoke all on database touchline from public;
grant connect on database touchline to touchline;
\connect touchline
grant usage, create on schema public to touchline;
SQL
