/** Colours and crest of a team, from its name: the same ones each time, where there are no pictures. */

type Colours = readonly [string, ...string[]]

/** Dark enough for white figures upon them, a contrast of at least 4.5 to 1, and none as green as the grass. */
const MAIN: Colours = [
  '#b3202e',
  '#1d4ed8',
  '#6b21a8',
  '#a8440c',
  '#0c6076',
  '#475877',
  '#a61e5f',
  '#7a4a06',
  '#0369a1',
  '#8b1a1a',
]
const TRIM: Colours = ['#ffffff', '#f5d547', '#bfe3ff', '#ffd0c2', '#c9f2d0']
const PATTERNS = ['plain', 'halves', 'stripes', 'hoops', 'sash'] as const

export interface Kit {
  readonly main: string
  readonly trim: string
  readonly pattern: (typeof PATTERNS)[number]
}

/** FNV-1a, 32 bits. */
function seedOf(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return hash >>> 0
}

const pick = <Item>(list: readonly [Item, ...Item[]], at: number): Item => list[at % list.length] ?? list[0]

export function kitOf(name: string): Kit {
  const seed = seedOf(name)
  return { main: pick(MAIN, seed), trim: pick(TRIM, seed >>> 8), pattern: pick(PATTERNS, seed >>> 16) }
}

/** The colours of both teams of a match: the visitors change if theirs are the same. */
export function kitsOf(home: string, away: string): { readonly home: Kit; readonly away: Kit } {
  const [own, other] = [kitOf(home), kitOf(away)]
  if (own.main !== other.main) return { home: own, away: other }
  return { home: own, away: { ...other, main: pick(MAIN, MAIN.indexOf(own.main) + 1) } }
}
