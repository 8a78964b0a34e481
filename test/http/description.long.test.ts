/** The description of the API, read by the tools of others. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { operations, sample } from './api-document.ts'
import { apiJudge, openHttpRig } from './http-rig.ts'

describe('the API description', () => {
  it('passes an independent OpenAPI 3.1 validator', async () => {
    const { app } = await openHttpRig()
    const text = await (await app.request('/api/openapi.json')).text()
    const found = await new Validator().validate(JSON.parse(text))
    expect(found).toEqual({ valid: true })
  })

  it('gives a linter nothing to say, in development and in production', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    for (const production of [false, true]) {
      const { app } = await openHttpRig({ production })
      const source = await (await app.request('/api/openapi.json')).text()
      const found = await lintFromString({ source, absoluteRef: '/openapi.json', config })
      expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
    }
    const source = JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {} })
    const found = await lintFromString({ source, absoluteRef: '/openapi.json', config })
    expect(found.map(({ ruleId }) => ruleId)).toEqual(expect.arrayContaining(['info-license', 'no-empty-servers']))
  })

  it('every parameter and body has an example that fits its schema', async () => {
    const { document, check } = await apiJudge()
    for (const [name, { parameters = [], requestBody, responses }] of operations(document)) {
      for (const { schema, example, name: parameter } of parameters) {
        expect(example, `${name} ${parameter}`).toBeDefined()
        expect(check(schema, example), `${name} ${parameter}`).toBeNull()
      }
      const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
      for (const { schema, example, examples } of contents.flatMap((content) => Object.values(content ?? {}))) {
        const shown = examples === undefined ? [example] : Object.keys(examples).map((code) => sample(document, code))
        expect(shown.length, name).toBeGreaterThan(0)
        for (const one of shown) {
          expect(one, name).toBeDefined()
          expect(check(schema, one), name).toBeNull()
        }
      }
    }
  })
})
