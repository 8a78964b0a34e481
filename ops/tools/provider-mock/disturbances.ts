/**
 * What football feeds do to their own answers, as seeded changes of a recording. Each kind is one that public reports
 * tell of. None changes what happened in the match: what a poll hides or garbles, the polls around it show.
 */
import { isDeepStrictEqual } from 'node:util'
import { DISCRETE, isCount } from '../../../actors/market/belief/plausible.ts'
import { type Chance, chanceFrom } from '../../../actors/replay/chance.ts'
import { Draft, isPayload, isTicking, type Payload, rowsOf } from './draft.ts'

/** Disturbs a recording; does nothing where the recording offers no occasion. */
type Disturbance = (draft: Draft, chance: Chance) => void

const RATING = 118
/** Polls for which something stays wrong or half told. */
const UNTIL_RIGHT = 2
const [GOAL, PENALTY_GOAL, MISSED, SUBSTITUTION, YELLOW, RED, SECOND_YELLOW] = [14, 16, 17, 18, 19, 20, 21]

const DISMISSALS: readonly (number | undefined)[] = [RED, SECOND_YELLOW]

const one = <T>(chance: Chance, items: readonly T[]): T | null => chance.pick(items, () => 1)
const lineupsOf = (payload: Payload): readonly Payload[] => rowsOf(payload, 'lineups')
const eventsOf = (payload: Payload): readonly Payload[] => rowsOf(payload, 'events')
const detailsOf = (row: Payload): readonly Payload[] => rowsOf(row, 'details')
const valueOf = (detail: Payload): unknown => (isPayload(detail['data']) ? detail['data']['value'] : undefined)
const typeOf = (row: Payload): unknown => row['type_id']
const playerOf = (row: Payload | undefined): number => Number(row?.['player_id'] ?? 0)
const rowOf = (payload: Payload, player: number): Payload | undefined =>
  lineupsOf(payload).find((row) => playerOf(row) === player)
const idsOf = (draft: Draft): readonly number[] => [
  ...new Set(draft.truth.flatMap((frame) => lineupsOf(frame).map(playerOf))),
]

/** Changes the row of one player in polls in which they do nothing new. */
function inQuietRow(
  draft: Draft,
  chance: Chance,
  change: (details: readonly Payload[]) => readonly Payload[],
  lasts = 1,
): void {
  const withDetails = idsOf(draft).filter((id) => draft.truth.some((f) => detailsOf(rowOf(f, id) ?? {}).length > 1))
  const player = one(chance, withDetails)
  if (player === null) return
  const nothingNew = (frame: Payload): unknown => {
    const row = rowOf(frame, player)
    // Nothing is hidden where nothing was told: an empty row is never quiet.
    return row === undefined || detailsOf(row).length === 0 ? Symbol('nothing told') : row
  }
  for (const n of draft.quietPolls(chance, 'lineups', nothingNew, lasts)) {
    draft.rows(n, 'lineups', (row) => (playerOf(row) === player ? { ...row, details: change(detailsOf(row)) } : row))
  }
}

const [SHOT_ON_TARGET, KEY_PASS, PASSES] = [86, 117, 80]
/** Polls after which a count that no row tells any more is none, also where rows lack others. */
const FORGOTTEN_AFTER = 8

/** The mistake needs this many counts: fewer may double in play within a poll, or all be taken back. */
const MANY = 20

const countsIn = (row: Payload): number =>
  detailsOf(row).reduce((sum, detail) => sum + (typeOf(detail) === RATING ? 0 : Number(valueOf(detail))), 0)

const withValue = (detail: Payload, value: unknown): Payload => ({ ...detail, data: { value } })

/** The last poll in which an event is new, and from which on it has been listed to the end. */
function listedFor(draft: Draft, types: readonly (number | undefined)[]): readonly { row: Payload; from: number }[] {
  const last = draft.truth.at(-1)
  return eventsOf(last ?? {})
    .filter((row) => types.includes(Number(typeOf(row))) && playerOf(row) !== 0)
    .map((row) => ({ row, from: draft.truth.findIndex((f) => eventsOf(f).some((e) => e['id'] === row['id'])) }))
    .filter(({ from }) => from > 0)
}

/**
 * Those that may be told wrong at first: they are told right before the final whistle, since what comes later moves no
 * price, and in lists that nothing else hides.
 */
const rightInTime = (draft: Draft, types: readonly (number | undefined)[]): ReturnType<typeof listedFor> =>
  listedFor(draft, types).filter(({ from }) => {
    const right = from + UNTIL_RIGHT
    return draft.truth.slice(right).some(isTicking) && [0, 1, 2].every((n) => draft.isFree(right + n, 'events'))
  })

const allButTheClock = (frame: Payload): Payload => ({ ...frame, periods: null })

const NEW_IDS_FROM = 500

/** An id that no row of the recording has. */
function freshId(draft: Draft, chance: Chance): number {
  const ids = draft.truth.flatMap((frame) => eventsOf(frame).map((row) => Number(row['id'])))
  return Math.max(0, ...ids) + NEW_IDS_FROM + chance.below(100_000)
}

const minuteOf = (row: Payload): number => Number(row['minute'])

/** A poll some polls after an event was first listed, while the match is in play; null if there is none. */
function laterPoll(draft: Draft, chance: Chance, from: number): number | null {
  return one(
    chance,
    draft.inPlay().filter((n) => n > from),
  )
}

/** Numbers of a value as text, at every depth. */
function asText(value: unknown): unknown {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(asText)
  return isPayload(value) ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key, asText(v)])) : value
}

/** The halves, extra time, and the shoot-out. */
const PERIODS: readonly number[] = [1, 2, 3, 5]

/** Line-ups may be late in the polls before. */
const SETTLED_FROM = 5

/** Added to an id, one that the recording does not have. */
const ELSEWHERE = 500

