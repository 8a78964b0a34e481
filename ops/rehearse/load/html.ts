/** The report of a load run as one self-contained HTML page: numbers, histograms and the course of the run, as SVG. */
import { figure } from '../../bench/report.ts'
import type { Histogram } from './histogram.ts'
import { limitOf } from './limit.ts'
import { booksLine, DURATION_NAMES, type Outcome, perSecond, verdicts } from './report.ts'
import type { Second } from './run.ts'
import { DURATIONS } from './tally.ts'

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [560, 180, 56, 24, 24]
/** The first bar of a histogram starts here; each is a quarter longer than the one before. */
const [BARS_FROM_MS, BARS_FACTOR] = [0.1, 1.25]

const STYLE = `
:root { color-scheme: light dark; --ink: #16211c; --soft: #5b6b63; --paper: #f6f8f6; --card: #fff; --line: #dfe6e1; --good: #0b7a4b; --bad: #b3261e; --bar: #1f9d6b; --second: #d98b1f }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eeea; --soft: #93a39b; --paper: #101512; --card: #18201c; --line: #2a352f; --good: #4cc38a; --bad: #ff7b72; --bar: #35b37e; --second: #e3a44a } }
* { box-sizing: border-box }
body { margin: 0; padding: 2rem clamp(1rem, 4vw, 3rem); background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1200px; margin: auto }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1rem; margin: 0 0 .6rem }
.soft { color: var(--soft) } .verdict { font-weight: 600; margin: .4rem 0 1.4rem } .good { color: var(--good) } .bad { color: var(--bad) }
.cards, .charts { display: grid; gap: 1rem; margin-bottom: 1rem }
.cards { grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)) } .charts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)) }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.2rem }
.cards section { display: flex; flex-direction: column; justify-content: space-between }
.figure { font-size: 1.4rem; font-weight: 600; font-variant-numeric: tabular-nums }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } td, th { padding: .25rem .4rem; text-align: right; border-bottom: 1px solid var(--line); font-weight: 400 }
th { color: var(--soft) } td:first-child, th:first-child { text-align: left; padding-left: 0 } td:last-child, th:last-child { padding-right: 0 } tr:last-child td { border-bottom: 0 }
svg { width: 100%; height: auto; display: block } svg text { fill: var(--soft); font-size: 11px } .axis { stroke: var(--line) }
.bar { fill: var(--bar) } .course { fill: none; stroke: var(--bar); stroke-width: 1.8 } .course.second { stroke: var(--second) } .mark { stroke: var(--second); stroke-dasharray: 3 3 }
@media (max-width: 600px) { section { padding: .8rem .9rem } td, th { padding: .25rem .2rem; font-size: 13px } svg text { font-size: 15px } }
`

export function htmlReport(outcome: Outcome): string {
  const { plan, measured, books, steps } = outcome
  const { tally, seconds } = measured
  const { counts } = tally
  const found = verdicts(outcome)
  const limit = limitOf(steps)
  const cards: readonly (readonly [string, string])[] = [
    ['prices a second', figure(perSecond(measured, 'prices'))],
    ['tick p99', `${figure(tally.durations.tick.percentile(99))} ms`],
    ['trades a second', figure(perSecond(measured, 'trades'))],
    ['trade p99', `${figure(tally.durations.trade.percentile(99))} ms`],
    ['reconnected', whole(counts.returns)],
    ['gaps', whole(counts.gaps + counts.accountGaps)],
    ['errors', whole(tally.failures)],
    ...(limit === null ? [] : [['limit, sockets', limit] as const]),
  ]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Touchline under load</title><style>${STYLE}</style></head><body><main>
<h1>Touchline under load</h1>
<div class="soft">${text(`${plan.users} users · ${plan.sockets} sockets, ${plan.follow} instruments each · ${plan.tradesPerSecond} orders a second · ${plan.seconds} s · ${plan.url}`)}</div>
<div class="verdict ${found.length === 0 ? 'good' : 'bad'}">${found.length === 0 ? 'All is well: no gap, no error, and the books balance.' : text(`Not well: ${found.join('; ')}.`)}</div>
<div class="cards">${cards.map(([name, value]) => `<section><div class="soft">${text(name)}</div><div class="figure">${text(value)}</div></section>`).join('')}</div>
<div class="charts">
${DURATIONS.map((name) => `<section><h2>${text(DURATION_NAMES[name])}, ms</h2>${histogram(tally.durations[name])}</section>`).join('\n')}
<section><h2>Prices received a second</h2>${course(seconds, [(s) => s.prices])}</section>
<section><h2>p99 of each second, ms: <span class="good">tick</span>, <span style="color:var(--second)">trade</span></h2>${course(seconds, [(s) => s.tickP99, (s) => s.tradeP99])}</section>
</div>
<div class="charts">
<section><h2>Durations, ms</h2>${rows(
    ['', 'count', 'p50', 'p99', 'p99.9', 'max'],
    DURATIONS.map((name) => {
      const of = tally.durations[name]
      return [
        DURATION_NAMES[name],
        whole(of.total),
        ...[50, 99, 99.9].map((p) => figure(of.percentile(p))),
        figure(of.max),
      ]
    }),
  )}</section>
<section><h2>What happened</h2>${rows(
    ['', ''],
    [
      [
        'positions opened / changed / closed',
        `${whole(counts.opened)} / ${whole(counts.changed)} / ${whole(counts.closed)}`,
      ],
      ['prices, account events', `${whole(counts.prices)}, ${whole(counts.accountEvents)}`],
      ['sockets connected', `${whole(counts.connections)} in ${figure(measured.connectingSecs)} s`],
      ...[...tally.refusals].map(([code, n]) => [`refused by the rules: ${code}`, whole(n)]),
      ...[...tally.errors].map(([code, n]) => [`error: ${code}`, whole(n)]),
      ['books', booksLine(books)],
    ],
  )}</section>
${
  steps.length === 0
    ? ''
    : `<section><h2>On the way to the limit</h2>${rows(
        ['sockets', 'prices/s', 'tick p99 ms', 'errors', ''],
        steps.map((step) => [
          whole(step.sockets),
          figure(step.prices),
          figure(step.p99),
          whole(step.failures),
          step.isFine ? 'fine' : 'too much',
        ]),
      )}</section>`
}
</div></main></body></html>
`
}

const whole = (n: number): string => n.toLocaleString('en')

const text = (raw: string): string =>
  raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${text(cell)}</${tag}>`).join('')}</tr>`
  const isNamed = head.some((name) => name !== '')
  return `<table>${isNamed ? line(head, 'th') : ''}${body.map((cells) => line(cells, 'td')).join('')}</table>`
}

const svg = (content: string, title: string): string =>
  `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${text(title)}">${content}</svg>`

