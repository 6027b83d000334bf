import type { EnrichmentAnswer, ResultOutput, VerdictEvidence, VerifiedSkill } from './types.ts'

/** Describes verdicts in English, in the words that the console and the CSV export use. */

type SkillVerdict = Pick<VerifiedSkill, 'skill_id' | 'name' | 'verdict' | 'correct' | 'asked' | 'confidence'>

/** The parts of a result's output that explain whether the candidate is qualified. */
export interface DescribedOutput extends Pick<ResultOutput, 'qualified' | 'reasons'> {
  enrichment?: Record<string, Pick<EnrichmentAnswer, 'answer'>> | undefined
  skills?: SkillVerdict[] | undefined
}

/** Returns what a verdict on a skill is based on, such as "6 of 7 correct, 97 % certain". */
export function describeEvidence({
  verdict,
  correct,
  asked,
  confidence,
}: Omit<SkillVerdict, 'skill_id' | 'name'>): string {
  if (asked === 0) return 'not asked'
  const count = `${correct} of ${asked} correct`
  if (verdict === 'not_asked') return `${count} so far`
  if (verdict === 'inconclusive') return `not enough evidence (${count})`
  return confidence === null ? count : `${count}, ${percentText(confidence)} certain`
}

const SOURCE_TEXTS = {
  bank: 'public questions',
  private: 'your own questions',
  ai: 'AI questions',
} as const satisfies Record<VerdictEvidence['item_source'], string>

/** Returns where the questions about a skill come from, such as "public questions". */
export function describeItemSource(source: VerdictEvidence['item_source']): string {
  return SOURCE_TEXTS[source]
}

/** Returns how a skill was asked about, such as "public questions, asked in Hindi, median time 14 s". */
export function describeQuestions({
  item_source,
  language,
  items,
  unpiloted_items,
  median_seconds,
}: VerdictEvidence): string {
  const languageName = new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language
  const parts = [describeItemSource(item_source)]
  if (unpiloted_items > 0) parts.push(describeUnpiloted(unpiloted_items, items))
  parts.push(`asked in ${languageName}`)
  if (median_seconds !== null) parts.push(`median time ${median_seconds} s`)
  return parts.join(', ')
}

/** Returns how many questions are new, such as "3 of 5 still being tried out". Their answers weigh less. */
function describeUnpiloted(unpiloted: number, items: number): string {
  return unpiloted === items ? 'still being tried out' : `${unpiloted} of ${items} still being tried out`
}

/** Returns whether a candidate with a completed result is qualified. */
export function describeQualified(qualified: boolean | null): 'qualified' | 'not qualified' | 'undecided' {
  if (qualified === null) return 'undecided'
  return qualified ? 'qualified' : 'not qualified'
}

export interface ReasonOptions {
  /** Returns the text of an enrichment question. Without a text, the key of the question is shown. */
  questionText?: ((key: string) => string | undefined) | undefined
  /** Whether the evidence is added: "Arc welding not verified (1 of 5 correct, 97 % certain)". */
  withEvidence?: boolean | undefined
}

/**
 * Returns the reasons why a candidate with a completed result is not qualified or undecided, such as "Arc welding not verified" and
 * "answered no to “Do you have a licence?”". Empty if the candidate is qualified.
 */
export function describeReasons(
  { qualified, reasons, enrichment = {}, skills = [] }: DescribedOutput,
  { questionText, withEvidence = false }: ReasonOptions = {},
): string[] {
  if (qualified === null && reasons.length === 0) return ['no skill was checked']
  return reasons.map(({ kind, key = '', skill_id = '' }) => {
    if (kind === 'knockout' || kind === 'knockout_skipped') {
      const text = questionText?.(key)
      const question = text ? `“${text}”` : key
      if (kind === 'knockout_skipped') return `skipped ${question}`
      return `answered ${enrichment[key]?.answer ?? 'with a knockout answer'} to ${question}`
    }
    const skill = skills.find((each) => each.skill_id === skill_id)
    if (skill && withEvidence) return describeVerdict(skill)
    return `${skill?.name ?? skill_id} ${kind === 'skill_not_verified' ? 'not verified' : 'inconclusive'}`
  })
}

/** Returns the verdict on a skill and its evidence, such as "Arc welding verified (6 of 7 correct, 97 % certain)". */
export function describeVerdict(skill: SkillVerdict): string {
  return `${skill.name} ${skill.verdict.replace('_', ' ')} (${shortEvidence(skill)})`
}

/** Returns the evidence without "not enough evidence", which "inconclusive" says already. */
function shortEvidence(skill: SkillVerdict): string {
  return skill.verdict === 'inconclusive' ? `${skill.correct} of ${skill.asked} correct` : describeEvidence(skill)
}

/** Rounds down, so that neither the required certainty nor 100 % is claimed without being reached. */
function percentText(confidence: number): string {
  return `${Math.floor(Math.round(confidence * 1000) / 10)} %`
}

/** Returns how many skills are verified and how certain that is, such as "2 of 2 skills verified, at least 97 % certain". */
export function describeVerifiedSkills(skills: SkillVerdict[]): string {
  const verified = skills.filter(({ verdict }) => verdict === 'verified')
  const count = `${verified.length} of ${skills.length} ${skills.length === 1 ? 'skill' : 'skills'} verified`
  const confidences = verified.flatMap(({ confidence }) => confidence ?? [])
  if (confidences.length === 0 || confidences.length < verified.length) return count
  return `${count}, ${verified.length > 1 ? 'at least ' : ''}${percentText(Math.min(...confidences))} certain`
}
