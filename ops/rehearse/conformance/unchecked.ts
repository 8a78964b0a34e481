/** The sentences that no check quotes, each with the reason. */

interface Unchecked {
  /** Words of the sentence. */
  readonly words: string
  readonly why: string
}

const NOTHING_ASKED = 'it leaves something open'
const NOT_OURS = 'it is about what clients show'

const INTRODUCES = 'it introduces what follows'
const LEFT_OPEN =
  'User profile fields returned by `GET /api/me` and by login: not shown beyond those named here. … Stop-loss and take-profit field names on a position: not shown. … Fields of a legacy share holding: not shown beyond being listed in the portfolio. … Fields of instrument, fixture, notification, referral, badge, spinner and leaderboard records: not shown beyond those named here. … Values of `closedBy` other than `user`: not shown. … Transitions between match states: not shown. … Request and response bodies not listed in the body column: not shown. … The exact path of the trade-window query for a fixture: not shown. … Outbound webhooks: not shown. … Subscribe and unsubscribe message format on the WebSocket: not shown. … Field layout of a price message: not shown. … HTTP status for `cooldown_active` and for the insufficient-margin rejection: not shown. … Statuses for failed OTP verification, expired ticket, bad identity token and field validation failures: not shown. … Other per-endpoint rate limits, and minimum or maximum lot size and open-position counts: not shown. … Versioning: not shown.'

export const unchecked: readonly Unchecked[] = [
  ...LEFT_OPEN.split(' … ').map((words) => ({ words, why: NOTHING_ASKED })),
  { words: 'This document covers the whole service: a football-linked trading game.', why: INTRODUCES },
  { words: 'Users sign in with an external identity provider, hold a virtual wallet', why: INTRODUCES },
  { words: 'Sections follow the fixed order', why: INTRODUCES },
  { words: 'Margin, free margin and equity are shown by clients from the CFD position model.', why: NOT_OURS },
  { words: 'the confirm gate keeps a 1 % buffer on free margin.', why: NOT_OURS },
  { words: 'Users without ROI yet render as a dash.', why: NOT_OURS },
  { words: 'Position routes exist only when the position service is wired.', why: 'every deployment has them' },
  { words: "signing keys refreshed every 6 hours from the provider's key set", why: 'no run lasts six hours' },
  {
    words: 'promoted at startup',
    why: 'the suite does not change the environment of a deployment; sign-ins are checked',
  },
]
