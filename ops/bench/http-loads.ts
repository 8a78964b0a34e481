/** A load over HTTP, from a thread of its own, and the users it asks as. */
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { ACCESS_COOKIE } from '../../src/auth/cookies.ts'
import type { Load } from './closed-loop.ts'

/** A user may hold 100 positions, and a load of opens closes none. */
const USERS = 3_000
const BATCH = 1_000
const Batch = z.object({ users: z.array(z.object({ accessToken: z.string() })) })

export interface HttpLoadOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Taken in turn: the cookies of users, and the bodies they post. */
  readonly cookies: readonly string[]
  readonly bodies: readonly string[]
  /** Whether each request has an idempotency key of its own. */
  readonly keyed: boolean
  /** A request that is told to come later does so. Any other answer ends the benchmark. */
  readonly expectedStatus: number
}

/** What the thread says: that its first connection has had an answer, and its figures at the end. */
export type Progress = 'connected' | Load

/** Rejects on an unexpected answer. */
export function loadOverHttp(options: HttpLoadOptions, onConnected = (): void => undefined): Promise<Load> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./http-load.ts', import.meta.url), { workerData: options })
    worker.on('message', (progress: Progress) => {
      if (progress === 'connected') onConnected()
      else resolve(progress)
    })
    worker.once('error', reject)
  })
}

/**
 * The load of a few, and that of a crowd that comes when the few have connected: a turn of the server's event loop
 * accepts one connection, so that those of a crowd wait for seconds, which is not what the few are asked about.
 */
export async function loadBeside(
  few: HttpLoadOptions,
  many: HttpLoadOptions,
): Promise<{ meanwhile: Load; crowd: Load }> {
  const { promise: crowd, resolve, reject } = Promise.withResolvers<Load>()
  const [meanwhile] = await Promise.all([loadOverHttp(few, () => void loadOverHttp(many).then(resolve, reject)), crowd])
  return { meanwhile, crowd: await crowd }
}

/** The cookies of as many new users as keep each below the position limit. */
export async function signedInUsers(url: string): Promise<string[]> {
  const cookies: string[] = []
  for (let n = 0; n < USERS / BATCH; n++) {
    const response = await fetch(`${url}/api/auth/dev/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ count: BATCH, prefix: `Bench ${n}` }),
    })
    const { users } = Batch.parse(await response.json())
    cookies.push(...users.map(({ accessToken }) => `${ACCESS_COOKIE}=${accessToken}`))
  }
  return cookies
}
