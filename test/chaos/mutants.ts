/**
 * `npm run ops -- chaos-mutants`: removes each protection of the cluster in a copy of the project, and demands that its
 * check then fails. The same check passes on the unchanged project. TEST_DATABASE_URL and TEST_REDIS_URL name the
 * servers of the tests. `-- --only words` limits the run to protections whose names contain them.
 */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { z } from 'zod'
import { refuse } from '../../ops/rehearse/rig/options.ts'
import { Copy } from '../support/mutants.ts'
import { type Check, CLUSTER_MUTATIONS, type ClusterMutation } from './mutations.ts'

const COPIED = ['package.json', 'vitest.config.ts', 'tsconfig.json', 'actors', 'db', 'rooms', 'src', 'ops', 'test']
/** A mutant that hangs is also caught. */
const PATIENCE_MS = 240_000
const CHAOS = ['--seed', '1', '--users', '12']

const TestReport = z.looseObject({
  numPassedTests: z.int(),
  testResults: z.array(
    z.looseObject({
      message: z.string(),
      assertionResults: z.array(z.looseObject({ status: z.string(), title: z.string() })),
    }),
  ),
})

/** `passed`; or what noticed; or why the check could not run, which does not count as noticing. */
type Result = { readonly kind: 'passed' } | { readonly kind: 'noticed' | 'crashed'; readonly by: string }

async function run(
  folder: string,
  args: readonly string[],
): Promise<{ readonly isOk: boolean; readonly said: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...args], {
      cwd: folder,
      timeout: PATIENCE_MS,
      maxBuffer: 1 << 26,
    })
    return { isOk: true, said: stdout }
  } catch (error) {
    const { stdout, stderr, killed } = error as { stdout: string; stderr: string; killed: boolean }
    return { isOk: false, said: killed ? 'Violation: it hangs' : `${stdout}\n${stderr}` }
  }
}

async function tested(folder: string, rule: string, files: readonly string[]): Promise<Result> {
  const path = join(folder, 'report.json')
  await rm(path, { force: true })
  const name = `\\[${rule}\\]`
  const options = ['-t', name, '--reporter', 'json', '--outputFile', path]
  const { said } = await run(folder, ['node_modules/vitest/vitest.mjs', 'run', ...files, ...options])
  const written = await readFile(path, 'utf8').catch(() => null)
  if (written === null) return { kind: 'crashed', by: said.trim().slice(-300) }
  const { numPassedTests, testResults } = TestReport.parse(JSON.parse(written))
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed'),
  )
  const [first] = failed
  if (first !== undefined) return { kind: 'noticed', by: first.title }
  const message = testResults.map((result) => result.message).join('')
  return numPassedTests > 0 && message === ''
    ? { kind: 'passed' }
    : { kind: 'crashed', by: message || `no test ${rule}` }
}

async function survived(folder: string, ids: readonly string[]): Promise<Result> {
  const only = ['--only', ids.join(','), '--rounds', String(ids.length)]
  const { isOk, said } = await run(folder, ['ops/rehearse/chaos/main.ts', ...only, ...CHAOS])
  if (isOk) return { kind: 'passed' }
  const by = /^Violation: (.*)$/m.exec(said)?.[1]
  return by === undefined ? { kind: 'crashed', by: said.trim().slice(-300) } : { kind: 'noticed', by }
}

const checked = (folder: string, check: Check): Promise<Result> =>
  'chaos' in check ? survived(folder, check.chaos) : tested(folder, check.rule, check.files)

/** All checks, in as few runs as possible. */
function together(mutations: readonly ClusterMutation[]): Check[] {
  const checks = mutations.map(({ check }) => check)
  const tests = checks.filter((check) => 'rule' in check)
  const chaos = checks.flatMap((check) => ('chaos' in check ? check.chaos : []))
  const rule = `(${[...new Set(tests.map((check) => check.rule))].join('|')})`
  const files = [...new Set(tests.flatMap((check) => check.files))]
  return [...(tests.length > 0 ? [{ rule, files }] : []), ...(chaos.length > 0 ? [{ chaos: [...new Set(chaos)] }] : [])]
}

const nameOf = (check: Check): string => ('chaos' in check ? 'chaos' : `[${check.rule}]`)

function say(name: string, check: Check, result: Result, since: number): void {
  const secs = ((performance.now() - since) / 1000).toFixed(0).padStart(4)
  const by = result.kind === 'passed' ? '' : result.by.slice(0, 90)
  console.log(`${secs} s  ${name.padEnd(66)} ${nameOf(check).slice(0, 12).padEnd(12)} ${result.kind.padEnd(8)} ${by}`)
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const mutations = CLUSTER_MUTATIONS.filter(({ name }) => name.includes(values.only))
if (mutations.length === 0) refuse(`there is no protection ${values.only}`)
const copy = await Copy.of(COPIED, { packages: true })
const wrong: string[] = []
try {
  for (const check of together(mutations)) {
    const since = performance.now()
    const result = await checked(copy.folder, check)
    say('nothing is removed', check, result, since)
    if (result.kind !== 'passed') wrong.push(`${nameOf(check)} by itself`)
  }
  for (const mutation of mutations) {
    const since = performance.now()
    const result = await copy.whileBroken(mutation, () => checked(copy.folder, mutation.check))
    say(mutation.name, mutation.check, result, since)
    if (result.kind !== 'noticed') wrong.push(mutation.name)
  }
} finally {
  await copy.remove()
}
console.log(wrong.length === 0 ? `all ${mutations.length} are noticed` : `not as it must be: ${wrong.join('; ')}`)
process.exitCode = wrong.length === 0 ? 0 : 1
