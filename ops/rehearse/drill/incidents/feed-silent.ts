/** The provider has dropped one fixture in the middle of the match, and does not take it up again. */
import { type Incident, WELL } from '../incident.ts'

export const feedSilent: Incident = {
  name: 'feed-silent',
  about: 'the provider no longer lists a match in play',
  async run(stage, operator) {
    stage.match.fixture.isListed = false

    const { page } = operator
    await operator.opens()
    await operator.sees(/^A match in play has had no new data for \d+ s\./, 120_000)
    await operator.looksUp('The feed is frozen', 'One fixture stays silent: end it')
    await operator.press(page.getByLabel('State').getByRole('link', { name: 'See the feeds' }))
    await operator.press(
      page.getByRole('row', { name: stage.match.fixture.name.slice(0, 12) }).getByRole('button', { name: 'Settle…' }),
    )
    await operator.answers('End and settle', 'the provider has lost it')
    await stage.isPaid()
  },
  end: WELL,
}
