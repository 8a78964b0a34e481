using System.Collections.Generic;

namespace Touchline
{
    /// <summary>Every operation of the REST API. Made from its description, not by hand.</summary>
    public abstract class Operations
    {
        protected abstract Json Ask(
            string method, string path, IReadOnlyDictionary<string, object> query, object body, string key);

        protected abstract string Part(object value);

        /// <summary>Check whether the ledger balances.</summary>
        public Json AuditLedger()
        {
            return Ask("GET", "/api/admin/ledger/audit", null, null, null);
        }

        /// <summary>Change stop-loss and take-profit of an open position.</summary>
        public Json ChangeLevels(object id, object body)
        {
            return Ask("PATCH", "/api/positions/" + Part(id), null, body, null);
        }

        /// <summary>Leave the boards, or come back.</summary>
        public Json ChangeMe(object body)
        {
            return Ask("PATCH", "/api/me", null, body, null);
        }

        /// <summary>Set the caller's own limits.</summary>
        public Json ChangeMyLimits(object body)
        {
            return Ask("PUT", "/api/me/limits", null, body, null);
        }

        /// <summary>Pause or resume a webhook.</summary>
        public Json ChangeWebhook(object id, object body)
        {
            return Ask("PATCH", "/api/admin/webhooks/" + Part(id), null, body, null);
        }

        /// <summary>Check a referral code without signing in. Query: <c>code</c>.</summary>
        public Json CheckReferralCode(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/public/referral/validate", query, null, null);
        }

        /// <summary>Check whether a username is available.</summary>
        public Json CheckUsername(object body)
        {
            return Ask("POST", "/api/users/check-username", null, body, null);
        }

        /// <summary>Close a position.</summary>
        public Json ClosePosition(object id, object body, string key)
        {
            return Ask("POST", "/api/positions/" + Part(id) + "/close", null, body, key);
        }

        /// <summary>Create a share link for a named person.</summary>
        public Json CreateInvite(object body)
        {
            return Ask("POST", "/api/referrals/invites", null, body, null);
        }

        /// <summary>Create a personal key for a program.</summary>
        public Json CreateKey(object body)
        {
            return Ask("POST", "/api/keys", null, body, null);
        }

        /// <summary>A short-lived token for the WebSocket address.</summary>
        public Json CreateSocketToken()
        {
            return Ask("POST", "/api/ws/token", null, null, null);
        }

        /// <summary>Create a webhook.</summary>
        public Json CreateWebhook(object body)
        {
            return Ask("POST", "/api/admin/webhooks", null, body, null);
        }

        /// <summary>Delete the account.</summary>
        public Json DeleteAccount(object body)
        {
            return Ask("DELETE", "/api/me", null, body, null);
        }

        /// <summary>Delete one of the caller's personal keys.</summary>
        public Json DeleteKey(object id)
        {
            return Ask("DELETE", "/api/keys/" + Part(id), null, null, null);
        }

        /// <summary>Delete a webhook.</summary>
        public Json DeleteWebhook(object id)
        {
            return Ask("DELETE", "/api/admin/webhooks/" + Part(id), null, null, null);
        }

        /// <summary>End a match that does not end on its own.</summary>
        public Json EndMatch(object id, object body)
        {
            return Ask("POST", "/api/admin/matches/" + Part(id) + "/end", null, body, null);
        }

        /// <summary>End one of the caller's sessions.</summary>
        public Json EndSession(object id)
        {
            return Ask("DELETE", "/api/auth/sessions/" + Part(id), null, null, null);
        }

        /// <summary>Enter the season of this month.</summary>
        public Json EnterSeason()
        {
            return Ask("POST", "/api/seasons/enter", null, null, null);
        }

        /// <summary>Enter a tournament.</summary>
        public Json EnterTournament(object id)
        {
            return Ask("POST", "/api/tournaments/" + Part(id) + "/enter", null, null, null);
        }

        /// <summary>Download everything about the caller.</summary>
        public Json ExportMyData()
        {
            return Ask("GET", "/api/me/export", null, null, null);
        }

