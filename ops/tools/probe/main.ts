/**
 * Trades a running deployment from outside, as a user would, and shows Prometheus whether it works:
 *
 *   TOUCHLINE_KEY=tl_… npm run ops -- probe https://api.example [--every 60] [--listen 9465] [--once]
 *
 * The key needs the scope `trade`. Give it an account of its own: the account becomes a bot, which no board shows. With
 * `--once` it takes one round and exits with 1 if a step failed. A step that no open match allows is skipped. The alert
 * `ProbeFails` watches `touchline_probe_succeeded_timestamp_seconds`. See the runbook, "The probe fails".
 */
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { Counter, Gauge, Registry } from 'prom-client'
import { Probe, type StepResult } from './rounds.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: 'string', default: '60' },
    listen: { type: 'string', default: '9465' },
    once: { type: 'boolean', default: false },
  },
})
const [url] = positionals
const key = process.env['TOUCHLINE_KEY']
const everySecs = Number(values.every)
const port = Number(values.listen)
if (url === undefined || !URL.canParse(url))
  throw new Error('the first argument is the REST address, as https://api.example')
if (key === undefined || key === '') throw new Error('TOUCHLINE_KEY must hold a personal key with the scope trade')
if (!(everySecs >= 1)) throw new Error(`--every takes seconds, at least 1, not ${values.every}`)
if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--listen takes a port, not ${values.listen}`)

const registry = new Registry()
const registers = [registry]
const steps = new Counter({
  name: 'touchline_probe_steps_total',
  help: 'Steps of the probe by end: ok, skipped (no open match, or nothing to close), failed.',
  labelNames: ['step', 'end'],
  registers,
})
const seconds = new Gauge({
  name: 'touchline_probe_step_seconds',
  help: 'How long a step took in the last round.',
  labelNames: ['step'],
  registers,
})
const succeeded = new Gauge({
  name: 'touchline_probe_succeeded_timestamp_seconds',
  help: 'When a round last ended without a failed step. Before the first, when the probe started.',
  registers,
})
succeeded.set(Date.now() / 1_000)

const probe = new Probe({ url, key })

async function round(): Promise<boolean> {
  const results = await probe.round()
  for (const { step, end, ms } of results) {
    steps.inc({ step, end })
    seconds.set({ step }, ms / 1_000)
  }
  const isFine = results.every(({ end }) => end !== 'failed')
  if (isFine) succeeded.set(Date.now() / 1_000)
  console.log(`${new Date().toISOString()} ${results.map(said).join(', ')}`)
  return isFine
}

const said = ({ step, end, ms, reason }: StepResult): string =>
  reason === undefined ? `${step} ${end} ${Math.round(ms)} ms` : `${step} FAILED: ${reason}`

if (values.once) process.exitCode = (await round()) ? 0 : 1
else {
  createServer((_, response) => {
    void registry.metrics().then((text) => response.setHeader('content-type', registry.contentType).end(text))
  }).listen(port)
  for (;;) {
    const from = Date.now()
    await round()
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, from + everySecs * 1_000 - Date.now())))
  }
}
