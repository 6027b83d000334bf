import type { CandidateInput, MandateInput } from '../../api-types/partner.ts'

/** Request bodies of the guided first campaign: the same calls that an integration makes. They are the same in every language. */

export const CAMPAIGN_NAME = 'First campaign'
const WORKFLOW_DESCRIPTION = 'Created by the guided first campaign.'
const JOB_TITLE = 'Electrician'

export const WORKFLOW = {
  name: CAMPAIGN_NAME,
  description: WORKFLOW_DESCRIPTION,
  channels: ['whatsapp', 'sms'],
  languages: ['en', 'hi'],
  follow_ups: [{ after_hours: 24, channel: 'sms' }],
}

export const SKILL_PHRASES = [
  'House wiring',
  'Distribution board wiring',
  'Earthing installation',
  'Switchboard fitting',
  'Cable laying',
]

export function mandateFor(workflowId: string, skills: { skill_id: string; verifiable: boolean }[]): MandateInput {
  let remainingToVerify = 2
  return {
    workflow_id: workflowId,
    title: JOB_TITLE,
    company_name: 'Metro Projects',
    location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
    salary: { min: 18_000, max: 26_000 },
    skills: skills.map(({ skill_id, verifiable }) => ({ skill_id, verify: verifiable && remainingToVerify-- > 0 })),
    enrichment_questions: [
      { key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no' },
      { key: 'start', type: 'voice', text: 'When can you start?', required: false },
    ],
  }
}

/** The test numbers in order, each with its persona. */
export const TEST_CANDIDATES: { name: string; part: string }[] = [
  { name: 'Asha Rao', part: 'passes' },
  { name: 'Imran Khan', part: 'knocked_out' },
  { name: 'Kavita Singh', part: 'fails_skills' },
  { name: 'Suresh Patil', part: 'not_interested' },
  { name: 'Meena Das', part: 'declines' },
  { name: 'Joseph Mathew', part: 'never_answers' },
  { name: 'Farida Begum', part: 'falls_silent' },
  { name: 'Gurpreet Gill', part: 'unreachable' },
  { name: 'Lakshmi Nair', part: 'answers_late' },
  { name: 'Rakesh Yadav', part: 'stops' },
  { name: 'Nikhil Joshi', part: 'inconclusive_skills' },
]

/** External ID of the candidate for whom the user answers. */
export const USER_CANDIDATE_ID = 'you'

export function externalId(index: number): string {
  return `test-${String(index + 1).padStart(2, '0')}`
}

export function testNumber(index: number): string {
  return `+9199900000${String(index + 1).padStart(2, '0')}`
}

/** Returns the test candidates and one for the user. The user's phone number is new each time, because an opt-out is permanent. */
export function candidatesWith(userName: string): CandidateInput[] {
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(7)), (byte) => byte % 10).join('')
  return [
    ...TEST_CANDIDATES.map(({ name }, index) => ({
      external_candidate_id: externalId(index),
      name,
      phone: testNumber(index),
    })),
    { external_candidate_id: USER_CANDIDATE_ID, name: userName.trim() || 'You', phone: `+91987${digits}` }, // the newest is listed first
  ]
}
