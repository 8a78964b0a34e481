/** One account repeats what another opens, player after player, beside users who trade as they like. */
import type { User } from '../../conformance/context.ts'
import type { Incident } from '../incident.ts'

const HONEST = 6
const COPIES = 16
const LOTS = 0.01
/** A copy comes within 20 seconds: what was opened before that is honest company. */
const APART_SECS = 21
/** The watch looks every half minute, and the page asks every 15 seconds. */
const ALERT_MS = 90_000

export const cheatRing: Incident = {
  name: 'cheat-ring',
  about: 'two accounts that open the same, again and again',
  async run(stage, operator) {
    const { context, match } = stage
    const players = match.fixture.players.filter(({ starter }) => starter).map((player) => match.instrument(player))
    const opens = async (user: User, count: number): Promise<void> => {
      for (const player of players.slice(0, count)) await user.opens(player, { lotSize: LOTS })
    }
    for (let n = 0; n < HONEST; n++) await opens(await context.user(), players.length)
    await context.wait(APART_SECS)
    const ring = [await context.user(), await context.user()]
    for (const user of ring) await opens(user, COPIES)

    const { page } = operator
    await operator.opens()
    await operator.sees(/^\d reports? of cheats within an hour \d+ s ago\./, ALERT_MS)
    await operator.looksUp('Cheating', 'An alert is no verdict: read the positions first', 'Freeze and Void')
    await operator.press(page.getByLabel('State').getByRole('link', { name: 'See the risk' }))
    const reported = page.getByRole('region', { name: 'Reported together' })
    for (const [n, { profile }] of ring.entries()) {
      if (n > 0) await operator.goesTo('Risk')
      await operator.press(reported.getByRole('link', { name: profile.username }).first())
      await page
        .getByRole('row', { name: new RegExp(`long ${LOTS}`) })
        .nth(COPIES - 1)
        .waitFor()
      await operator.press(page.getByRole('button', { name: 'Freeze' }))
      await operator.answers('Freeze', 'opens what another account has just opened')
      await page.getByRole('button', { name: 'Unfreeze' }).waitFor()
    }
    for (const user of ring) {
      await context.eventually('a frozen user to be signed out', async () =>
        (await user.ask('GET', '/api/wallet')).status === 401 ? true : undefined,
      )
    }
  },
  // As the runbook says: entries of the audit log are shown for an hour.
  end: /^\d reports? of cheats within an hour /,
}