const label = (x: number, y: number, what: string, anchor: 'start' | 'middle' | 'end'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${text(what)}</text>`

const floor = `<line class="axis" x1="${LEFT}" y1="${HEIGHT - BOTTOM}" x2="${WIDTH}" y2="${HEIGHT - BOTTOM}"/>`

/** Durations on a logarithmic axis. Each bar has its end value at its right; a line marks the p99. */
function histogram(of: Histogram): string {
  if (of.total === 0) return '<div class="soft">none</div>'
  const bars = of.bars(BARS_FROM_MS, BARS_FACTOR)
  const first = Math.max(0, bars.findIndex((bar) => bar.count > 0) - 1)
  const shown = bars.slice(first)
  const most = Math.max(...shown.map((bar) => bar.count))
  const step = (WIDTH - LEFT) / Math.max(shown.length, 8)
  const high = HEIGHT - BOTTOM - TOP
  const drawn = shown.map(({ count }, n) => {
    const tall = count === 0 ? 0 : Math.max(1, (high * count) / most)
    return `<rect class="bar" x="${(LEFT + n * step + 1).toFixed(1)}" y="${(HEIGHT - BOTTOM - tall).toFixed(1)}" width="${Math.max(1, step - 2).toFixed(1)}" height="${tall.toFixed(1)}"/>`
  })
  const every = Math.ceil(shown.length / 8)
  const marks = shown.flatMap(({ upToMs }, n) =>
    n % every === 0 && n + 1 < shown.length ? [label(LEFT + (n + 1) * step, HEIGHT - 8, figure(upToMs), 'middle')] : [],
  )
  const p99 = of.percentile(99)
  const at = LEFT + Math.max(0, Math.log(p99 / BARS_FROM_MS) / Math.log(BARS_FACTOR) - first + 1) * step
  const mark = `<line class="mark" x1="${at.toFixed(1)}" y1="4" x2="${at.toFixed(1)}" y2="${HEIGHT - BOTTOM}"/>`
  const isRight = at > WIDTH / 2
  const name = label(at + (isRight ? -4 : 4), 12, `p99 ${figure(p99)} ms`, isRight ? 'end' : 'start')
  return svg(
    [floor, ...drawn, ...marks, label(LEFT - 6, TOP + 5, whole(most), 'end'), mark, name].join(''),
    'histogram',
  )
}

/** Counts second by second. */
function course(seconds: readonly Second[], of: readonly ((second: Second) => number)[]): string {
  if (seconds.length < 2) return '<div class="soft">too short</div>'
  const top = Math.max(1, ...seconds.flatMap((second) => of.map((each) => each(second))))
  const lines = of.map((each, n) => {
    const points = seconds.map((second, s) => {
      const x = LEFT + ((WIDTH - LEFT) * s) / (seconds.length - 1)
      const y = HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * each(second)) / top
      return `${x.toFixed(1)},${y.toFixed(1)}`
    })
    return `<polyline class="course${n === 1 ? ' second' : ''}" points="${points.join(' ')}"/>`
  })
  const ends = [label(LEFT, HEIGHT - 8, '0 s', 'start'), label(WIDTH, HEIGHT - 8, `${seconds.length} s`, 'end')]
  return svg([floor, ...lines, ...ends, label(LEFT - 6, TOP + 5, figure(top), 'end')].join(''), 'course')
}
