"""Every operation of the REST API. Made from its description by `npm run ops -- client-generate`; do not edit."""
from typing import Any, Mapping, Optional
from urllib.parse import quote


def _part(value: Any) -> str:
    return quote(str(value), safe='')


class Operations:
    def ask(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None,
            key: Optional[str] = None) -> Any:
        raise NotImplementedError

    def audit_ledger(self) -> Any:
        """Check whether the ledger balances."""
        return self.ask('GET', '/api/admin/ledger/audit')

    def change_levels(self, id: Any, body: Any) -> Any:
        """Change stop-loss and take-profit of an open position."""
        return self.ask('PATCH', f'/api/positions/{_part(id)}', body=body)

    def change_me(self, body: Any) -> Any:
        """Leave the boards, or come back."""
        return self.ask('PATCH', '/api/me', body=body)

    def change_my_limits(self, body: Any) -> Any:
        """Set the caller's own limits."""
        return self.ask('PUT', '/api/me/limits', body=body)

    def change_tournament(self, id: Any, body: Any) -> Any:
        """Change or cancel a tournament that has not begun."""
        return self.ask('PATCH', f'/api/admin/tournaments/{_part(id)}', body=body)

    def change_webhook(self, id: Any, body: Any) -> Any:
        """Pause or resume a webhook."""
        return self.ask('PATCH', f'/api/admin/webhooks/{_part(id)}', body=body)

    def check_referral_code(self, *, code: Any = None) -> Any:
        """Check a referral code without signing in."""
        return self.ask('GET', '/api/public/referral/validate', {'code': code})

    def check_username(self, body: Any) -> Any:
        """Check whether a username is available."""
        return self.ask('POST', '/api/users/check-username', body=body)

    def close_position(self, id: Any, body: Any = None, *, key: Optional[str] = None) -> Any:
        """Close a position."""
        return self.ask('POST', f'/api/positions/{_part(id)}/close', body=body, key=key)

    def create_invite(self, body: Any) -> Any:
        """Create a share link for a named person."""
        return self.ask('POST', '/api/referrals/invites', body=body)

    def create_key(self, body: Any) -> Any:
        """Create a personal key for a program."""
        return self.ask('POST', '/api/keys', body=body)

    def create_socket_token(self) -> Any:
        """A short-lived token for the WebSocket address."""
        return self.ask('POST', '/api/ws/token')

    def create_webhook(self, body: Any) -> Any:
        """Create a webhook."""
        return self.ask('POST', '/api/admin/webhooks', body=body)

    def delete_account(self, body: Any) -> Any:
        """Delete the account."""
        return self.ask('DELETE', '/api/me', body=body)

    def delete_flag(self, key: Any) -> Any:
        """Delete a flag."""
        return self.ask('DELETE', f'/api/admin/flags/{_part(key)}')

    def delete_key(self, id: Any) -> Any:
        """Delete one of the caller's personal keys."""
        return self.ask('DELETE', f'/api/keys/{_part(id)}')

    def delete_webhook(self, id: Any) -> Any:
        """Delete a webhook."""
        return self.ask('DELETE', f'/api/admin/webhooks/{_part(id)}')

    def end_match(self, id: Any, body: Any) -> Any:
        """End a match that does not end on its own."""
        return self.ask('POST', f'/api/admin/matches/{_part(id)}/end', body=body)

    def end_session(self, id: Any) -> Any:
        """End one of the caller's sessions."""
        return self.ask('DELETE', f'/api/auth/sessions/{_part(id)}')

    def enter_season(self) -> Any:
        """Enter the season of this month."""
        return self.ask('POST', '/api/seasons/enter')

    def enter_tournament(self, id: Any) -> Any:
        """Enter a tournament."""
        return self.ask('POST', f'/api/tournaments/{_part(id)}/enter')

    def export_my_data(self) -> Any:
        """Download everything about the caller."""
        return self.ask('GET', '/api/me/export')

    def found_league(self, body: Any) -> Any:
        """Found a private league and join it."""
        return self.ask('POST', '/api/leagues', body=body)

    def get_async_api(self) -> Any:
        """The WebSocket address as an AsyncAPI 3 document."""
        return self.ask('GET', '/api/asyncapi.json')

    def get_current_spinner(self) -> Any:
        """The current week, with its leader or tied candidates, and the week before."""
        return self.ask('GET', '/api/spinner/current')

    def get_district_pnl_board(self, district_id: Any, *, purse: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """A district by profit."""
        return self.ask('GET', f'/api/leaderboard/district/{_part(district_id)}', {'purse': purse, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def get_district_roi_board(self, district_id: Any, *, purse: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """A district by ROI."""
        return self.ask('GET', f'/api/leaderboard/roi/district/{_part(district_id)}', {'purse': purse, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def get_district_standings(self, *, purse: Any = None) -> Any:
        """All districts by the average ROI of their ranked members."""
        return self.ask('GET', '/api/districts/standings', {'purse': purse})

    def get_feed_state(self) -> Any:
        """What came to nothing of the live feed, and matches that cannot be read."""
        return self.ask('GET', '/api/admin/feed')

    def get_friends_pnl_board(self, *, purse: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """The referral network by profit."""
        return self.ask('GET', '/api/leaderboard/friends', {'purse': purse, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def get_friends_roi_board(self, *, purse: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """The referral network by ROI."""
        return self.ask('GET', '/api/leaderboard/roi/friends', {'purse': purse, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def get_health(self) -> Any:
        """Whether the process is up."""
        return self.ask('GET', '/health')

    def get_instrument(self, id: Any) -> Any:
        """One instrument."""
        return self.ask('GET', f'/api/instruments/{_part(id)}')

    def get_league(self, id: Any, *, limit: Any = None, offset: Any = None) -> Any:
        """A league and its table."""
        return self.ask('GET', f'/api/leagues/{_part(id)}', {'limit': limit, 'offset': offset})

    def get_league_match(self, id: Any, match_id: Any) -> Any:
        """The table of one match in a league."""
        return self.ask('GET', f'/api/leagues/{_part(id)}/matches/{_part(match_id)}')

    def get_league_outline(self, code: Any) -> Any:
        """What a join link leads to."""
        return self.ask('GET', f'/api/public/leagues/{_part(code)}')

    def get_match(self, id: Any) -> Any:
        """One match, with its trade window."""
        return self.ask('GET', f'/api/matches/{_part(id)}')

    def get_match_recap(self, match_id: Any, *, purse: Any = None) -> Any:
        """What a match made of the caller's positions."""
        return self.ask('GET', f'/api/recaps/matches/{_part(match_id)}', {'purse': purse})

    def get_me(self) -> Any:
        """The caller's profile and wallet."""
        return self.ask('GET', '/api/me')

    def get_metrics(self) -> Any:
        """The metrics of one process."""
        return self.ask('GET', '/api/admin/metrics')

    def get_movers(self) -> Any:
        """The top five gainers, losers and most traded of the last 24 hours."""
        return self.ask('GET', '/api/instruments/movers')

    def get_my_limits(self) -> Any:
        """The caller's own limits."""
        return self.ask('GET', '/api/me/limits')

    def get_my_rank(self, *, purse: Any = None) -> Any:
        """The caller's rank by ROI."""
        return self.ask('GET', '/api/leaderboard/me', {'purse': purse})

    def get_my_rank_in_context(self, *, purse: Any = None) -> Any:
        """The caller's rank by ROI and the gap to the next rank."""
        return self.ask('GET', '/api/leaderboard/me/context', {'purse': purse})

    def get_open_api(self) -> Any:
        """The REST API as an OpenAPI 3.1 document."""
        return self.ask('GET', '/api/openapi.json')

    def get_pnl_board(self, *, purse: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """All users by profit."""
        return self.ask('GET', '/api/leaderboard/global', {'purse': purse, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def get_portfolio(self) -> Any:
        """The caller's holdings of the former share model, wallet balance and total PnL."""
        return self.ask('GET', '/api/portfolio')

    def get_position(self, id: Any) -> Any:
        """One position of the caller."""
        return self.ask('GET', f'/api/positions/{_part(id)}')

    def get_position_proof(self, id: Any) -> Any:
        """What proves to others which position on a tape is the caller's."""
        return self.ask('GET', f'/api/positions/{_part(id)}/proof')

    def get_position_reasons(self, id: Any) -> Any:
        """What moved the price while one of the caller's positions was open, and what closed it."""
        return self.ask('GET', f'/api/positions/{_part(id)}/why')

    def get_price_history(self, id: Any, *, period: Any = None) -> Any:
        """The prices of an instrument over a period that ends now."""
        return self.ask('GET', f'/api/instruments/{_part(id)}/price-history', {'period': period})

    def get_reactions(self, *, limit: Any = None, cursor: Any = None) -> Any:
        """Commits whose reactions are pending or failed."""
        return self.ask('GET', '/api/admin/reactions', {'limit': limit, 'cursor': cursor})

    def get_readiness(self) -> Any:
        """Whether the process can serve requests."""
        return self.ask('GET', '/ready')

    def get_recording_chart(self, id: Any) -> Any:
        """A small price chart of an ended match."""
        return self.ask('GET', f'/api/admin/recordings/{_part(id)}/chart')

    def get_replay_status(self) -> Any:
        """The running replays of all processes."""
        return self.ask('GET', '/api/admin/gameplay-bot/status')

    def get_risk(self) -> Any:
        """What is open, who wins and loses today, who opens ahead of moves, and connected accounts."""
        return self.ask('GET', '/api/admin/risk')

    def get_roi_board(self, *, purse: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """All users by ROI."""
        return self.ask('GET', '/api/leaderboard/roi/global', {'purse': purse, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def get_runbook(self) -> Any:
        """The runbook."""
        return self.ask('GET', '/api/admin/runbook')

    def get_season(self) -> Any:
        """The season of this month."""
        return self.ask('GET', '/api/seasons/current')

    def get_squad(self, id: Any, *, team: Any = None) -> Any:
        """The players of one team of a match."""
        return self.ask('GET', f'/api/matches/{_part(id)}/squad', {'team': team})

    def get_tape_checkpoints(self, id: Any) -> Any:
        """The checkpoints of a tape."""
        return self.ask('GET', f'/api/public/tape/{_part(id)}/checkpoints')

    def get_tape_keys(self) -> Any:
        """The keys that sign tapes."""
        return self.ask('GET', '/api/public/tape/keys')

    def get_trade_window(self, id: Any) -> Any:
        """Whether positions in a match can be opened, and why not."""
        return self.ask('GET', f'/api/matches/{_part(id)}/trade-window')

    def get_unread_count(self) -> Any:
        """The number of unread notifications."""
        return self.ask('GET', '/api/notifications/unread-count')

    def get_user(self, id: Any) -> Any:
        """One user: wallets, positions, ledger, sessions, keys and connections."""
        return self.ask('GET', f'/api/admin/users/{_part(id)}')

    def get_wallet(self, *, purse: Any = None) -> Any:
        """The caller's wallet in a purse."""
        return self.ask('GET', '/api/wallet', {'purse': purse})

    def get_watched_match(self, id: Any) -> Any:
        """A live match, a little behind."""
        return self.ask('GET', f'/api/public/matches/{_part(id)}')

    def get_week_recap(self, week: Any, *, purse: Any = None) -> Any:
        """What a week made of the caller's positions."""
        return self.ask('GET', f'/api/recaps/weeks/{_part(week)}', {'purse': purse})

    def join_league(self, body: Any) -> Any:
        """Join the league of a code."""
        return self.ask('POST', '/api/leagues/join', body=body)

    def leave_league(self, id: Any) -> Any:
        """Leave a league."""
        return self.ask('POST', f'/api/leagues/{_part(id)}/leave')

    def list_account_changes(self, *, since: Any = None, limit: Any = None, cursor: Any = None) -> Any:
        """The events of the caller's positions after a marker."""
        return self.ask('GET', '/api/account/changes', {'since': since, 'limit': limit, 'cursor': cursor})

    def list_achievements(self) -> Any:
        """The caller's XP, level and badges, with the progress towards the others."""
        return self.ask('GET', '/api/achievements')

    def list_activity(self, *, scope: Any = None, district_id: Any = None, limit: Any = None, cursor: Any = None) -> Any:
        """Notable events of all users, newest first."""
        return self.ask('GET', '/api/activity', {'scope': scope, 'districtId': district_id, 'limit': limit, 'cursor': cursor})

    def list_all_flags(self) -> Any:
        """All feature flags."""
        return self.ask('GET', '/api/admin/flags')

    def list_audit_entries(self, *, limit: Any = None, cursor: Any = None, actor: Any = None, action: Any = None, subject: Any = None, since: Any = None, until: Any = None) -> Any:
        """The actions of operators, newest first."""
        return self.ask('GET', '/api/admin/audit', {'limit': limit, 'cursor': cursor, 'actor': actor, 'action': action, 'subject': subject, 'since': since, 'until': until})

    def list_districts(self) -> Any:
        """All districts."""
        return self.ask('GET', '/api/districts')

    def list_flags(self) -> Any:
        """Feature flags."""
        return self.ask('GET', '/api/flags')

    def list_instruments(self) -> Any:
        """All active instruments."""
        return self.ask('GET', '/api/instruments')

    def list_keys(self) -> Any:
        """The caller's personal keys."""
        return self.ask('GET', '/api/keys')

    def list_leagues(self) -> Any:
        """The caller's leagues."""
        return self.ask('GET', '/api/leagues')

    def list_ledger_entries(self, *, purse: Any = None, match_id: Any = None, instrument_id: Any = None, from_: Any = None, to: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """The ledger entries of the caller's wallet in a purse, newest first."""
        return self.ask('GET', '/api/wallet/ledger', {'purse': purse, 'matchId': match_id, 'instrumentId': instrument_id, 'from': from_, 'to': to, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def list_legacy_trades(self, *, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """The caller's trades of the former share model, newest first."""
        return self.ask('GET', '/api/trades', {'limit': limit, 'cursor': cursor, 'offset': offset})

    def list_match_events(self, id: Any) -> Any:
        """The events of a match, with the statistics of both teams."""
        return self.ask('GET', f'/api/matches/{_part(id)}/events')

    def list_matches(self) -> Any:
        """All fixtures, with their trade windows."""
        return self.ask('GET', '/api/matches')

    def list_multiplier_keys(self) -> Any:
        """The keys of the scoring multipliers, by role and action."""
        return self.ask('GET', '/api/admin/settings/scoring/multiplier-keys')

    def list_notifications(self, *, limit: Any = None, unread_only: Any = None, cursor: Any = None) -> Any:
        """The caller's notifications, newest first."""
        return self.ask('GET', '/api/notifications', {'limit': limit, 'unreadOnly': unread_only, 'cursor': cursor})

    def list_open_positions(self, id: Any, *, limit: Any = None, cursor: Any = None) -> Any:
        """The open positions of a match."""
        return self.ask('GET', f'/api/admin/matches/{_part(id)}/positions', {'limit': limit, 'cursor': cursor})

    def list_past_seasons(self) -> Any:
        """The seasons that the caller has finished."""
        return self.ask('GET', '/api/seasons')

    def list_positions(self, *, purse: Any = None, status: Any = None, match_id: Any = None, instrument_id: Any = None, from_: Any = None, to: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """The caller's positions, newest first."""
        return self.ask('GET', '/api/positions', {'purse': purse, 'status': status, 'matchId': match_id, 'instrumentId': instrument_id, 'from': from_, 'to': to, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def list_push_subscriptions(self) -> Any:
        """The caller's browsers that are told what happens."""
        return self.ask('GET', '/api/push')

    def list_recent_trades(self, id: Any, *, limit: Any = None, cursor: Any = None) -> Any:
        """Recent trades of an instrument, anonymised."""
        return self.ask('GET', f'/api/instruments/{_part(id)}/recent-trades', {'limit': limit, 'cursor': cursor})

    def list_recordings(self, *, limit: Any = None, cursor: Any = None) -> Any:
        """Ended matches that can be downloaded as recordings."""
        return self.ask('GET', '/api/admin/recordings', {'limit': limit, 'cursor': cursor})

    def list_referrals(self) -> Any:
        """The caller's invites and referred users."""
        return self.ask('GET', '/api/referrals')

    def list_replay_fixtures(self) -> Any:
        """The recordings that can be replayed."""
        return self.ask('GET', '/api/admin/gameplay-bot/fixtures')

    def list_sessions(self) -> Any:
        """The caller's sessions."""
        return self.ask('GET', '/api/auth/sessions')

    def list_settings(self) -> Any:
        """All settings."""
        return self.ask('GET', '/api/admin/settings')

    def list_spinner_weeks(self, *, limit: Any = None, cursor: Any = None) -> Any:
        """Decided weeks, newest first."""
        return self.ask('GET', '/api/spinner/history', {'limit': limit, 'cursor': cursor})

    def list_tournaments(self) -> Any:
        """Tournaments: matches from secret seeds, played once."""
        return self.ask('GET', '/api/tournaments')

    def list_uploads(self) -> Any:
        """Recordings that were uploaded."""
        return self.ask('GET', '/api/admin/uploads')

    def list_users(self, *, search: Any = None, limit: Any = None, cursor: Any = None, offset: Any = None) -> Any:
        """All users, newest first."""
        return self.ask('GET', '/api/admin/users', {'search': search, 'limit': limit, 'cursor': cursor, 'offset': offset})

    def list_watched_matches(self) -> Any:
        """Live matches, a little behind."""
        return self.ask('GET', '/api/public/matches')

    def list_webhooks(self) -> Any:
        """Webhooks and how far they are behind."""
        return self.ask('GET', '/api/admin/webhooks')

    def note_user(self, id: Any, body: Any) -> Any:
        """Note something about a user."""
        return self.ask('POST', f'/api/admin/users/{_part(id)}/notes', body=body)

    def open_position(self, body: Any, *, key: Optional[str] = None) -> Any:
        """Open a position."""
        return self.ask('POST', '/api/positions/open', body=body, key=key)

    def quote_position(self, body: Any) -> Any:
        """Quote the fill, margin and levels of an order without placing it."""
        return self.ask('POST', '/api/positions/quote', body=body)

    def read_all_notifications(self) -> Any:
        """Mark all notifications as read."""
        return self.ask('POST', '/api/notifications/read-all')

    def read_notification(self, id: Any) -> Any:
        """Mark one notification as read."""
        return self.ask('POST', f'/api/notifications/{_part(id)}/read')

    def rebuild_roi_boards(self) -> Any:
        """Rebuild all leaderboards from the database."""
        return self.ask('POST', '/api/admin/leaderboard/rebuild-roi')

    def refill_wallet(self, body: Any) -> Any:
        """Refill the caller's practice wallet, or a main wallet that is ruined."""
        return self.ask('POST', '/api/wallet/refill', body=body)

    def refresh_session(self, *, key: Optional[str] = None) -> Any:
        """Rotate both tokens of the session."""
        return self.ask('POST', '/api/auth/refresh', key=key)

    def register(self, body: Any) -> Any:
        """Register: the profile step."""
        return self.ask('POST', '/api/auth/google/complete', body=body)

    def remove_upload(self, name: Any) -> Any:
        """Remove an upload."""
        return self.ask('DELETE', f'/api/admin/uploads/{_part(name)}')

    def resend_code(self, body: Any) -> Any:
        """Send another code."""
        return self.ask('POST', '/api/auth/resend-otp', body=body)

    def retry_reaction(self, match_id: Any, seq: Any) -> Any:
        """Retry the reaction to a commit that was set aside."""
        return self.ask('POST', f'/api/admin/reactions/{_part(match_id)}/{_part(seq)}/retry')

    def run_spinner(self) -> Any:
        """Decide the last finished week."""
        return self.ask('POST', '/api/spinner/run')

    def schedule_tournament(self, body: Any) -> Any:
        """Schedule a tournament."""
        return self.ask('POST', '/api/admin/tournaments', body=body)

    def set_anchors(self, body: Any = None) -> Any:
        """Set the season values of players."""
        return self.ask('PUT', '/api/admin/anchors', body=body)

    def set_flag(self, key: Any, body: Any) -> Any:
        """Set a flag."""
        return self.ask('PUT', f'/api/admin/flags/{_part(key)}', body=body)

    def set_role(self, id: Any, body: Any) -> Any:
        """Set the role of a user."""
        return self.ask('PUT', f'/api/admin/users/{_part(id)}/role', body=body)

    def set_setting(self, key: Any, body: Any, *, dry_run: Any = None) -> Any:
        """Set a setting."""
        return self.ask('PUT', f'/api/admin/settings/{_part(key)}', {'dryRun': dry_run}, body=body)

    def set_status(self, id: Any, body: Any) -> Any:
        """Freeze a user, or make them active again."""
        return self.ask('PUT', f'/api/admin/users/{_part(id)}/status', body=body)

    def sign_in(self, body: Any) -> Any:
        """Sign in with a token of the identity provider."""
        return self.ask('POST', '/api/auth/google', body=body)

    def sign_out(self) -> Any:
        """Sign out."""
        return self.ask('POST', '/api/auth/logout')

    def sign_out_everywhere(self) -> Any:
        """Sign out everywhere."""
        return self.ask('POST', '/api/auth/logout-all')

    def start_replay(self, body: Any) -> Any:
        """Start a replay."""
        return self.ask('POST', '/api/admin/gameplay-bot/start', body=body)

    def stop_replays(self, body: Any) -> Any:
        """Stop one replay, or all."""
        return self.ask('POST', '/api/admin/gameplay-bot/stop', body=body)

    def subscribe_push(self, body: Any) -> Any:
        """Tell a browser what happens."""
        return self.ask('PUT', '/api/push', body=body)

    def test_webhook(self, id: Any) -> Any:
        """Send a test message to a webhook."""
        return self.ask('POST', f'/api/admin/webhooks/{_part(id)}/test')

    def try_out_settings(self, body: Any) -> Any:
        """Try settings on recordings before setting them."""
        return self.ask('POST', '/api/admin/settings/what-if', body=body)

    def unsubscribe_push(self, id: Any) -> Any:
        """Tell a browser nothing more."""
        return self.ask('DELETE', f'/api/push/{_part(id)}')

    def upload_recording(self, *, name: Any) -> Any:
        """Upload a recording."""
        return self.ask('POST', '/api/admin/uploads', {'name': name})

    def validate_referral_code(self, body: Any) -> Any:
        """Check whether a referral code is valid for the caller."""
        return self.ask('POST', '/api/referral/validate', body=body)

    def verify_code(self, body: Any) -> Any:
        """Verify the e-mail address with the code that was sent there."""
        return self.ask('POST', '/api/auth/verify-otp', body=body)

    def void_position(self, id: Any, body: Any, *, key: Optional[str] = None) -> Any:
        """Void a position."""
        return self.ask('POST', f'/api/admin/positions/{_part(id)}/void', body=body, key=key)
