import type { Mode } from '../access/keys.ts'
import type { AdapterName } from './adapter.ts'
import type { OrderState } from './order-state.ts'
import type { Outcome } from './outcome.ts'

/** One candidate's assessment that an ATS ordered. */
export interface AtsOrder {
  order_id: string
  connection_id: string
  org_id: string
  mode: Mode
  adapter: AdapterName
  key_id: string
  identity: string
  /** Null if the order was rejected because its test is unknown. */
  mandate_id: string | null
  /** Null if the order was rejected. */
  campaign_id: string | null
  candidate_id: string | null
  /** The person of the candidate or, if the order was rejected, the person that it is about. */
  person_id: string | null
  candidate_name: string
  profile_url: string | null
  callback_url: string | null
  consent_basis: string
  state: OrderState
  /** Whether the order is open and its campaign is paused. */
  is_paused: boolean
  outcome: Outcome | null
  reported_version: number | null
  ats_errors: string[] | null
  created_at: Date
  updated_at: Date
}
