/** The error codes of leagues, seasons and tournaments, and what a code has. */

export interface Meaning {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503
  /** For people; the exact text of the specification if it has one. */
  readonly error: string
  /** When it happens, and what the caller should do. */
  readonly when: string
  /** Set if the header `Retry-After` says when to try again. */
  readonly retry?: true
}

export const LEAGUE_CODES = {
  LEAGUE_LIMIT: {
    status: 409,
    error: 'you take part in as many leagues as a user can; leave one first',
    when: 'The caller takes part in `maxLeagues` leagues that are not over. Leave one first.',
  },
  LEAGUE_FULL: { status: 409, error: 'the league is full', when: '`maxMembers` users have joined the league.' },
  LEAGUE_OVER: { status: 409, error: 'the league is over', when: 'It has ended. Nobody joins or leaves it any more.' },
  LEAGUE_NOT_RUNNING: {
    status: 409,
    error: 'the league takes no orders now',
    when: 'A position is opened in a league between `startsAt` and `endsAt`. It can be closed later.',
  },
  PURSE_MISMATCH: {
    status: 409,
    error: 'this match is not traded with that purse',
    when: 'Recordings are traded with `practice`, other matches with `main`, and a league chooses its matches.',
  },
  SEASON_UNDECIDED: {
    status: 409,
    error: 'your last season is still being decided',
    when: 'The result of the last season says where the caller plays the next. Call again after `Retry-After`.',
    retry: true,
  },
  TOURNAMENT_LIMIT: {
    status: 409,
    error: 'as many tournaments are scheduled as can be',
    when: '`maxTournaments` are under way or to come. Wait until one has ended.',
  },
} as const satisfies Record<string, Meaning>
