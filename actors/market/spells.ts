/** Who was on the pitch when, and how many men the sides had. */
import { log } from '../kernel/exact-math.ts'
import type { PlayerId } from '../kernel/ids.ts'
import { type FixturePlayer, type FixtureSnapshot, type Side, SIDES } from './fixture.ts'
import { counts, type Incident, near } from './incidents.ts'
import { playedSecsAt } from './play-time.ts'
import { offIn, onIn, teamOf, untoldIn } from './untold-changes.ts'

/** When a player was on the pitch, in seconds of play. */
export interface Spell {
  readonly from: number
  readonly to: number
}

/** The men of both sides from a second of play on. */
interface Men extends Readonly<Record<Side, number>> {
  readonly from: number
}

export interface Pitch {
  /** Of each who has played, earliest first. A player who returns has two. */
  readonly spells: ReadonlyMap<PlayerId, readonly Spell[]>
  /** In order of time. */
  readonly men: readonly Men[]
  /** Who is playing now. */
  readonly playing: ReadonlySet<PlayerId>
  /** Who came on and who left, by substitution. */
  readonly changes: ReadonlyMap<Incident, Change>
}

export interface Change {
  readonly on: PlayerId | null
  readonly off: PlayerId | null
}

const ELEVEN: Men = { from: 0, home: 11, away: 11 }

/** Starters are on from the first second, substitutes from when they came on; until they left, or now. */
export function pitchOf(
  { players, periods }: { readonly players: readonly FixturePlayer[] } & Pick<FixtureSnapshot, 'periods'>,
  incidents: readonly Incident[],
  now: number,
): Pitch {
  const spells = new Map<PlayerId, Spell[]>()
  const playing = new Set<PlayerId>()
  const enter = (id: PlayerId, from: number): void => {
    playing.add(id)
    spells.set(id, [...(spells.get(id) ?? []), { from, to: now }])
  }
  const leave = (id: PlayerId, at: number): void => {
    const own = spells.get(id) ?? []
    const last = own.at(-1)
    if (last === undefined || !playing.delete(id)) return
    spells.set(id, [...own.slice(0, -1), { ...last, to: Math.max(last.from, Math.min(last.to, at)) }])
  }
  const sides = new Map(players.map(({ playerId, side }) => [playerId, side]))
  for (const { playerId, starter } of players) if (starter) enter(playerId, 0)
  const men: Men[] = [ELEVEN]
  const done = new Set<string>()
  const changes = new Map<Incident, Change>()
  const namesOf = (row: Incident): Change => withoutOpponent({ on: row.playerId, off: row.relatedPlayerId }, row, sides)
  const rows = incidents.filter((row) => counts(row) && isChange(row)).map(namesOf)
  const named = new Set(rows.flatMap(({ on, off }) => [on, off]))
  const moved = new Map<PlayerId, Incident>()
  const hasPlayed = (id: PlayerId): boolean => spells.has(id)
  for (const { row, at } of inOrder(incidents, periods, now, playing)) {
    if (row.kind !== 'substitution') {
      if (row.playerId === null || !playing.has(row.playerId)) continue
      leave(row.playerId, at)
      const last = men.at(-1) ?? ELEVEN
      if (row.side !== null && at < now) men.push({ ...last, from: at, [row.side]: last[row.side] - 1 })
      continue
    }
    // The same change may come once more, under another id and minute.
    const { playerId, relatedPlayerId } = row
    const isDone =
      done.has(`${playerId} ${relatedPlayerId}`) && !(relatedPlayerId !== null && playing.has(relatedPlayerId))
    const alone = relatedPlayerId === null ? playerId : playerId === null ? relatedPlayerId : null
    const whole = alone === null ? undefined : moved.get(alone)
    if (isDone || (whole !== undefined && near(whole, row))) continue
    done.add(`${playerId} ${relatedPlayerId}`)
    const told = withoutOpponent(changeOf(row, playing), row, sides)
    const team = teamOf(row.side, { players, playing }, named)
    const [on, off] = [told.on ?? onIn(team, hasPlayed), told.off ?? offIn(team)]
    changes.set(row, { on, off })
    for (const id of [on, off]) if (id !== null) moved.set(id, row)
    if (off !== null) leave(off, at)
    if (on !== null && !playing.has(on)) enter(on, at)
  }
  for (const side of SIDES) {
    for (const { on, off, minutes } of untoldIn(teamOf(side, { players, playing }, named), hasPlayed)) {
      const at = Math.max(0, now - minutes * 60)
      leave(off, at)
      enter(on, at)
    }
  }
  return { spells, men, playing, changes }
}

