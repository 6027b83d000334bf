import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { parseRetryAfter } from '../../platform/http/retry-after.ts'
import { parseJsonOrUndefined } from '../../platform/json.ts'
import type { AiSettings } from '../questions.ts'
import { WriterError } from '../writer-error.ts'

interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

export interface CompletionRequest {
  messages: ChatMessage[]
  /** JSON Schema of the response. */
  schema: TSchema
  /** Name of the schema. */
  name: string
  maxTokens: number
  signal: AbortSignal
}

/** The response does not match the schema; a repair request may fix it. */
export class InvalidResponseError extends Error {
  readonly content: string

  constructor(message: string, content = '') {
    super(message)
    this.content = content
  }
}

/** Returns the error for a response that is still invalid after a repair request. */
export function invalidResponseError(error: InvalidResponseError): WriterError {
  return new WriterError('invalid', `the AI endpoint's response is unusable: ${error.message}`)
}

const MAX_RESPONSE_LENGTH = 1_000_000
const MAX_ATTEMPTS = 2
/** Used if the response has no Retry-After header. */
const DEFAULT_RETRY_DELAY_MS = 1000
const MAX_RETRY_DELAY_MS = 30_000
/** Length in characters of the excerpt of an unusable response in error messages. */
const EXCERPT_LENGTH = 200

/** Resolves after the delay; rejects when the signal is aborted. */
export type PauseFunction = (delayMs: number, signal: AbortSignal) => Promise<unknown>

interface EndpointResponse {
  status: number
  retryAfter: string | string[] | undefined
  body: string
}

/** Client of an OpenAI-compatible endpoint: `POST {baseUrl}/chat/completions` with structured output. */
export class AiEndpoint {
  private readonly settings: AiSettings
  private readonly now: () => number
  private readonly pause: PauseFunction
  /** Newer models accept only `max_completion_tokens`, most other servers only `max_tokens`; detected from the first error. */
  private tokenLimitField: 'max_tokens' | 'max_completion_tokens' = 'max_tokens'

  constructor(settings: AiSettings, now: () => number, pause: PauseFunction) {
    this.settings = settings
    this.now = now
    this.pause = pause
  }

  /** Returns the parsed response after schema validation. */
  async complete(completion: CompletionRequest): Promise<unknown> {
    return parseResponse(await this.postWithRetry(completion), completion.schema)
  }

  private async postWithRetry(completion: CompletionRequest): Promise<string> {
    const { signal } = completion
    for (let attempt = 1; ; attempt++) {
      const sentTokenLimitField = this.tokenLimitField
      const responseOrError = await this.post(completion).catch((error: unknown) => {
        if (signal.aborted || error instanceof WriterError || error instanceof InvalidResponseError) throw error
        return error as Error
      })
      if (!(responseOrError instanceof Error)) {
        const { status, body } = responseOrError
        if (status === 200) return body
        if (status === 400 && sentTokenLimitField === 'max_tokens' && body.includes('max_completion_tokens')) {
          this.tokenLimitField = 'max_completion_tokens'
          continue
        }
        if (status !== 429 && status < 500)
          throw new WriterError('rejected', `the AI endpoint responded with ${status}: ${excerpt(body)}`)
      }
      if (attempt === MAX_ATTEMPTS) {
        if (responseOrError instanceof Error)
          throw new WriterError('unavailable', 'the AI endpoint cannot be reached', { cause: responseOrError })
        throw new WriterError('unavailable', `the AI endpoint responded with ${responseOrError.status} twice`)
      }
      await this.pause(this.retryDelayMs(responseOrError), signal)
    }
  }

  private retryDelayMs(responseOrError: EndpointResponse | Error): number {
    const requestedDelayMs =
      responseOrError instanceof Error ? undefined : parseRetryAfter(responseOrError.retryAfter, this.now())
    return requestedDelayMs === undefined ? DEFAULT_RETRY_DELAY_MS : Math.min(requestedDelayMs, MAX_RETRY_DELAY_MS)
  }

  private async post({ messages, schema, name, maxTokens, signal }: CompletionRequest): Promise<EndpointResponse> {
    const { baseUrl, apiKey, model } = this.settings
    const { request } = await import('undici') // loaded only if an AI endpoint is used
    const response = await request(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      },
      body: JSON.stringify({
        model,
        messages,
        response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } },
        [this.tokenLimitField]: maxTokens,
      }),
      signal,
      // Disable undici's own timeouts; the signal limits the call.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    let body = ''
    response.body.setEncoding('utf8')
    for await (const chunk of response.body) {
      body += chunk
      if (body.length > MAX_RESPONSE_LENGTH) {
        response.body.destroy()
        throw new InvalidResponseError(`the response has more than ${MAX_RESPONSE_LENGTH} characters`)
      }
    }
    return { status: response.statusCode, retryAfter: response.headers['retry-after'], body }
  }
}

function parseResponse(body: string, schema: TSchema): unknown {
  const choice = (
    parseJsonOrUndefined(body) as
      | { choices?: { finish_reason?: string; message?: Record<string, unknown> }[] }
      | undefined
  )?.choices?.[0]
  const message = choice?.message
  if (!message || typeof message !== 'object')
    throw new InvalidResponseError(`no message in the response: ${excerpt(body)}`)
  if (message.refusal) throw new WriterError('refused', `the model refused: ${excerpt(String(message.refusal))}`)
  if (choice.finish_reason === 'content_filter')
    throw new WriterError('refused', 'the response was withheld by a content filter')
  if (choice.finish_reason === 'length') throw new InvalidResponseError('the response was truncated: make it shorter')
  const content = typeof message.content === 'string' ? message.content : ''
  const value = parseJsonOrUndefined(content)
  if (value === undefined) throw new InvalidResponseError('the response is not JSON', content)
  if (!Value.Check(schema, value)) {
    const [error] = Value.Errors(schema, value)
    throw new InvalidResponseError(
      `the response violates the schema at ${error?.instancePath || 'the root'}: ${error?.message}`,
      content,
    )
  }
  return value
}

const excerpt = (text: string) => JSON.stringify(text.slice(0, EXCERPT_LENGTH))
