/**
 * The one runner of tools, rehearsals and benchmarks: `npm run ops -- <tool> [options]`. Without a tool it lists them,
 * with `--help` it shows the head of the tool's file, which describes its options. Each tool reads its own; one that
 * its head does not name is refused here, because a tool without options would not look.
 */
import { existsSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { correctable, EXIT, exitCodeOf } from '../src/start-failure.ts'
import { type Tool, TOOLS } from './tool-table.ts'

// Half of the start of a tool is stripping the types of what it imports.
enableCompileCache()

const fileOf = (file: string): URL => new URL(file, import.meta.url)
/** The image of the server holds the tools, but no rehearsals and no benchmarks. */
const tools = TOOLS.filter(({ file }) => existsSync(fileOf(file)))

const [name, ...options] = process.argv.slice(2)
const tool = tools.find((one) => one.name === name)
if (tool === undefined) {
  if (name !== undefined) console.error(`There is no tool ${name}.\n`)
  const width = Math.max(...tools.map((one) => one.name.length))
  const lines = tools.map((one) => `  ${one.name.padEnd(width)}  ${one.help}`)
  const list = ['npm run ops -- <tool> [options]', '', ...lines].join('\n')
  if (name === undefined) console.log(list)
  else console.error(list)
  process.exitCode = name === undefined ? 0 : 2
} else {
  const [, head = ''] = /^\/\*\*([^]*?)\*\//.exec(readFileSync(fileOf(tool.file), 'utf8')) ?? []
  const own = options.includes('--') ? options.slice(0, options.indexOf('--')) : options
  const stranger = own.map((one) => one.replace(/=[^]*/, '')).find((one) => /^--?[a-z]/i.test(one) && !names(head, one))
  if (own.includes('--help')) console.log(head.replaceAll(/^ \* ?/gm, '').trim())
  else if (stranger === undefined) await run(tool, options)
  else misused(tool, `Unknown option '${stranger}'`)
}

function names(head: string, option: string): boolean {
  return head.split(/[^\w-]+/).includes(option)
}

function misused({ name: of }: Tool, why: string): void {
  console.error(`${why}\nSee npm run ops -- ${of} --help`)
  process.exitCode = 2
}

async function run(one: Tool, its: readonly string[]): Promise<void> {
  // Each tool reads the command line as if it had been started directly.
  process.argv = [process.execPath, one.file, ...its]
  try {
    await import(fileOf(one.file).href)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) return misused(one, error.message)
    // A rehearsal or a benchmark has servers of its own: what it cannot reach is to be looked into.
    const why = /^\.\/(?:rehearse|bench)\/|^\.\.\/test\//.test(one.file) ? null : complaintOf(error)
    if (why === null) throw error
    console.error(why)
    // 1 is for what a check has found.
    process.exitCode = exitCodeOf(error) === EXIT.schemaNewer ? EXIT.schemaNewer : 2
  }
}

/** What the caller can correct, in one line. A bug is an InvariantBroken, or a TypeError and the like: null. */
function complaintOf(error: Error): string | null {
  return correctable(error) ?? (error.constructor === Error ? error.message : null)
}
