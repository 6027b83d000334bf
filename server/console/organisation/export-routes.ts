import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import { describeItemSource, describeQualified, describeReasons } from '../../../sdk/verdict-texts.ts'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { SkillVerdict } from '../../conversation/verdicts.ts'
import { MAX_VERIFIED_SKILLS } from '../../mandates/rules.ts'
import type { App } from '../../platform/http/server.ts'
import { assignListPositions, listResults, type ResultPosition } from '../../results/results.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { matchesVerdict, narrowToCompleted, type RecruiterResult, recruiterResult } from './recruiter-results.ts'
import { RecruiterFilters } from './recruiter-results-routes.ts'

const ROWS_PER_QUERY = 500

const SKILL_COLUMNS = ['verdict', 'confidence', 'correct', 'asked', 'source', 'language', 'median_seconds', 'unpiloted']

const COLUMNS = [
  'result_id',
  'campaign_id',
  'mandate_id',
  'job_id',
  'candidate_id',
  'external_candidate_id',
  'name',
  'phone',
  'email',
  'status',
  'reason',
  'qualified',
  'interest',
  'knocked_out_by',
  'skills',
  'answers',
  'language',
  'channel',
  'created_at',
  'started_at',
  'completed_at',
  'updated_at',
  'verdict',
  'verdict_reasons',
  ...Array.from({ length: MAX_VERIFIED_SKILLS }, (_, index) => `skill_${index + 1}`).flatMap((prefix) => [
    prefix,
    ...SKILL_COLUMNS.map((name) => `${prefix}_${name}`),
  ]),
]

/** Streams results as CSV, page by page. */
export function exportRoutes(app: App, context: Context): void {
  const { db, clock } = context
  app.get(
    '/orgs/:org/:mode/export/results.csv',
    { config: { role: 'viewer', recordsRead: true }, schema: { querystring: RecruiterFilters } },
    async (request, reply) => {
      const { caller, query } = request
      await db.transaction((tx) =>
        recordRequestAudit(tx, context, request, 'results.export', undefined, { filters: query }),
      )
      await assignListPositions(db, clock, caller)
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="results-${caller.mode}.csv"`)
      return reply.send(Readable.from(csvLines(caller, query)) as never)
    },
  )

  async function* csvLines(scope: OrgScope, { verdict, ...filter }: Static<typeof RecruiterFilters>) {
    yield `\ufeff${COLUMNS.join(',')}\r\n`
    let position: ResultPosition | undefined
    for (;;) {
      const page = await listResults(db.queries, scope, {
        ...narrowToCompleted(filter, verdict),
        after: position,
        limit: ROWS_PER_QUERY,
      })
      const results = page.map(recruiterResult).filter((result) => matchesVerdict(result, verdict))
      if (results.length > 0)
        yield results.map((result) => `${cellsOfResult(result).map(csvCell).join(',')}\r\n`).join('')
      const lastRow = page.at(-1)
      if (page.length < ROWS_PER_QUERY || !lastRow) return
      position = { listedAt: lastRow.listed_at.toISOString(), resultId: lastRow.result_id }
    }
  }
}

function cellsOfResult({ candidate, output, knocked_out_by, ...result }: RecruiterResult): unknown[] {
  const skills = 'skills' in output ? output.skills : undefined
  const answers = 'enrichment' in output ? output.enrichment : undefined
  return [
    result.result_id,
    result.campaign_id,
    result.mandate_id,
    result.job_id,
    candidate.candidate_id,
    candidate.external_candidate_id,
    candidate.name,
    candidate.phone,
    candidate.email,
    result.status,
    result.reason,
    output.qualified,
    'interest' in output ? output.interest : null,
    knocked_out_by?.key,
    skills?.map(({ name, verdict }) => `${name}: ${verdict}`).join('; '),
    Object.entries(answers ?? {})
      .map(([key, { answer }]) => `${key}: ${answer}`)
      .join('; '),
    output.language,
    output.channel,
    result.created_at,
    result.started_at,
    result.completed_at,
    result.updated_at,
    ...(result.status === 'completed'
      ? [
          describeQualified(output.qualified),
          describeReasons(output, { questionText: () => knocked_out_by?.question }).join('; '),
        ]
      : [null, null]),
    ...Array.from({ length: MAX_VERIFIED_SKILLS }).flatMap((_, index) => skillCells(skills?.[index])),
  ]
}

/** Returns the cells of one skill; empty cells if the mandate verifies fewer skills. */
function skillCells(skill: SkillVerdict | undefined): unknown[] {
  const evidence = skill?.evidence
  return [
    skill?.name,
    skill?.verdict,
    skill?.confidence,
    skill?.correct,
    skill?.asked,
    evidence && describeItemSource(evidence.item_source),
    evidence?.language,
    evidence?.median_seconds,
    evidence?.unpiloted_items,
  ]
}

const PHONE_NUMBER = /^\+\d{5,15}$/

/** Quotes a cell. Prefixes text that a spreadsheet would run as a formula with an apostrophe, except phone numbers. */
function csvCell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value)
  const safeText = !PHONE_NUMBER.test(text) && /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText
}
