/** The rehearsal of matches that cannot be read, with one in ten of its damages. */
import { expect, it } from 'vitest'
import { rehearseQuarantine } from '../../ops/rehearse/quarantine/rehearse.ts'
import { eachDataPlace } from '../support/data-place.ts'

const ONE_IN = 10

eachDataPlace((settle) => {
  it('[H30] whatever stored document is broken, every match ends and the books balance', async () => {
    const place = await settle()
    const { damages, readable } = await rehearseQuarantine(
      { settings: place.env, look: (at) => place.look(at) },
      ONE_IN,
    )
    expect(damages).toBeGreaterThan(30)
    expect(readable).toBeLessThan(damages / 2)
    await place.remove()
  })
})
