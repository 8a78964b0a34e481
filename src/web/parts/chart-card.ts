/** One player: price, price history, and the levels of the user's positions. */
import { computed, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { history } from '../account.ts'
import type { Instrument, MatchEvent, Period, PriceHistory } from '../client/wire.ts'
import { arrow, percent, signed, units, way } from '../format.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { arrivals } from '../live.ts'
import { changePct, matchEvents, onMove, quoteOf, selectedId } from '../market.ts'
import { api } from '../session.ts'
import { theme } from '../theme.ts'
import { toast } from '../toasts.ts'
import { messageFor } from '../error-messages.ts'
import { Grips, inSelected } from './chart-grips.ts'
import { draft } from './order-draft.ts'
import { eventWords, minuteWords } from './match-events.ts'
import { openedOf } from './portion.ts'
import type { ChartLevel, ChartMark, PriceChart } from './price-chart.ts'
import { StepReason } from './reasons.ts'
import { secondOf, stepsOf } from '../price-steps.ts'
import { SpokenPrice } from './spoken-price.ts'
import { number, say, words } from '../words.ts'

const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.player ?? [])

const MINUTE_MS = 60_000
/** Each with its name, its words and its length. */
const PERIODS: readonly (readonly [Period, string, string, number | null])[] = [
  ['5m', words.chart.min5, words.chart.over5m, 5 * MINUTE_MS],
  ['1h', words.chart.hour1, words.chart.over1h, 60 * MINUTE_MS],
  ['6h', words.chart.hours6, words.chart.over6h, 360 * MINUTE_MS],
  ['1d', words.chart.day1, words.chart.over1d, 1_440 * MINUTE_MS],
  ['all', words.chart.all, words.chart.overAll, null],
]

const period = signal<Period>('1h')
/** Whether the scale includes the levels. */
const areLevelsInView = signal(true)

export function ChartCard({ instrument }: { instrument: Instrument }) {
  const { price, previous, seq, isStale } = quoteOf(instrument.id).value
  const changed = changePct(instrument, price)
  return html`
    <section class="card chart ${isStale ? 'stale' : ''}" aria-labelledby="player-name">
      <header>
        <div>
          <h2 id="player-name">${instrument.name}</h2>
          <p>
            <span class="post ${instrument.team.side}">${words.common.roles[instrument.position]}</span>
            ${instrument.team.name}
          </p>
        </div>
        <div class="big">
          <b class="num flash-${way(price - previous)}" key=${seq}>${units(price)}</b>
          <span class="num ${way(changed)}"><i aria-hidden="true">${arrow(changed)}</i> ${percent(changed)}</span>
        </div>
      </header>
      <${Chart} key=${instrument.id} instrument=${instrument} />
      <div class="below">
        <div class="choice" role="group" aria-label=${words.chart.period}>
          ${PERIODS.map(
            ([key, label]) =>
              html`<button aria-pressed=${period.value === key} onClick=${() => (period.value = key)}>
                ${label}
              </button>`,
          )}
        </div>
        ${
          levels.value.every(({ tone }) => tone === 'alert')
            ? null
            : html`<button
                class="toggle"
                aria-pressed=${areLevelsInView.value}
                onClick=${() => (areLevelsInView.value = !areLevelsInView.value)}
              >
                ${words.chart.keepLevels}
              </button>`
        }
        <${SpokenPrice} instrument=${instrument} />
        ${CARDS.map((Card) => html`<${Card} key=${instrument.id} instrumentId=${instrument.id} place="chart" />`)}
        <a class="credit" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">${words.chart.credit}</a>
      </div>
    </section>
  `
}

