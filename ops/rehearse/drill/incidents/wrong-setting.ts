/** An admin has made the hold an hour long, saw that users could not close, put on the brake and went to bed. */
import { type Incident, WELL } from '../incident.ts'

export const wrongSetting: Incident = {
  name: 'wrong-setting',
  about: 'a wrong setting, and the brake that its author put on',
  async run(stage, operator) {
    const ann = await stage.admin('ann')
    const hold = { value: 3_600, reason: 'an experiment' }
    await stage.does(ann, 'PUT', '/api/admin/settings/trading.hold_secs', hold)
    const brake = { value: 'reduce_only', reason: 'users cannot close, no idea why' }
    await stage.does(ann, 'PUT', '/api/admin/settings/trading.mode', brake)

    const { page } = operator
    await operator.opens()
    await operator.sees(/^Trading is close only for \d+ \w+ by ann\./)
    await operator.looksUp('The brake', 'Before you release it, read why it is on')
    await operator.press(page.getByRole('article').getByRole('link', { name: 'A setting is wrong' }))
    await operator.reads('A setting is wrong', 'Changed lists what differs from the default', 'Reset it')
    await operator.goesTo('Settings')
    await operator.press(page.getByLabel('Changed'))
    await page
      .getByText(/Set by ann/)
      .first()
      .waitFor()
    await operator.press(page.getByRole('button', { name: 'Reset trading.hold_secs' }))
    await operator.answers('Set it', 'users could not close for an hour')
    await operator.press(page.getByLabel('State').getByRole('button', { name: 'Release' }))
    await operator.answers('Release', 'the hold is as usual again')
  },
  end: WELL,
}
