/** What the API answers, as the console's pages read it. */

export type Channel = 'whatsapp' | 'voice' | 'sms' | 'email'
export type Method = 'data_enrichment' | 'skill_verification' | 'interest_collection'
export type CreatedVia = 'api' | 'playground'

export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

export interface Workflow {
  workflow_id: string
  name: string
  description?: string
  default_methods: Method[]
  channels: Channel[]
  languages: string[]
  follow_ups: { after_hours: number; channel: Channel }[]
  created_via: CreatedVia
  status: 'active' | 'archived'
  mandates: number
  created_at: string
  updated_at: string
}

export type MandateSkill = { skill_id: string; verify?: boolean } | { name: string; pending: true }

export interface Question {
  key: string
  type: 'yes_no' | 'voice'
  text: string
  knockout?: 'yes' | 'no'
  required?: boolean
}

/** What is sent to make or replace a mandate. */
export interface MandateInput {
  workflow_id: string
  title: string
  company_name: string
  job_id?: string
  location_type?: 'india' | 'abroad'
  location?: { city: string; state?: string; pincode?: string }
  countries?: string[]
  experience?: { min_years?: number; max_years?: number }
  openings?: number
  salary?: { min?: number; max?: number; currency?: string; period?: string }
  description?: string
  shift?: string
  employment_type?: string
  owner?: { external_user_id: string; name?: string }
  methods?: Method[]
  skills: MandateSkill[]
  enrichment_questions?: Question[]
  interest_collection?: { other_roles?: string[] }
}

type InLanguages<T> = Record<string, T>

export interface PreparedQuestions {
  enrichment: { key: string; type: 'yes_no' | 'voice'; required: boolean; text: InLanguages<string> }[]
  skills: {
    skill_id: string
    name: string
    items: { difficulty: number; stem: InLanguages<string>; options: InLanguages<string[]> }[]
  }[]
  interest: boolean
}

export interface Mandate extends Omit<MandateInput, 'job_id' | 'methods'> {
  mandate_id: string
  job_id: string | null
  status: 'preparing' | 'ready' | 'failed' | 'archived'
  flow_version: number
  methods: Method[]
  warnings: string[]
  created_via: CreatedVia
  failure: string | null
  questions: PreparedQuestions | null
  created_at: string
  updated_at: string
}

export type ResultStatus = 'pending' | 'completed' | 'declined' | 'failed'

export interface Campaign {
  campaign_id: string
  created_via: CreatedVia
  mandate_id: string
  job_id: string | null
  name?: string
  status: 'scheduled' | 'running' | 'paused' | 'completed' | 'archived'
  counts: { candidates: number; pending: number; completed: number; declined: number; failed: number }
  flow_version: number
  starts_at: string
  created_at: string
  updated_at: string
  completed_at: string | null
}

export interface Enrolment {
  accepted: number
  duplicates: number
  credits_spent: number
  credits_left: number
}

export interface CandidateInput {
  external_candidate_id: string
  name: string
  phone?: string
  email?: string
  language?: string
  metadata?: Record<string, string>
}

export interface Result {
  result_id: string
  campaign_id: string
  mandate_id: string
  job_id: string | null
  candidate: {
    candidate_id: string
    external_candidate_id: string
    name: string
    metadata: Record<string, string>
  }
  status: ResultStatus
  reason: string | null
  output: {
    qualified: boolean | null
    enrichment?: Record<string, { type: 'yes_no' | 'voice'; answer: string; knocked_out: boolean }>
    skills?: {
      skill_id: string
      name: string
      verdict: 'verified' | 'not_verified' | 'not_asked'
      correct: number
      asked: number
    }[]
    interest?: 'interested' | 'not_interested' | null
    language: string
    channel: string | null
  }
  flow_version: number
  created_at: string
  started_at: string | null
  completed_at: string | null
  updated_at: string
}

/** Somebody in the list behind a number of the analytics. */
export interface CountedCandidate {
  candidate_id: string
  campaign_id: string
  result_id: string
  name: string
  external_candidate_id: string
  status: ResultStatus
  reason: string | null
  qualified: boolean | null
  knocked_out_by: { key: string; question: string } | null
  skills?: Pick<NonNullable<Result['output']['skills']>[number], 'skill_id' | 'name' | 'verdict'>[]
  interest?: Result['output']['interest']
  times: number
}

/** A result with the ways to reach its candidate. */
export interface Person extends Result {
  candidate: Result['candidate'] & { phone: string | null; email: string | null }
}

export interface Part {
  step: number
  kind: 'notice' | 'yes_no' | 'choices' | 'words'
  text: string
  choices: { value: string; label: string }[]
}

export type Place = Channel | 'page'

export interface Message {
  message_id: string
  direction: 'in' | 'out'
  channel: Place
  state: string
  contact_step: number | null
  step: number | null
  parts: Part[]
  /** What the candidate said; of a text message or mail, what it says word for word. */
  text: string
  error: string | null
  at: string
}

export interface Candidate {
  candidate_id: string
  campaign_id: string
  mandate_id: string
  result_id: string
  external_candidate_id: string
  name: string
  phone: string | null
  email: string | null
  metadata: Record<string, string>
  part: string | null
  status: ResultStatus
  reason: string | null
  language: string
  channel: Channel | null
  contact_step: number | null
  flow_version: number
  link: string | null
  started_at: string | null
  completed_at: string | null
  updated_at: string
  asking: Part[]
  next_contact_at: string | null
  messages: Message[]
}

export interface Handset {
  candidate_id: string
  campaign_id: string
  campaign_name: string | null
  external_candidate_id: string
  name: string
  phone: string | null
  email: string | null
  part: string | null
  status: ResultStatus
  reason: string | null
  result_id: string
  last: { direction: 'in' | 'out'; channel: string; text: string; at: string } | null
  updated_at: string
}