/** Lines for the levels of open positions and of the order in the ticket. */
const levels = computed<readonly ChartLevel[]>(() => {
  const drafted: ChartLevel[] = [
    ...level('draft sl', draft.stopLoss.value, words.chart.stop, 'stop'),
    ...level('draft tp', draft.takeProfit.value, words.chart.target, 'target'),
  ]
  return [
    ...drafted,
    ...inSelected.value.flatMap((p) => [
      ...level(`${p.id} entry`, p.openPrice, `${p.direction === 'long' ? '▲' : '▼'} ${number(p.lotSize)}`, 'entry'),
      ...level(`${p.id} sl`, p.stopLoss, words.chart.stop, 'stop'),
      ...level(`${p.id} tp`, p.takeProfit, words.chart.target, 'target'),
    ]),
    ...PAGE_FEATURES.flatMap(({ lines }) => lines?.(selectedId.value ?? '') ?? []).map((line): ChartLevel => ({
      ...line,
      tone: 'alert',
    })),
  ]
})

const level = (key: string, price: number | null, title: string, tone: ChartLevel['tone']): readonly ChartLevel[] =>
  price === null ? [] : [{ key, price, title, tone }]

/** The user's own entries and exits. A position that was closed in parts has one entry. */
const ownTrades = computed<readonly ChartMark[]>(() => {
  const all = [...inSelected.value, ...(history.value ?? []).filter((p) => p.instrumentId === selectedId.value)]
  return [
    ...openedOf(all).map((p) => ({ at: Date.parse(p.openedAt), text: number(p.lotSize), tone: p.direction })),
    ...all.flatMap(({ closedAt, realizedPnl }): readonly ChartMark[] =>
      closedAt === null ? [] : [{ at: Date.parse(closedAt), text: signed(realizedPnl ?? 0), tone: 'event' }],
    ),
  ]
})

/** A move that tells something. */
interface News {
  readonly at: number
  readonly price: number
  /** 0 for none. */
  readonly eventId: number
}

function Chart({ instrument }: { instrument: Instrument }) {
  const box = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<PriceChart | null>(null)
  const [past, setPast] = useState<PriceHistory | null>(null)
  const [news, setNews] = useState<readonly News[]>([])
  const [touched, touch] = useState<number | null>(null)

  // The library that draws is as large as the rest of the page, so the page does not wait for it.
  useEffect(() => {
    let made: PriceChart | null = null
    let isWanted = true
    import('./price-chart.ts')
      .then(({ PriceChart: Drawn }) => {
        if (!isWanted || box.current === null) return
        made = new Drawn(box.current)
        made.onTouch(touch)
        made.onTap((price) => PAGE_FEATURES.forEach(({ tapped }) => tapped?.(instrument.id, price)))
        setChart(made)
      })
      .catch((error: unknown) => toast({ tone: 'bad', title: words.chart.notLoaded, text: messageFor(error) }))
    const stop = onMove((frame) => {
      if (frame.instrumentId !== instrument.id) return
      made?.add(frame.at, frame.price)
      const { at, price, eventId } = frame
      if (eventId !== 0 || isTelling((price / frame.previousPrice - 1) * 100))
        setNews((known) => [...known, { at, price, eventId }])
    })
    return () => {
      isWanted = false
      stop()
      made?.remove()
      setChart(null)
    }
  }, [instrument.id])

  // Requested again after every reconnection, because it contains the missed moves.
  useEffect(() => {
    if (chart === null) return
    let isWanted = true
    api
      .priceHistory(instrument.id, period.value)
      .then((found) => {
        if (!isWanted) return
        setPast(found)
        setNews(tellingOf(found))
        chart.show(found, PERIODS.find(([key]) => key === period.peek())?.[3] ?? null)
      })
      .catch((error: unknown) => toast({ tone: 'bad', title: words.chart.historyNotLoaded, text: messageFor(error) }))
    return () => (isWanted = false)
  }, [chart, instrument.id, period.value, arrivals.value])

  useEffect(() => chart?.paint(), [chart, theme.value])
  useEffect(
    () => chart?.levels(levels.value, areLevelsInView.value),
    [chart, levels.value, areLevelsInView.value, theme.value],
  )
  useEffect(
    () => chart?.marks([...newsMarks(news, matchEvents.value?.events ?? []), ...ownTrades.value]),
    [chart, past, news, ownTrades.value, matchEvents.value],
  )

  return html`
    <div class="story">
      <${StepReason} instrumentId=${instrument.id} past=${past} touched=${touched} />
      <${Walk} chart=${chart} news=${news} touched=${touched} touch=${touch} />
    </div>
    <div class="canvas">
      <div class="plot" ref=${box} aria-hidden="true"></div>
      <${Grips} chart=${chart} />
      <${Summary} instrument=${instrument} past=${past} />
    </div>
  `
}

