/** The health of the server: gauges measured in the browser, and the server's own metrics and checks. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { onMove } from '../market.ts'
import { useRequest, useRepeated, Waiting } from '../parts/use-request.ts'
import { plural } from '../words.ts'
import { Attention } from './attention.ts'
import { Brakes } from './brake.ts'
import { greatest, meanBetween, type Metrics, parseMetrics, total } from './metrics.ts'
import { operations } from './operations.ts'

const KEPT = 90
/** A browser may ask 200 times a minute, all its pages together. */
const REFRESH_MS = 3_000

interface Series {
  readonly label: string
  readonly unit: string
  readonly values: readonly number[]
}

const EMPTY: readonly number[] = []

/** The values of each gauge, oldest first. */
const drawn = {
  answerMs: signal(EMPTY),
  commitMs: signal(EMPTY),
  loopLagMs: signal(EMPTY),
  sockets: signal(EMPTY),
  movesPerSecond: signal(EMPTY),
  feedAge: signal(EMPTY),
  waiting: signal(EMPTY),
} as const

function draw(name: keyof typeof drawn, value: number | null): void {
  if (value !== null) drawn[name].value = [...drawn[name].peek(), value].slice(-KEPT)
}

const GAUGES: readonly (readonly [name: keyof typeof drawn, label: string, unit: string])[] = [
  ['answerMs', 'API response time', 'ms'],
  ['commitMs', 'Commit time', 'ms'],
  ['loopLagMs', 'Event-loop lag (p99)', 'ms'],
  ['sockets', 'Sockets', ''],
  ['movesPerSecond', 'Moves received', '/s'],
  ['feedAge', 'Age of match data', 's'],
  ['waiting', 'Reactions pending', ''],
]

export function Health() {
  const { answer: ready, again } = useRequest(() => operations.ready())
  useRepeated(again, 10_000)
  useMeasuring()
  const checks = Object.entries(ready ?? {})
  const failed = checks.flatMap(([name, state]) => (state === 'ok' ? [] : [name]))
  // A metric that is not visible from here has no gauge.
  const gauges = GAUGES.filter(([name]) => name === 'answerMs' || drawn[name].value.length > 0)
  return html`
    <div class="columns">
      <div><${Attention} /><${Brakes} /></div>
      <div>
        <section class="card" aria-labelledby="ready-title">
          <header><h2 id="ready-title">Services</h2></header>
          <ul class="rows inside">
            <li><b>This connection</b><small>${connection.value}</small></li>
            ${
              ready === null || failed.length > 0
                ? failed.map((name) => html`<li><b>${words(name)}</b><small class="down">✕ failed</small></li>`)
                : html`<li><b>All ${checks.length} services</b><small class="up">✓ ok</small></li>`
            }
          </ul>
        </section>
        <${Books} />
      </div>
    </div>
    <div class="gauges">
      ${gauges.map(([name, label, unit]) => html`<${Gauge} key=${name} label=${label} unit=${unit} values=${drawn[name].value} />`)}
    </div>
  `
}

/** Measures the API and counts moves of the feed while the page is open. */
function useMeasuring(): void {
  useEffect(() => {
    let moves = 0
    const stop = onMove(() => moves++)
    let before: Metrics | null = null
    const look = async (): Promise<void> => {
      const asked = performance.now()
      try {
        const metrics = parseMetrics((await operations.metrics()).metrics)
        draw('answerMs', performance.now() - asked)
        draw('waiting', greatest(metrics, 'touchline_outbox_waiting'))
        draw('feedAge', greatest(metrics, 'touchline_feed_age_seconds'))
        if (before !== null)
          draw('commitMs', milliseconds(meanBetween(before, metrics, 'touchline_commit_duration_seconds')))
        draw('loopLagMs', milliseconds(metrics.get('touchline_loop_lag_seconds{quantile="0.99"}') ?? null))
        draw('sockets', total(metrics, 'touchline_sockets'))
        before = metrics
      } catch {
        // The connection shows the failure, and the lines pause.
      }
    }
    const looking = setInterval(() => {
      draw('movesPerSecond', (moves * 1_000) / REFRESH_MS)
      moves = 0
      void look()
    }, REFRESH_MS)
    return () => {
      stop()
      clearInterval(looking)
    }
  }, [])
}

const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1_000)

function Gauge({ label, unit, values }: Series) {
  const last = values.at(-1)
  const top = Math.max(1, ...values)
  const points = values
    .map((value, n) => `${((KEPT - values.length + n) / (KEPT - 1)) * 100},${30 - (value / top) * 28}`)
    .join(' ')
  return html`
    <figure class="card gauge">
      <figcaption>${label}</figcaption>
      <b class="num"
        >${last === undefined ? '–' : last.toFixed(last < 10 && !Number.isInteger(last) ? 1 : 0)}
        <small>${unit}</small></b
      >
      <svg viewBox="0 0 100 32" preserveAspectRatio="none" aria-hidden="true"><polyline points=${points} /></svg>
    </figure>
  `
}

/** The result of a ledger audit, on demand. */
function Books() {
  const { answer, trouble, again } = useRequest(() => operations.books())
  return html`
    <section class="card" aria-labelledby="books-title">
      <header>
        <h2 id="books-title">Ledger</h2>
        <a href="#/control/runbook/the-books-do-not-balance">If it does not balance</a>
        <button class="small" onClick=${again}>Audit again</button>
      </header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<ul class="rows inside">
              ${Object.entries(answer)
                .filter(([name]) => name !== 'purses')
                .map(
                  ([name, value]) =>
                    html`<li><b>${words(name)}</b><small class="num">${shownValue(value)}</small></li>`,
                )}
              ${answer.purses.map(
                ({ purse, wallets, imbalance }) => html`
                  <li key=${purse}>
                    <b>${words(purse)} purse</b>
                    <small class="num"
                      >${plural(wallets, { one: '{n} wallet', other: '{n} wallets' })}, imbalance ${imbalance}</small
                    >
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `
}

const shownValue = (value: unknown): string => (value === true ? 'yes' : value === false ? 'no' : JSON.stringify(value))

/** `unbalancedTransactions` → Unbalanced transactions */
const words = (name: string): string => {
  const spaced = name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
