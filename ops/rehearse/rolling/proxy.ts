/** The real nginx with the configuration of `ops/deploy/proxy`, in front of processes on this machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { refuse } from '../rig/options.ts'

const CONFIGURATION = join(import.meta.dirname, '../../deploy/proxy/nginx.conf')
const PATIENCE_MS = 5_000
const PROGRAM = process.env['NGINX_BINARY'] ?? 'nginx'

/** Ends the program if nginx cannot be run. To be called before anything is started that would stay. */
export function demandNginx(): void {
  if (spawnSync(PROGRAM, ['-v'], { stdio: 'ignore' }).status !== 0)
    refuse(`${PROGRAM} cannot be run: install nginx, or name it in NGINX_BINARY`)
}

/** Where nginx keeps bodies and answers that are too large for its memory. */
const SCRATCH = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** The local port of each process, by its compose name and the port inside its container. */
export type Addresses = ReadonlyMap<`${string}:${3000 | 3001}`, string>

export class Proxy {
  readonly #child: ChildProcess
  readonly #gone: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#gone = once(child, 'exit')
  }

  /** Throws if nginx is not installed or does not start. `NGINX_BINARY` names it if it is not on the path. */
  static async start(folder: string, port: number, addresses: Addresses): Promise<Proxy> {
    mkdirSync(folder, { recursive: true })
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, localConfiguration(folder, port, addresses))
    const options = ['-c', file, '-p', folder, '-g', 'daemon off; pid nginx.pid; error_log nginx.log;']
    const child = spawn(PROGRAM, options, { stdio: ['ignore', 'ignore', 'inherit'] })
    await once(child, 'spawn')
    const proxy = new Proxy(child)
    try {
      await proxy.#listens(port)
    } catch (error) {
      await proxy.stop()
      throw error
    }
    return proxy
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.kill('SIGTERM')
    await this.#gone
  }

  async #listens(port: number): Promise<void> {
    const until = AbortSignal.timeout(PATIENCE_MS)
    while (this.#child.exitCode === null) {
      const answers = await fetch(`http://127.0.0.1:${port}/health`, { signal: until }).catch(() => null)
      if (answers !== null) return
      until.throwIfAborted()
      await pause(20)
    }
    throw new Error(`nginx ended with ${this.#child.exitCode}`)
  }
}

/** The deployed configuration with its addresses, which need no looking up (from nginx 1.27.3), and paths replaced. */
function localConfiguration(folder: string, port: number, addresses: Addresses): string {
  let text = readFileSync(CONFIGURATION, 'utf8')
  for (const [name, address] of addresses) text = text.replace(`${name} `, `${address} `)
  text = text.replaceAll(' resolve;', ';')
  const scratch = SCRATCH.map((name) => `  ${name}_temp_path ${join(folder, name)};\n`).join('')
  return text.replace('listen 8080', `listen 127.0.0.1:${port}`).replace('http {\n', `http {\n${scratch}`)
}
