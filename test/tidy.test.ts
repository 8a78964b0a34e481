/** The repository's own checks. Each one is also run on deliberate violations, which it must find. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as checks from './support/tidy-checks.ts'
import { codeOf, exportsOf, importsOf } from './support/source-text.ts'
import { scratchFolder } from './support/scratch-folder.ts'

const ROOT = join(import.meta.dirname, '..')
const READ = /\.([cm]?[tj]s|md|txt|json|ya?ml)$|^run$/
const SKIPPED = new Set(['node_modules', '.git', '.data', 'coverage', 'tmp', 'package-lock.json'])

function repository(): checks.Files {
  const files = new Map<string, string>()
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (SKIPPED.has(entry.name)) continue
      if (entry.isDirectory()) walk(path)
      else files.set(relative(ROOT, path), READ.test(entry.name) ? readFileSync(path, 'utf8') : '')
    }
  }
  walk(ROOT)
  return files
}

const repo = repository()
const on = (files: Record<string, string>): checks.Files => new Map(Object.entries(files))

/** The check passes on the repository and on `tidy`, and reports exactly these problems of each of `untidy`. */
function proves(
  title: string,
  check: (files: checks.Files) => string[],
  tidy: Record<string, string>,
  untidy: readonly (readonly [files: Record<string, string>, problems: readonly RegExp[]])[],
): void {
  it(title, () => {
    expect(check(on(tidy)), 'reports a problem in a tidy repository').toEqual([])
    for (const [files, problems] of untidy) {
      expect(check(on(files))).toEqual(problems.map((problem) => expect.stringMatching(problem)))
    }
    expect(check(repo)).toEqual([])
  })
}

describe('floors', () => {
  proves(
    'each floor imports only the floors and packages it may import',
    checks.floors,
    {
      'actors/match/actor.ts': `import { a } from '../market/b.ts'`,
      'db/users.ts': `import { sql } from 'kysely'\nimport { createHash } from 'node:crypto'\nimport './schema.ts'`,
      'src/http/app.ts': `import type { Users } from '../../db/users.ts'\nimport { Hono } from 'hono/tiny'`,
      'src/compose/index.ts': `import { Users } from '../db/users.ts'`,
      'test/any.test.ts': `import x from 'anything'`,
    },
    [
      [
        { 'actors/kernel/a.ts': `import { b } from '../market/b.ts'` },
        [/^actors\/kernel\/a\.ts:1: .*actors\/market\/b\.ts/],
      ],
      [{ 'actors/match/a.ts': `import { readFile } from 'node:fs'` }, [/:1: .* package node:fs/]],
      [{ 'actors/match/a.ts': `// one\nexport * from\n  'zod'` }, [/:2: .* package zod/]],
      [{ 'db/a.ts': `const a = await import('../rooms/b.ts')` }, [/db\/ may not import rooms\/b\.ts/]],
      [{ 'rooms/a.ts': `import type { B } from '../src/config.ts'` }, [/rooms\/ may not import src\/config\.ts/]],
      [{ 'src/http/a.ts': `import { Users } from '../../db/users.ts'` }, [/import only types/]],
      [{ 'src/http/a.ts': `import { type Users } from '../../db/users.ts'` }, [/import only types/]],
      [{ 'src/http/a.ts': `import { x } from 'honolulu'` }, [/package honolulu/]],
      [{ 'src/main.ts': `import { x } from '../db/postgres/connect.ts'` }, [/src\/main\.ts may not import/]],
      [{ 'actors/cellar/a.ts': '' }, [/is on no floor/]],
    ],
  )

  proves(
    'the conformance suite tests from outside: it imports nothing of the server',
    checks.floors,
    {
      'ops/rehearse/conformance/a.ts': `import { b } from './b.ts'\nimport { Client } from '@colyseus/sdk'`,
      'ops/rehearse/load/a.ts': `import '../../../src/a.ts'`,
    },
    [
      [
        { 'ops/rehearse/conformance/a.ts': `import { b } from '../../../src/config.ts'` },
        [/may not import src\/config\.ts/],
      ],
      [
        { 'ops/rehearse/conformance/a.ts': `import type { B } from '../../../actors/kernel/ids.ts'` },
        [/may not import actors/],
      ],
      [
        { 'ops/rehearse/conformance/a.ts': `import { c } from '../rig/data-place.ts'` },
        [/may not import ops\/rehearse\/rig/],
      ],
      [{ 'ops/rehearse/conformance/a.ts': `import { Redis } from 'ioredis'` }, [/package ioredis/]],
    ],
  )
})

