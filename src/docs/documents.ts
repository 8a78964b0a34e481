/** The parts of the OpenAPI and the AsyncAPI document that are read here. */

/** A JSON schema as the documents contain it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly description?: string
  readonly required?: readonly string[]
  readonly example?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}
export type Schemas = Readonly<Record<string, Schema>>

export interface Media {
  readonly schema: Schema
  example?: unknown
  readonly examples?: Readonly<Record<string, unknown>>
}
export type Content = Readonly<Record<string, Media>>

export interface Operation {
  readonly tags?: readonly string[]
  readonly operationId?: string
  readonly deprecated?: boolean
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
    example?: unknown
  }[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content; readonly headers?: object }>
  >
}

export interface RestDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Schemas; examples: Readonly<Record<string, unknown>> }
}

export interface FeedDocument {
  readonly info: { readonly description: string }
  readonly channels: Readonly<Record<string, Channel>>
  readonly operations: Readonly<Record<string, FeedOperation>>
  readonly components: { readonly messages: Readonly<Record<string, Message>> }
}

interface FeedOperation {
  /** Of the server: it receives what a client sends. */
  readonly action: 'receive' | 'send'
  readonly messages: readonly { readonly $ref: string }[]
}

interface Channel {
  readonly title: string
  readonly description: string
  readonly 'x-close-codes'?: Readonly<Record<string, string>>
  readonly 'x-limits'?: Readonly<Record<string, string | number>>
}

interface Message {
  readonly summary: string
  readonly payload: Schema
  readonly examples?: readonly { readonly payload: unknown }[]
  readonly 'x-layout'?: readonly FrameField[]
  readonly 'x-test-vectors'?: readonly { readonly name: string; readonly hex: string }[]
}

interface FrameField {
  readonly name: string
  readonly type: string
  readonly offset: number
  readonly meaning: string
  readonly values?: readonly string[]
}
