import type { Mode } from '../access/keys.ts'
import type { OrderState } from './order.ts'
import type { Outcome } from './outcome.ts'

export const adapterNames = ['greenhouse', 'ashby', 'workable'] as const
export type AdapterName = (typeof adapterNames)[number]

export const reportKinds = ['started', 'paused', 'resumed', 'result', 'cancelled'] as const
export type ReportKind = (typeof reportKinds)[number]

/** The parts of an order that a report needs. */
export interface ReportedOrder {
  order_id: string
  callback_url: string | null
  mode: Mode
  state: OrderState
  /** Whether the candidate is not contacted at the moment, because the campaign is paused. */
  is_paused: boolean
  /** Null before the end. */
  outcome: Outcome | null
}

/** Values that are known only when a report is sent. */
export interface ReportContext {
  kind: ReportKind
  /** Base URL of the ATS's API, without a slash at the end. */
  apiUrl: string
  /** The credential for calls to the ATS: the one that it issued or, if it expects that, the ATS key. */
  credential: string
  /** Signed link to the report page. */
  reportUrl: string
  /** Milliseconds since 1970; greater than that of every earlier report of the order. */
  timestampMs: number
}

/** A call to the ATS. */
export interface ReportRequest {
  method: 'PATCH' | 'POST' | 'PUT'
  url: string
  authorization: string
  /** Sent as JSON; no body if undefined. */
  body?: object | undefined
}

/** The properties that are specific to an ATS: its hosts, its credential and the format of reports. The routes of an adapter are in its folder. */
export interface AtsAdapter {
  name: AdapterName
  /** The name in texts, such as "Greenhouse". */
  title: string
  /** Domains that reports may be sent to, with their subdomains. */
  domains: readonly string[]
  /** Base URL of the ATS's API; undefined if reports are sent to the callback URL of the order. */
  defaultApiUrl?: string
  /**
   * The credential that the customer gets from the ATS and enters in Attestry. Undefined if the ATS expects its ATS key in the calls
   * that it receives; the key is then stored sealed.
   */
  credential?: { label: string; help: string }
  /** The addresses that the ATS is given, as paths below `/ats/NAME`, with the names that its documentation uses. */
  endpoints: readonly { name: string; path: string }[]
  /** The reports that the ATS understands. */
  reports: ReadonlySet<ReportKind>
  /** Whether the same identity may be ordered again after the end of the first order. */
  allowsReorder: boolean
  buildReport(order: ReportedOrder, context: ReportContext): ReportRequest
  /** Returns what the ATS reads about an order with a call of its own. Undefined if its reports contain the result. */
  buildStatus?(order: ReportedOrder, reportUrl: string): object
  /** Returns why the ATS rejected a report although it responded with a 2xx status. `text` may be cut off. */
  findRejection?(text: string): string | undefined
}

/** The status that recruiters see in the ATS while the campaign of an order is paused. */
export const PAUSED_TEXT =
  'Waiting: the campaign is paused in Attestry. It continues when a recruiter resumes the campaign there.'

export function basicAuthorization(userName: string): string {
  return `Basic ${Buffer.from(`${userName}:`).toString('base64')}`
}
