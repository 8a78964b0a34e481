/** The provider's match states as trading phases. The name decides; the number is the fallback. */

export type Phase =
  /** Before kick-off. */
  | 'scheduled'
  /** The ball is in play. */
  | 'live'
  /** Between two periods: tradeable, base prices flat. */
  | 'break'
  /** Full time, not yet certain: closed, but extra time may follow, so settlement waits for confirmation. */
  | 'ended'
  /** Certainly over: settles at once. */
  | 'final'
  /** Will not be played to the end: every position is void. */
  | 'off'
  /** Unknown: suspended, never settled. */
  | 'frozen'

/** The state of a match that an operator has voided, whatever its provider says. */
export const VOIDED = 'VOID'

const PHASE_BY_NAME: Readonly<Record<string, Phase>> = {
  NS: 'scheduled',
  TBA: 'scheduled',
  DELAYED: 'scheduled',
  PENDING: 'scheduled',
  INPLAY_1ST_HALF: 'live',
  INPLAY_2ND_HALF: 'live',
  INPLAY_ET: 'live',
  INPLAY_ET_2ND_HALF: 'live',
  INPLAY_ET_SECOND_HALF: 'live',
  INPLAY_PENALTIES: 'live',
  HT: 'break',
  BREAK: 'break',
  EXTRA_TIME_BREAK: 'break',
  PEN_BREAK: 'break',
  FT: 'ended',
  AET: 'ended',
  FINISHED: 'final',
  FT_PEN: 'final',
  POSTPONED: 'off',
  CANCELLED: 'off',
  ABANDONED: 'off',
  AWARDED: 'off',
  WALKOVER: 'off',
  WO: 'off',
  DELETED: 'off',
  [VOIDED]: 'off',
  SUSPENDED: 'frozen',
  INTERRUPTED: 'frozen',
  AWAITING_UPDATES: 'frozen',
}

/** Whether a state has a phase: its name, trimmed and in capitals, is one of the provider's. */
export const isKnownState = (name: string): boolean => Object.hasOwn(PHASE_BY_NAME, name)

/**
 * Specification 3.4 reads 2 and 3 as live and 5, 6, 7 as completed. In the provider's own table 6 is extra time in
 * play, so those never settle without confirmation, and no number overrules a name.
 */
const PHASE_BY_NUMBER: Readonly<Record<number, Phase>> = {
  1: 'scheduled',
  2: 'live',
  3: 'break',
  4: 'break',
  5: 'ended',
  6: 'ended',
  7: 'ended',
  8: 'final',
  9: 'live',
  13: 'scheduled',
  16: 'scheduled',
  21: 'break',
  22: 'live',
  23: 'live',
  25: 'break',
  26: 'scheduled',
}

/**
 * The phase of a fixture. An unknown name or number means `frozen`. While a period ticks no match is over; where the
 * name is one of a certain end (specification 3.4: closed), only its confirmation tells which of the two is wrong.
 */
export function phaseOf(fixture: {
  readonly state: string | null
  readonly stateId: number | null
  readonly periods: readonly { readonly ticking: boolean }[]
}): Phase {
  const named = fixture.state === null ? undefined : (PHASE_BY_NAME[fixture.state.trim().toUpperCase()] ?? 'frozen')
  const phase = named ?? (fixture.stateId === null ? undefined : PHASE_BY_NUMBER[fixture.stateId]) ?? 'frozen'
  const over = phase === 'ended' || phase === 'final'
  if (!over || !fixture.periods.some((p) => p.ticking)) return phase
  return named === 'final' ? 'ended' : 'live'
}

/** The states of a shoot-out and of a match that one has decided. */
const SHOOTOUTS: readonly (string | number | null)[] = ['INPLAY_PENALTIES', 'FT_PEN', 9, 8]

/** Whether there is a shoot-out or has been: a provider may list no period of it. */
export const hasShootout = ({
  state,
  stateId,
  periods,
}: {
  readonly state: string | null
  readonly stateId: number | null
  readonly periods: readonly { readonly kind: string }[]
}): boolean => SHOOTOUTS.includes(state ?? stateId) || periods.some(({ kind }) => kind === 'penalties')

/** Full time of 90 minutes: after extra time the provider says something else. */
export const isRegularEnd = ({ state, stateId }: { state: string | null; stateId: number | null }): boolean =>
  state === null ? stateId === 5 : state === 'FT'

/** Between kick-off and full time, where a silent feed is a fault. */
export const isInPlay = (phase: Phase): boolean => phase === 'live' || phase === 'break'

/** The match will settle or be declared void without an operator. */
export const isOver = (phase: Phase): boolean => phase === 'ended' || phase === 'final' || phase === 'off'

/** The byte for a phase in a price frame. */
export const PHASE_CODE: Readonly<Record<Phase, number>> = {
  scheduled: 0,
  live: 1,
  break: 2,
  ended: 3,
  final: 4,
  off: 5,
  frozen: 6,
}
