/** Polls of one short match of nine players, told as how each differs from an ordinary one. */
import { FedMatch } from './fed-match.ts'

export type Row = Readonly<Record<string, unknown>>

export const [HOME, AWAY] = [10, 20]
const ROLE = { 1: 24, 2: 25, 3: 26, 4: 27, 6: 27, 11: 24, 12: 25, 13: 26, 14: 27 } as const
export const STATS = { 80: 20, 116: 16, 118: 6.9 }

export const details = (of: Readonly<Record<number, unknown>>) =>
  Object.entries(of).map(([type, value]) => ({ type_id: Number(type), data: { value } }))

export const lineup = (player: keyof typeof ROLE, over: Row = {}): Row => ({
  player_id: player,
  team_id: player < 10 ? HOME : AWAY,
  position_id: ROLE[player],
  type_id: player === 6 ? 12 : 11,
  player_name: `Player ${player}`,
  jersey_number: player,
  details: player === 6 ? [] : details(STATS),
  ...over,
})

export const LINEUPS = ([1, 2, 3, 4, 6, 11, 12, 13, 14] as const).map((id) => lineup(id))

/** The line-ups, with these rows for their players. */
export const lineups = (rows: Readonly<Record<number, Row>>): readonly Row[] =>
  LINEUPS.map((row) => ({ ...row, ...rows[Number(row['player_id'])] }))

export const event = (id: number, type: number, player: number | null, minute: unknown, over: Row = {}): Row => ({
  id,
  type_id: type,
  participant_id: player === null || player < 10 ? HOME : AWAY,
  player_id: player,
  related_player_id: null,
  player_name: player === null ? null : `Player ${player}`,
  minute,
  ...over,
})

export interface Said {
  readonly score?: readonly [unknown, unknown]
  readonly over?: Row
  readonly minute?: number
}

export function payload(n: number, { score = [0, 0], over = {}, minute = 40 }: Said): Row {
  const goals = (team: number, of: unknown) => ({ participant_id: team, score: { goals: of }, description: 'CURRENT' })
  return {
    id: 9_000,
    league_id: 8,
    name: 'Harbour vs Mill',
    starting_at: '2026-05-28 18:00:00',
    state_id: 2,
    state: { id: 2, state: 'INPLAY_1ST_HALF', developer_name: 'INPLAY_1ST_HALF' },
    participants: [
      { id: AWAY, name: 'Mill', meta: { location: 'away' } },
      { id: HOME, name: 'Harbour', meta: { location: 'home' } },
    ],
    scores: [goals(HOME, score[0]), goals(AWAY, score[1])],
    periods: [{ id: 1, type_id: 1, counts_from: 0, ticking: true, sort_order: 1, minutes: minute, seconds: n }],
    events: [],
    statistics: [],
    lineups: LINEUPS,
    ...over,
  }
}

/** A match after these polls, the clock a second further in each. */
export function fed(...polls: readonly Said[]): FedMatch {
  const match = new FedMatch()
  for (const [n, said] of [{}, {}, ...polls].entries()) match.poll(payload(n, said))
  return match
}

export const goal = event(1, 14, 4, 38)
export const scored: Said = {
  score: [1, 0],
  over: { events: [goal], lineups: lineups({ 4: { details: details({ ...STATS, 52: 1 }) } }) },
}
export const counts = { ...STATS, 86: 4, 117: 3 }
export const busy = (of: Readonly<Record<number, unknown>>): Said => ({
  over: { lineups: lineups({ 4: { details: details(of) } }) },
})