const KINDS = {
  // The first: nothing else may happen to the first line-up
  'line-ups late': (draft, chance) => {
    const until = 1 + chance.below(3)
    const isEarly = draft.truth.slice(0, until + 1).every((frame) => eventsOf(frame).length === 0)
    if (!isEarly) return
    for (let n = 0; n < until; n += 1) draft.set(n, { lineups: [] })
    draft.take(0, 'lineups', until)
    draft.hide(0, 0, until)
  },

  // Statistics of players
  'counters missing': (draft, chance) => {
    // What is no longer stated of them may have been taken back with a goal: its shot, for one.
    const final = new Set(eventsOf(draft.truth.at(-1) ?? {}).map((row) => row['id']))
    const gone = draft.truth.flatMap((frame) => eventsOf(frame).filter((row) => !final.has(row['id'])))
    const concerned = new Set(gone.flatMap(namesOf))
    // Two polls in a row that do not state a goal or card say that there is none.
    let unstated: ReadonlySet<string> = new Set()
    for (const n of draft.inPlay()) {
      const before = unstated
      const now = new Set<string>()
      unstated = now
      if (!chance.happens(0.3) || n < SETTLED_FROM || draft.isFalling(n)) continue
      const last = draft.truth[n - 1]
      draft.take(n, 'lineups')
      draft.rows(n, 'lineups', (row) => {
        const player = playerOf(row)
        const known = new Map(detailsOf(rowOf(last ?? {}, player) ?? {}).map((d) => [typeOf(d), valueOf(d)]))
        if (!chance.happens(0.5) || concerned.has(player)) return row
        const nameOf = (d: Payload): string => `${player} ${String(typeOf(d))}`
        // Only what has not changed may be left out.
        const isLeftOut = (d: Payload): boolean =>
          known.get(typeOf(d)) === valueOf(d) && !chance.happens(0.5) && !before.has(nameOf(d))
        const kept = detailsOf(row).filter((d) => !isLeftOut(d))
        const facts = detailsOf(row).filter((d) => DISCRETE.has(Number(typeOf(d))) && !kept.includes(d))
        for (const fact of facts) now.add(nameOf(fact))
        // It may have been taken back: the rating waits for the next poll.
        if (facts.length > 0) draft.hide(player, n, n + 1)
        return { ...row, details: kept }
      })
    }
  },
  'counters at zero': (draft, chance) => {
    inQuietRow(draft, chance, (details) => details.map((detail) => withValue(detail, 0)))
  },
  'all counters at zero': (draft, chance) => {
    const isMany = (frame: Payload): boolean => lineupsOf(frame).reduce((sum, row) => sum + countsIn(row), 0) >= MANY
    const nothingNew = (frame: Payload): unknown => (isMany(frame) ? lineupsOf(frame) : Symbol('little told'))
    for (const n of draft.quietPolls(chance, 'lineups', nothingNew, 1 + chance.below(3))) {
      draft.rows(n, 'lineups', (row) => ({ ...row, details: detailsOf(row).map((detail) => withValue(detail, 0)) }))
    }
  },
  'counters begun again': (draft, chance) => {
    const counts = (frame: Payload): readonly number[] =>
      lineupsOf(frame).flatMap((row) =>
        detailsOf(row).map((d) => (isCount(Number(typeOf(d))) ? Number(valueOf(d)) : 0)),
      )
    const isMany = (frame: Payload): boolean => counts(frame).reduce((sum, n) => sum + n, 0) >= 2 * MANY
    const nothingNew = (frame: Payload): unknown => (isMany(frame) ? lineupsOf(frame) : Symbol('little told'))
    const n = draft.quietPoll(chance, 'lineups', nothingNew)
    if (n === null) return
    const nameOf = (row: Payload, detail: Payload): string => `${playerOf(row)} ${String(typeOf(detail))}`
    const before = new Map(
      lineupsOf(draft.truth[n] ?? {}).flatMap((row) => detailsOf(row).map((d) => [nameOf(row, d), Number(valueOf(d))])),
    )
    const isLess = (row: Payload): boolean =>
      detailsOf(row).some((d) => isCount(Number(typeOf(d))) && Number(valueOf(d)) < (before.get(nameOf(row, d)) ?? 0))
    // A provider that begins again never tells what is taken back of the time before.
    if (draft.truth.slice(n).some((frame) => lineupsOf(frame).some(isLess))) return
    draft.take(n, 'lineups', draft.truth.length)
    draft.rowsFrom(n, 'lineups', (row) => ({
      ...row,
      details: detailsOf(row).map((detail) => {
        const since = Math.max(0, Number(valueOf(detail)) - (before.get(nameOf(row, detail)) ?? 0))
        return isCount(Number(typeOf(detail))) ? withValue(detail, since) : detail
      }),
    }))
  },
  'a counter falls': (draft, chance) => {
    inQuietRow(draft, chance, (details) => {
      const counters = details.filter((detail) => typeOf(detail) !== RATING && Number(valueOf(detail)) > 0)
      const fallen = one(chance, counters)
      return details.map((d) => (d === fallen ? withValue(d, Math.floor(Number(valueOf(d)) / 2)) : d))
    })
  },
  'statistics exchanged': (draft, chance) => {
    const keyed = idsOf(draft).map((id) => [chance.uniform(), id] as const)
    const ring = keyed.toSorted(([a], [b]) => a - b).map(([, id]) => id)
    ring.length = Math.min(ring.length, 2 + chance.below(3))
    const detailsIn = (frame: Payload): readonly (readonly Payload[])[] =>
      ring.map((player) => detailsOf(rowOf(frame, player) ?? {}))
    const nothingNew = (frame: Payload): unknown => {
      const rows = detailsIn(frame)
      // Nothing tells players apart who have done the same.
      const counts = rows.map((details) => details.filter((detail) => typeOf(detail) !== RATING))
      const isAlike = counts.some((row, n) => counts.slice(0, n).some((other) => isDeepStrictEqual(row, other)))
      return isAlike || rows.some((details) => details.length === 0) ? Symbol('nothing told') : rows
    }
    // A first row is believed, whatever it says.
    const [, n] = draft.quietPolls(chance, 'lineups', nothingNew, 2)
    if (n === undefined) return
    const rows = detailsIn(draft.truth[n] ?? {})
    draft.rows(n, 'lineups', (row) => {
      const at = ring.indexOf(playerOf(row))
      return at < 0 ? row : { ...row, details: rows[(at + 1) % ring.length] }
    })
  },
  'statistics of others': (draft, chance) => {
    const kind = chance.below(3)
    const nothingNew = (frame: Payload): unknown => lineupsOf(frame)
    const change = (frame: Payload): readonly Payload[] =>
      lineupsOf(frame).map((row, n, all) => {
        if (kind === 0) return { ...row, details: detailsOf(all[n + 1] ?? {}) }
        if (kind === 1) return { ...row, details: detailsOf(all[1] ?? {}) }
        const isCounted = (detail: Payload): boolean =>
          row['team_id'] === all[0]?.['team_id'] && isCount(Number(typeOf(detail)))
        return { ...row, details: detailsOf(row).map((detail) => (isCounted(detail) ? withValue(detail, 0) : detail)) }
      })
    // Where only a few players tell of less, each of them waits alone.
    const isNoticed = (frame: Payload): boolean => {
      const wrong = change(frame)
      const falls = lineupsOf(frame).map((row, n) =>
        detailsOf(row).reduce((sum, detail) => {
          const told = detailsOf(wrong[n] ?? {}).find((other) => typeOf(other) === typeOf(detail))
          const fall = told === undefined ? 0 : Number(valueOf(detail)) - Number(valueOf(told))
          return isCount(Number(typeOf(detail))) ? sum + Math.max(0, fall) : sum
        }, 0),
      )
      return falls.filter((fall) => fall > 0).length >= 5 && falls.reduce((sum, fall) => sum + fall, 0) >= 2 * MANY
    }
    const isTold = (frame: Payload): unknown => (isNoticed(frame) ? nothingNew(frame) : Symbol('little told'))
    for (const n of draft.quietPolls(chance, 'lineups', isTold, 1 + chance.below(3)))
      draft.set(n, { lineups: change(draft.truth[n] ?? {}) })
  },
  'a row copied': (draft, chance) => {
    const [from, to] = [one(chance, idsOf(draft)), one(chance, idsOf(draft))]
    const sources = (frame: Payload): readonly Payload[] => [from, to].map((id) => rowOf(frame, id ?? 0) ?? {})
    const nothingNew = (frame: Payload): unknown => {
      const [theirs, own] = sources(frame)
      const isLonger = countsIn(theirs ?? {}) >= countsIn(own ?? {}) + MANY
      return isLonger && detailsOf(own ?? {}).length > 0 ? sources(frame) : Symbol('little told')
    }
    for (const n of draft.quietPolls(chance, 'lineups', nothingNew, 2 + chance.below(4)).slice(1)) {
      const details = detailsOf(sources(draft.truth[n] ?? {})[0] ?? {})
      draft.rows(n, 'lineups', (row) => (playerOf(row) === to ? { ...row, details } : row))
    }
  },
  'a count of another': (draft, chance) => {
    const end = draft.inPlay().at(-1) ?? 0
    const player = one(chance, idsOf(draft))
    const type = one(chance, [SHOT_ON_TARGET, KEY_PASS]) ?? KEY_PASS
    const typesOf = (row: Payload | undefined): readonly unknown[] =>
      detailsOf(row ?? {}).flatMap((detail) => (isCount(Number(typeOf(detail))) ? [typeOf(detail)] : []))
    const fits = (frame: Payload): boolean =>
      !typesOf(rowOf(frame, player ?? 0)).includes(type) && lineupsOf(frame).some((row) => typesOf(row).includes(type))
    const from = draft.truth.findLastIndex((frame) => !fits(frame)) + 1
    const isLong = (frame: Payload): boolean =>
      draft.truth.indexOf(frame) >= from && typesOf(rowOf(frame, player ?? 0)).length > 2
    const nothingNew = (frame: Payload): unknown => (isLong(frame) ? lineupsOf(frame) : Symbol('little told'))
    const polls = draft.quietPolls(chance, 'lineups', nothingNew, 1 + chance.below(2))
    if (player === null || Number(polls.at(-1)) + FORGOTTEN_AFTER > end) return
    for (const n of polls) {
      const extra = { type_id: type, data: { value: 1 } }
      draft.rows(n, 'lineups', (row) =>
        playerOf(row) === player ? { ...row, details: [...detailsOf(row), extra] } : row,
      )
    }
    // No row says that it is gone: several that lack it do.
    draft.wronged.add(player)
    draft.hide(player, Number(polls[0]), Number(polls.at(-1)) + FORGOTTEN_AFTER)
  },
  'statistics multiplied': (draft, chance) => {
    const times = one(chance, [1.5, 2, 2.5, 3, 4]) ?? 2
    const team = chance.happens(0.5) ? null : lineupsOf(draft.truth[0] ?? {})[0]?.['team_id']
    const isTold = (row: Payload): boolean => team === null || row['team_id'] === team
    // Of a few actions there may be twice as many.
    const isMany = (frame: Payload): boolean =>
      Math.min(1, times - 1) *
        lineupsOf(frame)
          .filter(isTold)
          .reduce((sum, row) => sum + countsIn(row), 0) >=
      5 * MANY
    const nothingNew = (frame: Payload): unknown => (isMany(frame) ? lineupsOf(frame) : Symbol('little told'))
    const multiplied = (detail: Payload): Payload =>
      typeOf(detail) === RATING ? detail : withValue(detail, Math.round(times * Number(valueOf(detail))))
    for (const n of draft.quietPolls(chance, 'lineups', nothingNew, 2 + chance.below(2)).slice(1)) {
      draft.rows(n, 'lineups', (row) => (isTold(row) ? { ...row, details: detailsOf(row).map(multiplied) } : row))
    }
  },
  'rating out of range': (draft, chance) => {
    const wrong = one(chance, [0, '0.00', 69, 690, -6.9, '', null, 'n/a', 0.5])
    const change = (details: readonly Payload[]): readonly Payload[] =>
      details.map((detail) => (typeOf(detail) === RATING ? withValue(detail, wrong) : detail))
    inQuietRow(draft, chance, change, 1 + chance.below(3))
  },
  'rating with a comma': (draft) => {
    draft.rowsFrom(0, 'lineups', (row) => ({
      ...row,
      details: detailsOf(row).map((detail) =>
        typeOf(detail) === RATING ? withValue(detail, String(valueOf(detail)).replace('.', ',')) : detail,
      ),
    }))
  },
  'statistics of a season': (draft, chance) => {
    const isMany = (frame: Payload): boolean =>
      lineupsOf(frame).filter((row) =>
        detailsOf(row).some((detail) => typeOf(detail) === PASSES && countsIn(row) >= MANY),
      ).length >= 5
    const nothingNew = (frame: Payload): unknown => (isMany(frame) ? lineupsOf(frame) : Symbol('little told'))
    const summed = (detail: Payload): Payload =>
      isCount(Number(typeOf(detail))) ? withValue(detail, 20 * Number(valueOf(detail))) : detail
    const [, ...polls] = draft.quietPolls(chance, 'lineups', nothingNew, 2 + chance.below(3))
    for (const n of polls) draft.rows(n, 'lineups', (row) => ({ ...row, details: detailsOf(row).map(summed) }))
  },
  'one more for everybody': (draft, chance) => {
    const type = one(chance, [52, 79, 83, 84, SHOT_ON_TARGET]) ?? SHOT_ON_TARGET
    const isTold = (row: Payload): boolean => detailsOf(row).length > 1
    const nothingNew = (frame: Payload): unknown =>
      lineupsOf(frame).filter(isTold).length >= 8 ? lineupsOf(frame) : Symbol('little told')
    // A first row is believed, whatever it says.
    const [, n] = draft.quietPolls(chance, 'lineups', nothingNew, 2)
    if (n === undefined) return
    draft.rows(n, 'lineups', (row) => {
      const [of, others] = [detailsOf(row).filter((d) => typeOf(d) === type), detailsOf(row)]
      const more = { type_id: type, data: { value: 1 + Number(valueOf(of[0] ?? {}) ?? 0) } }
      return isTold(row) ? { ...row, details: [...others.filter((d) => typeOf(d) !== type), more] } : row
    })
  },
  'ratings of another scale': (draft, chance) => {
    const by = one(chance, [-1, -0.6, 0.6, 1, 2]) ?? 1
    const isRated = (row: Payload): boolean => detailsOf(row).some((detail) => typeOf(detail) === RATING)
    const nothingNew = (frame: Payload): unknown =>
      lineupsOf(frame).filter(isRated).length >= 5 ? lineupsOf(frame) : Symbol('little told')
    // A first rating is believed, whatever it says.
    const [, n] = draft.quietPolls(chance, 'lineups', nothingNew, 2)
    const changed = (detail: Payload): Payload =>
      typeOf(detail) === RATING ? withValue(detail, Number(valueOf(detail)) + by) : detail
    if (n !== undefined) draft.rows(n, 'lineups', (row) => ({ ...row, details: detailsOf(row).map(changed) }))
  },
  'counts that are none': (draft, chance) => {
    const wrong = one(chance, [-1, -20, 0.5, 7.25, 'many', '-3', 1e12])
    inQuietRow(draft, chance, (details) =>
      details.map((detail) => (typeOf(detail) !== RATING && chance.happens(0.5) ? withValue(detail, wrong) : detail)),
    )
  },

  // Lists
  'a list is missing': (draft, chance) => {
    const list = one(chance, ['lineups', 'events', 'statistics'] as const) ?? 'events'
    const section = list === 'lineups' ? 'lineups' : 'events'
    const n = draft.quietPoll(chance, section, (frame) => rowsOf(frame, list))
    if (n !== null) draft.set(n, { [list]: one(chance, [null, undefined, {}, 'none']) })
  },
  'events empty': (draft, chance) => {
    // One row alone that is not listed twice has been taken back.
    const lasts = 1 + chance.below(3)
    const several = (frame: Payload): unknown =>
      lasts > 1 && eventsOf(frame).length < 2 ? Symbol('one') : eventsOf(frame)
    for (const n of draft.quietPolls(chance, 'events', several, lasts)) draft.set(n, { events: [] })
  },
  'a goal is not listed': (draft, chance) => {
    const polls = draft.quietPolls(chance, 'events', eventsOf, 1 + chance.below(4))
    const goals = eventsOf(draft.at(polls[0] ?? -1)).filter((row) => [GOAL, PENALTY_GOAL].includes(Number(typeOf(row))))
    const lost = one(chance, goals)
    for (const n of polls) draft.rows(n, 'events', (row) => (row['id'] === lost?.['id'] ? [] : row))
  },
  'an event is missing': (draft, chance) => {
    const n = draft.quietPoll(chance, 'events', eventsOf)
    const lost = n === null ? null : one(chance, eventsOf(draft.truth[n] ?? {}))
    if (n !== null && lost !== null) draft.rows(n, 'events', (row) => (row['id'] === lost['id'] ? [] : row))
  },
  'half the events': (draft, chance) => {
    const isFirst = chance.happens(0.5)
    for (const n of draft.quietPolls(chance, 'events', eventsOf, 1 + chance.below(2))) {
      const vouched = eventsOf(draft.at(n)).filter((row) => typeOf(row) !== SUBSTITUTION)
      const half = Math.ceil(vouched.length / 2)
      const cut = isFirst ? vouched.slice(0, half) : vouched.slice(half)
      // What is stated of one penalty that was missed says nothing of another.
      const isTold = (row: Payload): boolean => vouched.some((other) => !cut.includes(other) && isAlike(other, row))
      draft.rows(n, 'events', (row) => (cut.includes(row) && !isTold(row) ? [] : row))
    }
  },
  'scores missing': (draft, chance) => {
    const n = draft.quietPoll(chance, 'scores', (frame) => rowsOf(frame, 'scores'))
    if (n === null) return
    const halves = rowsOf(draft.at(n), 'scores').map((row) => ({ ...row, description: '1ST_HALF' }))
    draft.set(n, { scores: one(chance, [[], halves, null]) })
  },
  'the score falls': (draft, chance) => {
    const n = draft.quietPoll(chance, 'scores', (frame) => rowsOf(frame, 'scores'))
    if (n === null) return
    draft.rows(n, 'scores', (row) => {
      const goals = isPayload(row['score']) ? Number(row['score']['goals']) : 0
      return goals > 0 ? { ...row, score: { ...(isPayload(row['score']) ? row['score'] : {}), goals: goals - 1 } } : row
    })
  },
  'the score is another': (draft, chance) => {
    const isReset = chance.happens(0.5)
    for (const n of draft.quietPolls(chance, 'whole', allButTheClock, 1 + chance.below(3))) {
      const goals = rowsOf(draft.at(n), 'scores').map(({ score }) => (isPayload(score) ? score['goals'] : null))
      draft.list(n, 'scores', (rows) =>
        rows.map((row, side) => ({ ...row, score: { goals: isReset ? 0 : goals[goals.length - 1 - side] } })),
      )
    }
  },
  'scores that are none': (draft, chance) => {
    const n = draft.quietPoll(chance, 'scores', (frame) => rowsOf(frame, 'scores'))
    const goals = one(chance, [1.5, -1, null, 'x', '1,5'])
    if (n !== null) draft.rows(n, 'scores', (row) => ({ ...row, score: { goals } }))
  },
  'no fixture': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    if (n === null) return
    draft.replace(n, { message: 'Server Error' })
    draft.hide(0, n, n + 1)
  },

  // The list of events
  'rows under new ids': (draft, chance) => {
    const listed = one(chance, listedFor(draft, [GOAL, PENALTY_GOAL, YELLOW, RED, SECOND_YELLOW]))
    const from = listed === null ? null : laterPoll(draft, chance, listed.from)
    if (listed === null || from === null) return
    const { row } = listed
    // How long a side has been a man short depends on the minute of a dismissal. A player is booked once.
    const reach = DISMISSALS.includes(Number(typeOf(row))) ? 0 : typeOf(row) === YELLOW ? 9 : 2
    const shift = chance.below(2 * reach + 1) - reach
    const again = { ...row, id: freshId(draft, chance), minute: Math.max(1, minuteOf(row) + shift) }
    draft.rowsFrom(from, 'events', (now) => (now['id'] === row['id'] ? again : now))
  },
  'rows twice': (draft, chance) => {
    const listed = one(chance, listedFor(draft, [GOAL, PENALTY_GOAL, YELLOW, SUBSTITUTION]))
    if (listed === null) return
    const { row } = listed
    // A substitution in two minutes would be two facts: who left has played until then.
    const later = typeOf(row) === SUBSTITUTION ? 0 : chance.below(2)
    const twin = { ...row, id: freshId(draft, chance), minute: minuteOf(row) + later }
    draft.rowsFrom(listed.from, 'events', (now) => (now['id'] === row['id'] ? [now, twin] : now))
  },
  'rows corrected': (draft, chance) => {
    const listed = one(chance, rightInTime(draft, [GOAL, YELLOW]))
    if (listed === null) return
    const { row, from } = listed
    const team = rowOf(draft.truth[from] ?? {}, playerOf(row))?.['team_id']
    const named = (id: number): boolean => eventsOf(draft.truth.at(-1) ?? {}).some((e) => namesOf(e).includes(id))
    const others = lineupsOf(draft.truth[from] ?? {}).filter(
      (other) => other['team_id'] === team && other['type_id'] === 11 && !named(playerOf(other)),
    )
    const wrong = one(chance, others)
    if (wrong === null) return
    for (const id of [playerOf(row), playerOf(wrong)]) {
      draft.wronged.add(id)
      draft.hide(id, from, from + 4)
    }
    const player = { player_id: playerOf(wrong), player_name: wrong['player_name'] }
    for (let n = from; n < from + UNTIL_RIGHT; n += 1) {
      draft.rows(n, 'events', (now) => (now['id'] === row['id'] ? { ...now, ...player } : now))
    }
  },
  'dismissed in three rows': (draft, chance) => {
    const listed = one(chance, listedFor(draft, [SECOND_YELLOW]))
    if (listed === null) return
    const red = { ...listed.row, id: freshId(draft, chance), type_id: RED }
    draft.rowsFrom(listed.from, 'events', (now) => (now['id'] === listed.row['id'] ? [now, red] : now))
  },
  'a row wrong for a poll': (draft, chance) => {
    const isKnown = (row: Payload): boolean =>
      [GOAL, PENALTY_GOAL, MISSED, SUBSTITUTION, YELLOW, RED, SECOND_YELLOW].includes(Number(typeOf(row)))
    const n = draft.quietPoll(chance, 'events', eventsOf)
    const row = n === null ? null : one(chance, eventsOf(draft.truth[n] ?? {}).filter(isKnown))
    // Of one that is listed twice the other goes on telling what it told.
    if (n === null || row === null || eventsOf(draft.at(n)).filter((now) => isAlike(now, row)).length > 1) return
    const isFree = ({ player_id: id, team_id: team }: Payload): boolean =>
      team === row['participant_id'] && !eventsOf(draft.truth.at(-1) ?? {}).some((e) => namesOf(e).includes(Number(id)))
    const wrong = one(chance, lineupsOf(draft.truth[n] ?? {}).filter(isFree))
    const player = wrong === null ? {} : { player_id: playerOf(wrong), player_name: wrong['player_name'] }
    const type = one(chance, [GOAL, PENALTY_GOAL, MISSED, SUBSTITUTION, YELLOW, RED, SECOND_YELLOW])
    const over = one(chance, [
      player,
      { ...player, id: freshId(draft, chance) },
      { type_id: type },
      swapped(row),
      { minute: 1 },
      { rescinded: true },
    ])
    draft.rows(n, 'events', (now) => (now['id'] === row['id'] ? { ...now, ...over } : now))
  },
  'a card of another': (draft, chance) => {
    const n = draft.quietPoll(chance, 'events', (frame) => [eventsOf(frame), lineupsOf(frame)])
    const minute = Math.max(...eventsOf(draft.at(n ?? -1)).map(minuteOf))
    const early = eventsOf(draft.at(n ?? -1)).filter((row) => typeOf(row) === YELLOW && minuteOf(row) < minute - 10)
    const card = one(chance, early)
    const unbooked = idsOf(draft).filter((id) => !draft.truth.some((f) => isIn(f, id)))
    const player = card !== null && chance.happens(0.5) ? playerOf(card) : one(chance, unbooked)
    if (n === null || card === null || player === null) return
    const wrong = { ...card, id: freshId(draft, chance), player_id: player, type_id: RED }
    draft.list(n, 'events', (rows) => [...rows, wrong])
  },
  'the scorer assists': (draft) => {
    draft.rowsFrom(0, 'events', (row) =>
      typeOf(row) === GOAL && row['related_player_id'] === null
        ? { ...row, related_player_id: row['player_id'], related_player_name: row['player_name'] }
        : row,
    )
  },
  'an opponent assists': (draft) => {
    draft.rowsFrom(0, 'events', (row) => {
      if (typeOf(row) !== GOAL || row['related_player_id'] !== null) return row
      const opponent = lineupsOf(draft.truth[SETTLED_FROM] ?? {}).find(
        (other) => other['team_id'] !== row['participant_id'],
      )
      return { ...row, related_player_id: playerOf(opponent), related_player_name: opponent?.['player_name'] }
    })
  },
  'a late assist for a poll': (draft, chance) => {
    const n = draft.quietPoll(chance, 'events', (frame) => [eventsOf(frame), lineupsOf(frame)])
    const before = draft.inPlay().filter((poll) => poll < (n ?? 0))
    const isOld = (row: Payload): boolean =>
      eventsOf(draft.truth[before.at(-4) ?? 0] ?? {}).some((now) => now['id'] === row['id'])
    const goals = eventsOf(draft.at(n ?? -1)).filter(
      (row) => typeOf(row) === GOAL && row['related_player_id'] === null && isOld(row),
    )
    const row = one(chance, goals)
    // Of one that is listed twice the other goes on telling what it told.
    if (n === null || row === null || eventsOf(draft.at(n)).filter((now) => isAlike(now, row)).length > 1) return
    const isFree = ({ player_id: id, team_id: team }: Payload): boolean =>
      team === row['participant_id'] && !draft.truth.some((frame) => isIn(frame, Number(id)))
    const wrong = one(chance, lineupsOf(draft.truth[n] ?? {}).filter(isFree))
    if (wrong === null) return
    const assist = { related_player_id: playerOf(wrong), related_player_name: wrong['player_name'] }
    draft.rows(n, 'events', (now) => (now['id'] === row['id'] ? { ...now, ...assist } : now))
  },
  'a miss typed as a goal': (draft) => {
    draft.rowsFrom(0, 'events', (row) =>
      typeOf(row) === MISSED ? { ...row, type_id: PENALTY_GOAL, addition: 'Missed Penalty' } : row,
    )
  },
  'rows of strangers': (draft, chance) => {
    const from = one(chance, draft.inPlay())
    if (from === null) return
    const type = one(chance, [GOAL, RED, SUBSTITUTION, YELLOW])
    // A substitute whom no line-up lists is one where the team plays.
    const team =
      type === SUBSTITUTION ? 999 : one(chance, [...rowsOf(draft.truth[from], 'participants'), { id: 999 }])?.['id']
    const row = { id: freshId(draft, chance), type_id: type, participant_id: team, player_id: 1, minute: 10 }
    for (let n = from; n < draft.truth.length; n += 1) draft.list(n, 'events', (rows) => [row, ...rows])
  },
  'rows in disorder': (draft, chance) => {
    for (let n = 0; n < draft.truth.length; n += 1) {
      draft.list(n, 'events', (rows) => {
        const keyed = rows.map((row) => [chance.uniform(), row] as const)
        return keyed.toSorted(([a], [b]) => a - b).map(([, row]) => row)
      })
    }
  },
  'a minute is lost': (draft, chance) => {
    const n = draft.quietPoll(chance, 'events', eventsOf)
    const lost = n === null ? null : one(chance, eventsOf(draft.truth[n] ?? {}))
    const minute = one(chance, [null, 33.5, -3, 'soon', 4_000])
    if (n === null || lost === null) return
    draft.rows(n, 'events', (row) => (row['id'] === lost['id'] ? { ...row, minute } : row))
  },

  // Substitutions and line-ups
  'half a substitution': (draft, chance) => {
    const listed = one(chance, rightInTime(draft, [SUBSTITUTION]))
    if (listed === null) return
    const { row, from } = listed
    const part = one(chance, ['player', 'related_player'] as const) ?? 'player'
    const missing = { [`${part}_id`]: null, [`${part}_name`]: null }
    // Of a player whom the row does not name: their time on the pitch is known when it does.
    draft.hide(Number(row[`${part}_id`]), from, from + 3)
    for (let n = from; n < from + UNTIL_RIGHT; n += 1) {
      draft.rows(n, 'events', (now) => (now['id'] === row['id'] ? { ...now, ...missing } : now))
    }
  },
  'a substitution the wrong way round': (draft, chance) => {
    const listed = one(chance, listedFor(draft, [SUBSTITUTION]))
    if (listed === null) return
    // Also where it is listed twice: two rows that name each other's players would be a change and its return.
    const names = namesOf(listed.row).join()
    const isIt = (row: Payload): boolean => row['id'] === listed.row['id'] || namesOf(row).join() === names
    draft.rowsFrom(0, 'events', (row) => (isIt(row) ? swapped(row) : row))
  },
  'an opponent taken off': (draft, chance) => {
    const listed = one(chance, rightInTime(draft, [SUBSTITUTION]))
    if (listed === null) return
    const { row, from } = listed
    const opponents = lineupsOf(draft.truth[from] ?? {}).filter((other) => other['team_id'] !== row['participant_id'])
    const wrong = one(chance, opponents)
    // One that names a single player, or both the wrong way round, would be of the other team.
    const isWhole = eventsOf(draft.at(from)).some((now) => isDeepStrictEqual(now, row))
    if (wrong === null || !isWhole) return
    draft.hide(Number(row['related_player_id']), from, from + 3)
    const opponent = { related_player_id: playerOf(wrong), related_player_name: wrong['player_name'] }
    for (let n = from; n < from + UNTIL_RIGHT; n += 1) {
      draft.rows(n, 'events', (now) => (now['id'] === row['id'] ? { ...now, ...opponent } : now))
    }
  },
  'a player listed twice': (draft, chance) => {
    const player = one(chance, idsOf(draft))
    const isBench = chance.happens(0.5)
    draft.rowsFrom(0, 'lineups', (row) => {
      if (playerOf(row) !== player) return row
      return isBench ? [{ ...row, type_id: 12, details: [] }, row] : [row, row]
    })
  },
  'a player in both teams': (draft, chance) => {
    const player = one(chance, idsOf(draft))
    // Where the first line-up has them twice, their team is not known.
    draft.rowsFrom(SETTLED_FROM, 'lineups', (row) => {
      if (playerOf(row) !== player) return row
      const team = rowsOf(draft.truth[0], 'participants').find(({ id }) => id !== row['team_id'])?.['id']
      return [row, { ...row, team_id: team, type_id: 12, details: [] }]
    })
  },
  'a player is dropped': (draft, chance) => {
    const player = one(chance, idsOf(draft))
    if (player === null) return
    const n = draft.quietPoll(chance, 'lineups', (frame) => rowOf(frame, player))
    if (n === null) return
    draft.hide(player, n, n + 1)
    draft.rows(n, 'lineups', (row) => (playerOf(row) === player ? [] : row))
  },
  'the line-up of another match': (draft, chance) => {
    const nothingNew = (frame: Payload): unknown =>
      lineupsOf(frame).some((row) => detailsOf(row).length > 0) ? lineupsOf(frame) : Symbol('little told')
    for (const n of draft.quietPolls(chance, 'lineups', nothingNew, 1 + chance.below(3))) {
      draft.rows(n, 'lineups', (row) => ({ ...row, player_id: playerOf(row) + ELSEWHERE, player_name: 'Somebody' }))
    }
  },
  'an answer about another match': (draft, chance) => {
    const nothingNew = (frame: Payload): unknown =>
      lineupsOf(frame).length > 0 ? allButTheClock(frame) : Symbol('little told')
    for (const n of draft.quietPolls(chance, 'whole', nothingNew, 1 + chance.below(2))) {
      const other = draft.truth.at(-1 - chance.below(draft.truth.length)) ?? {}
      draft.replace(n, { ...elsewhere(other), id: draft.at(n)['id'] })
      draft.hide(0, n, n + 1)
    }
  },
  'line-ups exchanged': (draft, chance) => {
    const isScore = chance.happens(0.5)
    for (const n of draft.quietPolls(chance, 'whole', allButTheClock, 1 + chance.below(3))) {
      for (const [list, team] of [
        ['lineups', 'team_id'],
        ['events', 'participant_id'],
        ['scores', 'participant_id'],
      ] as const) {
        const teams = rowsOf(draft.truth[n], 'participants').map(({ id }) => id)
        const other = (row: Payload): unknown =>
          teams.includes(row[team]) ? teams.find((id) => id !== row[team]) : row[team]
        if (list !== 'scores' || isScore) draft.rows(n, list, (row) => ({ ...row, [team]: other(row) }))
      }
    }
  },
  'starters exchanged': (draft, chance) => {
    const isStarter = (row: Payload): boolean => typeOf(row) === 11
    // Who has done something has played.
    const nothingNew = (frame: Payload): unknown =>
      lineupsOf(frame).every((row) => !isStarter(row) || detailsOf(row).length > 0)
        ? lineupsOf(frame)
        : Symbol('little told')
    for (const n of draft.quietPolls(chance, 'lineups', nothingNew, 1 + chance.below(3))) {
      draft.rows(n, 'lineups', (row) => ({ ...row, type_id: isStarter(row) ? 12 : 11 }))
    }
  },
  'another line-up after the whistle': (draft, chance) => {
    const end = draft.truth.findLastIndex(isTicking) + 1
    const player = one(chance, idsOf(draft))
    for (let n = end + 1; n < draft.truth.length; n += 1) {
      draft.rows(n, 'lineups', (row) => (playerOf(row) === player ? { ...row, type_id: 12 } : row))
      if (chance.happens(0.5)) draft.rows(n, 'events', (row) => (typeOf(row) === SUBSTITUTION ? swapped(row) : row))
    }
    if (player !== null) draft.hide(0, end, draft.truth.length)
  },

  // Names, states, clock and dates
  'characters that no database keeps': (draft, chance) => {
    const bad = one(chance, ['\u0000', '\ud83d', '\udc00', '\u202e', '\u0007']) ?? ''
    const spoilt = (row: Payload): Payload =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key,
          key.endsWith('name') && typeof value === 'string' ? `${value.slice(0, 2)}${bad}${value.slice(2)}` : value,
        ]),
      )
    for (const list of ['lineups', 'events', 'participants']) draft.rowsFrom(0, list, spoilt)
    for (let n = 0; n < draft.truth.length; n += 1) draft.replace(n, spoilt(draft.at(n)))
  },
  'states in other words': (draft, chance) => {
    for (let n = 0; n < draft.truth.length; n += 1) {
      const { state } = draft.at(n)
      if (!isPayload(state) || !chance.happens(0.5)) continue
      const name = String(state['state'])
      const said = one(chance, [
        { state: name.toLowerCase() },
        { state: ` ${name} ` },
        { state: null },
        { state: 'Live', developer_name: name },
        { state: `${name.slice(0, 1)}${name.slice(1).toLowerCase()}`, developer_name: name.toLowerCase() },
      ])
      draft.set(n, { state: { ...state, ...said } })
    }
  },
  'a poll before kick-off': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    if (n === null) return
    draft.hide(0, n, n + 1)
    draft.set(n, { state_id: 1, state: { id: 1, state: 'NS', developer_name: 'NS' } })
  },
  'the end too early': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    // Near the end it may be true.
    if (n === null || draft.inPlay().filter((later) => later > n).length < 6) return
    draft.replace(n, draft.truth.at(-1) ?? {})
    draft.hide(0, n, n + 1)
  },
  'the end of a shoot-out': (draft, chance) => {
    // Near the end it may be true.
    const isEarly = (frame: Payload): boolean => rowsOf(frame, 'periods').every((row) => Number(row['minutes']) < 70)
    const nothingNew = (frame: Payload): unknown => (isEarly(frame) ? allButTheClock(frame) : Symbol('late'))
    for (const n of draft.quietPolls(chance, 'whole', nothingNew, 1 + chance.below(2))) {
      draft.rows(n, 'periods', (period) => ({ ...period, ticking: false }))
      draft.set(n, { state_id: 8, state: { id: 8, state: 'FT_PEN', developer_name: 'FT_PEN' } })
      draft.hide(0, n, n + 1)
    }
  },
  'the next half too early': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    const [first, ...others] = rowsOf(draft.at(n ?? -1), 'periods')
    if (n === null || first === undefined || others.length > 0) return
    draft.hide(0, n, n + 1)
    const second = { ...first, id: Number(first['id']) + 1, type_id: 2, counts_from: 45, sort_order: 2, minutes: 46 }
    draft.set(n, { periods: [{ ...first, ticking: false }, second] })
  },
  'the clock a second behind': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    if (n === null) return
    draft.hide(0, n, n + 1)
    draft.set(n, { periods: behind(rowsOf(draft.truth[n - 1], 'periods')) })
  },
  'the end with an old clock': (draft) => {
    const end = draft.truth.findLastIndex(isTicking) + 1
    const before = behind(rowsOf(draft.truth[end - 1], 'periods'))
    for (let n = end; n < draft.truth.length; n += 1) {
      draft.set(n, { periods: before.map((period) => ({ ...period, ticking: false })) })
    }
  },
  'later periods count from 0': (draft) => {
    draft.rowsFrom(0, 'periods', (period) => ({ ...period, counts_from: 0 }))
  },
  'periods that may follow': (draft) => {
    const none = { counts_from: 0, ticking: false, minutes: null, seconds: null }
    for (let n = 0; n < draft.truth.length; n += 1) {
      draft.list(n, 'periods', (periods) => [
        ...periods,
        ...PERIODS.filter((type) => periods.every((period) => typeOf(period) !== type)).map((type) => ({
          ...none,
          id: Number(draft.at(n)['id']) * 10 + type,
          type_id: type,
        })),
      ])
    }
  },
  'no clock': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    if (n === null) return
    draft.hide(0, n, n + 1)
    draft.rows(n, 'periods', (period) =>
      period['ticking'] === true ? { ...period, minutes: null, seconds: null } : period,
    )
  },
  'an old answer again': (draft, chance) => {
    const n = draft.quietPoll(chance, 'whole', allButTheClock)
    if (n === null || n < 2) return
    draft.hide(0, n, n + 1)
    draft.replace(n, draft.truth[n - 1] ?? {})
  },
  'the break once more': (draft, chance) => {
    const isBreak = (frame: Payload): boolean => isPayload(frame['state']) && frame['state']['state'] === 'HT'
    const polls = draft.quietPolls(chance, 'whole', allButTheClock, 1 + chance.below(2))
    const last = draft.truth.findLast((frame, n) => n < (polls[0] ?? 0) - SETTLED_FROM && isBreak(frame))
    if (last === undefined) return
    for (const n of polls) draft.replace(n, last)
    draft.hide(0, polls[0] ?? 0, (polls.at(-1) ?? 0) + 1)
  },
  'teams in another order': (draft) => {
    for (let n = 0; n < draft.truth.length; n += 1) {
      for (const list of ['participants', 'scores', 'lineups']) {
        draft.list(n, list, (rows) => rows.toReversed())
      }
    }
  },
  'home and away exchanged': (draft, chance) => {
    const from = one(chance, draft.inPlay())
    if (from === null) return
    draft.rowsFrom(from, 'participants', (row) => {
      const at = isPayload(row['meta']) && row['meta']['location'] === 'home' ? 'away' : 'home'
      return { ...row, meta: { location: at } }
    })
  },
  'dates in milliseconds': (draft) => {
    for (let n = 0; n < draft.truth.length; n += 1) {
      draft.set(n, { starting_at_timestamp: Number(draft.at(n)['starting_at_timestamp']) * 1_000 })
    }
  },

  'a player under another id': (draft, chance) => {
    const player = one(chance, idsOf(draft))
    if (player === null) return
    // A player who was never known cannot be known again.
    const polls = draft.inPlay().filter((n) => n >= SETTLED_FROM)
    const from = chance.below(polls.length)
    const renamed = (row: Payload): Payload =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key,
          key.endsWith('player_id') && value === player ? player + ELSEWHERE : value,
        ]),
      )
    // For some polls, or for good.
    for (const n of polls.slice(from, chance.happens(0.5) ? from + 1 + chance.below(3) : undefined)) {
      // An answer without them does not say whose other id it is.
      if (rowOf(draft.at(n), player) === undefined) continue
      for (const list of ['lineups', 'events']) draft.rows(n, list, renamed)
    }
  },

  // The forms of numbers: the last, because the others read them
  'minutes in words': (draft) => {
    draft.rowsFrom(0, 'events', (row) => {
      const [minute, extra] = [row['minute'], row['extra_minute']]
      return typeof extra === 'number'
        ? { ...row, minute: `${String(minute)}+${extra}`, extra_minute: null }
        : { ...row, minute: `${String(minute)}'` }
    })
  },
  'numbers as text': (draft, chance) => {
    for (const n of draft.inPlay()) {
      const text = asText(draft.at(n))
      if (chance.happens(0.3) && isPayload(text)) draft.replace(n, text)
    }
  },
} satisfies Record<string, Disturbance>

