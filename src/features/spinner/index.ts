/** The spinner: the winner of a week, in a draw among tied leaders that anyone can verify. */
import { sql } from 'kysely'
import { SHARED } from '../../http/caching.ts'
import type { Feature, Opened } from '../feature.ts'
import { currentWeek } from './current-routes.ts'
import { spinnerErrors } from './errors.ts'
import { spinnerHistory } from './history-routes.ts'
import { runSpinner } from './run-routes.ts'
import { SPINNER_SETTINGS } from './settings.ts'
import { eraseCandidate, Spinner } from './store.ts'
import type { SpinnerPorts } from './week.ts'

export const spinnerApi = (ports: SpinnerPorts): Opened => ({
  routes: [currentWeek, spinnerHistory, runSpinner].map((routes) => (_deps, gates) => routes(ports, gates)),
})

export const spinner: Feature = {
  name: 'spinner',
  topics: [{ name: 'Spinner', description: 'The weekly winner, a verifiable draw among tied leaders, and its proof.' }],
  errors: spinnerErrors.table,
  settings: SPINNER_SETTINGS,
  cached: { '/api/spinner/current': SHARED, '/api/spinner/history': SHARED },
  exported: [
    {
      name: 'weekScores',
      table: 'week_scores',
      from: (user) =>
        sql`spinner_weeks w join week_scores t on t.week = w.week and t.user_id = ${user}::uuid where true`,
      by: [['t.week', 'text']],
    },
  ],
  notExported: { spinner_weeks: 'public draws; the scores are in weekScores' },
  erase: eraseCandidate,
  open: ({ stores, world, market: { settings }, community }) => {
    const valueOf = settings.reader(SPINNER_SETTINGS)
    const terms = () => ({
      closesMin: valueOf('spinner.closes_min'),
      playersMin: valueOf('spinner.players_min'),
      ...community.boardRules(),
    })
    const store = new Spinner(stores.db, world, { terms })
    return {
      ...spinnerApi({ spinner: store, tell: community.notify }),
      tasks: [
        {
          // About an hour: seeds are promised for this week and the next, so nothing depends on the hour.
          name: 'spinner-seeds',
          everyMs: 3_600_001,
          roles: ['api', 'rooms'],
          atStart: 'await',
          run: async () => void (await store.prepare()),
        },
        {
          // POST /api/spinner/run only hastens it.
          name: 'spinner-draw',
          everyMs: 60_017,
          roles: ['api'],
          run: async () => {
            const outcome = await store.runIfDue()
            if (outcome?.kind === 'decided') community.notify(outcome.notifications)
          },
        },
      ],
    }
  },
}
