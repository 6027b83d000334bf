import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from './cleanup.ts'

/** A request that the AI endpoint received. */
export interface ReceivedAiCall {
  url: string
  headers: IncomingMessage['headers']
  body: {
    model: string
    messages: { role: string; content: string }[]
    response_format: { type: string; json_schema: { name: string; strict: boolean; schema: Record<string, unknown> } }
    max_tokens?: number
    max_completion_tokens?: number
  }
  /** The parsed JSON between the `<data>` tags of the prompt. */
  data: {
    skills: { number: number; name: string; description: string; count: number }[]
    kinds: string[]
    source: Record<string, string> & { keywords?: string[] }
    rejected?: { reason: string; stem: string }[]
    error?: string
    /** Items to verify. */
    items: { item: number; skill: string; question: string; options: string[] }[]
    texts: string[]
  }
}

export type AiResponder = (call: ReceivedAiCall, response: ServerResponse) => void

/** Starts a chat completions endpoint on loopback. Each call gets the next responder; the last responder gets all later calls. */
export async function startAiEndpoint(t: Cleanup, ...responders: AiResponder[]) {
  const calls: ReceivedAiCall[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const userMessage = body.messages.findLast(({ role }: { role: string }) => role === 'user').content as string
      const data = JSON.parse(/^<data>\n(.*)\n<\/data>/.exec(userMessage)![1]!)
      const call = { url: request.url!, headers: request.headers, body, data }
      calls.push(call)
      responders[Math.min(calls.length, responders.length) - 1]!(call, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}/v1`, calls }
}

/** Responds with a completion whose message is this text, this value as JSON, or the result of this function. */
export function respondWithCompletion(
  content: unknown,
  overrides: { finish_reason?: string; refusal?: string } = {},
): AiResponder {
  return (call, response) => {
    const value = typeof content === 'function' ? content(call) : content
    const message = {
      role: 'assistant',
      content: overrides.refusal ? null : typeof value === 'string' ? value : JSON.stringify(value),
      refusal: overrides.refusal ?? null,
    }
    const choice = { index: 0, message, finish_reason: overrides.finish_reason ?? 'stop' }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: call.body.model, choices: [choice] }),
    )
  }
}

export function respondWithError(status: number, headers: Record<string, string> = {}, message = 'no'): AiResponder {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message, type: 'error' } }))
  }
}

/** Receives the call and never responds. */
export const neverRespond: AiResponder = () => {}
