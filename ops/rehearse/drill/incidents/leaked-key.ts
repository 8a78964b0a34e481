/** A key with `admin:write` was in a log. Its finder halts trading in the name of its owner. */
import { z } from 'zod'
import { type Incident, WELL } from '../incident.ts'

const Made = z.looseObject({ secret: z.string() })

export const leakedKey: Incident = {
  name: 'leaked-key',
  about: 'a leaked key, whose finder halts trading in the name of its owner',
  async run(stage, operator) {
    const ann = await stage.admin('ann')
    const wanted = { name: 'night watch', scopes: ['admin:write'] }
    const { secret: key } = Made.parse(await stage.does(ann, 'POST', '/api/keys', wanted))
    const halt = { value: 'halted', reason: 'maintenance' }
    const strike = () => stage.does({ key }, 'PUT', '/api/admin/settings/trading.mode', halt)
    await strike()

    const { page } = operator
    await operator.opens()
    await operator.sees(/^Trading is halted for \d+ \w+ by ann\./)
    await operator.looksUp('The brake', 'If the named admin did not do it')
    await operator.press(page.getByRole('article').getByRole('link', { name: 'A key has leaked' }))
    await operator.reads('A key has leaked', 'control room → Keys', 'read the audit log')
    await operator.goesTo('Keys')
    await operator.press(page.getByRole('row', { name: /night watch/ }).getByRole('button', { name: 'Revoke' }))
    await operator.answers('Revoke', 'an attacker halted trading with it')
    await operator.goesTo('Audit')
    await page.getByRole('row', { name: /setting\.set.*maintenance/ }).waitFor()
    await operator.press(page.getByLabel('State').getByRole('button', { name: 'Release' }))
    await operator.answers('Release', 'it was put on with a leaked key')
    if (
      await strike().then(
        () => true,
        () => false,
      )
    )
      throw new Error('the revoked key still halts trading')
  },
  end: WELL,
}
