/** Draws the price paths of a recorded match: `npm run ops -- replay-chart <recording> [out.svg]`. */
import { writeFile } from 'node:fs/promises'
import type { PlayerId } from '../../actors/kernel/ids.ts'
import { decimal, MICROS_PER_UNIT, type Price, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { firstBelief } from '../../actors/market/belief/believe.ts'
import type { FixtureSnapshot, PlayerRole } from '../../actors/market/fixture.ts'
import { type Phase, phaseOf } from '../../actors/market/phase.ts'
import { DEFAULT_MODEL, EMPTY_PRICING, type MatchNews, priceMatch } from '../../actors/market/pricing.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'

/** Every path starts here, so that paths compare as percentages. */
const START = price(200 * MICROS_PER_UNIT)

interface Path {
  readonly id: PlayerId
  readonly name: string
  readonly role: PlayerRole
  readonly prices: number[]
}

interface PricedRecording {
  readonly snapshots: readonly FixtureSnapshot[]
  readonly phases: readonly Phase[]
  readonly paths: readonly Path[]
  readonly news: readonly (MatchNews & { readonly frame: number })[]
}

/** Prices a recording from its first frame to its last. */
function priceRecording(recording: Recording): PricedRecording {
  const snapshots: FixtureSnapshot[] = []
  const news: (MatchNews & { frame: number })[] = []
  const paths = new Map<PlayerId, Path>()
  let memory = EMPTY_PRICING
  let bases: ReadonlyMap<PlayerId, Price> = new Map()
  for (const payload of recording.frames) {
    const parsed = parseFixture(payload, {
      instrumentIdOf: (id) => instrumentIdFor('chart', id),
      receivedAt: instant(0),
    })
    if (!parsed.ok) throw new Error(parsed.reason)
    const snapshot = firstBelief(parsed.snapshot)
    const players = snapshot.players.map(({ playerId, side, role }) => {
      return { playerId, side, role: role ?? 'MID', start: START, base: bases.get(playerId) ?? START }
    })
    const pricing = priceMatch(snapshot, players, memory, DEFAULT_MODEL)
    memory = pricing.memory
    bases = pricing.bases
    news.push(...pricing.news.map((n) => ({ ...n, frame: snapshots.length })))
    for (const { playerId, name, role } of snapshot.players) {
      const path = paths.get(playerId) ?? { id: playerId, name, role: role ?? 'MID', prices: [] }
      path.prices[snapshots.length] = decimal(bases.get(playerId) ?? START)
      paths.set(playerId, path)
    }
    snapshots.push(snapshot)
  }
  return { snapshots, phases: snapshots.map(phaseOf), paths: [...paths.values()], news }
}

const WIDTH = 1280
const HEIGHT = 720
const PLOT = { left: 64, right: 1040, top: 150, bottom: 650 } as const
const COLOURS = ['#0b6e99', '#d1495b', '#3f8f4f', '#e08e1b', '#7a4fa3', '#12a594', '#9c5221', '#5b6ee1', '#b5338a']
const PAPER = '#faf9f6'
const INK = '#22262b'
const FAINT = '#8b9096'
const FONT = `font-family="Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"`

interface Scale {
  readonly x: (frame: number) => number
  readonly y: (value: number) => number
  readonly low: number
  readonly high: number
}

function scaleOf({ paths, snapshots }: PricedRecording): Scale {
  const all = paths.flatMap((p) => p.prices)
  const low = Math.floor((all.reduce((a, b) => Math.min(a, b)) - 1) / 5) * 5
  const high = Math.ceil((all.reduce((a, b) => Math.max(a, b)) + 1) / 5) * 5
  return {
    low,
    high,
    x: (frame) => round(PLOT.left + ((PLOT.right - PLOT.left) * frame) / (snapshots.length - 1)),
    y: (value) => round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * (value - low)) / (high - low)),
  }
}

const round = (n: number): number => Math.round(n * 10) / 10
const last = (path: Path): number => path.prices.at(-1) ?? decimal(START)
const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${round(x)}" y="${round(y)}" ${more}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`

/** The players to draw in colour: first those in the news, then those with the largest moves. */
function stars({ paths, news }: PricedRecording): readonly Path[] {
  const named = new Set(news.filter((n) => n.kind !== 'var').flatMap((n) => n.playerIds.slice(0, 1)))
  const move = (p: Path): number => Math.abs(last(p) - decimal(START)) + (named.has(p.id) ? 5 : 0)
  return paths.toSorted((a, b) => move(b) - move(a)).slice(0, COLOURS.length)
}

