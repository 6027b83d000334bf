import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

const MAX_LOGGED_CHARACTERS = 1000

/** A candidate in a simulated ATS. */
export interface SimulatedPerson {
  /** The ATS's ID of the person. */
  id: string
  firstName: string
  lastName: string
  email: string
  phone?: string | undefined
  /** The language that the recruiter chose; only systems with a field for it send it. */
  language?: string | undefined
}

/** An order as the ATS knows it. */
export interface SimulatedOrder {
  /** The ID that Attestry returned; undefined if the order was rejected. */
  assessmentId: string | undefined
  status: number
  /** The message that the ATS shows the recruiter if the order was rejected. */
  message: string | undefined
  /** The status that the ATS shows: `ordered`, or the last one that was reported. */
  state: string
  /** The reported result, in the format of the ATS. */
  result: unknown
  /** How many reports the ATS has accepted. */
  reports: number
}

/** A call that the simulated ATS has received. */
export interface ReceivedCall {
  method: string
  path: string
  headers: IncomingMessage['headers']
  text: string
  /** The parsed body; its format is checked by the ATS. */
  body: unknown
}

/** A response of the ATS; `hang` never responds. */
export type Reaction = { status: number; body?: object; headers?: Record<string, string> } | 'hang'

/** Simulates an ATS: places orders, receives the reports, and checks every message against the documented format. */
export interface SimulatedAts {
  readonly name: string
  /** Address that receives the reports. */
  readonly url: string
  /** Messages of Attestry that violate the documented format or the order of reports. */
  readonly violations: string[]
  /** Decides about a received call before the ATS does; for tests of errors. Undefined lets the ATS respond as usual. */
  react: (call: ReceivedCall) => Reaction | undefined
  /** Called with a line about every message. */
  log: (line: string) => void
  /** Returns the tests that recruiters can choose. Throws a `ListRejection` if Attestry rejects the call. */
  listTests(): Promise<{ id: string; name: string }[]>
  /** Places an order. An identity that was ordered before is sent again in the same words. */
  order(identity: string, testId: string, person: SimulatedPerson): Promise<SimulatedOrder>
  /** Cancels an order; undefined if the ATS cannot. */
  cancel?: (assessmentId: string) => Promise<number>
  /** Returns the IDs of the fields that recruiters can fill in; undefined if the ATS has none. */
  listCustomFields?: () => Promise<string[]>
  /** Returns a link to the report page that the ATS shares; undefined if the ATS has none or the order is unknown. */
  getSharedLink?: (assessmentId: string) => Promise<string | undefined>
  close(): Promise<void>
}

/** Attestry rejected the call for the list of tests. */
export class ListRejection extends Error {
  readonly status: number

  constructor(status: number, message: string | undefined) {
    super(`Attestry rejected the call for the list of tests with ${status}${message ? `: ${message}` : ''}`)
    this.status = status
  }
}

export interface SimulatedAtsOptions {
  /** Address of the Attestry server. */
  serverUrl: string
  /** The ATS key; empty if the ATS signs its calls. */
  key: string
  connectionId?: string | undefined
  /** The values that the ATS issued, if it issues them. */
  token?: string | undefined
  accountId?: string | undefined
  signingSecret?: string | undefined
  port?: number | undefined
}

/** The value of the header Authorization, or a function that returns the headers that sign a body. */
type Authentication = string | ((body: string) => Record<string, string>)

/** The parts that all simulated systems share. */
export interface AtsConnector {
  url: string
  violations: string[]
  react: SimulatedAts['react']
  log: SimulatedAts['log']
  /** Calls Attestry, and checks the format of a 2xx response. */
  call<Body = object>(
    method: string,
    path: string,
    authentication: Authentication,
    body: object | undefined,
    format: TSchema,
  ): Promise<CallResult<Body>>
  /** Calls Attestry for the list of tests, and returns the body of the response. */
  callForTests<Body>(
    method: string,
    path: string,
    authentication: Authentication,
    body: object | undefined,
    format: TSchema,
  ): Promise<Body>
  /** Records a violation unless the value has the format. */
  check(subject: string, format: TSchema, value: unknown): void
  close(): Promise<void>
}

interface CallResult<Body> {
  status: number
  /** An error has a message. */
  body: Partial<Body> & { message?: string }
}

/** Starts the server that receives reports. `handle` responds to them. */
export async function openConnector(
  name: string,
  { serverUrl, port = 0 }: SimulatedAtsOptions,
  handle: (call: ReceivedCall) => Promise<Reaction>,
): Promise<AtsConnector> {
  const server = createServer(async (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    try {
      for await (const chunk of request) text += chunk
    } catch {
      return // the caller was stopped
    }
    const received: ReceivedCall = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      text,
      body: parseBody(text),
    }
    const reaction = connector.react(received) ?? firewallReaction(received) ?? (await handle(received))
    if (reaction === 'hang') return
    connector.log(`← ${received.method} ${received.path} ${shorten(text)} → ${reaction.status}`)
    const body = reaction.body === undefined ? '' : JSON.stringify(reaction.body)
    response.writeHead(reaction.status, { 'content-type': 'application/json', ...reaction.headers }).end(body)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const connector: AtsConnector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    violations: [],
    react: () => undefined,
    log: () => {},
    async call<Body>(
      method: string,
      path: string,
      authentication: Authentication,
      body: object | undefined,
      format: TSchema,
    ) {
      const sentText = body === undefined ? '' : JSON.stringify(body)
      const response = await fetch(`${serverUrl}/ats/${name}${path}`, {
        method,
        headers: {
          ...(typeof authentication === 'string' ? { authorization: authentication } : authentication(sentText)),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: sentText }),
      })
      const text = await response.text()
      connector.log(`→ ${method} ${path} ${shorten(sentText)} ← ${response.status} ${shorten(text)}`)
      const responseBody = parseBody(text)
      if (response.ok) connector.check(`response to ${method} ${path}`, format, responseBody)
      return { status: response.status, body: (responseBody ?? {}) as CallResult<Body>['body'] }
    },
    async callForTests<Body>(...call: Parameters<AtsConnector['call']>) {
      const { status, body } = await connector.call(...call)
      if (status !== 200) throw new ListRejection(status, body.message)
      return body as Body
    },
    check(subject, format, value) {
      for (const { instancePath, message } of Compile(format).Errors(value))
        connector.violations.push(`${subject}: ${instancePath} ${message}`)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return connector
}

/** Returns a body for a line of the log. Lists of tests can be long, and a call without a body must not look like one whose body is hidden. */
function shorten(text: string): string {
  if (text === '') return '(no body)'
  const characters = [...text]
  if (characters.length <= MAX_LOGGED_CHARACTERS) return text
  return `${characters.slice(0, MAX_LOGGED_CHARACTERS).join('')}… (${characters.length} characters)`
}

/** Rejects requests without a User-Agent, as the firewall before Ashby does. */
function firewallReaction({ headers }: ReceivedCall): Reaction | undefined {
  return headers['user-agent'] ? undefined : { status: 403, body: { message: 'error code: 1010' } }
}

function parseBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function basic(userName: string): string {
  return `Basic ${Buffer.from(`${userName}:`).toString('base64')}`
}

export function newOrder(
  status: number,
  assessmentId: string | undefined,
  message: string | undefined,
): SimulatedOrder {
  return {
    assessmentId,
    status,
    message,
    state: assessmentId === undefined ? 'rejected' : 'ordered',
    result: undefined,
    reports: 0,
  }
}
