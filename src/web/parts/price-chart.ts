/**
 * The price chart of one player: the history, then each move as it arrives. Match events and the user's own trades are
 * marked on the line; levels are horizontal lines.
 */
import {
  AreaSeries,
  type AutoscaleInfo,
  createChartEx,
  createSeriesMarkers,
  type DeepPartial,
  defaultHorzScaleBehavior,
  type IChartApiBase,
  type IPriceLine,
  type ISeriesApi,
  type Logical,
  LineStyle,
  LineType,
  type SeriesMarker,
  TickMarkType,
  type TimeScaleOptions,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { PriceHistory } from '../client/wire.ts'
import { tickWords, timeOfDay, units } from '../format.ts'
import { secondOf, stepsOf } from '../price-steps.ts'
import { words } from '../words.ts'
import { Dividers } from './chart-dividers.ts'
import { CHARACTER, labelled } from './chart-labels.ts'

export interface ChartLevel {
  readonly key: string
  readonly price: number
  readonly title: string
  readonly tone: 'entry' | 'stop' | 'target' | 'alert'
}

export interface ChartMark {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly text: string
  readonly tone: 'event' | 'long' | 'short'
}

type Tone = ChartLevel['tone'] | ChartMark['tone'] | 'line' | 'fill' | 'grid' | 'text'

/** The smallest price range of the scale, as a fraction of the price. */
const LEAST_RANGE = 0.005

/** In a window this short the axis also shows seconds. */
const CLOSE_SECS = 300

const MARKS = {
  [TickMarkType.Year]: 'day',
  [TickMarkType.Month]: 'day',
  [TickMarkType.DayOfMonth]: 'day',
  [TickMarkType.Time]: 'minute',
  [TickMarkType.TimeWithSeconds]: 'second',
} as const

/** Space to the right of the newest point, in points. */
const MARGIN = 4

/** The chart has one point per second; a later price within the second replaces the earlier one. */
const second = (at: number): UTCTimestamp => secondOf(at) as UTCTimestamp

/** Formats each mark whenever it is drawn: whether it fits changes as the chart moves. */
class Axis extends defaultHorzScaleBehavior() {
  #drawn = 0

  override cacheKey(): number {
    return this.#drawn++
  }
}

export class PriceChart {
  readonly #chart: IChartApiBase
  readonly #series: ISeriesApi<'Area'>
  readonly #markers: ReturnType<typeof createSeriesMarkers<UTCTimestamp>>
  readonly #element: HTMLElement
  readonly #levels = new Map<string, IPriceLine>()
  readonly #dividers = new Dividers(words.reasons.newMatch, () => this.#colour('text'))
  #marks: readonly ChartMark[] = []
  #inView: readonly number[] = []
  /** The time of every point. */
  #times: UTCTimestamp[] = []
  #windowSecs: number | null = null
  /** Whether the viewer has moved the chart: then it stays where they want it. */
  #isMoved = false

  constructor(element: HTMLElement) {
    this.#element = element
    for (const type of ['wheel', 'pointerdown', 'touchstart']) {
      element.addEventListener(type, () => (this.#isMoved = true), { passive: true })
    }
    const timeScale: DeepPartial<TimeScaleOptions> = {
      borderVisible: false,
      timeVisible: true,
      secondsVisible: true,
      rightOffset: MARGIN,
      tickMarkFormatter: (at: UTCTimestamp, type: TickMarkType) => this.#markOf(at, MARKS[type]),
      minBarSpacing: 0.01,
    }
    this.#chart = createChartEx(element, new Axis(), {
      autoSize: true,
      layout: { attributionLogo: false, background: { color: 'transparent' }, fontSize: 11 },
      rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.14, bottom: 0.1 } },
      timeScale,
      localization: { priceFormatter: units, timeFormatter: (at: UTCTimestamp) => timeOfDay(at * 1_000) },
      handleScroll: { vertTouchDrag: false },
    })
    this.#series = this.#chart.addSeries(AreaSeries, {
      lineType: LineType.WithSteps,
      lineWidth: 2,
      // After new prices only: a point that always pulses draws the chart sixty times a second while nothing happens.
      lastPriceAnimation: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 2,
      priceFormat: { type: 'custom', formatter: units, minMove: 0.01 },
      autoscaleInfoProvider: (own: () => AutoscaleInfo | null) => this.#scaled(own()),
    })
    this.#series.attachPrimitive(this.#dividers)
    this.#markers = createSeriesMarkers(this.#series as ISeriesApi<'Area', UTCTimestamp>, [])
    // Which of their labels have room changes as the chart moves. It is told while new points are only half taken in.
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange(() => queueMicrotask(() => this.#mark()))
    this.paint()
  }

  /** Applies the colours of the page; call it after they change. */
  paint(): void {
    const line = this.#colour('line')
    this.#chart.applyOptions({
      layout: { textColor: this.#colour('text'), fontFamily: getComputedStyle(this.#element).fontFamily },
      grid: { vertLines: { visible: false }, horzLines: { color: this.#colour('grid') } },
      crosshair: {
        vertLine: { color: this.#colour('text'), labelBackgroundColor: this.#colour('entry') },
        horzLine: { color: this.#colour('text'), labelBackgroundColor: this.#colour('entry') },
      },
    })
    this.#series.applyOptions({
      lineColor: line,
      topColor: this.#colour('fill'),
      bottomColor: 'transparent',
      priceLineColor: line,
    })
    this.#mark()
  }

  /** Replaces all points by this history, and keeps so much of it in view; null for all of it. */
  show({ ticks }: PriceHistory, windowMs: number | null): void {
    const bySecond = new Map(ticks.map(({ at, price }) => [second(Date.parse(at)), price]))
    const points = [...bySecond].toSorted(([a], [b]) => a - b).map(([time, value]) => ({ time, value }))
    this.#times = points.map(({ time }) => time)
    this.#windowSecs = windowMs === null ? null : windowMs / 1_000
    this.#isMoved = false
    this.#series.setData(points)
    // The first match of a history needs no line.
    const begins = stepsOf(ticks)
      .slice(1)
      .filter(({ isNewMatch }) => isNewMatch)
    this.#dividers.show(begins.map(({ time }) => time as UTCTimestamp))
    this.#keepInView()
    this.#mark()
  }

  /** Whether marks between two minutes say anything. */
  get #isClose(): boolean {
    return this.#windowSecs !== null && this.#windowSecs <= CLOSE_SECS
  }

  /** Adds a move. The history already contains moves older than its newest point. */
  add(at: number, price: number): void {
    const time = second(at)
    const newest = this.#times.at(-1) ?? 0
    if (time < newest) return
    if (time > newest) this.#times.push(time)
    this.#series.update({ time, value: price })
    if (!this.#isMoved) this.#keepInView()
  }

  /** Shows the window that ends now. */
  #keepInView(): void {
    const newest = this.#times.at(-1)
    if (newest === undefined) return
    const from = newest - (this.#windowSecs ?? newest)
    const first = this.#times.findIndex((time) => time >= from)
    this.#chart.timeScale().setVisibleLogicalRange({ from: first, to: this.#times.length - 1 + MARGIN })
  }

  marks(marks: readonly ChartMark[]): void {
    this.#marks = marks
    this.#mark()
  }

  /** Replaces the lines. With `areInView` the scale always includes them, but for alerts, which may be far away. */
  levels(levels: readonly ChartLevel[], areInView: boolean): void {
    this.#inView = areInView ? levels.flatMap(({ price, tone }) => (tone === 'alert' ? [] : [price])) : []
    // The scale is recalculated only when an option of the series changes.
    this.#series.applyOptions({ visible: true })
    for (const [key, line] of this.#levels) {
      if (levels.some((level) => level.key === key)) continue
      this.#series.removePriceLine(line)
      this.#levels.delete(key)
    }
    for (const { key, price, title, tone } of levels) {
      const options = {
        price,
        title,
        color: this.#colour(tone),
        lineWidth: 1 as const,
        lineStyle: tone === 'entry' ? LineStyle.Solid : LineStyle.Dashed,
        axisLabelVisible: true,
      }
      const line = this.#levels.get(key)
      if (line === undefined) this.#levels.set(key, this.#series.createPriceLine(options))
      else line.applyOptions(options)
    }
  }

  /** Tells which time is touched or hovered, in seconds since 1970; null for none. */
  onTouch(hear: (time: number | null) => void): void {
    const told = ({ time }: { readonly time?: unknown }): void => hear(typeof time === 'number' ? time : null)
    this.#chart.subscribeCrosshairMove(told)
    // A tap moves no crosshair.
    this.#chart.subscribeClick(told)
  }

  /** Tells at which price the chart is tapped. */
  onTap(hear: (price: number) => void): void {
    this.#chart.subscribeClick(({ point }) => {
      const price = point === undefined ? null : this.priceAt(point.y)
      if (price !== null) hear(price)
    })
  }

  /** Points at a step, as the mouse would. */
  point({ time, price }: { readonly time: number; readonly price: number }): void {
    this.#chart.setCrosshairPosition(price, time as UTCTimestamp, this.#series)
  }

  /** Where a price is, in pixels from the top; null when it is off the chart. */
  topOf(price: number): number | null {
    return this.#series.priceToCoordinate(price)
  }

  /** The price at this distance from the top, in pixels. */
  priceAt(top: number): number | null {
    return this.#series.coordinateToPrice(top)
  }

  remove(): void {
    this.#chart.remove()
  }

  /** Widens the scale to at least 0.5 % of the price, so that tiny moves do not fill the chart. */
  #scaled(own: AutoscaleInfo | null): AutoscaleInfo | null {
    if (own === null || own.priceRange === null) return own
    const { minValue, maxValue } = own.priceRange
    const spare = Math.max(0, (maxValue * LEAST_RANGE - (maxValue - minValue)) / 2)
    return {
      ...own,
      priceRange: {
        minValue: Math.min(minValue - spare, ...this.#inView),
        maxValue: Math.max(maxValue + spare, ...this.#inView),
      },
    }
  }

  /** A mark of the axis. One that the edge would cut, and seconds in a long window, stay away. */
  #markOf(at: UTCTimestamp, kind: (typeof MARKS)[TickMarkType]): string {
    if (kind === 'second' && !this.#isClose) return ''
    const text = tickWords(at * 1_000, kind)
    const scale = this.#chart.timeScale()
    const x = scale.timeToCoordinate(at)
    const half = (text.length * CHARACTER) / 2
    return x !== null && (x < half || x > scale.width() - half) ? '' : text
  }

  #mark(): void {
    const marks = this.#marks.map(({ at, text, tone }): SeriesMarker<UTCTimestamp> => ({
      time: second(at),
      text,
      color: this.#colour(tone),
      position: tone === 'long' ? 'belowBar' : 'aboveBar',
      shape: tone === 'long' ? 'arrowUp' : tone === 'short' ? 'arrowDown' : 'circle',
      size: 1,
    }))
    const scale = this.#chart.timeScale()
    const xOf = ({ time }: SeriesMarker<UTCTimestamp>): number =>
      scale.logicalToCoordinate((scale.timeToIndex(time, true) ?? 0) as number as Logical) ?? 0
    this.#markers.setMarkers([
      ...labelled(
        marks.toSorted((a, b) => a.time - b.time),
        xOf,
      ),
    ])
  }

  #colour(tone: Tone): string {
    return getComputedStyle(this.#element).getPropertyValue(`--chart-${tone}`).trim()
  }
}
