/**
 * Conformance: every sentence of the specification that can be asked of a deployment, asked from outside.
 *
 *   npm run ops -- conformance --mode embedded|servers|cluster|all [--slow] [--only 4.3] [--junit FILE] [--markdown FILE]
 *   npm run ops -- conformance --url http://host:3000[,…] [--ws ws://host:3001[,…]] [--trust FILE] [--production] …
 *
 * With `--mode` it starts a deployment of its own and removes it afterwards: `servers` and `cluster` make a database on the
 * PostgreSQL that DATABASE_URL names, and start a Redis. With `--url` it asks one that runs. What such a deployment must
 * have in its environment to be asked everything stands in the file that `--trust` names, which is written when it is not
 * there (`--trust FILE` without `--url` writes it and ends), for an identity provider, a mail server and match data on
 * ports from `--port` (4801) on. Without `--trust` what needs it is reported as skipped.
 * `--slow` runs also what takes minutes. Exit code 1 when a check failed.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Check } from './check.ts'
import { DESCRIPTIONS, MODES, type Mode, startDeployment } from './deployment.ts'
import { counted, junit, line, markdown, type Run, table } from './report.ts'
import { runChecks } from './run.ts'
import type { Site } from './stage.ts'
import { allChecks } from './sections.ts'
import { startTrust, trustOf } from './trust.ts'

const { values } = parseArgs({
  options: {
    mode: { type: 'string' },
    url: { type: 'string' },
    ws: { type: 'string', default: '' },
    trust: { type: 'string' },
    port: { type: 'string', default: '4801' },
    production: { type: 'boolean', default: false },
    slow: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    junit: { type: 'string' },
    markdown: { type: 'string' },
  },
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)
/** The progress: to be watched, not to be kept. */
const whisper = (text: string): void => void process.stderr.write(`${text}\n`)
const addresses = (text: string): string[] =>
  text.split(',').flatMap((address) => (address === '' ? [] : [address.replace(/\/+$/, '')]))

function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** The checks whose id begins with one of these. */
function chosen(): readonly Check[] {
  const wanted = values.only.split(',').filter((id) => id !== '')
  const found = allChecks.filter(
    ({ id }) => wanted.length === 0 || wanted.some((one) => id === one || id.startsWith(`${one}.`)),
  )
  return found.length > 0 ? found : refuse(`there is no check ${values.only}`)
}

async function ask(deployment: string, site: Site): Promise<Run> {
  whisper(`\n${deployment}\n`)
  const startedAt = Date.now()
  const verdicts = await runChecks(chosen(), site, { slow: values.slow, tell: (verdict) => whisper(line(verdict)) })
  whisper(`\n${Math.round((Date.now() - startedAt) / 1_000)} s`)
  return { deployment, verdicts }
}

async function askOwn(mode: Mode): Promise<Run> {
  const trust = await startTrust(0)
  try {
    const deployment = await startDeployment(mode, trust.environment)
    try {
      return await ask(DESCRIPTIONS[mode], { ...deployment, trust })
    } finally {
      await deployment.stop()
    }
  } finally {
    await trust.stop()
  }
}

async function askRunning(urls: readonly string[]): Promise<Run> {
  const trust = values.trust === undefined ? null : await trustOf(values.trust, Number(values.port))
  try {
    const site = { urls, wsUrls: addresses(values.ws), production: values.production, trust }
    return await ask(urls.join(', '), site)
  } finally {
    await trust?.stop()
  }
}

async function main(): Promise<number> {
  const urls = addresses(values.url ?? '')
  const modes = values.mode === 'all' ? MODES : MODES.filter((mode) => mode === (values.mode ?? 'embedded'))
  if (modes.length === 0) refuse(`--mode must be one of ${MODES.join(', ')} or all`)
  if (urls.length === 0 && values.trust !== undefined) {
    await (await trustOf(values.trust, Number(values.port))).stop()
    say(`${values.trust} is what the deployment needs in its environment`)
    return 0
  }
  const runs: Run[] = []
  if (urls.length > 0) runs.push(await askRunning(urls))
  else for (const mode of modes) runs.push(await askOwn(mode))

  for (const run of runs) say(table(run))
  if (values.markdown !== undefined) writeFileSync(values.markdown, markdown(runs))
  if (values.junit !== undefined)
    for (const run of runs) writeFileSync(fileOf(values.junit, run, runs.length), junit(run))
  for (const { deployment, verdicts } of runs) say(`${deployment}: ${counted(verdicts)}`)
  return runs.some(({ verdicts }) => verdicts.some(({ outcome }) => outcome === 'failed')) ? 1 : 0
}

/** Of several runs each has a file of its own. */
const fileOf = (file: string, { deployment }: Run, runs: number): string =>
  runs === 1 ? file : file.replace(/(\.xml)?$/, `-${deployment.replaceAll(/\W+/g, '-')}.xml`)

process.exitCode = await main()
