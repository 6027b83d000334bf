import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import { describeEvidence, describeItemSource, describeQualified, describeReasons } from '../../../sdk/verdict-texts.ts'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { SkillVerdict } from '../../conversation/verdicts.ts'
import { MAX_VERIFIED_SKILLS } from '../../mandates/rules.ts'
import type { App } from '../../platform/http/server.ts'
import { csvCell } from '../../platform/text/csv-cell.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { loadAssigneeNames } from './assignments.ts'
import { type CandidatePosition, listCandidatePage, refreshCandidateList } from './candidate-list.ts'
import { candidateRecords, type ListedCandidate } from './records.ts'
import { candidateFilter, ExportFilters, resolveAssignee } from './routes.ts'

const ROWS_PER_QUERY = 500

const SKILL_COLUMNS = [
  'verdict',
  'confidence',
  'correct',
  'asked',
  'source',
  'language',
  'median_seconds',
  'unpiloted',
  'summary',
]

const COLUMNS = [
  'job',
  'company',
  'campaign',
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
  'decision',
  'note',
  'decided_by',
  'assigned_to',
  'job_id',
  'result_id',
  'campaign_id',
  'mandate_id',
  'candidate_id',
]

/** Streams results as CSV, page by page. */
export function exportRoutes(app: App, context: Context): void {
  const { db, clock } = context
  app.get(
    '/orgs/:org/:mode/export/results.csv',
    { config: { role: 'viewer', recordsRead: true }, schema: { querystring: ExportFilters } },
    async (request, reply) => {
      const { caller, query } = request
      // The text of a search can contain a name, a phone number or an email address, which the audit log does not keep.
      const { q, ...filters } = query
      const details = { filters: { ...filters, ...(q ? { searched: true } : {}) } }
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'results.export', undefined, details))
      await refreshCandidateList(context, caller, Number.POSITIVE_INFINITY)
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="results-${caller.mode}.csv"`)
      return reply.send(Readable.from(csvLines(caller, await resolveAssignee(db.queries, request, query))) as never)
    },
  )

  async function* csvLines(scope: OrgScope, filters: Static<typeof ExportFilters>) {
    yield `\ufeff${COLUMNS.join(',')}\r\n`
    const filter = candidateFilter(filters, clock)
    let after: CandidatePosition | undefined
    for (;;) {
      const { rows: page } = await listCandidatePage(db.queries, context, scope, filter, {
        sort: 'enrolled_first',
        after,
        limit: ROWS_PER_QUERY,
      })
      if (page.length > 0) {
        const candidates = await candidateRecords(db.queries, page)
        const assigneeNameOf = await loadAssigneeNames(
          db.queries,
          scope.orgId,
          candidates.map(({ assigned_to }) => assigned_to),
        )
        yield candidates
          .map(
            (candidate) =>
              `${cellsOfResult(candidate, assigneeNameOf(candidate.assigned_to)).map(csvCell).join(',')}\r\n`,
          )
          .join('')
      }
      if (page.length < ROWS_PER_QUERY) return
      after = page.at(-1)!.position
    }
  }
}

function cellsOfResult(
  { candidate, output, knocked_out_by, ...result }: ListedCandidate,
  assigneeName: string | null,
): unknown[] {
  const skills = 'skills' in output ? output.skills : undefined
  const answers = 'enrichment' in output ? output.enrichment : undefined
  return [
    result.job_title,
    result.company_name,
    result.campaign_name,
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
    result.decision,
    result.note,
    result.decided_by,
    assigneeName,
    result.job_id,
    result.result_id,
    result.campaign_id,
    result.mandate_id,
    candidate.candidate_id,
  ]
}

/** Returns the cells of one skill; they are empty if the mandate verifies fewer skills. */
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
    skill && describeEvidence(skill),
  ]
}
