/** The provider's English names of statistic types, for payloads that carry only the number. */
import type { FixturePlayer, FixtureSnapshot, Side } from './fixture.ts'

/** Types of which a team has a statistic as well as each of its players. */
const OF_BOTH: Readonly<Record<number, string>> = {
  41: 'Shots Off Target',
  42: 'Shots Total',
  51: 'Offsides',
  52: 'Goals',
  56: 'Fouls',
  57: 'Saves',
  58: 'Shots Blocked',
  64: 'Hit Woodwork',
  78: 'Tackles',
  79: 'Assists',
  80: 'Passes',
  83: 'Redcards',
  84: 'Yellowcards',
  85: 'Yellowred Cards',
  86: 'Shots On Target',
  98: 'Total Crosses',
  99: 'Accurate Crosses',
  100: 'Interceptions',
  101: 'Clearances',
  106: 'Duels Won',
  107: 'Aerials Won',
  108: 'Dribble Attempts',
  109: 'Successful Dribbles',
  117: 'Key Passes',
}

/** Types of a team's statistics, named as the provider names them. */
export const TEAM_STATISTIC: Readonly<Record<number, string>> = {
  ...OF_BOTH,
  34: 'Corners',
  43: 'Attacks',
  44: 'Dangerous Attacks',
  45: 'Ball Possession %',
  49: 'Shots Insidebox',
  50: 'Shots Outsidebox',
  53: 'Goal Kicks',
  55: 'Free Kicks',
  59: 'Substitutions',
  60: 'Throwins',
  81: 'Successful Passes',
  82: 'Successful Passes Percentage',
}

/** Types of a player's statistics that can be summed over a team. Ratings, minutes and percentages cannot. */
const PLAYER_STATISTIC: Readonly<Record<number, string>> = {
  ...OF_BOTH,
  94: 'Dispossessed',
  96: 'Fouls Drawn',
  97: 'Blocked Shots',
  105: 'Total Duels',
  110: 'Dribbled Past',
  116: 'Accurate Passes',
  122: 'Long Balls',
  123: 'Long Balls Won',
  27266: 'Aerials Lost',
  27271: 'Ball Recovery',
}

/** The sums of the players' statistics, for a fixture without team statistics; null when they have none either. */
export function summedStatistics(
  players: readonly Pick<FixturePlayer, 'side' | 'details'>[],
): FixtureSnapshot['teamStats'] {
  const stats: Record<Side, Record<string, number>> = { home: {}, away: {} }
  let any = false
  for (const { side, details } of players) {
    for (const [type, value] of Object.entries(details ?? {})) {
      const name = PLAYER_STATISTIC[Number(type)]
      if (name === undefined) continue
      stats[side][name] = (stats[side][name] ?? 0) + value
      any = true
    }
  }
  return any ? stats : null
}

/** The other types of a player's statistics: of these no team has a sum. */
const PLAYER_FIGURE: Readonly<Record<number, string>> = {
  40: 'Captain',
  88: 'Goals Conceded',
  111: 'Penalties Scored',
  112: 'Penalties Missed',
  113: 'Penalties Saved',
  114: 'Penalties Committed',
  115: 'Penalties Won',
  118: 'Rating',
  119: 'Minutes Played',
  120: 'Touches',
  324: 'Own Goals',
  571: 'Error Lead To Goal',
  1584: 'Accurate Passes Percentage',
  5304: 'Expected Goals (xG)',
}

/** Whether a type of a player's statistics is known. Of any other type the numbers may be anything, percentages too. */
export const isKnownFigure = (type: number): boolean => type in PLAYER_STATISTIC || type in PLAYER_FIGURE

/** A player's statistics under their names; a type that has none here is left out. */
export function namedStatistics(details: Readonly<Record<number, number>>): Record<string, number> {
  const named = Object.entries(details).flatMap(([type, value]) => {
    const name = PLAYER_STATISTIC[Number(type)] ?? PLAYER_FIGURE[Number(type)]
    return name === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(named)
}