        /// <summary>Found a private league and join it.</summary>
        public Json FoundLeague(object body)
        {
            return Ask("POST", "/api/leagues", null, body, null);
        }

        /// <summary>The WebSocket address as an AsyncAPI 3 document.</summary>
        public Json GetAsyncApi()
        {
            return Ask("GET", "/api/asyncapi.json", null, null, null);
        }

        /// <summary>The current week, with its leader or tied candidates, and the week before.</summary>
        public Json GetCurrentSpinner()
        {
            return Ask("GET", "/api/spinner/current", null, null, null);
        }

        /// <summary>A district by profit. Query: <c>purse</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json GetDistrictPnlBoard(object districtId, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/district/" + Part(districtId), query, null, null);
        }

        /// <summary>A district by ROI. Query: <c>purse</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json GetDistrictRoiBoard(object districtId, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/roi/district/" + Part(districtId), query, null, null);
        }

        /// <summary>All districts by the average ROI of their ranked members. Query: <c>purse</c>.</summary>
        public Json GetDistrictStandings(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/districts/standings", query, null, null);
        }

        /// <summary>The referral network by profit. Query: <c>purse</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json GetFriendsPnlBoard(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/friends", query, null, null);
        }

        /// <summary>The referral network by ROI. Query: <c>purse</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json GetFriendsRoiBoard(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/roi/friends", query, null, null);
        }

        /// <summary>Whether the process is up.</summary>
        public Json GetHealth()
        {
            return Ask("GET", "/health", null, null, null);
        }

        /// <summary>One instrument.</summary>
        public Json GetInstrument(object id)
        {
            return Ask("GET", "/api/instruments/" + Part(id), null, null, null);
        }

        /// <summary>A league and its table. Query: <c>limit</c>, <c>offset</c>.</summary>
        public Json GetLeague(object id, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leagues/" + Part(id), query, null, null);
        }

        /// <summary>The table of one match in a league.</summary>
        public Json GetLeagueMatch(object id, object matchId)
        {
            return Ask("GET", "/api/leagues/" + Part(id) + "/matches/" + Part(matchId), null, null, null);
        }

        /// <summary>What a join link leads to.</summary>
        public Json GetLeagueOutline(object code)
        {
            return Ask("GET", "/api/public/leagues/" + Part(code), null, null, null);
        }

        /// <summary>One match, with its trade window.</summary>
        public Json GetMatch(object id)
        {
            return Ask("GET", "/api/matches/" + Part(id), null, null, null);
        }

        /// <summary>What a match made of the caller's positions. Query: <c>purse</c>.</summary>
        public Json GetMatchRecap(object matchId, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/recaps/matches/" + Part(matchId), query, null, null);
        }

        /// <summary>The caller's profile and wallet.</summary>
        public Json GetMe()
        {
            return Ask("GET", "/api/me", null, null, null);
        }

        /// <summary>The top five gainers, losers and most traded of the last 24 hours.</summary>
        public Json GetMovers()
        {
            return Ask("GET", "/api/instruments/movers", null, null, null);
        }

        /// <summary>The caller's own limits.</summary>
        public Json GetMyLimits()
        {
            return Ask("GET", "/api/me/limits", null, null, null);
        }

        /// <summary>The caller's rank by ROI. Query: <c>purse</c>.</summary>
        public Json GetMyRank(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/me", query, null, null);
        }

        /// <summary>The caller's rank by ROI and the gap to the next rank. Query: <c>purse</c>.</summary>
        public Json GetMyRankInContext(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/me/context", query, null, null);
        }

        /// <summary>The REST API as an OpenAPI 3.1 document.</summary>
        public Json GetOpenApi()
        {
            return Ask("GET", "/api/openapi.json", null, null, null);
        }

        /// <summary>All users by profit. Query: <c>purse</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json GetPnlBoard(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/global", query, null, null);
        }

        /// <summary>The caller's holdings of the former share model, wallet balance and total PnL.</summary>
        public Json GetPortfolio()
        {
            return Ask("GET", "/api/portfolio", null, null, null);
        }

        /// <summary>One position of the caller.</summary>
        public Json GetPosition(object id)
        {
            return Ask("GET", "/api/positions/" + Part(id), null, null, null);
        }

        /// <summary>What proves to others which position on a tape is the caller's.</summary>
        public Json GetPositionProof(object id)
        {
            return Ask("GET", "/api/positions/" + Part(id) + "/proof", null, null, null);
        }

        /// <summary>What moved the price while one of the caller's positions was open, and what closed it.</summary>
        public Json GetPositionReasons(object id)
        {
            return Ask("GET", "/api/positions/" + Part(id) + "/why", null, null, null);
        }

        /// <summary>The prices of an instrument over a period that ends now. Query: <c>period</c>.</summary>
        public Json GetPriceHistory(object id, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/instruments/" + Part(id) + "/price-history", query, null, null);
        }

        /// <summary>Commits whose reactions are pending or failed. Query: <c>limit</c>, <c>cursor</c>.</summary>
        public Json GetReactions(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/admin/reactions", query, null, null);
        }

        /// <summary>Whether the process can serve requests.</summary>
        public Json GetReadiness()
        {
            return Ask("GET", "/ready", null, null, null);
        }

        /// <summary>A small price chart of an ended match.</summary>
        public Json GetRecordingChart(object id)
        {
            return Ask("GET", "/api/admin/recordings/" + Part(id) + "/chart", null, null, null);
        }

        /// <summary>The running replays of all processes.</summary>
        public Json GetReplayStatus()
        {
            return Ask("GET", "/api/admin/gameplay-bot/status", null, null, null);
        }

        /// <summary>What is open, who wins and loses today, who opens ahead of moves, and connected accounts.</summary>
        public Json GetRisk()
        {
            return Ask("GET", "/api/admin/risk", null, null, null);
        }

        /// <summary>All users by ROI. Query: <c>purse</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json GetRoiBoard(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/leaderboard/roi/global", query, null, null);
        }

        /// <summary>The runbook.</summary>
        public Json GetRunbook()
        {
            return Ask("GET", "/api/admin/runbook", null, null, null);
        }

        /// <summary>The season of this month.</summary>
        public Json GetSeason()
        {
            return Ask("GET", "/api/seasons/current", null, null, null);
        }

        /// <summary>The players of one team of a match. Query: <c>team</c>.</summary>
        public Json GetSquad(object id, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/matches/" + Part(id) + "/squad", query, null, null);
        }

        /// <summary>The checkpoints of a tape.</summary>
        public Json GetTapeCheckpoints(object id)
        {
            return Ask("GET", "/api/public/tape/" + Part(id) + "/checkpoints", null, null, null);
        }

        /// <summary>The keys that sign tapes.</summary>
        public Json GetTapeKeys()
        {
            return Ask("GET", "/api/public/tape/keys", null, null, null);
        }

        /// <summary>Whether positions in a match can be opened, and why not.</summary>
        public Json GetTradeWindow(object id)
        {
            return Ask("GET", "/api/matches/" + Part(id) + "/trade-window", null, null, null);
        }

        /// <summary>The number of unread notifications.</summary>
        public Json GetUnreadCount()
        {
            return Ask("GET", "/api/notifications/unread-count", null, null, null);
        }

        /// <summary>One user: wallets, positions, ledger, sessions, keys and connections.</summary>
        public Json GetUser(object id)
        {
            return Ask("GET", "/api/admin/users/" + Part(id), null, null, null);
        }

        /// <summary>The caller's wallet in a purse. Query: <c>purse</c>.</summary>
        public Json GetWallet(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/wallet", query, null, null);
        }

        /// <summary>A live match, a little behind.</summary>
        public Json GetWatchedMatch(object id)
        {
            return Ask("GET", "/api/public/matches/" + Part(id), null, null, null);
        }

        /// <summary>What a week made of the caller's positions. Query: <c>purse</c>.</summary>
        public Json GetWeekRecap(object week, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/recaps/weeks/" + Part(week), query, null, null);
        }

        /// <summary>Join the league of a code.</summary>
        public Json JoinLeague(object body)
        {
            return Ask("POST", "/api/leagues/join", null, body, null);
        }

        /// <summary>Leave a league.</summary>
        public Json LeaveLeague(object id)
        {
            return Ask("POST", "/api/leagues/" + Part(id) + "/leave", null, null, null);
        }

        /// <summary>The events of the caller's positions after a marker. Query: <c>since</c>, <c>limit</c>, <c>cursor</c>.</summary>
        public Json ListAccountChanges(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/account/changes", query, null, null);
        }

        /// <summary>The caller's XP, level and badges, with the progress towards the others.</summary>
        public Json ListAchievements()
        {
            return Ask("GET", "/api/achievements", null, null, null);
        }

        /// <summary>Notable events of all users, newest first. Query: <c>scope</c>, <c>districtId</c>, <c>limit</c>, <c>cursor</c>.</summary>
        public Json ListActivity(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/activity", query, null, null);
        }

        /// <summary>All feature flags.</summary>
        public Json ListAllFlags()
        {
            return Ask("GET", "/api/admin/flags", null, null, null);
        }

        /// <summary>The actions of operators, newest first. Query: <c>limit</c>, <c>cursor</c>.</summary>
        public Json ListAuditEntries(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/admin/audit", query, null, null);
        }

        /// <summary>All districts.</summary>
        public Json ListDistricts()
        {
            return Ask("GET", "/api/districts", null, null, null);
        }

        /// <summary>Feature flags.</summary>
        public Json ListFlags()
        {
            return Ask("GET", "/api/flags", null, null, null);
        }

        /// <summary>All active instruments.</summary>
        public Json ListInstruments()
        {
            return Ask("GET", "/api/instruments", null, null, null);
        }

        /// <summary>The caller's personal keys.</summary>
        public Json ListKeys()
        {
            return Ask("GET", "/api/keys", null, null, null);
        }

        /// <summary>The caller's leagues.</summary>
        public Json ListLeagues()
        {
            return Ask("GET", "/api/leagues", null, null, null);
        }

        /// <summary>The ledger entries of the caller's wallet in a purse, newest first. Query: <c>purse</c>, <c>matchId</c>, <c>instrumentId</c>, <c>from</c>, <c>to</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json ListLedgerEntries(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/wallet/ledger", query, null, null);
        }

        /// <summary>The caller's trades of the former share model, newest first. Query: <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json ListLegacyTrades(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/trades", query, null, null);
        }

        /// <summary>The events of a match, with the statistics of both teams.</summary>
        public Json ListMatchEvents(object id)
        {
            return Ask("GET", "/api/matches/" + Part(id) + "/events", null, null, null);
        }

        /// <summary>All fixtures, with their trade windows.</summary>
        public Json ListMatches()
        {
            return Ask("GET", "/api/matches", null, null, null);
        }

        /// <summary>The keys of the scoring multipliers, by role and action.</summary>
        public Json ListMultiplierKeys()
        {
            return Ask("GET", "/api/admin/settings/scoring/multiplier-keys", null, null, null);
        }

        /// <summary>The caller's notifications, newest first. Query: <c>limit</c>, <c>unreadOnly</c>, <c>cursor</c>.</summary>
        public Json ListNotifications(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/notifications", query, null, null);
        }

        /// <summary>The seasons that the caller has finished.</summary>
        public Json ListPastSeasons()
        {
            return Ask("GET", "/api/seasons", null, null, null);
        }

        /// <summary>The caller's positions of one purse, newest first. Query: <c>purse</c>, <c>status</c>, <c>matchId</c>, <c>instrumentId</c>, <c>from</c>, <c>to</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json ListPositions(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/positions", query, null, null);
        }

        /// <summary>The caller's browsers that are told what happens.</summary>
        public Json ListPushSubscriptions()
        {
            return Ask("GET", "/api/push", null, null, null);
        }

        /// <summary>Recent trades of an instrument, anonymised. Query: <c>limit</c>, <c>cursor</c>.</summary>
        public Json ListRecentTrades(object id, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/instruments/" + Part(id) + "/recent-trades", query, null, null);
        }

        /// <summary>Ended matches that can be downloaded as recordings. Query: <c>limit</c>, <c>cursor</c>.</summary>
        public Json ListRecordings(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/admin/recordings", query, null, null);
        }

        /// <summary>The caller's invites and referred users.</summary>
        public Json ListReferrals()
        {
            return Ask("GET", "/api/referrals", null, null, null);
        }

        /// <summary>The recordings that can be replayed.</summary>
        public Json ListReplayFixtures()
        {
            return Ask("GET", "/api/admin/gameplay-bot/fixtures", null, null, null);
        }

        /// <summary>The caller's sessions.</summary>
        public Json ListSessions()
        {
            return Ask("GET", "/api/auth/sessions", null, null, null);
        }

        /// <summary>All settings.</summary>
        public Json ListSettings()
        {
            return Ask("GET", "/api/admin/settings", null, null, null);
        }

        /// <summary>Decided weeks, newest first. Query: <c>limit</c>, <c>cursor</c>.</summary>
        public Json ListSpinnerWeeks(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/spinner/history", query, null, null);
        }

        /// <summary>Tournaments: recorded matches that are played as events.</summary>
        public Json ListTournaments()
        {
            return Ask("GET", "/api/tournaments", null, null, null);
        }

        /// <summary>Recordings that were uploaded.</summary>
        public Json ListUploads()
        {
            return Ask("GET", "/api/admin/uploads", null, null, null);
        }

        /// <summary>All users, newest first. Query: <c>search</c>, <c>limit</c>, <c>cursor</c>, <c>offset</c>.</summary>
        public Json ListUsers(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("GET", "/api/admin/users", query, null, null);
        }

        /// <summary>Live matches, a little behind.</summary>
        public Json ListWatchedMatches()
        {
            return Ask("GET", "/api/public/matches", null, null, null);
        }

        /// <summary>Webhooks and how far they are behind.</summary>
        public Json ListWebhooks()
        {
            return Ask("GET", "/api/admin/webhooks", null, null, null);
        }

        /// <summary>Note something about a user.</summary>
        public Json NoteUser(object id, object body)
        {
            return Ask("POST", "/api/admin/users/" + Part(id) + "/notes", null, body, null);
        }

        /// <summary>Open a position.</summary>
        public Json OpenPosition(object body, string key)
        {
            return Ask("POST", "/api/positions/open", null, body, key);
        }

        /// <summary>Quote the fill, margin and levels of an order without placing it.</summary>
        public Json QuotePosition(object body)
        {
            return Ask("POST", "/api/positions/quote", null, body, null);
        }

        /// <summary>Mark all notifications as read.</summary>
        public Json ReadAllNotifications()
        {
            return Ask("POST", "/api/notifications/read-all", null, null, null);
        }

        /// <summary>Mark one notification as read.</summary>
        public Json ReadNotification(object id)
        {
            return Ask("POST", "/api/notifications/" + Part(id) + "/read", null, null, null);
        }

        /// <summary>Rebuild all leaderboards from the database.</summary>
        public Json RebuildRoiBoards()
        {
            return Ask("POST", "/api/admin/leaderboard/rebuild-roi", null, null, null);
        }

        /// <summary>Refill the caller's practice wallet, or a main wallet that is ruined.</summary>
        public Json RefillWallet(object body)
        {
            return Ask("POST", "/api/wallet/refill", null, body, null);
        }

        /// <summary>Rotate both tokens of the session.</summary>
        public Json RefreshSession(string key)
        {
            return Ask("POST", "/api/auth/refresh", null, null, key);
        }

        /// <summary>Register: the profile step.</summary>
        public Json Register(object body)
        {
            return Ask("POST", "/api/auth/google/complete", null, body, null);
        }

        /// <summary>Remove an upload.</summary>
        public Json RemoveUpload(object name)
        {
            return Ask("DELETE", "/api/admin/uploads/" + Part(name), null, null, null);
        }

        /// <summary>Send another code.</summary>
        public Json ResendCode(object body)
        {
            return Ask("POST", "/api/auth/resend-otp", null, body, null);
        }

        /// <summary>Retry the reaction to a commit that was set aside.</summary>
        public Json RetryReaction(object matchId, object seq)
        {
            return Ask("POST", "/api/admin/reactions/" + Part(matchId) + "/" + Part(seq) + "/retry", null, null, null);
        }

        /// <summary>Decide the last finished week.</summary>
        public Json RunSpinner()
        {
            return Ask("POST", "/api/spinner/run", null, null, null);
        }

        /// <summary>Schedule a recorded match as a tournament.</summary>
        public Json ScheduleTournament(object body)
        {
            return Ask("POST", "/api/admin/tournaments", null, body, null);
        }

        /// <summary>Set the season values of players.</summary>
        public Json SetAnchors(object body)
        {
            return Ask("PUT", "/api/admin/anchors", null, body, null);
        }

        /// <summary>Set a flag.</summary>
        public Json SetFlag(object key, object body)
        {
            return Ask("PUT", "/api/admin/flags/" + Part(key), null, body, null);
        }

        /// <summary>Set the role of a user.</summary>
        public Json SetRole(object id, object body)
        {
            return Ask("PUT", "/api/admin/users/" + Part(id) + "/role", null, body, null);
        }

        /// <summary>Set a setting. Query: <c>dryRun</c>.</summary>
        public Json SetSetting(object key, object body, IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("PUT", "/api/admin/settings/" + Part(key), query, body, null);
        }

        /// <summary>Freeze a user, or make them active again.</summary>
        public Json SetStatus(object id, object body)
        {
            return Ask("PUT", "/api/admin/users/" + Part(id) + "/status", null, body, null);
        }

        /// <summary>Sign in with a token of the identity provider.</summary>
        public Json SignIn(object body)
        {
            return Ask("POST", "/api/auth/google", null, body, null);
        }

        /// <summary>Sign out.</summary>
        public Json SignOut()
        {
            return Ask("POST", "/api/auth/logout", null, null, null);
        }

        /// <summary>Sign out everywhere.</summary>
        public Json SignOutEverywhere()
        {
            return Ask("POST", "/api/auth/logout-all", null, null, null);
        }

        /// <summary>Start a replay.</summary>
        public Json StartReplay(object body)
        {
            return Ask("POST", "/api/admin/gameplay-bot/start", null, body, null);
        }

        /// <summary>Stop one replay, or all.</summary>
        public Json StopReplays(object body)
        {
            return Ask("POST", "/api/admin/gameplay-bot/stop", null, body, null);
        }

        /// <summary>Tell a browser what happens.</summary>
        public Json SubscribePush(object body)
        {
            return Ask("PUT", "/api/push", null, body, null);
        }

        /// <summary>Send a test message to a webhook.</summary>
        public Json TestWebhook(object id)
        {
            return Ask("POST", "/api/admin/webhooks/" + Part(id) + "/test", null, null, null);
        }

        /// <summary>Try settings on recordings before setting them.</summary>
        public Json TryOutSettings(object body)
        {
            return Ask("POST", "/api/admin/settings/what-if", null, body, null);
        }

        /// <summary>Tell a browser nothing more.</summary>
        public Json UnsubscribePush(object id)
        {
            return Ask("DELETE", "/api/push/" + Part(id), null, null, null);
        }

        /// <summary>Upload a recording. Query: <c>name</c>.</summary>
        public Json UploadRecording(IReadOnlyDictionary<string, object> query = null)
        {
            return Ask("POST", "/api/admin/uploads", query, null, null);
        }

        /// <summary>Check whether a referral code is valid for the caller.</summary>
        public Json ValidateReferralCode(object body)
        {
            return Ask("POST", "/api/referral/validate", null, body, null);
        }

        /// <summary>Verify the e-mail address with the code that was sent there.</summary>
        public Json VerifyCode(object body)
        {
            return Ask("POST", "/api/auth/verify-otp", null, body, null);
        }

        /// <summary>Void a position.</summary>
        public Json VoidPosition(object id, object body, string key)
        {
            return Ask("POST", "/api/admin/positions/" + Part(id) + "/void", null, body, key);
        }
    }
}
