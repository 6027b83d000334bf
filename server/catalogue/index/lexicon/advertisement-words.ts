import { hashOf, type Tokens, wordsOf } from '../text/tokens.ts'

/**
 * What job advertisements say about the job and the application, and some catalogue lists as a skill. Some of it may be the
 * work itself, seldom: it is listed with a low score. The rest never is.
 */
const SELDOM = `
recruitment; hiring; recruiter; payroll; interview; साक्षात्कार; job interview; interviewer; hr; attendance; हाजिरी
police verification; background check; background verification; passport size photo; passport size photos; passport photo; passport photos
pf; epf; esi; esic; provident fund; gratuity; पीएफ; ईएसआई; pf and esi; ta da; travel allowance; full and final settlement
training; on the job training; driving licence; thekedar; ठेकेदार; reimbursement; health insurance; mediclaim; pension
`
const NEVER = `
bharti; भर्ती; vacancy; salary; वेतन; payslip; payout; weekly payout; daily payout; incentive; biodata; बायोडाटा; resume; cv
curriculum vitae; cover letter; marksheet; marksheets; cab; staff cab; uniform; joining; notice period; work from home; home office; dress code
application process; application procedure; application form; work life balance; working environment; work environment
job description; personal development; personal growth; career development; your career; company car; relocation
parental leave; maternity leave; equal opportunities
`

/** What a phrase is to an advertisement: nothing, SELDOM_WORK or NEVER_WORK. */
export const SELDOM_WORK = 1
export const NEVER_WORK = 2

const kinds: ReadonlyMap<number, number> = new Map([
  ...hashesOf(SELDOM).map((hash): [number, number] => [hash, SELDOM_WORK]),
  ...hashesOf(NEVER).map((hash): [number, number] => [hash, NEVER_WORK]),
])
const LONGEST = 5

/** "Immediate joiner" is who can begin at once, and no carpenter. */
const SOON: ReadonlySet<number> = new Set(['immediate', 'early', 'quick', 'urgent'].map(hashOf))
const JOINERS: ReadonlySet<number> = new Set(['joiner', 'joiners'].map(hashOf))

/** Whether the words `from` up to `to` are what every advertisement says. */
export function advertisementKind({ hashes }: Tokens, from: number, to: number): number {
  if (to - from > LONGEST) return 0
  if (to - from === 1 && from > 0 && SOON.has(hashes[from - 1]!) && JOINERS.has(hashes[from]!)) return NEVER_WORK
  let hash = hashes[from]!
  for (let at = from + 1; at < to; at++) hash = hashTogether(hash, hashes[at]!)
  return kinds.get(hash) ?? 0
}

function hashesOf(phrases: string): number[] {
  return phrases
    .split(/[;\n]/)
    .map(wordsOf)
    .filter((words) => words.length > 0)
    .map((words) => words.map(hashOf).reduce(hashTogether))
}

function hashTogether(hash: number, next: number): number {
  return Math.imul(hash, 0x9e3779b1) ^ next
}
