/** What operators may change of the player of the week. */
import { numberSetting } from '../../../actors/kernel/setting.ts'

export const SETTINGS = {
  'player-of-the-week.places': numberSetting(10, [1, 50, 0], 'How many footballers the board of a week lists.'),
} as const
