package touchline;

import java.util.Map;

/** Every operation of the REST API. Made from its description by `npm run ops -- client-generate`; do not edit. */
public abstract class Operations {
  abstract Json ask(String method, String path, Map<String, ?> query, Object body, String key);

  abstract String part(Object value);

  /** Check whether the ledger balances. */
  public Json auditLedger() {
    return ask("GET", "/api/admin/ledger/audit", Map.of(), null, null);
  }

  /** Change stop-loss and take-profit of an open position. */
  public Json changeLevels(Object id, Object body) {
    return ask("PATCH", "/api/positions/" + part(id), Map.of(), body, null);
  }

  /** Leave the boards, or come back. */
  public Json changeMe(Object body) {
    return ask("PATCH", "/api/me", Map.of(), body, null);
  }

  /** Set the caller's own limits. */
  public Json changeMyLimits(Object body) {
    return ask("PUT", "/api/me/limits", Map.of(), body, null);
  }

  /** Pause or resume a webhook. */
  public Json changeWebhook(Object id, Object body) {
    return ask("PATCH", "/api/admin/webhooks/" + part(id), Map.of(), body, null);
  }

  /** Check a referral code without signing in. Query: {@code code}. */
  public Json checkReferralCode(Map<String, ?> query) {
    return ask("GET", "/api/public/referral/validate", query, null, null);
  }

  /** Check whether a username is available. */
  public Json checkUsername(Object body) {
    return ask("POST", "/api/users/check-username", Map.of(), body, null);
  }

  /** Close a position. */
  public Json closePosition(Object id, Object body, String key) {
    return ask("POST", "/api/positions/" + part(id) + "/close", Map.of(), body, key);
  }

  /** Create a share link for a named person. */
  public Json createInvite(Object body) {
    return ask("POST", "/api/referrals/invites", Map.of(), body, null);
  }

  /** Create a personal key for a program. */
  public Json createKey(Object body) {
    return ask("POST", "/api/keys", Map.of(), body, null);
  }

  /** A short-lived token for the WebSocket address. */
  public Json createSocketToken() {
    return ask("POST", "/api/ws/token", Map.of(), null, null);
  }

  /** Create a webhook. */
  public Json createWebhook(Object body) {
    return ask("POST", "/api/admin/webhooks", Map.of(), body, null);
  }

  /** Delete the account. */
  public Json deleteAccount(Object body) {
    return ask("DELETE", "/api/me", Map.of(), body, null);
  }

  /** Delete one of the caller's personal keys. */
  public Json deleteKey(Object id) {
    return ask("DELETE", "/api/keys/" + part(id), Map.of(), null, null);
  }

  /** Delete a webhook. */
  public Json deleteWebhook(Object id) {
    return ask("DELETE", "/api/admin/webhooks/" + part(id), Map.of(), null, null);
  }

  /** End a match that does not end on its own. */
  public Json endMatch(Object id, Object body) {
    return ask("POST", "/api/admin/matches/" + part(id) + "/end", Map.of(), body, null);
  }

  /** End one of the caller's sessions. */
  public Json endSession(Object id) {
    return ask("DELETE", "/api/auth/sessions/" + part(id), Map.of(), null, null);
  }

  /** Enter the season of this month. */
  public Json enterSeason() {
    return ask("POST", "/api/seasons/enter", Map.of(), null, null);
  }

  /** Enter a tournament. */
  public Json enterTournament(Object id) {
    return ask("POST", "/api/tournaments/" + part(id) + "/enter", Map.of(), null, null);
  }

  /** Download everything about the caller. */
  public Json exportMyData() {
    return ask("GET", "/api/me/export", Map.of(), null, null);
  }

  /** Found a private league and join it. */
  public Json foundLeague(Object body) {
    return ask("POST", "/api/leagues", Map.of(), body, null);
  }

  /** The WebSocket address as an AsyncAPI 3 document. */
  public Json getAsyncApi() {
    return ask("GET", "/api/asyncapi.json", Map.of(), null, null);
  }

  /** The current week, with its leader or tied candidates, and the week before. */
  public Json getCurrentSpinner() {
    return ask("GET", "/api/spinner/current", Map.of(), null, null);
  }

  /** A district by profit. Query: {@code purse}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json getDistrictPnlBoard(Object districtId, Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/district/" + part(districtId), query, null, null);
  }

  /** A district by ROI. Query: {@code purse}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json getDistrictRoiBoard(Object districtId, Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/roi/district/" + part(districtId), query, null, null);
  }

  /** All districts by the average ROI of their ranked members. Query: {@code purse}. */
  public Json getDistrictStandings(Map<String, ?> query) {
    return ask("GET", "/api/districts/standings", query, null, null);
  }

