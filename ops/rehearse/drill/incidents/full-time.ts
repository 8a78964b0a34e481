/** A match with many holders ends while a forgotten report keeps the careers locked: the boards learn nothing of it. */
import { type Incident, WELL } from '../incident.ts'

const HOLDERS = 30
/** A minute until the match settles; a reaction is set aside after five tries. */
const ALERT_MS = 240_000

export const fullTime: Incident = {
  name: 'full-time',
  about: 'full time with many holders, while a transaction locks the careers',
  async run(stage, operator) {
    const { context, match } = stage
    const striker = match.instrument(match.player('FWD'))
    for (let n = 0; n < HOLDERS; n++) await (await context.user()).opens(striker)
    const release = await stage.lock('careers')
    match.fixture.enters('FT')

    const { page } = operator
    await operator.opens()
    await operator.sees(/^\d+ reactions? failed, the last to commit /, ALERT_MS)
    await stage.isPaid()
    await operator.looksUp('Reactions are late', 'trading is not', 'End that first', 'retry all that are set aside')
    await release()
    await operator.press(page.getByLabel('State').getByRole('button', { name: 'Retry' }))
    await operator.goesTo('Health')
    await operator.press(page.getByRole('button', { name: 'Audit again' }))
    await page
      .getByRole('listitem')
      .filter({ hasText: /^Balanced\s*yes$/ })
      .waitFor()
  },
  end: WELL,
}
