/** One run of the fuzzer: users who send requests, a reset that restores settings, and a judge of the answers. */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import type { Program } from '../rig/program.ts'
import type { Holdings, Inspector } from '../rig/inspector.ts'
import { createJudge, type Judge, type OpenApi } from './judge.ts'
import { ServerReset } from './server-reset.ts'
import { KnownValues } from './known-values.ts'
import type { Found } from './report.ts'
import { curl, type FuzzRequest, requestMaker } from './requests.ts'
import { SocketFuzz } from './sockets.ts'

/** After this many requests all users sign in again, and settings are restored. */
const ROUND = 3_000
/** How long a stream of events is read. */
const FOLLOWED_MS = 1_000
const SILENCE_MS = 20_000
/** A busy match recovers: one that is still busy after these pauses is stuck. */
const RETRIES = [200, 1_000, 3_000]
/** The run ends after this many failures. */
const FAILURES_MAX = 50
/** Allowed heap growth after the warm-up: caches that fill, and garbage that collections leave. */
const GROWTH_MAX = { factor: 1.25, bytes: 12 * 2 ** 20 }

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: unknown
}

export interface CampaignOptions {
  readonly seed: number
  /** Requests in flight together. */
  readonly atOnce: number
}

export interface Against {
  readonly url: string
  readonly requests: number
  readonly inspector: Inspector
  readonly program: Program
  readonly say: (progress: string) => void
}

export class Campaign {
  /** The value for ADMIN_EMAILS; the first runs the reset, the others are among the fuzzing users. */
  static readonly ADMINS = ['Admin', 'Opal', 'Otto'] as const

  readonly userIds: string[] = []
  readonly #options: CampaignOptions
  readonly #knownValues = new KnownValues()
  readonly #failures: string[] = []
  readonly #statuses = new Map<number, number>()
  readonly #routes = new Map<string, { asked: number; done: number }>()
  readonly #agent: http.Agent
  #isEnding = false

