/** Redis breaks every connection and refuses new ones, until its machine is started again. */
import { type Incident, WELL } from '../incident.ts'

export const redisRefuses: Incident = {
  name: 'redis-refuses',
  about: 'Redis refuses every connection',
  async run(stage, operator) {
    stage.redis.cut()

    const { page } = operator
    await operator.opens()
    await operator.sees(/^There is no answer from the (fast store \(Redis\)|bus between processes)\./)
    await operator.looksUp('A part is unavailable', 'fastStore: Redis is gone')
    await operator.press(page.getByRole('article').getByRole('link', { name: 'Redis is gone' }))
    await operator.reads(
      'Redis is gone',
      'those without the match answer 503 busy',
      'Start Redis again',
      'restore nothing',
    )
    stage.redis.mend()
    await operator.goesTo('Health')
    await page.getByText(/^All \d+ services/).waitFor()
    await stage.trade()
  },
  end: WELL,
}