/** Whether events name a player. */
const isIn = (frame: Payload, player: number): boolean => eventsOf(frame).some((row) => namesOf(row).includes(player))

const namesOf = (event: Payload): readonly number[] => [playerOf(event), Number(event['related_player_id'] ?? 0)]

const isAlike = (a: Payload, b: Payload): boolean =>
  playerOf(a) === playerOf(b) &&
  (typeOf(a) === typeOf(b) || [a, b].every((row) => DISMISSALS.includes(Number(typeOf(row)))))

const swapped = (row: Payload): Payload => ({
  ...row,
  player_id: row['related_player_id'],
  player_name: row['related_player_name'],
  related_player_id: row['player_id'],
  related_player_name: row['player_name'],
})

/** The numbers of teams and players, and those of rows that say about whom they are. */
const NUMBERS: readonly string[] = ['team_id', 'participant_id', 'player_id', 'related_player_id']

/** A payload with other teams and players. */
function elsewhere(payload: Payload): Payload {
  const moved = (row: Payload): Payload =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [
        key,
        NUMBERS.includes(key) && value !== null ? Number(value) + ELSEWHERE : value,
      ]),
    )
  const lists = ['scores', 'events', 'statistics', 'lineups'].map((list) => [list, rowsOf(payload, list).map(moved)])
  const participants = rowsOf(payload, 'participants').map((row) => ({ ...row, id: Number(row['id']) + ELSEWHERE }))
  return { ...payload, ...Object.fromEntries(lists), participants }
}

/** A running clock one second before. */
function behind(periods: readonly Payload[]): readonly Payload[] {
  const current = periods.findIndex((period) => period['ticking'] === true)
  const at = current < 0 ? periods.length - 1 : current
  return periods.map((period, n) => {
    if (n !== at) return period
    const secs = Number(period['minutes']) * 60 + Number(period['seconds']) - 1
    return { ...period, minutes: Math.floor(secs / 60), seconds: secs % 60 }
  })
}

export type DisturbanceKind = keyof typeof KINDS
export const DISTURBANCES = Object.keys(KINDS) as readonly DisturbanceKind[]

export interface DisturbOptions {
  readonly seed: number
  readonly kinds: readonly DisturbanceKind[]
}

/**
 * The same match as a careless provider would tell it. Equal arguments give equal answers, and what a kind draws does
 * not depend on the others.
 */
export function disturb(frames: readonly unknown[], { seed, kinds }: DisturbOptions): Draft {
  const draft = new Draft(frames)
  for (const [n, kind] of DISTURBANCES.entries()) {
    if (kinds.includes(kind)) KINDS[kind](draft, chanceFrom(seed + n * 1_000_003))
  }
  return draft
}