function backdrop(priced: PricedRecording, { x, y, low, high }: Scale): string {
  const { phases, snapshots } = priced
  const bands = phases.map((phase, frame) =>
    phase === 'live'
      ? ''
      : `<rect x="${x(frame - 0.5)}" y="${PLOT.top}" width="${round(x(1) - x(0) + 0.2)}" height="${PLOT.bottom - PLOT.top}" fill="#eceae4"/>`,
  )
  const lines: string[] = []
  for (let value = low; value <= high; value += 5) {
    const isStart = value === decimal(START)
    lines.push(
      `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(value)}" y2="${y(value)}" stroke="${isStart ? '#6b7076' : '#dedbd3'}" stroke-width="${isStart ? 1.2 : 0.8}"/>`,
      text(PLOT.left - 10, y(value) + 4, String(value), `text-anchor="end" font-size="12" fill="${FAINT}"`),
    )
  }
  const ticks = snapshots.flatMap((snapshot, frame) => {
    const ticking = snapshot.periods.find((p) => p.ticking && p.kind !== 'penalties')
    if (ticking === undefined || ticking.elapsedSecs % 900 !== 0 || ticking.elapsedSecs > ticking.length * 60 - 60)
      return []
    const minute = ticking.countsFrom + ticking.elapsedSecs / 60
    return [text(x(frame), PLOT.bottom + 20, `${minute}'`, `text-anchor="middle" font-size="12" fill="${FAINT}"`)]
  })
  return [...bands, ...lines, ...ticks].join('')
}

const line = (path: Path, { x, y }: Scale): string =>
  path.prices.map((value, frame) => `${frame === 0 ? 'M' : 'L'}${x(frame)} ${y(value)}`).join('')

function curves(priced: PricedRecording, shown: readonly Path[], scale: Scale): string {
  const quiet = priced.paths
    .filter((p) => !shown.includes(p) && p.prices.some((v) => v !== p.prices[0]))
    .map((p) => `<path d="${line(p, scale)}" fill="none" stroke="#c9c6bd" stroke-width="0.9"/>`)
  const loud = shown.map(
    (p, i) =>
      `<path d="${line(p, scale)}" fill="none" stroke="${COLOURS[i]}" stroke-width="2.2" stroke-linejoin="round"/>`,
  )
  return [...quiet, ...loud].join('')
}

const LABEL_HEIGHT = 32

/** Names at the ends of their curves, pushed apart where they would overlap and kept on the page. */
function labels(shown: readonly Path[], scale: Scale): string {
  const ends = shown
    .map((path, i) => ({ path, colour: COLOURS[i] ?? INK, y: scale.y(last(path)), at: 0 }))
    .toSorted((a, b) => a.y - b.y)
  let free: number = PLOT.top
  for (const end of ends) {
    end.at = Math.max(end.y, free)
    free = end.at + LABEL_HEIGHT
  }
  free = PLOT.bottom + LABEL_HEIGHT
  for (const end of ends.toReversed()) {
    end.at = Math.min(end.at, free - LABEL_HEIGHT)
    free = end.at
  }
  return ends
    .map(({ path, colour, y, at }) => {
      const change = (last(path) / decimal(START) - 1) * 100
      const signed = `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(1)} %`
      return [
        `<path d="M${PLOT.right + 3} ${y}L${PLOT.right + 16} ${at - 4}" stroke="${colour}" stroke-width="1.2" fill="none"/>`,
        text(PLOT.right + 22, at - 2, path.name, `font-size="13" font-weight="600" fill="${colour}"`),
        text(
          PLOT.right + 22,
          at + 13,
          `${path.role} · ${last(path).toFixed(2)} (${signed})`,
          `font-size="11.5" fill="${FAINT}"`,
        ),
      ].join('')
    })
    .join('')
}

interface Happening {
  readonly x: number
  readonly caption: string
  readonly colour: string
  readonly shape: 'disc' | 'card' | 'frame'
  /** The player whose curve it is marked on. */
  readonly about: PlayerId | undefined
  readonly frame: number
}

