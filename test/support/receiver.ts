import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

/** What a webhook endpoint of a test was sent. */
export interface Received {
  path: string
  headers: Record<string, string>
  text: string
  body: any
}

export type Answering = (received: Received, response: ServerResponse, request: IncomingMessage) => unknown

export interface Receiver {
  url: string
  port: number
  received: Received[]
  /** What it answers from now on: a status, or whatever the function does with the response. */
  answer: Answering
  /** Resolves when so many have come in all. */
  has(count: number, milliseconds?: number): Promise<void>
  ids(): string[]
  close(): void
}

/** Milliseconds; nothing takes nearly as long unless the machine is very busy. */
const PATIENCE = 20_000

/** A local endpoint that keeps what it is sent, and answers 204 unless told otherwise. */
export async function startReceiver(t: TestContext, answer: Answering = () => 204, port = 0): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('error', () => {})
    try {
      for await (const chunk of request) text += chunk
    } catch {
      return
    }
    const got: Received = {
      path: request.url!,
      headers: request.headers as Record<string, string>,
      text,
      body: JSON.parse(text),
    }
    receiver.received.push(got)
    const status = await receiver.answer(got, response, request)
    if (typeof status === 'number') response.writeHead(status).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  t.after(close)
  const { port: given } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${given}/hook`,
    port: given,
    received: [],
    answer,
    async has(count, milliseconds = PATIENCE) {
      await until(
        () => receiver.received.length >= count,
        milliseconds,
        () => `${receiver.received.length} of ${count} came`,
      )
    },
    ids: () => receiver.received.map(({ body }) => body.event_id),
    close,
  }
  return receiver
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  milliseconds = PATIENCE,
  said: () => string = () => 'it did not happen in time',
): Promise<void> {
  const deadline = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(said())
    await pause(5)
  }
}