  /** The referral network by profit. Query: {@code purse}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json getFriendsPnlBoard(Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/friends", query, null, null);
  }

  /** The referral network by ROI. Query: {@code purse}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json getFriendsRoiBoard(Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/roi/friends", query, null, null);
  }

  /** Whether the process is up. */
  public Json getHealth() {
    return ask("GET", "/health", Map.of(), null, null);
  }

  /** One instrument. */
  public Json getInstrument(Object id) {
    return ask("GET", "/api/instruments/" + part(id), Map.of(), null, null);
  }

  /** A league and its table. Query: {@code limit}, {@code offset}. */
  public Json getLeague(Object id, Map<String, ?> query) {
    return ask("GET", "/api/leagues/" + part(id), query, null, null);
  }

  /** The table of one match in a league. */
  public Json getLeagueMatch(Object id, Object matchId) {
    return ask("GET", "/api/leagues/" + part(id) + "/matches/" + part(matchId), Map.of(), null, null);
  }

  /** What a join link leads to. */
  public Json getLeagueOutline(Object code) {
    return ask("GET", "/api/public/leagues/" + part(code), Map.of(), null, null);
  }

  /** One match, with its trade window. */
  public Json getMatch(Object id) {
    return ask("GET", "/api/matches/" + part(id), Map.of(), null, null);
  }

  /** What a match made of the caller's positions. Query: {@code purse}. */
  public Json getMatchRecap(Object matchId, Map<String, ?> query) {
    return ask("GET", "/api/recaps/matches/" + part(matchId), query, null, null);
  }

  /** The caller's profile and wallet. */
  public Json getMe() {
    return ask("GET", "/api/me", Map.of(), null, null);
  }

  /** The top five gainers, losers and most traded of the last 24 hours. */
  public Json getMovers() {
    return ask("GET", "/api/instruments/movers", Map.of(), null, null);
  }

  /** The caller's own limits. */
  public Json getMyLimits() {
    return ask("GET", "/api/me/limits", Map.of(), null, null);
  }

  /** The caller's rank by ROI. Query: {@code purse}. */
  public Json getMyRank(Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/me", query, null, null);
  }

  /** The caller's rank by ROI and the gap to the next rank. Query: {@code purse}. */
  public Json getMyRankInContext(Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/me/context", query, null, null);
  }

  /** The REST API as an OpenAPI 3.1 document. */
  public Json getOpenApi() {
    return ask("GET", "/api/openapi.json", Map.of(), null, null);
  }

  /** All users by profit. Query: {@code purse}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json getPnlBoard(Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/global", query, null, null);
  }

  /** The caller's holdings of the former share model, wallet balance and total PnL. */
  public Json getPortfolio() {
    return ask("GET", "/api/portfolio", Map.of(), null, null);
  }

  /** One position of the caller. */
  public Json getPosition(Object id) {
    return ask("GET", "/api/positions/" + part(id), Map.of(), null, null);
  }

  /** What proves to others which position on a tape is the caller's. */
  public Json getPositionProof(Object id) {
    return ask("GET", "/api/positions/" + part(id) + "/proof", Map.of(), null, null);
  }

  /** What moved the price while one of the caller's positions was open, and what closed it. */
  public Json getPositionReasons(Object id) {
    return ask("GET", "/api/positions/" + part(id) + "/why", Map.of(), null, null);
  }

  /** The prices of an instrument over a period that ends now. Query: {@code period}. */
  public Json getPriceHistory(Object id, Map<String, ?> query) {
    return ask("GET", "/api/instruments/" + part(id) + "/price-history", query, null, null);
  }

  /** Commits whose reactions are pending or failed. Query: {@code limit}, {@code cursor}. */
  public Json getReactions(Map<String, ?> query) {
    return ask("GET", "/api/admin/reactions", query, null, null);
  }

  /** Whether the process can serve requests. */
  public Json getReadiness() {
    return ask("GET", "/ready", Map.of(), null, null);
  }

  /** A small price chart of an ended match. */
  public Json getRecordingChart(Object id) {
    return ask("GET", "/api/admin/recordings/" + part(id) + "/chart", Map.of(), null, null);
  }

  /** The running replays of all processes. */
  public Json getReplayStatus() {
    return ask("GET", "/api/admin/gameplay-bot/status", Map.of(), null, null);
  }

  /** What is open, who wins and loses today, who opens ahead of moves, and connected accounts. */
  public Json getRisk() {
    return ask("GET", "/api/admin/risk", Map.of(), null, null);
  }

