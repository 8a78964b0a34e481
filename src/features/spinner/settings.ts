/** What a user must have done in a week to be in its draw. */
import { DRAW_PLAYERS_MAX } from '../../../actors/kernel/limits.ts'
import { numberSetting } from '../../../actors/kernel/setting.ts'

export const SPINNER_SETTINGS = {
  'spinner.closes_min': numberSetting(
    10,
    [1, 100, 0],
    'How many positions opened in the week a user must have closed to be in its draw.',
  ),
  'spinner.players_min': numberSetting(3, [1, DRAW_PLAYERS_MAX, 0], 'On how many different players these must be.'),
} as const