/** The events worth a label: goals with the score, red cards, missed penalties, reviews and what they took back. */
function labelledOf({ news, snapshots, paths }: PricedRecording, { x }: Scale): readonly Happening[] {
  const familyName = new Map(paths.map((p) => [p.id, p.name.split(' ').at(-1) ?? p.name]))
  return news.flatMap((n): Happening[] => {
    const snapshot = snapshots[n.frame]
    const row = snapshot?.events?.find((e) => e.id === n.eventId)
    const about = n.playerIds[0]
    const who = (about === undefined ? undefined : familyName.get(about)) ?? ''
    const score = `${snapshot?.home.goals ?? 0}–${snapshot?.away.goals ?? 0}`
    const at = { x: x(n.frame), about, frame: n.frame }
    switch (n.kind) {
      case 'goal': {
        const how = row?.kind === 'own_goal' ? ' (o.g.)' : row?.kind === 'penalty_goal' ? ' (pen.)' : ''
        return about === undefined ? [] : [{ ...at, caption: `${score} ${who}${how}`, colour: INK, shape: 'disc' }]
      }
      case 'goal_cancelled':
        return [{ ...at, caption: `${score}: goal disallowed`, colour: '#7a4fa3', shape: 'frame' }]
      case 'red_card':
        return [{ ...at, caption: who, colour: '#c62333', shape: 'card' }]
      case 'penalty':
        return [{ ...at, caption: `${who} misses (pen.)`, colour: FAINT, shape: 'frame' }]
      case 'var':
        return n.wholeMatch ? [{ ...at, caption: 'VAR', colour: '#7a4fa3', shape: 'frame' }] : []
    }
  })
}

const LANES = 3
const LANE_HEIGHT = 18

/** Event labels above the curves, each with a line down to its point; neighbours use different lanes. */
function markers(labelled: readonly Happening[]): string {
  const ends = Array.from({ length: LANES }, () => 0)
  const placed = labelled.map((h) => {
    const free = ends.findIndex((end) => end <= h.x)
    const lane = free === -1 ? LANES - 1 : free
    ends[lane] = h.x + h.caption.length * 6.3 + 20
    return { ...h, y: PLOT.top - 14 - lane * LANE_HEIGHT }
  })
  const lines = placed.map(
    ({ x, y, colour }) =>
      `<line x1="${x}" x2="${x}" y1="${y + 3}" y2="${PLOT.bottom}" stroke="${colour}" stroke-width="0.9" stroke-dasharray="2 3" opacity="0.5"/>`,
  )
  const halo = `stroke="${PAPER}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"`
  const words = placed.map(
    ({ x, y, caption, colour, shape }) =>
      GLYPHS[shape](x, y - 4, colour) + text(x + 9, y, caption, `font-size="11.5" fill="${colour}" ${halo}`),
  )
  return [...lines, ...words].join('')
}

const GLYPHS: Readonly<Record<Happening['shape'], (x: number, y: number, colour: string) => string>> = {
  disc: (x, y, colour) => `<circle cx="${x}" cy="${y}" r="4.5" fill="${colour}"/>`,
  card: (x, y, colour) => `<rect x="${round(x - 3.5)}" y="${y - 5}" width="7" height="10" rx="1" fill="${colour}"/>`,
  frame: (x, y, colour) =>
    `<rect x="${round(x - 4)}" y="${y - 4}" width="8" height="8" fill="${PAPER}" stroke="${colour}" stroke-width="1.8"/>`,
}

/** The point of an event on its player's curve. */
function dots(labelled: readonly Happening[], shown: readonly Path[], { x, y }: Scale): string {
  return labelled
    .map(({ about, frame }) => {
      const index = shown.findIndex((p) => p.id === about)
      const value = shown[index]?.prices[frame]
      if (value === undefined) return ''
      return `<circle cx="${x(frame)}" cy="${y(value)}" r="3.6" fill="${PAPER}" stroke="${COLOURS[index]}" stroke-width="2"/>`
    })
    .join('')
}

function chart(recording: Recording): string {
  const priced = priceRecording(recording)
  const scale = scaleOf(priced)
  const shown = stars(priced)
  const labelled = labelledOf(priced, scale)
  const end = priced.snapshots.at(-1)
  const headline = `${end?.home.name} ${end?.home.goals ?? 0}–${end?.away.goals ?? 0} ${end?.away.name}`
  const state = end?.state ?? ''
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ${FONT}>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${PAPER}"/>`,
    text(PLOT.left - 40, 42, headline, `font-size="24" font-weight="700" fill="${INK}"`),
    text(
      PLOT.left - 40,
      64,
      `${recording.title} · ${state} · live base price, all from 200 · shaded: no play`,
      `font-size="13" fill="${FAINT}"`,
    ),
    backdrop(priced, scale),
    markers(labelled),
    curves(priced, shown, scale),
    dots(labelled, shown, scale),
    labels(shown, scale),
    '</svg>',
  ].join('\n')
}

const [file, out] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: npm run ops -- replay-chart <recording> [out.svg]')
  process.exitCode = 2
} else {
  const svg = chart(await loadRecording(file))
  if (out === undefined) process.stdout.write(svg)
  else await writeFile(out, svg)
}