  /** All users by ROI. Query: {@code purse}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json getRoiBoard(Map<String, ?> query) {
    return ask("GET", "/api/leaderboard/roi/global", query, null, null);
  }

  /** The runbook. */
  public Json getRunbook() {
    return ask("GET", "/api/admin/runbook", Map.of(), null, null);
  }

  /** The season of this month. */
  public Json getSeason() {
    return ask("GET", "/api/seasons/current", Map.of(), null, null);
  }

  /** The players of one team of a match. Query: {@code team}. */
  public Json getSquad(Object id, Map<String, ?> query) {
    return ask("GET", "/api/matches/" + part(id) + "/squad", query, null, null);
  }

  /** The checkpoints of a tape. */
  public Json getTapeCheckpoints(Object id) {
    return ask("GET", "/api/public/tape/" + part(id) + "/checkpoints", Map.of(), null, null);
  }

  /** The keys that sign tapes. */
  public Json getTapeKeys() {
    return ask("GET", "/api/public/tape/keys", Map.of(), null, null);
  }

  /** Whether positions in a match can be opened, and why not. */
  public Json getTradeWindow(Object id) {
    return ask("GET", "/api/matches/" + part(id) + "/trade-window", Map.of(), null, null);
  }

  /** The number of unread notifications. */
  public Json getUnreadCount() {
    return ask("GET", "/api/notifications/unread-count", Map.of(), null, null);
  }

  /** One user: wallets, positions, ledger, sessions, keys and connections. */
  public Json getUser(Object id) {
    return ask("GET", "/api/admin/users/" + part(id), Map.of(), null, null);
  }

  /** The caller's wallet in a purse. Query: {@code purse}. */
  public Json getWallet(Map<String, ?> query) {
    return ask("GET", "/api/wallet", query, null, null);
  }

  /** A live match, a little behind. */
  public Json getWatchedMatch(Object id) {
    return ask("GET", "/api/public/matches/" + part(id), Map.of(), null, null);
  }

  /** What a week made of the caller's positions. Query: {@code purse}. */
  public Json getWeekRecap(Object week, Map<String, ?> query) {
    return ask("GET", "/api/recaps/weeks/" + part(week), query, null, null);
  }

  /** Join the league of a code. */
  public Json joinLeague(Object body) {
    return ask("POST", "/api/leagues/join", Map.of(), body, null);
  }

  /** Leave a league. */
  public Json leaveLeague(Object id) {
    return ask("POST", "/api/leagues/" + part(id) + "/leave", Map.of(), null, null);
  }

  /** The events of the caller's positions after a marker. Query: {@code since}, {@code limit}, {@code cursor}. */
  public Json listAccountChanges(Map<String, ?> query) {
    return ask("GET", "/api/account/changes", query, null, null);
  }

  /** The caller's XP, level and badges, with the progress towards the others. */
  public Json listAchievements() {
    return ask("GET", "/api/achievements", Map.of(), null, null);
  }

  /** Notable events of all users, newest first. Query: {@code scope}, {@code districtId}, {@code limit}, {@code cursor}. */
  public Json listActivity(Map<String, ?> query) {
    return ask("GET", "/api/activity", query, null, null);
  }

  /** All feature flags. */
  public Json listAllFlags() {
    return ask("GET", "/api/admin/flags", Map.of(), null, null);
  }

  /** The actions of operators, newest first. Query: {@code limit}, {@code cursor}. */
  public Json listAuditEntries(Map<String, ?> query) {
    return ask("GET", "/api/admin/audit", query, null, null);
  }

  /** All districts. */
  public Json listDistricts() {
    return ask("GET", "/api/districts", Map.of(), null, null);
  }

  /** Feature flags. */
  public Json listFlags() {
    return ask("GET", "/api/flags", Map.of(), null, null);
  }

  /** All active instruments. */
  public Json listInstruments() {
    return ask("GET", "/api/instruments", Map.of(), null, null);
  }

  /** The caller's personal keys. */
  public Json listKeys() {
    return ask("GET", "/api/keys", Map.of(), null, null);
  }

  /** The caller's leagues. */
  public Json listLeagues() {
    return ask("GET", "/api/leagues", Map.of(), null, null);
  }

  /** The ledger entries of the caller's wallet in a purse, newest first. Query: {@code purse}, {@code matchId}, {@code instrumentId}, {@code from}, {@code to}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json listLedgerEntries(Map<String, ?> query) {
    return ask("GET", "/api/wallet/ledger", query, null, null);
  }

  /** The caller's trades of the former share model, newest first. Query: {@code limit}, {@code cursor}, {@code offset}. */
  public Json listLegacyTrades(Map<String, ?> query) {
    return ask("GET", "/api/trades", query, null, null);
  }

