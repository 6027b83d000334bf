import { hashOf, type Tokens, wordsOf } from './tokens.ts'

/**
 * What job advertisements say about the job and the application, and some catalogue lists as a skill: in a text these are seldom
 * a skill that is asked for, so they are listed with a low score.
 */
const PHRASES = `
recruitment; hiring; recruiter; bharti; भर्ती; vacancy; salary; वेतन; payslip; payout; incentive; payroll
biodata; बायोडाटा; resume; cv; marksheet; marksheets; interview; साक्षात्कार; job interview; interviewer
police verification; background check; background verification; passport size photo; passport size photos; passport photo; passport photos
hr; cab; staff cab; mediclaim; health insurance; uniform; thekedar; ठेकेदार; attendance; हाजिरी; joining
pf; epf; esi; esic; provident fund; gratuity; पीएफ; ईएसआई; pf and esi; ta da; travel allowance; full and final settlement
training; on the job training; driving licence; notice period; work from home; dress code
`

const phrases: ReadonlySet<number> = new Set(
  PHRASES.split(/[;\n]/)
    .map(wordsOf)
    .filter((words) => words.length > 0)
    .map((words) => words.map(hashOf).reduce(hashTogether)),
)
const LONGEST = 5

/** Whether the words `from` up to `to` are what every advertisement says. */
export function isAdvertisementPhrase({ hashes }: Tokens, from: number, to: number): boolean {
  if (to - from > LONGEST) return false
  let hash = hashes[from]!
  for (let at = from + 1; at < to; at++) hash = hashTogether(hash, hashes[at]!)
  return phrases.has(hash)
}

function hashTogether(hash: number, next: number): number {
  return Math.imul(hash, 0x9e3779b1) ^ next
}
