/** The sides of the teams of a fixture. */
import type { Side } from '../../actors/market/fixture.ts'
import type { FixturePayload, LineupRow } from './payload.ts'
import { isStarter } from './players.ts'

/** Fewer starters may name a team by mistake, and a bench alone is of the team that lacks one. */
const STARTERS_MIN = 7

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
  const isTeam = (rows: readonly LineupRow[]): boolean => rows.filter(isStarter).length >= STARTERS_MIN
  const [unknown, ...more] = [...listed].filter(([team, rows]) => !sides.has(team) && isTeam(rows))
  const isOther = unknown !== undefined && more.length === 0 && listed.has(home) !== listed.has(away)
  if (isOther) sides.set(unknown[0], listed.has(home) ? 'away' : 'home')
  return (team) => sides.get(team) ?? null
}
