import { sql } from 'kysely'
import { type ResultCandidacy, selectCandidacies } from '../../campaigns/candidacy.ts'
import { stageBit } from '../../campaigns/stages.ts'
import type { Queries } from '../../platform/database/database.ts'
import { resultOutput } from '../../results/record.ts'
import type { AccountLanguage } from '../auth/account-language.ts'
import type { Notification } from './notifications.ts'
import { RESULT_TEXTS, type ResultTexts } from './result-texts.ts'
import { typeOfCompleted } from './sources.ts'

/** The verdict on one candidate in words, with the path of the console page of the result. */
export interface ResultLine {
  text: string
  path: string
}

/** Undecided candidates and those who are not qualified are told apart after the query, among this many results. */
const MAX_EXAMINED = 200

/**
 * Describes the latest results that a notification counts, newest first, without the names of the candidates. People who did not finish
 * have no verdict. Results of restricted and erased people are omitted.
 */
export async function describeLatestResults(
  queries: Queries,
  { notification_id, type, subject }: Pick<Notification, 'notification_id' | 'type' | 'subject'>,
  limit: number,
  language: AccountLanguage,
): Promise<ResultLine[]> {
  if (type !== 'candidates_qualified' && type !== 'candidates_undecided' && type !== 'candidates_ended') return []
  const isQualified = sql`(p.stages & ${stageBit('qualified')}) <> 0`
  const candidacies = await selectCandidacies(
    queries,
    sql`p.campaign_id = ${subject} and p.status = 'completed' and ${type === 'candidates_qualified' ? isQualified : sql`not ${isQualified}`}
      and (p.completed_at at time zone 'Asia/Kolkata')::date = (
        select n.day from notifications n where n.notification_id = ${notification_id})
      and exists (
        select from candidates c join people o on o.person_id = c.person_id
        where c.candidate_id = p.candidate_id and o.restricted_at is null and o.erased_at is null)`,
    sql`order by p.completed_at desc, p.candidate_id desc limit ${MAX_EXAMINED}`,
  )
  return candidacies
    .filter((candidacy) => typeOfCompleted(resultOutput(candidacy).qualified) === type)
    .slice(0, limit)
    .map((candidacy) => ({
      text: describeResult(candidacy, RESULT_TEXTS[language]),
      path: `/results/${candidacy.result_id}`,
    }))
}

/** Returns the verdict with its evidence, such as "Qualified: Arc welding verified (6 of 7 correct, 97 % certain)". */
function describeResult(candidacy: ResultCandidacy, texts: ResultTexts): string {
  const output = resultOutput(candidacy)
  const knockouts = output.reasons.filter(({ kind }) => kind === 'knockout' || kind === 'knockout_skipped')
  const skills = (output.skills ?? []).filter((skill) => skill.verdict !== 'not_asked')
  const parts = [
    ...(knockouts.length > 0 || skills.length === 0 ? texts.reasons({ ...output, reasons: knockouts }) : []),
    ...skills.map(texts.skill),
  ]
  return `${texts.qualified(output.qualified)}${parts.length > 0 ? `: ${parts.join('; ')}` : ''}`
}
