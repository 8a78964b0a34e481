/** The test vectors of the price frame, as the description of the WebSocket has them, decoded by the page's client. */
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { decodePriceFrame } from '../../src/web/client/price-frame.ts'
import { openHttpRig } from '../http/http-rig.ts'

const Described = z.object({
  components: z.object({
    messages: z.object({ price: z.object({ 'x-test-vectors': z.array(z.object({ hex: z.string() })) }) }),
  }),
})

export async function frameVectors() {
  const { app } = await openHttpRig()
  const document = Described.parse(await (await app.request('/api/asyncapi.json')).json())
  return document.components.messages.price['x-test-vectors'].map(({ hex }) => {
    const bytes = new Uint8Array(Buffer.from(hex, 'hex'))
    const damaged = Buffer.from(hex, 'hex')
    damaged.writeUInt8(damaged.readUInt8(44) ^ 1, 44) // one bit of the price
    return { hex, damaged: damaged.toString('hex'), frame: present(decodePriceFrame(bytes.buffer), 'a frame') }
  })
}
