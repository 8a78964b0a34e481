import { expect, it, onTestFinished, vi } from 'vitest'
import { compose } from '../../src/compose/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { embeddedPlace } from '../support/data-place.ts'

// Loading any of these fails.
for (const name of ['api', 'core', 'resources', 'sdk-trace', 'exporter-trace-otlp-http']) {
  vi.doMock(`@opentelemetry/${name}`, () => {
    throw new Error('loaded')
  })
}

it('OpenTelemetry is not loaded without a configured collector', async () => {
  const site = await embeddedPlace()
  const env = { ...site.env, DEMO_REPLAY: 'none', PORT: '0', WS_PORT: '0' }
  const log = createLog({ level: 'silent', world: systemWorld() })
  onTestFinished(() => site.remove())
  const server = await compose(readConfig(env), { log })
  await server.stop()
  const traced = readConfig({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  await expect(compose(traced, { log })).rejects.toThrow()
})
