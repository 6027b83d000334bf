/** What a pattern of the API means, for those who do not read patterns. */
const MEANINGS: Record<string, string> = {
  email: 'a mail address',
  external_candidate_id: 'letters, digits and . _ : - only',
  job_id: 'letters, digits and . _ : - only',
  key: 'letters, digits and . _ - only',
  pincode: 'six digits',
}

const NO_PHONE = 'not a phone number; write +91 and ten digits'

/** The API's own words, with what they mean where they are a pattern. */
export function explained(path: string, message: string): string {
  const field = path.split('.').at(-1) ?? ''
  if (field === 'phone' && /^must (match|be in E\.164)/.test(message)) return NO_PHONE
  const meaning = MEANINGS[field]
  return meaning && message.startsWith('must match') ? `${meaning} (${message})` : message
}
