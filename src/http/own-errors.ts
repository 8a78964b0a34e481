/** The error codes of a feature, beside those that routes share. */
import type { z } from '@hono/zod-openapi'
import { type Answer, type ErrorResponse, responsesOf } from './answers.ts'
import { type AlwaysCode, ERROR_CODES, type ErrorCode } from './error-codes.ts'
import type { ErrorKind, ErrorTable } from './error-facts.ts'

/** What an answer of this kind needs: the facts that it carries, and when a retry may help. */
type More<Kind extends ErrorKind> = (Kind extends { readonly facts: infer Facts extends z.core.$ZodShape }
  ? { readonly facts: z.output<z.ZodObject<Facts>> }
  : object) &
  (Kind extends { readonly retry: true } ? { readonly retryAfterSecs: number } : object)

type StatusIn<Table extends ErrorTable, Code> = Code extends keyof Table
  ? Table[Code]['status']
  : Code extends ErrorCode
    ? (typeof ERROR_CODES)[Code]['status']
    : never

/** `answer` and `responses` are `answerWith` and `errors` of `answers.ts`, with these codes in addition. */
export function ownErrors<const Table extends Readonly<Record<string, ErrorKind>>>(table: Table) {
  type Own = keyof Table & string
  return {
    table: table as ErrorTable,
    answer: <Code extends Own>(
      code: Code,
      ...[more]: object extends More<Table[Code]> ? [more?: More<Table[Code]>] : [more: More<Table[Code]>]
    ): Answer<Table[Code]['status']> => {
      const { status, error } = table[code] as Table[Code]
      return { status, error, code, ...more }
    },
    responses: <Code extends Own | ErrorCode>(
      ...codes: readonly Code[]
    ): Record<StatusIn<Table, Code | AlwaysCode>, ErrorResponse> =>
      responsesOf(codes, { ...ERROR_CODES, ...table }) as Record<StatusIn<Table, Code | AlwaysCode>, ErrorResponse>,
  }
}
