/** The database breaks every connection and refuses new ones, as while a standby is promoted. */
import { type Incident, WELL } from '../incident.ts'

export const databaseAway: Incident = {
  name: 'database-away',
  about: 'the database refuses every connection until another is promoted',
  async run(stage, operator) {
    // The page is open: a browser that opens it now learns no more than that the server cannot be reached.
    await operator.opens()
    await operator.sees(WELL)
    stage.database.cut()

    const { page } = operator
    await operator.sees(/^There is no answer from the database\./)
    await operator.looksUp('A part is unavailable', 'database: in every process The database fails over')
    await operator.press(page.getByRole('article').getByRole('link', { name: 'The database fails over' }))
    await operator.reads('The database fails over', 'Restart nothing', 'Audit the ledger')
    stage.database.mend()
    await operator.goesTo('Health')
    await page.getByText(/^All \d+ services/).waitFor()
    await operator.press(page.getByRole('button', { name: 'Audit again' }))
    await page
      .getByRole('listitem')
      .filter({ hasText: /^Balanced\s*yes$/ })
      .waitFor()
    await stage.trade()
  },
  end: WELL,
}
