/** The provider reports a false goal and an impossible statistic, and takes both back later. */
import type { Incident } from '../incident.ts'

const SHOTS_ON_TARGET = 86

export const feedLies: Incident = {
  name: 'feed-lies',
  about: 'the provider reports a wrong goal, and statistics that cannot be',
  async run(stage, operator) {
    const { fixture } = stage.match
    const striker = stage.match.player('FWD')
    const goal = fixture.goal(striker)
    fixture.details.set(striker, { [SHOTS_ON_TARGET]: -1_000_000_000 })

    const { page } = operator
    await operator.opens()
    await operator.sees(/^Data was skipped: .*\(fixture \d+\) for \d+ s\./)
    await operator.looksUp('The feed is frozen', 'A wrong goal: halt the match until the provider takes it back')
    await operator.press(page.getByLabel('State').getByRole('link', { name: 'See the feeds' }))
    await page.getByText('Field left out').waitFor()
    await operator.goesTo('Health')
    const row = page.locator('.brakes li').filter({ hasText: 'Team' })
    await row.getByText(/1–0/).waitFor()
    await operator.press(row.getByRole('button', { name: 'Halted' }))
    await operator.answers('Halt', 'the provider reports a false goal')
    await operator.sees(/^Trading on .* is halted for \d+ s by otto\./)
    fixture.takeBack(goal)
    fixture.details.delete(striker)
    await row.getByText(/0–0/).waitFor()
    await operator.press(page.getByLabel('State').getByRole('button', { name: 'Release' }))
    await operator.answers('Release', 'the provider has taken it back')
    await stage.trade()
  },
  // As the runbook says: faults are shown for ten minutes after the last.
  end: /^Data was skipped: /,
}
