/** The sides of the teams of a fixture. */
import type { Side } from '../../actors/market/fixture.ts'
import type { FixturePayload } from './payload.ts'

/** Fewer rows may name a team by mistake. */
const LISTED_MIN = 7

/**
 * The side of a team, by number. The list of participants may have another one than the rest: then a score names the
 * side of that, or the line-ups have one of the two teams and a third, or none, which is the other one.
 */
export function sidesOf(
  { lineups, scores }: Pick<FixturePayload, 'lineups' | 'scores'>,
  home: number,
  away: number,
): (team: number | null) => Side | null {
  const sides = new Map<number | null, Side>([
    [home, 'home'],
    [away, 'away'],
  ])
  for (const { participant_id: team, score } of scores ?? []) {
    if (team !== null && !sides.has(team) && score.participant !== null) sides.set(team, score.participant)
  }
  const listed = Map.groupBy(lineups ?? [], ({ team_id: team }) => team)
  const [unknown, ...more] = [...listed].filter(([team, rows]) => !sides.has(team) && rows.length >= LISTED_MIN)
  const isOther = unknown !== undefined && more.length === 0 && listed.has(home) !== listed.has(away)
  if (isOther) sides.set(unknown[0], listed.has(home) ? 'away' : 'home')
  return (team) => sides.get(team) ?? null
}
