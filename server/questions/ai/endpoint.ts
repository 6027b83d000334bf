import { setTimeout as wait } from 'node:timers/promises'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { AiSettings } from '../questions.ts'
import { WriterError } from '../writer-error.ts'

export interface Message {
  role: 'system' | 'user' | 'assistant'
  content: string
}

export interface Completion {
  messages: Message[]
  /** What the answer must look like. */
  schema: TSchema
  name: string
  maxTokens: number
  signal: AbortSignal
}

/** An answer that came, but not as asked: the one fault that asking again in the same conversation may mend. */
export class InvalidAnswer extends Error {
  readonly content: string

  constructor(message: string, content = '') {
    super(message)
    this.content = content
  }
}

const LARGEST_ANSWER = 1_000_000
const FIRST_WAIT = 1000
const LONGEST_WAIT = 30_000
/** Of an answer that is not an answer, enough to find the cause. */
const EXCERPT = 200

interface Reply {
  status: number
  retryAfter: string | undefined
  body: string
}

/** One OpenAI-compatible endpoint: `POST {baseUrl}/chat/completions` with structured output. */
export class AiEndpoint {
  private readonly settings: AiSettings
  private readonly now: () => number
  /** Newer models take `max_completion_tokens` alone; most other servers know `max_tokens` alone. Found out by asking. */
  private tokenLimit: 'max_tokens' | 'max_completion_tokens' = 'max_tokens'

  constructor(settings: AiSettings, now: () => number) {
    this.settings = settings
    this.now = now
  }

  /** The answer, parsed and of the schema's form. */
  async complete(completion: Completion): Promise<unknown> {
    return readAnswer(await this.ask(completion), completion.schema)
  }

  private async ask(completion: Completion): Promise<string> {
    const { signal } = completion
    for (let attempt = 1; ; attempt++) {
      const limit = this.tokenLimit
      const reply = await this.post(completion).catch((error: unknown) => {
        if (signal.aborted || error instanceof WriterError || error instanceof InvalidAnswer) throw error
        return error as Error
      })
      if (!(reply instanceof Error)) {
        const { status, body } = reply
        if (status === 200) return body
        if (status === 400 && limit === 'max_tokens' && body.includes('max_completion_tokens')) {
          this.tokenLimit = 'max_completion_tokens'
          continue
        }
        if (status !== 429 && status < 500)
          throw new WriterError('rejected', `the AI endpoint answered ${status}: ${excerpt(body)}`)
      }
      if (attempt === 2) {
        if (reply instanceof Error)
          throw new WriterError('unavailable', 'the AI endpoint cannot be reached', { cause: reply })
        throw new WriterError('unavailable', `the AI endpoint answered ${reply.status} twice`)
      }
      await wait(this.waitBefore(reply), undefined, { signal })
    }
  }

  private waitBefore(reply: Reply | Error): number {
    const said = reply instanceof Error ? undefined : reply.retryAfter
    if (!said) return FIRST_WAIT
    const milliseconds = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - this.now()
    return Number.isFinite(milliseconds) ? Math.min(Math.max(milliseconds, 0), LONGEST_WAIT) : FIRST_WAIT
  }

  private async post({ messages, schema, name, maxTokens, signal }: Completion): Promise<Reply> {
    const { baseUrl, apiKey, model } = this.settings
    const { request } = await import('undici') // not loaded where the built-in writer serves
    const answer = await request(`${baseUrl}/chat/completions`, {
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
        [this.tokenLimit]: maxTokens,
      }),
      signal,
      // The signal ends the call; these must not end it earlier.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    let body = ''
    answer.body.setEncoding('utf8')
    for await (const chunk of answer.body) {
      body += chunk
      if (body.length > LARGEST_ANSWER) {
        answer.body.destroy()
        throw new InvalidAnswer(`the answer has more than ${LARGEST_ANSWER} characters`)
      }
    }
    const retryAfter = answer.headers['retry-after']
    return { status: answer.statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, body }
  }
}

function readAnswer(body: string, schema: TSchema): unknown {
  const choice = (
    parse(body) as { choices?: { finish_reason?: string; message?: Record<string, unknown> }[] } | undefined
  )?.choices?.[0]
  const message = choice?.message
  if (!message || typeof message !== 'object') throw new InvalidAnswer(`no message in the answer: ${excerpt(body)}`)
  if (message.refusal) throw new WriterError('refused', `the model refused: ${excerpt(String(message.refusal))}`)
  if (choice.finish_reason === 'content_filter') throw new WriterError('refused', 'the answer was withheld by a filter')
  if (choice.finish_reason === 'length') throw new InvalidAnswer('the answer was cut off: make it shorter')
  const content = typeof message.content === 'string' ? message.content : ''
  const value = parse(content)
  if (value === undefined) throw new InvalidAnswer('the answer is not JSON', content)
  if (!Value.Check(schema, value)) {
    const [error] = Value.Errors(schema, value)
    throw new InvalidAnswer(
      `the answer breaks the schema at ${error?.instancePath || 'its root'}: ${error?.message}`,
      content,
    )
  }
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const excerpt = (text: string) => JSON.stringify(text.slice(0, EXCERPT))
