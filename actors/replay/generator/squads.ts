/** Invented players for invented clubs. Names are combined from lists, not taken from real people. */
import { present } from '../../kernel/assert.ts'
import { type PlayerRole, ROLES, type Side } from '../../market/fixture.ts'
import type { Chance } from '../chance.ts'
import type { ClubInfo } from './club-info.ts'

/** A player of a simulated match. Statistics and times change as it is played. */
export interface SimPlayer {
  readonly id: number
  readonly name: string
  readonly side: Side
  readonly role: PlayerRole
  readonly jersey: number
  readonly starter: boolean
  /** Row and column of the formation; null on the bench. */
  readonly field: string | null
  /** Skill: 1 is average, good players reach 1.5. */
  readonly skill: number
  /** Counts by the provider's statistic type. */
  readonly stats: Map<number, number>
  /** Seconds of play at which the player came on and went off; null if that has not happened. */
  onAt: number | null
  offAt: number | null
}

const GIVEN = (
  'Aldric Benno Cael Davor Eamon Fenn Garrik Halden Ivo Joren Kasimir Leontes Marek Nilo Osric Pavle Quillan Rasmo ' +
  'Soren Teodor Ulric Viggo Wendel Xavo Yannis Zoltan'
).split(' ')
const STEM = (
  'Adren Belvor Carrow Drenn Eskel Fallo Grimald Hestor Ilmar Jask Korv Lundar Morv Nesker Orlan Pellor Quarn Rovel ' +
  'Stavor Tellan Urbel Valk Wester Yarrow Zemmel Brask Cordel Dunmar Ekkel Fenmar Gostel Havrin Istrel Kerrow Lasken ' +
  'Mirrow Norvel Pravel Rundel Skerr Tornel Vestmar Wolden'
).split(' ')
const ENDING = 'ano by ecki field ic ini mark o ossa quist sen thorpe vale wick'.split(' ')

const TOWNS =
  'Ashmere Brackley Coldwick Dunholt Eastmoor Fenbury Graywell Hartsea Inverlea Kingsmarsh Langrove Milstead'.split(' ')
const SUFFIXES = ['Athletic', 'City', 'Rovers', 'Town', 'United', 'Wanderers']

/** One is drawn for each side. */
const FORMATIONS = [
  { GK: 1, DEF: 4, MID: 4, FWD: 2 },
  { GK: 1, DEF: 4, MID: 3, FWD: 3 },
  { GK: 1, DEF: 3, MID: 5, FWD: 2 },
]
const BENCH: readonly PlayerRole[] = ['GK', 'DEF', 'DEF', 'MID', 'MID', 'MID', 'FWD', 'FWD']

/** Eleven starters in a formation and a bench of eight; ids count up from `firstId`. */
export function squadOf(
  side: Side,
  firstId: number,
  names: Generator<string, never>,
  chance: Chance,
): readonly SimPlayer[] {
  const formation = present(FORMATIONS[chance.below(FORMATIONS.length)], 'a formation')
  const starters = ROLES.flatMap((role, row) =>
    Array.from({ length: formation[role] }, (_, column) => ({ role, field: `${row + 1}:${column + 1}` })),
  )
  const bench = BENCH.map((role) => ({ role, field: null }))
  return [...starters, ...bench].map(({ role, field }, index) => ({
    id: firstId + index,
    name: names.next().value,
    side,
    role,
    jersey: index + 1,
    starter: field !== null,
    field,
    // The mean of three uniforms: most are near average, few are stars.
    skill: 0.55 + 0.3 * (chance.uniform() + chance.uniform() + chance.uniform()),
    stats: new Map(),
    onAt: field === null ? null : 0,
    offAt: null,
  }))
}

/** An endless supply of names. No beginning of a family name is reused before every beginning has been used. */
export function* playerNames(chance: Chance): Generator<string, never> {
  const draw = (from: readonly string[]): string => present(from[chance.below(from.length)], 'a name')
  while (true) {
    const stems = [...STEM]
    while (stems.length > 0) {
      const [stem] = stems.splice(chance.below(stems.length), 1)
      yield `${draw(GIVEN)} ${stem}${draw(ENDING)}`
    }
  }
}

/** Two clubs from different towns. */
export function clubNames(chance: Chance): Readonly<Record<Side, ClubInfo>> {
  const [towns, suffixes] = [[...TOWNS], [...SUFFIXES]]
  const drawn = (from: string[]): string => present(from.splice(chance.below(from.length), 1)[0], 'a name')
  const club = (): ClubInfo => {
    const town = drawn(towns)
    return { name: `${town} ${drawn(suffixes)}`, shortCode: town.slice(0, 3).toUpperCase() }
  }
  return { home: club(), away: club() }
}
