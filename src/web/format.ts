/** Formats numbers and times for people. */
import { locale, plural, words } from './words.ts'

const plain = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const withSign = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
})

const change = new Intl.NumberFormat(locale, {
  style: 'percent',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
})
const part = new Intl.NumberFormat(locale, { style: 'percent' })

/** What the language writes before the decimals of a number. */
export const decimalSign = plain.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.'

/** 1,234.50 */
export const units = (amount: number): string => plain.format(amount)
/** 1 lot, 0.5 lots */
export const lots = (count: number): string => plural(count, words.common.lots)
/** +12.30, −4.00, 0.00; a proper minus. */
export const signed = (amount: number): string => withSign.format(amount).replace('-', '−')
/** +1.25%, as the language writes it */
export const percent = (amount: number): string => change.format(amount / 100).replace('-', '−')
/** 62%, of a share from 0 to 1 */
export const share = (of: number): string => part.format(of)
/** 2:05 */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const clockTime = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' })
const secondTime = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
const dayOnly = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const monthAndYear = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const dayAndTime = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
})
/** 14:05:10 */
export const secondOfDay = (at: number): string => secondTime.format(new Date(at))
/** 14:05 */
export const timeOfDay = (at: string | number): string => clockTime.format(new Date(at))
/**
 * On the axis of a chart, in the viewer's time zone like the crosshair: 2 May, 14:05, or :30 between two minutes, so
 * that no minute is there twice.
 */
export const tickWords = (at: number, mark: 'day' | 'minute' | 'second'): string =>
  mark === 'second'
    ? `:${String(new Date(at).getUTCSeconds()).padStart(2, '0')}`
    : (mark === 'day' ? dayOnly : clockTime).format(new Date(at))
/** May 2026, of a month as in 2026-05 */
export const monthName = (month: string): string => monthAndYear.format(new Date(`${month}-01T00:00Z`))
/** 2 May, 14:05 */
export const dayTime = (at: string | number): string => dayAndTime.format(new Date(at))

/** The direction that two decimals show, for class names and arrows: never by colour alone. */
export const way = (amount: number): 'up' | 'down' | 'flat' =>
  amount >= 0.005 ? 'up' : amount <= -0.005 ? 'down' : 'flat'
export const arrow = (amount: number): string => ({ up: '▲', down: '▼', flat: '•' })[way(amount)]
