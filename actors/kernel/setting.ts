/** The kinds of settings, and how one is declared. */

export interface NumberSetting {
  readonly type: 'number'
  readonly default: number
  readonly min: number
  readonly max: number
  /** How many decimals a value may have; 0 for whole numbers. */
  readonly decimals: number
  readonly description: string
}

export interface BooleanSetting {
  readonly type: 'boolean'
  readonly default: boolean
  readonly description: string
}

export interface ChoiceSetting<Option extends string = string> {
  readonly type: 'choice'
  readonly default: Option
  readonly options: readonly Option[]
  /** The value used when the stored one is not an option: the safest option. */
  readonly whenUnreadable: Option
  readonly description: string
}

export type Setting = NumberSetting | BooleanSetting | ChoiceSetting
export type SettingValue = number | boolean | string

export const numberSetting = (
  value: number,
  [min, max, decimals]: readonly [min: number, max: number, decimals: number],
  description: string,
): NumberSetting => ({ type: 'number', default: value, min, max, decimals, description })

export const booleanSetting = (value: boolean, description: string): BooleanSetting => ({
  type: 'boolean',
  default: value,
  description,
})

export const choiceSetting = <Option extends string>(
  value: Option,
  options: readonly Option[],
  whenUnreadable: Option,
  description: string,
): ChoiceSetting<Option> => ({ type: 'choice', default: value, options, whenUnreadable, description })
