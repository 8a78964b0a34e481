/**
 * Conformance: what the specification says, and what can be checked of it from outside, on a deployment.
 *
 *   npm run ops -- conformance --mode embedded|servers|cluster|all [--slow] [--only 4.3] [--junit FILE]
 *                              [--markdown FILE] [--exchanges FILE]
 *   npm run ops -- conformance --url http://host:3000[,…] [--ws ws://host:3001[,…]] [--trust FILE] [--production] …
 *
 * `--mode` starts a deployment and removes it afterwards: `servers` and `cluster` create a database on the PostgreSQL
 * that DATABASE_URL names, and start a Redis. `--url` checks a deployment that is already running. Some checks need an
 * identity provider, a mail server and match data that the suite controls: `--trust FILE` names the file with the
 * environment that makes a deployment use them, on ports from `--port` (4801) on. If the file does not exist it is
 * written; `--trust FILE` without `--url` writes it and ends. Without `--trust` those checks are skipped. `--slow` adds
 * the checks that take minutes. `--exchanges FILE` writes what each check sent and was answered, one line of JSON a
 * check; with several deployments each has its own file. The exit code is 1 if anything failed.
 */
import { writeFileSync } from 'node:fs'
import { DESCRIPTIONS, isMode, MODES } from './deployment.ts'
import { addresses, options } from './options.ts'
import { counted, markdown, type Run } from './report.ts'
import { runChecks } from './run.ts'
import { chosenChecks } from './sections.ts'
import { trustOf } from './trust.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

interface Planned {
  readonly deployment: string
  readonly argv: readonly string[]
}

/** The deployments to check, each with the options for its own process. */
function plan(): readonly Planned[] {
  const common = [...(options.slow ? ['--slow'] : []), '--only', options.only]
  const urls = addresses(options.url ?? '')
  if (urls.length > 0) {
    const trust = options.trust === undefined ? [] : ['--trust', options.trust, '--port', options.port]
    const production = options.production ? ['--production'] : []
    const argv = ['--url', urls.join(','), '--ws', options.ws, ...trust, ...production, ...common]
    return [{ deployment: urls.join(', '), argv }]
  }
  const mode = options.mode ?? 'embedded'
  if (mode !== 'all' && !isMode(mode)) refuse(`--mode must be one of ${MODES.join(', ')} or all`)
  const modes = mode === 'all' ? MODES : [mode]
  return modes.map((one) => ({ deployment: DESCRIPTIONS[one], argv: ['--mode', one, ...common] }))
}

/** Each run has its own file if there are several. */
const fileOf = (file: string | undefined, deployment: string, runs: number): string | undefined =>
  runs === 1 ? file : file?.replace(/(\.\w+)?$/, `-${deployment.replaceAll(/\W+/g, '-')}$1`)

async function main(): Promise<number> {
  if (options.url === undefined && options.trust !== undefined) {
    await (await trustOf(options.trust, Number(options.port))).stop()
    print(`${options.trust} holds the environment for the deployment`)
    return 0
  }
  if (options.url !== undefined && options.mode !== undefined) refuse('--url and --mode exclude each other')
  if (options.url !== undefined && addresses(options.url).length === 0) refuse('--url names no address')
  const unknown = options.only.split(',').filter((id) => id !== '' && chosenChecks(id).length === 0)
  if (unknown.length > 0) refuse(`there is no check ${unknown.join(', ')}`)
  for (const url of addresses(options.url ?? ''))
    await fetch(`${url}/health`).catch((error: Error) => refuse(`${url} does not answer: ${error.message}`))
  const planned = plan()
  const runs: Run[] = []
  const failures: string[] = []
  for (const { deployment, argv } of planned) {
    print(`\n${deployment}\n`)
    const file = (name: string | undefined) => fileOf(name, deployment, planned.length)
    const written = { junit: file(options.junit), exchanges: file(options.exchanges) }
    const outcome = await runChecks(argv, { progress: process.stdout, ...written })
    runs.push({ deployment, verdicts: outcome.verdicts })
    failures.push(...outcome.failures)
  }
  if (options.markdown !== undefined) writeFileSync(options.markdown, markdown(runs))
  for (const failure of failures) print(`failed outside the checks: ${failure}`)
  for (const { deployment, verdicts } of runs) print(`${deployment}: ${counted(verdicts)}`)
  const passed =
    failures.length === 0 && runs.every(({ verdicts }) => !verdicts.some((one) => one.outcome === 'failed'))
  return passed ? 0 : 1
}

process.exitCode = await main()