  constructor(options: CampaignOptions) {
    this.#options = options
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: options.atOnce })
  }

  /** Ends a run after its round, with a verdict on the requests so far. */
  end(): void {
    this.#isEnding = true
  }

  async run({ url, requests, inspector, program, say }: Against): Promise<Found> {
    const judge = createJudge((await (await fetch(`${url}/api/openapi.json`)).json()) as OpenApi)
    const reset = new ServerReset({
      url,
      admins: Campaign.ADMINS,
      knownValues: this.#knownValues,
      userIds: this.userIds,
    })
    const make = requestMaker(judge.document, this.#knownValues)
    const document = (await (await fetch(`${url}/api/asyncapi.json`)).json()) as object
    const sockets = new SocketFuzz({ document, url, seed: this.#options.seed, knownValues: this.#knownValues })
    const fail = (what: string): void => {
      this.#failures.push(what)
      say(what)
    }
    const beganAt = performance.now()
    let warm: Holdings | null = null
    let done = 0

    while (done < requests && this.#failures.length < FAILURES_MAX && !program.isGone && !this.#isEnding) {
      await reset.tidyUp()
      const upTo = Math.min(requests, done + ROUND)
      const talking = sockets.round()
      const ask = async (): Promise<void> => {
        while (done < upTo && !program.isGone) {
          const nth = done++
          const request = make(chanceFrom(this.#options.seed * 1_000_003 + nth))
          const wrong = await this.#put(url, request, judge)
          if (wrong !== null) fail(`request ${nth}: ${wrong}\n  ${curl(url, request)}`)
        }
      }
      await Promise.all(Array.from({ length: this.#options.atOnce }, ask))
      for (const wrong of await talking) fail(wrong)
      for (const line of program.errors.splice(0)) fail(`the server logged an error: ${line}`)
      if (warm === null && done >= requests / 10) warm = await settledLook(reset, inspector)
      say(`${done} requests, ${this.#failures.length} failures`)
    }
    const seconds = (performance.now() - beganAt) / 1_000
    if (program.isGone) fail(`the server is gone: ${(await program.ended).code}`)
    const memory = await this.#conclude({ program, reset, inspector, warm, fail })
    this.#agent.destroy()
    const { seed } = this.#options
    return {
      seed,
      requests: done,
      seconds,
      statuses: this.#statuses,
      routes: this.#routes,
      sockets: sockets.counts,
      memory,
      failures: this.#failures,
    }
  }

  async #conclude(parts: {
    readonly program: Program
    readonly reset: ServerReset
    readonly inspector: Inspector
    readonly warm: Holdings | null
    readonly fail: (what: string) => void
  }): Promise<[Holdings, Holdings]> {
    const { program, reset, inspector, fail } = parts
    const nothing: Holdings = { heap: 0, resident: 0, resources: {} }
    if (program.isGone) return [parts.warm ?? nothing, nothing]
    const after = await settledLook(reset, inspector)
    const warm = parts.warm ?? after
    if (after.heap > warm.heap * GROWTH_MAX.factor + GROWTH_MAX.bytes) {
      fail(`the heap grew from ${warm.heap} to ${after.heap} bytes`)
    }
    const books = await reset.audit()
    if (books['balanced'] !== true) fail(`the books do not balance: ${JSON.stringify(books)}`)
    return [warm, after]
  }

  async #statusOf(url: string, request: FuzzRequest): Promise<number | null> {
    return this.#ask(url, request).then(
      ({ status }) => status,
      () => null,
    )
  }

  /** Sends one request, and returns what was wrong with the answer. */
  async #put(url: string, request: FuzzRequest, judge: Judge): Promise<string | null> {
    let answer: Answer
    try {
      answer = await this.#ask(url, request)
      for (const ms of RETRIES) {
        if (!isBusy(answer)) break
        await pause(ms)
        answer = await this.#ask(url, request)
      }
    } catch (error) {
      // A download is cut off when another request has ended the session or the role that it takes.
      const isOver = request.method === 'GET' && [401, 403].includes((await this.#statusOf(url, request)) ?? 0)
      return isOver ? null : `no answer: ${String(error)}`
    }
    const { status, headers, body } = answer
    const resource = /^\/api\/(?:admin\/)?([\w-]+)/.exec(request.path)?.[1] ?? ''
    if (status < 300) this.#knownValues.learn(body, resource)
    this.#count(request, status, judge)
    if (isBusy(answer)) return `still busy after ${RETRIES.length} retries`
    // An answer to HEAD has no body with the code.
    const isToCome = status === 503 && (codeOf(answer) === 'COMING_SOON' || request.method === 'HEAD')
    if (status >= 500 && !isToCome) return `${status} ${JSON.stringify(body)}`
    if (status >= 429 && status !== 431 && headers['retry-after'] === undefined) return `${status} without Retry-After`
    const contentType = headers['content-type'] ?? null
    return judge.judge({ ...request, status, contentType, headers: Object.keys(headers), body })
  }

  #count({ method, path }: FuzzRequest, status: number, judge: Judge): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    const route = judge.routeOf(method, path)
    if (route === null) return
    const known = this.#routes.get(route) ?? { asked: 0, done: 0 }
    this.#routes.set(route, known)
    known.asked++
    if (status < 300) known.done++
  }

  #ask(url: string, { method, path, headers, body }: FuzzRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
      const { hostname, port } = new URL(url)
      const options = {
        method,
        path,
        hostname,
        port,
        headers: { ...headers, ...length },
        agent: this.#agent,
        timeout: SILENCE_MS,
      }
      const request = http.request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        const finish = (): void => {
          const text = Buffer.concat(chunks).toString('utf8')
          const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== ''
          try {
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: isJson ? JSON.parse(text) : text,
            })
          } catch {
            reject(new Error(`not JSON: ${text.slice(0, 200)}`))
          }
        }
        response.on('end', finish)
        if (response.statusCode !== 200 || !/[?&]follow=true/.test(path)) return
        // What is followed has no end of its own.
        setTimeout(() => {
          finish()
          response.destroy()
        }, FOLLOWED_MS)
      })
      request.on('timeout', () => request.destroy(new Error(`silent for ${SILENCE_MS / 1_000} s`)))
      request.on('error', reject)
      request.end(body)
    })
  }
}

/** A match that is busy for the moment: no fault, unless it never ends. */
const isBusy = (answer: Answer): boolean =>
  answer.status === 503 && ['BUSY', 'UNKNOWN_OUTCOME'].some((code) => code === codeOf(answer))

const codeOf = ({ body }: Answer): unknown =>
  typeof body === 'object' && body !== null && 'code' in body ? body.code : null

/** Memory in use when the server is idle. */
async function settledLook(reset: ServerReset, inspector: Inspector): Promise<Holdings> {
  await reset.tidyUp()
  await pause(2_000)
  return inspector.look()
}