describe('purity', () => {
  const impure = (path: string, text: string, problem: RegExp) => [{ [path]: text }, [problem]] as const
  proves(
    'the traps of Colyseus are banned, and SQL outside db',
    checks.purity,
    {
      'src/system-world.ts': 'new Date()',
      'src/http/app.ts': '// select a from b',
      'actors/a.ts': '/** Math.exp */ Math.sqrt(2)',
      'rooms/b.ts': '2 ** 3',
      'db/a.ts': 'new Date(ms); sql`select a from b`',
      'test/a.ts': 'new Date()',
    },
    [
      impure('src/http/a.ts', 'const at = new Date()', /reads the clock/),
      impure('src/http/a.ts', 'const s = `${new Date()}`', /reads the clock/),
      impure('src/http/a.ts', 'db.query(`select a\n from b`)', /speaks SQL/),
      impure('rooms/a.ts', `'INSERT INTO users'`, /speaks SQL/),
      impure('actors/a.ts', 'const e = Math.exp(1)', /last digit engines may choose \(Math\.exp/),
      impure('src/provider/a.ts', 'const { log } = Math', /last digit engines may choose/),
      impure('actors/a.ts', 'const half = 2 ** -1', /last digit engines may choose \(\*\*/),
      impure('rooms/a.ts', 'await matchMaker.remoteRoomCall(id, name)', /trap of Colyseus \(remoteRoomCall\)/),
      impure('rooms/a.ts', 'schema({ price: t.number() })', /trap of Colyseus \(t\.number/),
    ],
  )

  it('the linter bans clocks, chance, timers, environment, console, network and cycles where they do not belong', () => {
    const found = lint({
      'src/system-world.ts': 'export const world = [Date.now(), Math.random(), crypto.randomUUID()]',
      'src/config.ts': 'export const port = process.env.PORT',
      'src/provider/poll.ts': 'export const polled = fetch("/")',
      'src/http/app.ts': 'export const answer = (app: { fetch: () => 1 }) => app.fetch()',
      'rooms/timer.ts': 'setTimeout(() => undefined, 1)',
      'src/web/clock.ts': 'setInterval(() => Date.now(), 1)',
      'test/a.ts': 'Date.now()\nconsole.log(process.env)',
      'db/types.ts': `import type { B } from './types-too.ts'\nexport type A = B`,
      'db/types-too.ts': `import type { A } from './types.ts'\nexport type B = A`,

      'db/clock.ts': 'export const at = Date.now()',
      'rooms/clock.ts': 'export const at = performance.now()',
      'rooms/chance.ts': 'export const dice = Math.random()',
      'src/auth/chance.ts': `import { randomBytes } from 'node:crypto'\nexport const salt = randomBytes(8)`,
      'db/ids.ts': 'export const id = crypto.randomUUID()',
      'db/timer.ts': 'setInterval(() => undefined, 1)',
      'actors/timer.ts': 'setTimeout(() => undefined, 1)',
      'db/sleep.ts': `import { setTimeout as sleep } from 'node:timers/promises'\nexport { sleep }`,
      'db/environment.ts': 'export const home = process.env.HOME',
      'src/http/console.ts': 'console.log(1)',
      'rooms/network.ts': 'export const asked = fetch("/")',
      'actors/date.ts': 'export const at = new Date(5)',
      'actors/process.ts': 'process.exit()',
      'db/one.ts': `import { two } from './two.ts'\nexport const one = () => two`,
      'db/two.ts': `import { one } from './one.ts'\nexport const two = () => one`,
    })
    expect(found).toEqual(
      new Map([
        ['actors/date.ts', 'no-restricted-globals'],
        ['actors/process.ts', 'no-restricted-globals'],
        ['actors/timer.ts', 'no-restricted-globals'],
        ['db/clock.ts', 'no-restricted-properties'],
        ['db/environment.ts', 'no-restricted-properties'],
        ['db/ids.ts', 'no-restricted-properties'],
        ['db/one.ts', 'no-cycle'],
        ['db/sleep.ts', 'no-restricted-imports'],
        ['db/timer.ts', 'no-restricted-globals'],
        ['db/two.ts', 'no-cycle'],
        ['db/types-too.ts', 'no-cycle'],
        ['db/types.ts', 'no-cycle'],
        ['rooms/chance.ts', 'no-restricted-properties'],
        ['rooms/clock.ts', 'no-restricted-properties'],
        ['rooms/network.ts', 'no-restricted-globals'],
        ['src/auth/chance.ts', 'no-restricted-imports'],
        ['src/http/console.ts', 'no-console'],
      ]),
    )
  })
})

/** What the linter of this project says about these files, by path: the rule. */
function lint(files: Record<string, string>): Map<string, string> {
  const folder = scratchFolder()
  copyFileSync(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['--format', 'json'], { cwd: folder })
  const { diagnostics } = Diagnostics.parse(JSON.parse(String(stdout)))
  return new Map(diagnostics.map(({ filename, code }) => [filename, code.replace(/^.*\((.*)\)$/, '$1')] as const))
}

const Diagnostics = z.object({ diagnostics: z.array(z.object({ filename: z.string(), code: z.string() })) })

describe('rules', () => {
  const RULES = '## A · One\n- **A1** One.\n- **A2** Two.\n'
  const TESTS = `it('[A1] one', f)\nit.each([1])(\`[A2] two \${x}\`, f)`
  const both = { 'test/RULES.md': RULES, 'test/a.test.ts': TESTS }
  proves(
    'every rule has a test, and every id names a rule',
    checks.rules,
    {
      ...both,
      'actors/a.ts': `f() // A1\ng('// B9')\n/** Why. */ // A1, A2`,
      'README.md': 'x (A1) (see, A2)\n| y | A1, A2 |\nV8',
    },
    [
      [{ ...both, 'test/a.test.ts': `it('[A1] one', f)` }, [/no test is named \[A2\]/]],
      [{ ...both, 'test/a.test.ts': `it('[A1] one')\n// it('[A2] two')` }, [/no test is named \[A2\]/]],
      [{ ...both, 'test/b.ts': `it('[A1] one')\nit('[B7] lost')` }, [/^test\/b\.ts:2: no rule B7/]],
      [{ ...both, 'test/RULES.md': RULES.replace('A2', 'A1') }, [/A1 is where A2 belongs/, /no rule A2/]],
      [
        { ...both, 'test/RULES.md': RULES.replaceAll('A2', 'A3'), 'test/b.ts': `it('[A3] x')` },
        [/A3 is where A2/, /no rule A2/],
      ],
      [{ ...both, 'actors/a.ts': 'f()\ng() // T999' }, [/^actors\/a\.ts:2: cites T999/]],
      [{ ...both, 'actors/a.ts': '/**\n * Why.\n */ // A1, A9' }, [/^actors\/a\.ts:3: cites A9/]],
      [{ ...both, 'README.md': 'a\nb (fair, B3)' }, [/^README\.md:2: cites B3/]],
      [{ ...both, 'ops/runbook.md': '| x | A1, B4 |' }, [/cites B4/]],
    ],
  )

  const outcome = `export type Refusal = { readonly code: 'busy' } // | { code: 'gone' }`
  proves(
    'every refusal has an answer over HTTP and a test',
    checks.refusals,
    { 'actors/kernel/outcome.ts': outcome, 'src/http/answers.ts': 'busy: 503', 'test/a.test.ts': `'busy'` },
    [
      [
        { 'actors/kernel/outcome.ts': outcome, 'src/http/answers.ts': 'busyness', 'test/a.test.ts': `'busy'` },
        [/no answer for the refusal busy/],
      ],
      [
        { 'actors/kernel/outcome.ts': outcome, 'src/http/answers.ts': 'busy: 1', 'test/a.test.ts': '// busy' },
        [/no test mentions the refusal busy/],
      ],
    ],
  )
})

describe('names of tests', () => {
  const rig = `import { eachDatabase } from '../support/databases.ts'`
  proves(
    'a test file names its needs',
    checks.needs,
    {
      'test/db/a.pg.test.ts': rig,
      'test/db/b.test.ts': `import { Users } from '../../db/users.ts' // ${rig}`,
      'test/support/databases.ts': `import './needs.ts'`,
    },
    [
      [{ 'test/db/a.test.ts': rig }, [/^test\/db\/a\.test\.ts: uses test\/support\/databases\.ts; .*\*\.pg\.test\.ts/]],
      [{ 'test/db/a.redis.test.ts': rig }, [/\*\.pg\.test\.ts/, /uses no rig that needs redis/]],
      [{ 'test/http/a.test.ts': `import { compose } from '../../src/compose/index.ts'` }, [/\*\.e2e\.test\.ts/]],
      [{ 'test/sim/a.test.ts': `import { simulate } from './simulate.ts'` }, [/\*\.sim\.test\.ts/]],
      [{ 'test/db/a.pg.test.ts': `import 'vitest'` }, [/uses no rig that needs pg/]],
    ],
  )
})

describe('dead things', () => {
  proves(
    'every file is imported, and every export is used by another file',
    checks.deadThings,
    {
      'src/main.ts': `import { a } from './a.ts'\nimport * as c from './c.ts'\nnew Worker('./worker.ts')`,
      'ops/main.ts': `import { TOOLS } from './tool-table.ts'`,
      'ops/tool-table.ts': `export const TOOLS = [tool('load', './load.ts', 'load it')]`,
      'ops/load.ts': '',
      'src/a.ts': 'export interface Options { x: 1 }\nexport function a(o: Options) {}',
      'src/b.ts': 'export const b = 1',
      'src/c.ts': 'export const c = 1',
      'src/worker.ts': '',
      'test/b.test.ts': `import { type b } from '../src/b.ts'`,
    },
    [
      [{ 'src/lonely.ts': 'export const x = 1' }, [/^src\/lonely\.ts: no file imports it/]],
      [{ 'ops/tools/lonely.ts': 'export const x = 1' }, [/^ops\/tools\/lonely\.ts: no file imports it/]],
      [
        { 'ops/main.ts': `import { a } from './a.ts'`, 'ops/a.ts': 'export const a = 1\nexport const b = a' },
        [/^ops\/a\.ts:2: no other file uses b/],
      ],
      [
        { 'src/main.ts': `import { a } from './a.ts'`, 'src/a.ts': 'export const a = 1\nexport const b = a + a' },
        [/^src\/a\.ts:2: no other file uses b/],
      ],
      [
        { 'src/main.ts': `import './a.ts'`, 'src/a.ts': `export type Unused = 1 // Unused\nconst s = 'Unused'` },
        [/no other file uses Unused/],
      ],
    ],
  )
})

describe('prose', () => {
  proves(
    'links have a target, and the documents name no missing file',
    checks.prose,
    {
      'README.md':
        '[a](ARCHITECTURE.md#the-floors) [b](https://x.y) [c](db/) [d](#top) `db/a.ts` `a.ts` `npm test`\n# Top',
      'ARCHITECTURE.md': '## The floors\n`db/` `actors/*` `db/a.ts:12`\n```\n`db/drawn.ts`\n```\n',
      'db/a.ts': '',
    },
    [
      [{ 'README.md': 'x\n[a](missing.md)' }, [/^README\.md:2: the link missing\.md has no target/]],
      [{ 'test/RULES.md': '[a](../README.md#gone)', 'README.md': '# Here' }, [/README\.md#gone has no target/]],
      [{ 'ARCHITECTURE.md': 'see `db/gone.ts`' }, [/db\/gone\.ts does not exist/]],
      [{ 'docs/a.md': 'see `db/gone.ts`', 'ops/runbook.md': '`gone.ts`' }, [/db\/gone\.ts does/, /gone\.ts does/]],
      [{ 'README.md': 'see `gone.ts` and `src/gone/`' }, [/gone\.ts does not exist/, /src\/gone\/ does not exist/]],
    ],
  )
})

describe('sizes', () => {
  const long = 'word '.repeat(30)
  proves(
    'no server file has more than 400 lines, no line of a document or comment more than 120 columns',
    checks.sizes,
    {
      'db/a.ts': 'x\n'.repeat(400),
      'ops/a.ts': 'x\n'.repeat(500),
      'ops/b.ts': `const a = '${long}'\n/** ${'é'.repeat(113)} */`,
      'README.md': `${'é'.repeat(120)}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`\n- [${long}](https://x.y)`,
      'docs/conformance.md': long,
    },
    [
      [{ 'db/a.ts': 'x\n'.repeat(401) }, [/^db\/a\.ts: has 401 lines/]],
      [{ 'ops/b.ts': `/**\n * ${long}\n */\n  // ${long}` }, [/^ops\/b\.ts:2: is longer/, /^ops\/b\.ts:4: /]],
      [{ 'README.md': `a\n${long}` }, [/^README\.md:2: is longer than 120 columns/]],
      [{ 'docs/a.md': `\`\`\`\n\`\`\`\nsee [${long}](db/) and more` }, [/^docs\/a\.md:3: /]],
    ],
  )
})

describe('routes', () => {
  proves(
    'each is in the folder that its address names',
    checks.routeFolders,
    {
      'src/http/routes/positions/open.ts': `createRoute({ path: '/api/positions/open', summary: 'See /api/wallet' })`,
      'src/http/routes/positions/order.ts': `import { a } from '../../inputs.ts'`,
      'src/http/routes/health.ts': `createRoute({ path: '/health' })`,
      'src/docs/description.ts': `createRoute({ path: '/api/docs' })`,
    },
    [
      [
        { 'src/http/routes/wallet/open.ts': `x\ncreateRoute({ path: '/api/positions/open' })` },
        [/^src\/http\/routes\/wallet\/open\.ts:2: .* belongs in src\/http\/routes\/positions\/$/],
      ],
      [{ 'src/http/routes/me.ts': `get('/api/me')` }, [/belongs in src\/http\/routes\/me\//]],
      [{ 'src/http/routes/health/ready.ts': `get('/ready')` }, [/\/ready belongs in src\/http\/routes\/$/]],
    ],
  )
})

describe('features', () => {
  const list = `import { a } from './a/index.ts'\nimport { b } from './b/index.ts'\nconst FEATURES = [a, b]`
  const both = { 'src/features/index.ts': list, 'src/features/a/index.ts': '', 'src/features/b/index.ts': '' }
  proves(
    'each is a folder and a line in the list',
    checks.features,
    {
      ...both,
      'src/features/b/routes.ts': `import { c } from '../a/store.ts'\nimport { d } from './index.ts'`,
      'src/web/wire.ts': `import type { A } from '../features/a/schema.ts'`,
      'test/a.test.ts': `import { a } from '../src/features/a/index.ts'`,
    },
    [
      [{ ...both, 'src/features/c/index.ts': '' }, [/^src\/features\/c\/: has no line/]],
      [
        { ...both, 'src/features/a/store.ts': `import '../b/store.ts'` },
        [/^src\/features\/a\/store\.ts:1: .* feature b/],
      ],
      [{ ...both, 'src/http/app.ts': `import type { A } from '../features/a/index.ts'` }, [/names the feature a/]],
      [{ ...both, 'src/web/wire.ts': `import type { A } from '../features/a/store.ts'` }, [/names the feature a/]],
      [{ ...both, 'ops/a.ts': `// see src/features/b/store.ts` }, [/names a file of the feature b/]],
    ],
  )

  const board = {
    'src/features/index.ts': `import { boards } from './boards/index.ts'`,
    'src/features/boards/index.ts': 'boards',
  }
  proves(
    'each that is alone is named in its own places only',
    checks.featureNames,
    {
      ...board,
      'src/features/leagues/index.ts': '',
      'src/web/features/boards/card.ts': 'boards',
      'src/web/client/api.ts': '/api/boards',
      'src/http/app.ts': 'leagues',
    },
    [
      [{ ...board, 'src/http/app.ts': '\nconst board = 1' }, [/^src\/http\/app\.ts:2: names the feature boards/]],
      [{ ...board, 'src/web/features/a/card.ts': 'boards' }, [/names the feature boards/]],
    ],
  )
})

describe('instructions', () => {
  const scripts = '{"scripts":{"ops":"","bench:http":""}}'
  const table = `export const TOOLS = [tool('load', './load.ts', 'load it'), tool('load-hostile', './b.ts', 'attack it')]`
  const known = { 'package.json': scripts, 'ops/tool-table.ts': table }
  proves(
    'every command in a document or comment exists, and every variable is documented',
    checks.instructions,
    {
      ...known,
      'README.md': '`npm run ops -- load --users 5`, `npm run ops -- <tool>`, `npm run bench:http` and `npm test`',
      'docs/configuration.md': '| `PORT` | 3000 |',
      'ops/rehearse/load.ts': '// npm run ops -s -- load-hostile: …',
      'src/variables.ts': 'const Environment = z.object({\n  PORT: integer(0),\n})',
    },
    [
      [{ ...known, 'README.md': 'a\n`npm run lode`' }, [/^README\.md:2: .* no script lode/]],
      [{ ...known, 'ops/a.ts': '/** `npm run bench:all` */' }, [/^ops\/a\.ts:1: .* no script bench:all/]],
      [{ ...known, 'README.md': '`npm run -s load`' }, [/no script -s/]],
      [{ ...known, 'README.md': 'a\n`npm run ops -- lode`' }, [/^README\.md:2: .* no tool lode/]],
      [{ ...known, '.ci/run': 'npm run ops -s -- loads --users 5' }, [/^\.ci\/run:1: .* no tool loads/]],
      [
        { 'docs/configuration.md': '`PORT`', 'src/variables.ts': '  PORT: integer(0),\n  HOST: text,' },
        [/^docs\/configuration\.md: does not list HOST/],
      ],
    ],
  )
})

describe('the version', () => {
  it('is the same in the package, the API descriptions and the manifests', () => {
    const { version } = JSON.parse(repo.get('package.json') ?? '') as { version: string }
    expect(/^ {2}version: '(.*)',$/m.exec(repo.get('src/docs/description.ts') ?? '')?.[1]).toBe(version)
    expect(/newTag: (.*)$/m.exec(repo.get('ops/deploy/kubernetes/kustomization.yaml') ?? '')?.[1]).toBe(version)
  })
})

describe('leftovers', () => {
  const [later, fix] = ['TO DO', 'FIX ME'].map((words) => words.replace(' ', ''))
  proves(
    'nothing unfinished is left behind',
    checks.leftovers,
    { 'db/a.ts': `const method = 'it.only('`, 'README.md': 'methodologies' },
    [
      [{ 'db/a.ts': `a\n// ${later}: later` }, [/^db\/a\.ts:2: .*do it/]],
      [{ 'README.md': `x ${fix} y` }, [/do it/]],
      [{ 'test/a.test.ts': `it.only('x')` }, [/was left behind/]],
      [{ 'test/a.test.ts': `describe.concurrent.only('x')` }, [/was left behind/]],
      [{ 'db/a.ts': 'debugger' }, [/debugger was left behind/]],
    ],
  )
})

describe('the reader of sources', () => {
  it('separates code from comments, strings, templates and regular expressions', () => {
    const code = (source: string) => codeOf(source).replaceAll(' ', '')
    expect(code(`a /* b */\nc // d\ne`)).toBe('a\nc\ne')
    expect(code(`f('a\\'b', "c")`)).toBe(`f('',"")`)
    expect(code('`a${b + `c${d}` + {}}e` + f')).toBe('`${b+`${d}`+{}}`+f')
    expect(code(`x = /['"\`/]\\//g; y = a / b / c`)).toBe('x=;y=a/b/c')
    expect(code(`() => /'/.test(s)`)).toBe('()=>.test(s)')
    expect(codeOf(`'kept' // gone`, 'keep').trimEnd()).toBe(`'kept'`)
    const sources = [...repo].filter(([path]) => path.endsWith('.ts'))
    for (const [path, text] of sources) expect(codeOf(text), path).toHaveLength(text.length)
  })

  it('finds every form of import and export used here', () => {
    const source = [
      `import a, { b as c, type D } from './x.ts'`,
      `import type { E } from 'y'`,
      `import {\n  f,\n} from './z.ts'`,
      `import './w.ts'`,
      `export { g } from './v.ts'`,
      `const s = \`import h from 'i'\``,
    ].join('\n')
    expect(importsOf(source)).toEqual([
      { specifier: './x.ts', typeOnly: false, names: ['b', 'D'], line: 1 },
      { specifier: 'y', typeOnly: true, names: ['E'], line: 2 },
      { specifier: './z.ts', typeOnly: false, names: ['f'], line: 3 },
      { specifier: './w.ts', typeOnly: false, names: [], line: 6 },
      { specifier: './v.ts', typeOnly: false, names: ['g'], line: 7 },
    ])
    expect(exportsOf('export const a = 1\nexport async function b() {}\nexport type C = 1\nexport class D {}')).toEqual(
      [
        { name: 'a', kind: 'value', line: 1 },
        { name: 'b', kind: 'value', line: 2 },
        { name: 'C', kind: 'type', line: 3 },
        { name: 'D', kind: 'value', line: 4 },
      ],
    )
  })

  it('the checks read the whole repository, and list every file that is started from outside', () => {
    const read = [...repo.keys()]
    for (const path of [
      'actors/kernel/micros.ts',
      'db/postgres/connect.ts',
      'package.json',
      'test/tidy.test.ts',
      '.ci/run',
    ]) {
      expect(read).toContain(path)
    }
    expect(read.some((path) => path.includes('node_modules'))).toBe(false)
    for (const entryPoint of checks.ENTRY_POINTS) expect(read).toContain(entryPoint)

    const { scripts } = JSON.parse(repo.get('package.json') ?? '') as { scripts: Record<string, string> }
    for (const script of Object.values(scripts)
      .join(' ')
      .match(/[\w/.-]+\.ts\b/g) ?? []) {
      expect(checks.isEntryPoint(script), `${script} of package.json is not an entry point`).toBe(true)
      expect(read).toContain(script)
    }
  })
})
