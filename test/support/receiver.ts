import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Cleanup } from './cleanup.ts'
import { until } from './until.ts'

interface ReceivedWebhook {
  path: string
  headers: Record<string, string>
  text: string
  body: any
}

/** Returns the status to respond with, or any other value if the function has sent the response itself. */
export type WebhookResponder = (
  received: ReceivedWebhook,
  response: ServerResponse,
  request: IncomingMessage,
) => unknown

export interface Receiver {
  url: string
  port: number
  received: ReceivedWebhook[]
  /** Responds to requests; tests may replace it. */
  respond: WebhookResponder
  /** Resolves when `count` requests have been received since the start. */
  waitFor(count: number, timeoutMs?: number): Promise<void>
  eventIds(): string[]
  close(): void
}

/** Starts a webhook endpoint on loopback that records requests and responds with 204 by default. */
export async function startReceiver(t: Cleanup, respond: WebhookResponder = () => 204, port = 0): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('error', () => {})
    try {
      for await (const chunk of request) text += chunk
    } catch {
      return
    }
    const webhook: ReceivedWebhook = {
      path: request.url!,
      headers: request.headers as Record<string, string>,
      text,
      body: JSON.parse(text),
    }
    receiver.received.push(webhook)
    const status = await receiver.respond(webhook, response, request)
    if (typeof status === 'number') response.writeHead(status).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  t.after(close)
  const { port: actualPort } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${actualPort}/hook`,
    port: actualPort,
    received: [],
    respond,
    async waitFor(count, timeoutMs) {
      await until(
        () => receiver.received.length >= count,
        timeoutMs,
        () => `received ${receiver.received.length} of ${count} webhooks`,
      )
    },
    eventIds: () => receiver.received.map(({ body }) => body.event_id),
    close,
  }
  return receiver
}