/** Less than this in per cent is passed over by the buttons below, unless an event did it. */
const TELLING_PCT = 0.5
const isTelling = (pct: number): boolean => Math.abs(pct) >= TELLING_PCT

/** Each event of a second has a mark of its own. */
const tellingOf = ({ ticks }: PriceHistory): readonly News[] => {
  const steps = stepsOf(ticks).filter(({ changePct: by, isNewMatch }) => isNewMatch || isTelling(by ?? 0))
  const told = new Set([...ticks.filter(({ eventId }) => eventId !== null), ...steps.map(({ tick }) => tick)])
  return [...told]
    .map(({ at, price, eventId }) => ({ at: Date.parse(at), price, eventId: eventId ?? 0 }))
    .toSorted((a, b) => a.at - b.at)
}

interface WalkProps {
  readonly chart: PriceChart | null
  readonly news: readonly News[]
  readonly touched: number | null
  readonly touch: (time: number) => void
}

/** From one move that tells something to the next, for who has no mouse or a thick finger. */
function Walk({ chart, news, touched, touch }: WalkProps) {
  const steps = news.map(({ at, price }) => ({ time: secondOf(at), price }))
  const earlier = steps.findLast(({ time }) => time < (touched ?? Infinity))
  const later = steps.find(({ time }) => time > (touched ?? Infinity))
  const button = (step: typeof earlier, label: string, sign: string) => html`
    <button
      class="bare"
      aria-label=${label}
      disabled=${step === undefined}
      onClick=${() => {
        if (step === undefined) return
        chart?.point(step)
        touch(step.time)
      }}
    >
      ${sign}
    </button>
  `
  return html`<div>${button(earlier, words.reasons.earlier, '‹')}${button(later, words.reasons.later, '›')}</div>`
}

/** Marks match events at the moves they caused. */
function newsMarks(news: readonly News[], events: readonly MatchEvent[]): readonly ChartMark[] {
  return news.flatMap(({ at, eventId }) => {
    const event = events.find(({ id }) => id === eventId)
    return event === undefined
      ? []
      : [{ at, text: `${eventWords(event)} ${minuteWords(event)}`, tone: 'event' as const }]
  })
}

/** The chart in words, for screen readers. */
function Summary({ instrument, past }: { instrument: Instrument; past: PriceHistory | null }) {
  const { price } = quoteOf(instrument.id).value
  const seen = useRef<{ of: PriceHistory | null; prices: readonly number[] }>({ of: null, prices: [] })
  const before = seen.current.of === past ? seen.current.prices : []
  seen.current = { of: past, prices: [Math.min(price, ...before), Math.max(price, ...before)] }
  return html`<p class="sr-only">${summary(instrument, past, [...seen.current.prices, price])}</p>`
}

/** `since`: prices after the history, the newest last. */
function summary(instrument: Instrument, past: PriceHistory | null, since: readonly number[]): string {
  if (past === null) return words.chart.historyLoading
  const { open, high, low } = past.stats
  if (open === null || high === null || low === null) return say(words.chart.noHistory, { name: instrument.name })
  const over = PERIODS.find(([key]) => key === past.period)?.[2] ?? ''
  const own = (matchEvents.value?.events ?? []).filter((event) => event.playerName === instrument.name)
  return [
    say(words.chart.summary, {
      name: instrument.name,
      over,
      open: units(open),
      change: percent(((since.at(-1) ?? open) / open - 1) * 100),
      low: units(Math.min(low, ...since)),
      high: units(Math.max(high, ...since)),
    }),
    ...own.map((event) =>
      event.minute === null
        ? eventWords(event)
        : say(words.chart.inMinute, { what: eventWords(event), minute: event.minute }),
    ),
  ].join(' ')
}
