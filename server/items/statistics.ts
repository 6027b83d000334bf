import { sql } from 'kysely'
import {
  abilityGroups,
  compareGroups,
  describeItem,
  type ItemResponse,
  KEY_OPTION,
} from '../measurement/item-statistics.ts'
import type { Queries } from '../platform/database/database.ts'

/** The statistics of an item as they are stored and returned. Shares are between 0 and 1. */
export interface StoredStatistics {
  /** Number of responses that the statistics are based on: the newest, up to a limit. */
  responses: number
  correct_share: number
  discrimination: number
  author_difficulty: number
  estimated_difficulty: number
  median_seconds: number | null
  /** How often each option was chosen: -1 is the key, other numbers are distractors, null is no answer. */
  options: { option: number | null; responses: number; mean_ability: number }[]
  /** Five groups of people, from the least to the most able. */
  ability_groups: { responses: number; mean_ability: number; correct_share: number }[]
  /** Consecutive responses, oldest first. */
  trend: { first_day: string; last_day: string; responses: number; correct_share: number }[]
  languages: {
    language: string
    responses: number
    correct_share: number
    /** How much larger the share of correct responses is than in English at equal ability. */
    difference: number | null
    standard_error: number | null
  }[]
}

export interface ResponseRow extends ItemResponse {
  responseId: number
  language: string
  day: string
}

/** Only the newest responses count, so that statistics follow changes. */
const MAX_RESPONSES = 2000

/** Returns the newest LIVE responses to an item in the order of time. */
export async function loadResponses(queries: Queries, itemId: string): Promise<ResponseRow[]> {
  const { rows } = await sql<{
    response_id: number
    option: number | null
    is_correct: boolean
    rest_ability: number
    seconds: number | null
    language: string
    day: string
  }>`select response_id, option, is_correct, rest_ability, seconds, language, day::text as day from item_responses
    where item_id = ${itemId} and mode = 'live' order by response_id desc limit ${MAX_RESPONSES}`.execute(queries)
  return rows.reverse().map((row) => ({
    responseId: row.response_id,
    isCorrect: row.is_correct,
    option: row.is_correct ? KEY_OPTION : row.option === null ? NO_ANSWER : String(row.option),
    restAbility: row.rest_ability,
    seconds: row.seconds ?? undefined,
    language: row.language,
    day: row.day,
  }))
}

const NO_ANSWER = 'none'

export function computeStatistics(responses: readonly ResponseRow[], authorDifficulty: number): StoredStatistics {
  const { count, correctShare, discrimination, difficulty, medianSeconds, options } = describeItem(
    responses,
    authorDifficulty,
  )
  return {
    responses: count,
    correct_share: round(correctShare),
    discrimination: round(discrimination),
    author_difficulty: authorDifficulty,
    estimated_difficulty: round(difficulty),
    median_seconds: medianSeconds === undefined ? null : round(medianSeconds),
    options: options.map(({ option, count: chosen, meanAbility }) => ({
      option: option === KEY_OPTION ? -1 : option === NO_ANSWER ? null : Number(option),
      responses: chosen,
      mean_ability: round(meanAbility),
    })),
    ability_groups: abilityGroups(responses).map((group) => ({
      responses: group.count,
      mean_ability: round(group.meanAbility),
      correct_share: round(group.correctShare),
    })),
    trend: trendOf(responses),
    languages: languagesOf(responses),
  }
}

const MAX_TREND_POINTS = 12
const MIN_RESPONSES_PER_POINT = 20

/** Divides the responses into parts of equal size, so that all points of the trend are equally certain. */
function trendOf(responses: readonly ResponseRow[]): StoredStatistics['trend'] {
  const pointCount = Math.min(MAX_TREND_POINTS, Math.floor(responses.length / MIN_RESPONSES_PER_POINT))
  return Array.from({ length: pointCount }, (_, index) => {
    const part = responses.slice(
      Math.round((index * responses.length) / pointCount),
      Math.round(((index + 1) * responses.length) / pointCount),
    )
    return {
      first_day: part[0]!.day,
      last_day: part.at(-1)!.day,
      responses: part.length,
      correct_share: round(shareOf(part)),
    }
  })
}

/** With fewer responses in a language, the comparison with English is not meaningful. */
const MIN_RESPONSES_TO_COMPARE = 30

function languagesOf(responses: readonly ResponseRow[]): StoredStatistics['languages'] {
  const byLanguage = Map.groupBy(responses, ({ language }) => language)
  const english = byLanguage.get('en') ?? []
  return [...byLanguage]
    .map(([language, group]) => {
      const isComparable = language !== 'en' && Math.min(english.length, group.length) >= MIN_RESPONSES_TO_COMPARE
      const compared = isComparable ? compareGroups(english, group) : undefined
      return {
        language,
        responses: group.length,
        correct_share: round(shareOf(group)),
        difference: compared ? round(compared.difference) : null,
        standard_error: compared ? round(compared.standardError) : null,
      }
    })
    .sort((first, second) => second.responses - first.responses)
}

function shareOf(responses: readonly ItemResponse[]): number {
  return responses.filter(({ isCorrect }) => isCorrect).length / responses.length
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
