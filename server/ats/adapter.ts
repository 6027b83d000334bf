import type { IncomingHttpHeaders } from 'node:http'
import type { Mode } from '../access/keys.ts'
import type { OrderState } from './order-state.ts'
import type { Outcome } from './outcome.ts'

export const adapterNames = ['greenhouse', 'ashby', 'workable', 'kombo'] as const
export type AdapterName = (typeof adapterNames)[number]

export const reportKinds = ['started', 'paused', 'resumed', 'result', 'cancelled'] as const
export type ReportKind = (typeof reportKinds)[number]

/**
 * The values that an ATS can issue: `token` authenticates our calls, `account_id` names the customer's account in them, and with
 * `signing_secret` the ATS signs its own calls.
 */
export const credentialNames = ['token', 'account_id', 'signing_secret'] as const
export type CredentialName = (typeof credentialNames)[number]

/** A value that the customer gets from the ATS and enters in Attestry. */
interface CredentialField {
  name: CredentialName
  label: string
  help: string
  /** Whether it can be entered after the connection was created. */
  isLater?: boolean
}

/** A mandate as recruiters choose it in the ATS. */
export interface AtsTest {
  id: string
  name: string
  description: string
}

/** The parts of an order that a report needs. */
export interface ReportedOrder {
  order_id: string
  /** The ATS's own ID of the order. */
  identity: string
  callback_url: string | null
  mode: Mode
  state: OrderState
  /** Whether the candidate is not contacted at the moment, because the campaign is paused. */
  is_paused: boolean
  /** Null before the end. */
  outcome: Outcome | null
}

/** Base URL and credentials of a call to the ATS. */
export interface CallContext {
  /** Base URL of the ATS's API, without a slash at the end. */
  apiUrl: string
  /** The token that the ATS issued or, if it issues none, the ATS key. */
  credential: string
  /** Empty if the ATS issues none. */
  accountId: string
}

/** Values that are known only when a report is sent. */
export interface ReportContext extends CallContext {
  kind: ReportKind
  /** Signed link to the report page. */
  reportUrl: string
  /** Milliseconds since 1970; greater than that of every earlier report of the order. */
  timestampMs: number
}

/** A call to the ATS. */
export interface AtsRequest {
  method: 'PATCH' | 'POST' | 'PUT'
  url: string
  authorization: string
  headers?: Record<string, string>
  /** Sent as JSON; no body if undefined. */
  body?: object | undefined
}

/** The properties that are specific to an ATS: its hosts, its credentials and the format of reports. The routes of an adapter are in its folder. */
export interface AtsAdapter {
  name: AdapterName
  /** The name in texts, such as "Greenhouse". */
  title: string
  /** Domains that calls may be sent to, with their subdomains. */
  domains: readonly string[]
  /** Default base URL of the ATS's API, and a hint about when to enter another one. Undefined if reports are sent to the callback URL of the order. */
  apiUrl?: { default: string; help: string }
  /** Without a `token`, the ATS expects its ATS key in the calls that it receives; the key is then stored sealed. */
  credentials: readonly CredentialField[]
  /**
   * The addresses that the ATS is given, as paths below `/ats/NAME`, with the names that its documentation uses. `:connection_id` is replaced
   * with that of the connection.
   */
  endpoints: readonly { name: string; path: string }[]
  /** The reports that the ATS understands. */
  reports: ReadonlySet<ReportKind>
  /** Whether the same identity may be ordered again after the end of the first order. */
  allowsReorder: boolean
  buildReport(order: ReportedOrder, context: ReportContext): AtsRequest
  /** Returns what the ATS reads about an order with a call of its own. Undefined if its reports contain the result. */
  buildStatus?(order: ReportedOrder, reportUrl: string): object
  /** Returns the call that sends the list of tests. Undefined if the ATS calls Attestry for it. */
  buildTestList?(tests: AtsTest[], context: CallContext): AtsRequest
  /** Checks a call of an ATS that signs its calls. Undefined if it sends its ATS key. */
  verifySignature?(body: Buffer, headers: IncomingHttpHeaders, secret: string): boolean
  /** Returns why the ATS rejected a call although it responded with a 2xx status. `text` may be cut off. */
  findRejection?(text: string): string | undefined
}

/** Whether the ATS expects its own ATS key in the calls that it receives. */
export function expectsKey({ credentials }: AtsAdapter): boolean {
  return credentials.every(({ name }) => name !== 'token')
}

/** The status that recruiters see in the ATS while the campaign of an order is paused. */
export const PAUSED_TEXT =
  'Waiting: the campaign is paused in Attestry. It continues when a recruiter resumes the campaign there.'

export function basicAuthorization(userName: string): string {
  return `Basic ${Buffer.from(`${userName}:`).toString('base64')}`
}
