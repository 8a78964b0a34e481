/** Reports a failure that no caller is waiting for. */

type Facts = Readonly<Record<string, unknown>>

/**
 * `event` is a fixed snake_case name such as `lease_renewal_failed`; ids and other values go into `facts`, so that a
 * log can be searched and counted by either. Must not throw.
 */
export type Report = (event: string, error: unknown, facts?: Facts) => void

/** The same report with facts that every failure of one match, room or socket carries. */
export const reportWith =
  (report: Report, context: Facts): Report =>
  (event, error, facts) =>
    report(event, error, { ...context, ...facts })
