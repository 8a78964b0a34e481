/** What one poller left out of the feed: counted, logged once, and kept for operators. */
import type { Report } from '../report.ts'
import type { FeedFault, FeedFaultLog, FeedFaultReason } from './provider.ts'

/** Faults of one poll that are stored one by one; more are counted only. */
const FAULTS_MAX = 500
/** Distinct reasons remembered, so that each is reported once. */
const REASONS_MAX = 1_000

export class FaultBook {
  readonly counts: Record<FeedFaultReason, number> = {
    request: 0,
    quota: 0,
    unreadable: 0,
    calendar: 0,
    update: 0,
    field: 0,
  }
  readonly #log: FeedFaultLog
  readonly #report: Report
  /** Faults that are not stored yet. */
  readonly #unkept: FeedFault[] = []
  readonly #reported = new Set<string>()

  constructor(log: FeedFaultLog, report: Report) {
    this.#log = log
    this.#report = report
  }

  count(fault: FeedFault): void {
    this.counts[fault.reason]++
    if (this.#unkept.length < FAULTS_MAX) this.#unkept.push(fault)
  }

  /** Counts what was left out, and logs it once with its fixture. */
  skip(fault: FeedFault): void {
    this.count(fault)
    const { reason, matchId, detail } = fault
    const told = `${reason} ${matchId} ${detail}`
    if (this.#reported.has(told)) return
    if (this.#reported.size >= REASONS_MAX) this.#reported.clear()
    this.#reported.add(told)
    const event = reason === 'field' ? 'feed_fields_refused' : 'fixture_skipped'
    this.#report(event, new Error(detail), { reason, matchId })
  }

  /** For operators, who may ask any process. What cannot be stored now is stored after the next poll. */
  async keep(): Promise<void> {
    const { length } = this.#unkept
    if (length === 0) return
    try {
      await this.#log.note(this.#unkept.slice())
      this.#unkept.splice(0, length)
    } catch (error) {
      this.#report('feed_faults_not_kept', error)
    }
  }
}
