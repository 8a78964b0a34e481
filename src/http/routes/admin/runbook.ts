/** `GET /api/admin/runbook`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { ADMIN } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import { json } from '../../schemas.ts'

const FILE = join(import.meta.dirname, '../../../../ops/runbook.md')

const route = createRoute({
  method: 'get',
  path: '/api/admin/runbook',
  tags: ['Admin'],
  summary: 'The runbook',
  description: 'What to do when something breaks, for the version that runs. Alerts name its sections.',
  security: ADMIN_READ_SECURITY,
  responses: {
    200: json(z.object({ markdown: z.string().openapi({ example: '# Runbook' }) }), 'The whole of it, as Markdown.'),
    ...errors(...ADMIN),
  },
})

export const adminRunbook = (_deps: object, gates: Gates) =>
  new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) =>
    c.json({ markdown: await readFile(FILE, 'utf8') }, 200),
  )
