/** The JSON shape of the caller. */
import { z } from '@hono/zod-openapi'
import { districtNumber, timestampText, userIdText, usernameText, WalletBody } from './schemas.ts'

export const UserBody = z
  .object({
    userId: userIdText,
    username: usernameText,
    name: z.string().openapi({ description: 'As the identity provider last gave it.', example: 'Ada Lovell' }),
    firstName: z.string().openapi({ example: 'Ada' }),
    lastName: z.string().nullable().openapi({ example: 'Lovell' }),
    email: z.string().openapi({ example: 'ada@touchline.example' }),
    picture: z.string().nullable().openapi({ example: 'https://pictures.touchline.example/ada.jpg' }),
    role: z.string().openapi({ example: 'user' }),
    status: z.enum(['active', 'frozen']).openapi({ description: 'Frozen users open nothing.', example: 'active' }),
    districtId: districtNumber,
    xp: z.int().openapi({ example: 340 }),
    level: z.int().openapi({ example: 3 }),
    referralCode: z.string().openapi({ example: '5d0f9a3c71' }),
    hiddenFromBoards: z.boolean().openapi({ description: 'Hidden users are on no board.', example: false }),
    createdAt: timestampText,
    wallet: WalletBody,
  })
  .openapi('User')
