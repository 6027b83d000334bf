import type { CandidateInput, MandateInput } from '../shared/records.ts'

/** What the guided page sends: the same calls that an integration makes. */

export const WORKFLOW = {
  name: 'First campaign',
  description: 'Made by the guided first campaign.',
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
  let toVerify = 2
  return {
    workflow_id: workflowId,
    title: 'Electrician',
    company_name: 'Metro Projects',
    location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
    salary: { min: 18_000, max: 26_000 },
    skills: skills.map(({ skill_id, verifiable }) => ({ skill_id, verify: verifiable && toVerify-- > 0 })),
    enrichment_questions: [
      { key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no' },
      { key: 'start', type: 'voice', text: 'When can you start?', required: false },
    ],
  }
}

/** The ten test numbers, in their order, each with the part that it plays. */
export const PEOPLE: { name: string; part: string }[] = [
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
]

export const YOU = 'you'

export function externalId(index: number): string {
  return `test-${String(index + 1).padStart(2, '0')}`
}

export function testNumber(index: number): string {
  return `+9199900000${String(index + 1).padStart(2, '0')}`
}

/** The ten, and a handset for the reader under a number that is new each time: a STOP holds for a number for good. */
export function candidatesWith(reader: string): CandidateInput[] {
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(7)), (byte) => byte % 10).join('')
  return [
    ...PEOPLE.map(({ name }, index) => ({
      external_candidate_id: externalId(index),
      name,
      phone: testNumber(index),
    })),
    { external_candidate_id: YOU, name: reader.trim() || 'You', phone: `+91987${digits}` }, // the newest is listed first
  ]
}
