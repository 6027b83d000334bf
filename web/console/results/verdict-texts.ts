import type { EnrichmentAnswer, ResultOutput, VerdictEvidence, VerifiedSkill } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'

/** Describes verdicts in the user's language. The English texts are those of the CSV export. */

type SkillVerdict = Pick<VerifiedSkill, 'skill_id' | 'name' | 'verdict' | 'correct' | 'asked' | 'confidence'>

/** The parts of a result's output that explain whether the candidate is qualified. */
export interface DescribedOutput extends Pick<ResultOutput, 'qualified' | 'reasons'> {
  enrichment?: Record<string, Pick<EnrichmentAnswer, 'answer'>> | undefined
  skills?: SkillVerdict[] | undefined
}

const languageNames = new Intl.DisplayNames(displayLocale() ?? 'en', { type: 'language' })

/** Returns what a verdict on a skill is based on, such as "6 of 7 correct, 97 % certain". */
export function describeEvidence({
  verdict,
  correct,
  asked,
  confidence,
}: Pick<SkillVerdict, 'verdict' | 'correct' | 'asked' | 'confidence'>): string {
  if (asked === 0) return t('not asked')
  if (verdict === 'not_asked') return t('{correct} of {asked} correct so far', { correct, asked })
  if (verdict === 'inconclusive') return t('not enough evidence ({correct} of {asked} correct)', { correct, asked })
  if (confidence === null) return t('{correct} of {asked} correct', { correct, asked })
  return t('{correct} of {asked} correct, {percent} certain', { correct, asked, percent: percentText(confidence) })
}

const SOURCE_TEXTS: Record<VerdictEvidence['item_source'], string> = {
  bank: t('public questions'),
  private: t('your own questions'),
  ai: t('AI questions'),
}

/** Returns how a skill was asked about, such as "public questions, asked in Hindi, median time 14 s". */
export function describeQuestions({
  item_source,
  language,
  items,
  unpiloted_items,
  median_seconds,
}: VerdictEvidence): string {
  const parts = [SOURCE_TEXTS[item_source]]
  if (unpiloted_items > 0)
    parts.push(
      unpiloted_items === items
        ? t('still being tried out')
        : t('{unpiloted} of {items} still being tried out', { unpiloted: unpiloted_items, items }),
    )
  parts.push(t('asked in {language}', { language: languageNames.of(language) ?? language }))
  if (median_seconds !== null) parts.push(t('median time {seconds} s', { seconds: median_seconds }))
  return parts.join(', ')
}

interface ReasonOptions {
  /** Returns the text of an enrichment question. Without a text, the key of the question is shown. */
  questionText: (key: string) => string | undefined
  /** Whether the evidence is added: "Arc welding not verified (1 of 5 correct, 97 % certain)". */
  withEvidence?: boolean
}

/**
 * Returns the reasons why a candidate with a completed result is not qualified or undecided, such as "Arc welding not verified" and
 * "answered no to “Do you have a licence?”". Empty if the candidate is qualified.
 */
export function describeReasons(
  { qualified, reasons, enrichment = {}, skills = [] }: DescribedOutput,
  { questionText, withEvidence = false }: ReasonOptions,
): string[] {
  if (qualified === null && reasons.length === 0) return [t('no skill was checked')]
  return reasons.map(({ kind, key = '', skill_id = '' }) => {
    if (kind === 'knockout' || kind === 'knockout_skipped') {
      const text = questionText(key)
      const question = text ? `“${text}”` : key
      if (kind === 'knockout_skipped') return t('skipped {question}', { question })
      const answer = enrichment[key]?.answer
      return answer === undefined
        ? t('answered with a knockout answer to {question}', { question })
        : t('answered {answer} to {question}', { answer: answerText(answer), question })
    }
    const skill = skills.find((each) => each.skill_id === skill_id)
    const name = skill?.name ?? skill_id
    const isInconclusive = kind !== 'skill_not_verified'
    return skill && withEvidence
      ? t(isInconclusive ? '{skill} inconclusive ({evidence})' : '{skill} not verified ({evidence})', {
          skill: name,
          evidence: shortEvidence(skill),
        })
      : t(isInconclusive ? '{skill} inconclusive' : '{skill} not verified', { skill: name })
  })
}

/** Returns the evidence without "not enough evidence", which "inconclusive" says already. */
function shortEvidence(skill: SkillVerdict): string {
  const { verdict, correct, asked } = skill
  return verdict === 'inconclusive' ? t('{correct} of {asked} correct', { correct, asked }) : describeEvidence(skill)
}

/** Returns an answer; those to yes/no questions in the user's language. */
export function answerText(answer: string): string {
  if (answer === 'yes') return t('yes')
  return answer === 'no' ? t('no') : answer
}

/** Rounds down, so that neither the required certainty nor 100 % is claimed without being reached. */
function percentText(confidence: number): string {
  return `${Math.floor(Math.round(confidence * 1000) / 10)} %`
}

/** Returns how many skills are verified and how certain that is, such as "2 of 2 skills verified, at least 97 % certain". */
export function describeVerifiedSkills(skills: SkillVerdict[]): string {
  const verified = skills.filter(({ verdict }) => verdict === 'verified')
  const confidences = verified.flatMap(({ confidence }) => confidence ?? [])
  const counts = { verified: verified.length, total: skills.length }
  if (confidences.length === 0 || confidences.length < verified.length)
    return t(
      skills.length === 1 ? '{verified} of {total} skill verified' : '{verified} of {total} skills verified',
      counts,
    )
  return t(
    skills.length === 1
      ? '{verified} of {total} skill verified, {percent} certain'
      : verified.length > 1
        ? '{verified} of {total} skills verified, at least {percent} certain'
        : '{verified} of {total} skills verified, {percent} certain',
    { ...counts, percent: percentText(Math.min(...confidences)) },
  )
}
