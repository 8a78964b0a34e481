/** The id of a league, as the API shows it. */
import { z } from '@hono/zod-openapi'

export const leagueIdText = z
  .uuid()
  .openapi({ description: 'Also the name of its purse.', example: '0197f2a0-7e10-7c40-9a51-3c2b1a09f8e7' })