  /** The events of a match, with the statistics of both teams. */
  public Json listMatchEvents(Object id) {
    return ask("GET", "/api/matches/" + part(id) + "/events", Map.of(), null, null);
  }

  /** All fixtures, with their trade windows. */
  public Json listMatches() {
    return ask("GET", "/api/matches", Map.of(), null, null);
  }

  /** The keys of the scoring multipliers, by role and action. */
  public Json listMultiplierKeys() {
    return ask("GET", "/api/admin/settings/scoring/multiplier-keys", Map.of(), null, null);
  }

  /** The caller's notifications, newest first. Query: {@code limit}, {@code unreadOnly}, {@code cursor}. */
  public Json listNotifications(Map<String, ?> query) {
    return ask("GET", "/api/notifications", query, null, null);
  }

  /** The seasons that the caller has finished. */
  public Json listPastSeasons() {
    return ask("GET", "/api/seasons", Map.of(), null, null);
  }

  /** The caller's positions of one purse, newest first. Query: {@code purse}, {@code status}, {@code matchId}, {@code instrumentId}, {@code from}, {@code to}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json listPositions(Map<String, ?> query) {
    return ask("GET", "/api/positions", query, null, null);
  }

  /** The caller's browsers that are told what happens. */
  public Json listPushSubscriptions() {
    return ask("GET", "/api/push", Map.of(), null, null);
  }

  /** Recent trades of an instrument, anonymised. Query: {@code limit}, {@code cursor}. */
  public Json listRecentTrades(Object id, Map<String, ?> query) {
    return ask("GET", "/api/instruments/" + part(id) + "/recent-trades", query, null, null);
  }

  /** Ended matches that can be downloaded as recordings. Query: {@code limit}, {@code cursor}. */
  public Json listRecordings(Map<String, ?> query) {
    return ask("GET", "/api/admin/recordings", query, null, null);
  }

  /** The caller's invites and referred users. */
  public Json listReferrals() {
    return ask("GET", "/api/referrals", Map.of(), null, null);
  }

  /** The recordings that can be replayed. */
  public Json listReplayFixtures() {
    return ask("GET", "/api/admin/gameplay-bot/fixtures", Map.of(), null, null);
  }

  /** The caller's sessions. */
  public Json listSessions() {
    return ask("GET", "/api/auth/sessions", Map.of(), null, null);
  }

  /** All settings. */
  public Json listSettings() {
    return ask("GET", "/api/admin/settings", Map.of(), null, null);
  }

  /** Decided weeks, newest first. Query: {@code limit}, {@code cursor}. */
  public Json listSpinnerWeeks(Map<String, ?> query) {
    return ask("GET", "/api/spinner/history", query, null, null);
  }

  /** Tournaments: recorded matches that are played as events. */
  public Json listTournaments() {
    return ask("GET", "/api/tournaments", Map.of(), null, null);
  }

  /** Recordings that were uploaded. */
  public Json listUploads() {
    return ask("GET", "/api/admin/uploads", Map.of(), null, null);
  }

  /** All users, newest first. Query: {@code search}, {@code limit}, {@code cursor}, {@code offset}. */
  public Json listUsers(Map<String, ?> query) {
    return ask("GET", "/api/admin/users", query, null, null);
  }

  /** Live matches, a little behind. */
  public Json listWatchedMatches() {
    return ask("GET", "/api/public/matches", Map.of(), null, null);
  }

  /** Webhooks and how far they are behind. */
  public Json listWebhooks() {
    return ask("GET", "/api/admin/webhooks", Map.of(), null, null);
  }

  /** Note something about a user. */
  public Json noteUser(Object id, Object body) {
    return ask("POST", "/api/admin/users/" + part(id) + "/notes", Map.of(), body, null);
  }

  /** Open a position. */
  public Json openPosition(Object body, String key) {
    return ask("POST", "/api/positions/open", Map.of(), body, key);
  }

  /** Quote the fill, margin and levels of an order without placing it. */
  public Json quotePosition(Object body) {
    return ask("POST", "/api/positions/quote", Map.of(), body, null);
  }

  /** Mark all notifications as read. */
  public Json readAllNotifications() {
    return ask("POST", "/api/notifications/read-all", Map.of(), null, null);
  }

  /** Mark one notification as read. */
  public Json readNotification(Object id) {
    return ask("POST", "/api/notifications/" + part(id) + "/read", Map.of(), null, null);
  }

  /** Rebuild all leaderboards from the database. */
  public Json rebuildRoiBoards() {
    return ask("POST", "/api/admin/leaderboard/rebuild-roi", Map.of(), null, null);
  }

