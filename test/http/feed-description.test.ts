/** The AsyncAPI document, checked against the official schema and the feed's own parser. */
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import specs from '@asyncapi/specs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseRequest } from '../../rooms/feed/feed-protocol.ts'
import { openHttpRig } from './http-rig.ts'

const Messages = z.record(
  z.string(),
  z.looseObject({
    contentType: z.string(),
    payload: z.record(z.string(), z.unknown()),
    examples: z.array(z.object({ payload: z.unknown() })).optional(),
  }),
)
const Document = z.looseObject({
  channels: z.record(z.string(), z.looseObject({ messages: z.record(z.string(), z.unknown()) })),
  components: z.looseObject({ messages: Messages, schemas: z.record(z.string(), z.unknown()) }),
})

async function readDocument() {
  const { app } = await openHttpRig()
  const response = await app.request('/api/asyncapi.json')
  const json: unknown = await response.json()
  return { json, document: Document.parse(json) }
}

describe('the description of the WebSocket address', () => {
  it('passes the official AsyncAPI 3 schema', async () => {
    const { json } = await readDocument()
    // The schema contains its own meta-schema.
    const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false, validateFormats: false })
    const validate = ajv.compile(specs.schemas['3.0.0'] as object)
    validate(json)
    expect(validate.errors ?? []).toEqual([])
  })

  it('every message has a valid example, and the feed parses every request', async () => {
    const { document } = await readDocument()
    const ajv = new Ajv2020({ strict: false, validateSchema: false })
    addFormats.default(ajv)
    ajv.addSchema(document, 'feed')
    const names = Object.keys(document.components.messages)
    expect(names.toSorted()).toEqual(Object.keys(document.channels['feed']?.messages ?? {}).toSorted())
    for (const [name, { contentType, examples = [] }] of Object.entries(document.components.messages)) {
      if (contentType !== 'application/json') continue
      expect(examples.length, name).toBeGreaterThan(0)
      for (const { payload } of examples) {
        expect(
          ajv.validate({ $ref: `feed#/components/messages/${name}/payload` }, payload),
          `${name} ${ajv.errorsText()}`,
        ).toBe(true)
      }
    }
    for (const name of ['subscribe', 'unsubscribe', 'listen', 'ping']) {
      const example = document.components.messages[name]?.examples?.[0]?.payload
      expect(parseRequest(Buffer.from(JSON.stringify(example)), false), name).toEqual(example)
    }
  })
})
