import {
  type DescribedOutput,
  describeQualified,
  describeReasons,
  describeVerdict,
} from '../../../sdk/verdict-texts.ts'
import type { AccountLanguage } from '../auth/account-language.ts'

type Skill = NonNullable<DescribedOutput['skills']>[number]

/** Texts of verdicts in emails. The console has the same texts in web/console/results/ and web/translations/. */
export interface ResultTexts {
  qualified: (qualified: boolean | null) => string
  /** The reasons of a result that concern questions, or why nothing was decided. */
  reasons: (output: DescribedOutput) => string[]
  /** The verdict on a skill with its evidence. */
  skill: (skill: Skill) => string
}

export const RESULT_TEXTS: Record<AccountLanguage, ResultTexts> = {
  en: {
    qualified(qualified) {
      const verdict = describeQualified(qualified)
      return `${verdict[0]!.toUpperCase()}${verdict.slice(1)}`
    },
    reasons: (output) => describeReasons(output),
    skill: describeVerdict,
  },
  hi: {
    qualified(qualified) {
      if (qualified === null) return 'तय नहीं'
      return qualified ? 'योग्य' : 'योग्य नहीं'
    },
    reasons({ qualified, reasons, enrichment = {} }) {
      if (qualified === null && reasons.length === 0) return ['कोई कौशल नहीं जाँचा गया']
      return reasons.map(({ kind, key = '' }) => {
        if (kind === 'knockout_skipped') return `${key} का जवाब नहीं दिया`
        const answer = enrichment[key]?.answer
        return answer === undefined
          ? `${key} का नॉकआउट जवाब दिया`
          : `${key} का जवाब: ${HINDI_ANSWERS[answer] ?? answer}`
      })
    },
    skill: (skill) => `${skill.name} ${HINDI_VERDICTS[skill.verdict]} (${hindiEvidence(skill)})`,
  },
}

const HINDI_ANSWERS: Record<string, string> = { yes: 'हाँ', no: 'नहीं' }

const HINDI_VERDICTS: Record<Skill['verdict'], string> = {
  verified: 'सत्यापित',
  not_verified: 'सत्यापित नहीं',
  inconclusive: 'अनिर्णायक',
  not_asked: 'नहीं पूछा गया',
}

function hindiEvidence({ verdict, correct, asked, confidence }: Skill): string {
  const count = `${asked} में से ${correct} सही`
  // Rounded down, as in English.
  return verdict === 'inconclusive' || confidence === null
    ? count
    : `${count}, ${Math.floor(Math.round(confidence * 1000) / 10)} % निश्चित`
}