/** Whether a row changes who plays. */
const isChange = ({ kind }: Incident): boolean => kind === 'substitution' || kind === 'red' || kind === 'second_yellow'

interface Dated {
  readonly row: Incident
  /** Seconds of play. */
  readonly at: number
}

/**
 * Changes by time, those of one minute by their place in it. Of a chain that names no places each waits for the one
 * that brings on whom it takes off.
 */
function* inOrder(
  incidents: readonly Incident[],
  periods: FixtureSnapshot['periods'],
  now: number,
  playing: ReadonlySet<PlayerId>,
): Generator<Dated> {
  const left = incidents
    .filter((row) => counts(row) && isChange(row))
    .map((row) => ({ row, at: playedSecsAt(row, periods, now) }))
    .toSorted((a, b) => a.at - b.at || (a.row.sortOrder ?? 0) - (b.row.sortOrder ?? 0) || a.row.id - b.row.id)
  for (;;) {
    const [first] = left
    if (first === undefined) return
    const next = left.find(({ row, at }) => at === first.at && isPossible(row, playing)) ?? first
    left.splice(left.indexOf(next), 1)
    yield next
  }
}

function isPossible({ kind, playerId, relatedPlayerId }: Incident, playing: ReadonlySet<PlayerId>): boolean {
  if (kind !== 'substitution') return playerId !== null && playing.has(playerId)
  return relatedPlayerId === null || playing.has(relatedPlayerId)
}

/** A player on the pitch can only have left, and one who is not has come on: some providers exchange the two names. */
function changeOf({ playerId, relatedPlayerId }: Incident, playing: ReadonlySet<PlayerId>): Change {
  const mayLeave = relatedPlayerId !== null && playing.has(relatedPlayerId)
  const isExchanged = !mayLeave && (playerId === null || playing.has(playerId))
  return isExchanged ? { on: relatedPlayerId, off: playerId } : { on: playerId, off: relatedPlayerId }
}

/** A player never leaves for an opponent: a name that is not of the row's side is wrong. */
function withoutOpponent({ on, off }: Change, { side }: Incident, sides: ReadonlyMap<PlayerId, Side>): Change {
  const own = (id: PlayerId | null): PlayerId | null => (id !== null && (sides.get(id) ?? side) !== side ? null : id)
  return side === null ? { on, off } : { on: own(on), off: own(off) }
}

/** Seconds of play on the pitch. */
export const secsOn = (spells: readonly Spell[]): number => spells.reduce((sum, { from, to }) => sum + to - from, 0)

/** Seconds of them after this second of play. */
export const secsAfter = (spells: readonly Spell[], at: number): number =>
  spells.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, at)), 0)

/** Whether one of the spells has this second of play. */
export const wasOn = (spells: readonly Spell[] | undefined, at: number): boolean =>
  spells?.some(({ from, to }) => from <= at && at <= to) === true

/** The minutes of the spells, each weighted with ln(men of the player's side ÷ men of the other). */
export function unevenMinutes(spells: readonly Spell[], side: Side, men: Pitch['men']): number {
  let sum = 0
  for (const [n, step] of men.entries()) {
    if (step.home === step.away) continue
    const weight = log(side === 'home' ? step.home / step.away : step.away / step.home)
    for (const { from, to } of spells) {
      const secs = Math.min(to, men[n + 1]?.from ?? to) - Math.max(from, step.from)
      if (secs > 0) sum += (secs / 60) * weight
    }
  }
  return sum
}
