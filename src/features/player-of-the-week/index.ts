/** The player of the week: a board of the footballers whose base rose most. */
import { SHARED } from '../../http/caching.ts'
import type { Feature } from '../feature.ts'
import { playerErrors } from './errors.ts'
import { playerOfTheWeek as board } from './routes.ts'
import { SETTINGS } from './settings.ts'
import { PlayerWeeks } from './store.ts'

export const playerOfTheWeek: Feature = {
  name: 'player-of-the-week',
  topics: [{ name: 'Player of the week', description: 'The footballers whose base rose most in a week.' }],
  errors: playerErrors.table,
  settings: SETTINGS,
  cached: { '/api/player-of-the-week': SHARED },
  notExported: { player_weeks: 'football' },
  open: ({ stores, world, market }) => {
    const weeks = new PlayerWeeks(stores.db, world)
    const valueOf = market.settings.reader(SETTINGS)
    return {
      routes: [(_deps, gates) => board({ weeks }, gates)],
      tasks: [
        {
          // About ten minutes: how long after Monday 00:01 UTC the board of the week before appears.
          name: 'player-of-the-week',
          everyMs: 600_011,
          roles: ['api'],
          atStart: 'begin',
          run: () => weeks.write(valueOf('player-of-the-week.places')),
        },
      ],
    }
  },
}
