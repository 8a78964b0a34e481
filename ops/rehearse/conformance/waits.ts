/**
 * The settings that the suite may write, and only to wait less. Every other rule is as the program ships, so a check
 * that passes says what a user meets.
 */
export const WAITS = ['trading.hold_secs', 'settlement.confirm_secs'] as const
export type Wait = (typeof WAITS)[number]
export type Waits = Readonly<Partial<Record<Wait, number>>>

/** For sentences that are not about the hold. */
export const NO_HOLD: Waits = { 'trading.hold_secs': 0 }
/** For sentences that are neither about the hold nor about the time in which a full time may be corrected. */
export const NO_WAIT: Waits = { 'trading.hold_secs': 0, 'settlement.confirm_secs': 0 }

/** Throws if this request writes any other setting. */
export function onlyWaits(method: string, path: string, status: number): void {
  const key = /^\/api\/admin\/settings\/([\w.]+)/.exec(path)?.[1]
  if (method !== 'PUT' || key === undefined || status !== 200 || WAITS.some((wait) => wait === key)) return
  throw new Error(`the suite wrote the setting ${key}, which a sentence may depend on`)
}