  /** Refill the caller's practice wallet, or a main wallet that is ruined. */
  public Json refillWallet(Object body) {
    return ask("POST", "/api/wallet/refill", Map.of(), body, null);
  }

  /** Rotate both tokens of the session. */
  public Json refreshSession(String key) {
    return ask("POST", "/api/auth/refresh", Map.of(), null, key);
  }

  /** Register: the profile step. */
  public Json register(Object body) {
    return ask("POST", "/api/auth/google/complete", Map.of(), body, null);
  }

  /** Remove an upload. */
  public Json removeUpload(Object name) {
    return ask("DELETE", "/api/admin/uploads/" + part(name), Map.of(), null, null);
  }

  /** Send another code. */
  public Json resendCode(Object body) {
    return ask("POST", "/api/auth/resend-otp", Map.of(), body, null);
  }

  /** Retry the reaction to a commit that was set aside. */
  public Json retryReaction(Object matchId, Object seq) {
    return ask("POST", "/api/admin/reactions/" + part(matchId) + "/" + part(seq) + "/retry", Map.of(), null, null);
  }

  /** Decide the last finished week. */
  public Json runSpinner() {
    return ask("POST", "/api/spinner/run", Map.of(), null, null);
  }

  /** Schedule a recorded match as a tournament. */
  public Json scheduleTournament(Object body) {
    return ask("POST", "/api/admin/tournaments", Map.of(), body, null);
  }

  /** Set the season values of players. */
  public Json setAnchors(Object body) {
    return ask("PUT", "/api/admin/anchors", Map.of(), body, null);
  }

  /** Set a flag. */
  public Json setFlag(Object key, Object body) {
    return ask("PUT", "/api/admin/flags/" + part(key), Map.of(), body, null);
  }

  /** Set the role of a user. */
  public Json setRole(Object id, Object body) {
    return ask("PUT", "/api/admin/users/" + part(id) + "/role", Map.of(), body, null);
  }

  /** Set a setting. Query: {@code dryRun}. */
  public Json setSetting(Object key, Map<String, ?> query, Object body) {
    return ask("PUT", "/api/admin/settings/" + part(key), query, body, null);
  }

  /** Freeze a user, or make them active again. */
  public Json setStatus(Object id, Object body) {
    return ask("PUT", "/api/admin/users/" + part(id) + "/status", Map.of(), body, null);
  }

  /** Sign in with a token of the identity provider. */
  public Json signIn(Object body) {
    return ask("POST", "/api/auth/google", Map.of(), body, null);
  }

  /** Sign out. */
  public Json signOut() {
    return ask("POST", "/api/auth/logout", Map.of(), null, null);
  }

  /** Sign out everywhere. */
  public Json signOutEverywhere() {
    return ask("POST", "/api/auth/logout-all", Map.of(), null, null);
  }

  /** Start a replay. */
  public Json startReplay(Object body) {
    return ask("POST", "/api/admin/gameplay-bot/start", Map.of(), body, null);
  }

  /** Stop one replay, or all. */
  public Json stopReplays(Object body) {
    return ask("POST", "/api/admin/gameplay-bot/stop", Map.of(), body, null);
  }

  /** Tell a browser what happens. */
  public Json subscribePush(Object body) {
    return ask("PUT", "/api/push", Map.of(), body, null);
  }

  /** Send a test message to a webhook. */
  public Json testWebhook(Object id) {
    return ask("POST", "/api/admin/webhooks/" + part(id) + "/test", Map.of(), null, null);
  }

  /** Try settings on recordings before setting them. */
  public Json tryOutSettings(Object body) {
    return ask("POST", "/api/admin/settings/what-if", Map.of(), body, null);
  }

  /** Tell a browser nothing more. */
  public Json unsubscribePush(Object id) {
    return ask("DELETE", "/api/push/" + part(id), Map.of(), null, null);
  }

  /** Upload a recording. Query: {@code name}. */
  public Json uploadRecording(Map<String, ?> query) {
    return ask("POST", "/api/admin/uploads", query, null, null);
  }

  /** Check whether a referral code is valid for the caller. */
  public Json validateReferralCode(Object body) {
    return ask("POST", "/api/referral/validate", Map.of(), body, null);
  }

  /** Verify the e-mail address with the code that was sent there. */
  public Json verifyCode(Object body) {
    return ask("POST", "/api/auth/verify-otp", Map.of(), body, null);
  }

  /** Void a position. */
  public Json voidPosition(Object id, Object body, String key) {
    return ask("POST", "/api/admin/positions/" + part(id) + "/void", Map.of(), body, key);
  }
}
